"""Runs in the peer's environment: token means of head outputs by TransformerLens.

In the place of a context stands the file that the means are to be saved in, if they are.
"""

import numpy as np
import torch
from serve import Score, serve
from transformer_lens.model_bridge import TransformerBridge
from transformers import AutoTokenizer


def load(folder: str) -> Score:
    """The bridge in float32 on the CPU, its hooks pooling; no logits are asked for."""
    model = TransformerBridge.boot_transformers(folder, device="cpu", dtype=torch.float32)
    # The bridge's own tokenizer adds a BOS that the model's does not.
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="right")
    names = [f"blocks.{layer}.attn.hook_z" for layer in range(model.cfg.n_layers)]

    @torch.inference_mode()
    def score(pairs: list[list[str]], batch_size: int) -> list[float]:
        means = []
        for start in range(0, len(pairs), batch_size):
            texts = [text for _, text in pairs[start : start + batch_size]]
            encoded = tokenizer(texts, padding=True, return_tensors="pt")
            real = encoded.attention_mask[..., None].float()  # (B, T, 1)
            pooled = []

            def pool(z, hook, pooled=pooled, real=real):  # (B, T, H, D)
                pooled.append((z.flatten(2) * real).sum(1) / real.sum(1))

            model.run_with_hooks(
                encoded.input_ids,
                attention_mask=encoded.attention_mask,
                return_type=None,
                fwd_hooks=[(name, pool) for name in names],
            )
            means.append(torch.stack(pooled, dim=1))  # (B, L, H * D)
        if file := pairs[0][0]:
            np.save(file, torch.cat(means).numpy())
        return []

    return score


serve(load)
