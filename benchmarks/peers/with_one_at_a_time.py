"""Log-likelihoods with plain transformers, one text per forward pass: what most scripts do.

It shares no code with the scoring that it is compared with, so it is an oracle as well.
"""

import torch
from serve import Score, serve
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(folder: str) -> Score:
    """The model in float32 on the CPU."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)

    @torch.inference_mode()
    def score(pairs: list[list[str]], batch_size: int) -> list[float]:
        sums = []
        for context, continuation in pairs:
            encoded = tokenizer(f"{context} {continuation}", return_offsets_mapping=True)
            ids = torch.tensor([encoded["input_ids"]])
            ends = [end for _, end in encoded["offset_mapping"]]
            first = next(i for i, end in enumerate(ends) if end > len(context) + 1)
            logits = model(ids).logits[0, first - 1 : -1].float()  # (n_scored, V)
            targets = ids[0, first:, None]
            sums.append(float(logits.log_softmax(-1).gather(-1, targets).sum()))
        return sums

    return score


serve(load)
