"""Runs in the peer's environment: log-likelihoods of lm-evaluation-harness's HFLM."""

from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from serve import Score, serve


def load(folder: str) -> Score:
    """HFLM in float32 on the CPU."""
    model = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=1)

    def score(pairs: list[list[str]], batch_size: int) -> list[float]:
        model.batch_size_per_gpu = batch_size
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=(context, f" {text}"), idx=i)
            for i, (context, text) in enumerate(pairs)
        ]
        return [total for total, _ in model.loglikelihood(requests, disable_tqdm=True)]

    return score


serve(load)
