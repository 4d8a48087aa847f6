"""Token means of head outputs with plain transformers, one text per forward pass.

It shares no code with the extraction that it is compared with, so it is an oracle as well. In the
place of a context stands the file that the means are to be saved in, if they are.
"""

import numpy as np
import torch
from serve import Score, serve
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(folder: str) -> Score:
    """The model in float32 on the CPU, a hook on every projection."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    kept: list[torch.Tensor] = []
    for layer in model.model.layers:
        layer.self_attn.o_proj.register_forward_hook(
            lambda _, inputs, output: kept.append(inputs[0][0].mean(dim=0))
        )

    @torch.inference_mode()
    def score(pairs: list[list[str]], batch_size: int) -> list[float]:
        means = []
        for _, text in pairs:
            kept.clear()
            model(torch.tensor([tokenizer(text).input_ids]))
            means.append(torch.stack(kept))  # (L, H * D)
        if file := pairs[0][0]:
            np.save(file, torch.stack(means).numpy())
        return []

    return score


serve(load)
