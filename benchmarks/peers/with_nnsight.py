"""Runs in the peer's environment: token means of head outputs by nnsight.

In the place of a context stands the file that the means are to be saved in, if they are.
"""

import numpy as np
import torch
from nnsight import LanguageModel
from serve import Score, serve


def load(folder: str) -> Score:
    """Traces in float32 on the CPU that pool as they go."""
    model = LanguageModel(folder, device_map="cpu", dtype=torch.float32, dispatch=True)
    model.tokenizer.padding_side = "right"

    @torch.inference_mode()
    def score(pairs: list[list[str]], batch_size: int) -> list[float]:
        means = []
        for start in range(0, len(pairs), batch_size):
            texts = [text for _, text in pairs[start : start + batch_size]]
            encoded = model.tokenizer(texts, padding=True, return_tensors="pt")
            real = encoded.attention_mask[..., None].float()  # (B, T, 1)
            with model.trace(dict(encoded)):
                pooled = [].save()
                for layer in model.model.layers:
                    z = layer.self_attn.o_proj.input  # (B, T, H * D)
                    pooled.append((z * real).sum(1) / real.sum(1))
            means.append(torch.stack(list(pooled), dim=1))  # (B, L, H * D)
        if file := pairs[0][0]:
            np.save(file, torch.cat(means).numpy())
        return []

    return score


serve(load)
