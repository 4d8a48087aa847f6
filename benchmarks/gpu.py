"""Scoring with a model of 8B shape and random weights on a GPU: texts/s, matmul share, memory.

    python -m benchmarks.gpu [--items 400] [--budgets 65536] [--skip-nf4]
    python -m benchmarks.gpu --tiny      a tiny model, on the CPU where there is no GPU

In bfloat16, and in NF4 where bitsandbytes is installed. The matmul share is over what the device
reaches in bfloat16 (float32 for the tiny model) on the multiplications alone. Some of the texts are
scored one at a time as well, in the plain way, for the ratio. Needs torch, transformers and
numpy only. Prints a table and one JSON line last; exit code 1 when a target is missed, or float32
scores are not those of one text at a time.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM, LlamaConfig

from benchmarks.matmul import best_rate, matmul_share, synchronize
from benchmarks.ours import our_scores, plain_tokens, work_of
from benchmarks.questions import generated_items
from core.items.texts import item_texts
from core.models.language_model import LanguageModel
from core.models.precision import dtype_name
from core.scoring.encoding import Encoded, encode
from core.types import Text
from tests.tiny_tokenizers import byte_level_bpe

TARGETS = {"bfloat16": 0.45, "nf4": 0.25}
PER_TOKEN = 1e-4  # packed against one at a time in float32, in nats
REPETITIONS = 3
ALONE = 48  # texts that are scored one at a time

EIGHT_B = {
    "vocab_size": 128_256,
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
}
TINY = {
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
}


def random_model(shape: dict[str, int], dtype: torch.dtype, device: str) -> Any:
    """A llama with random weights, made on the device."""
    torch.manual_seed(0)
    config = LlamaConfig(**shape, tie_word_embeddings=False)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    return model.eval().requires_grad_(False)


def to_nf4(model: Any) -> None:
    """Quantise the linear layers in place, the vocabulary projection left out, as is usual.

    By hand, because transformers quantises only while it reads a checkpoint, and this model is made
    on the device, without 16 GB of files. The settings are those of core's nf4: scales quantised
    too, computing in the dtype of the rest.
    """
    from bitsandbytes.nn import Linear4bit, Params4bit

    head = model.get_output_embeddings()
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is not torch.nn.Linear or layer is head:
                continue
            weight, dtype = layer.weight.data, layer.weight.dtype
            four_bit = Linear4bit(
                layer.in_features,
                layer.out_features,
                bias=False,
                compute_dtype=dtype,
                quant_type="nf4",
                device="meta",
            )
            four_bit.weight = Params4bit(
                weight.cpu(), requires_grad=False, quant_type="nf4", module=four_bit
            )
            setattr(parent, name, four_bit.to(weight.device))  # quantises


def language_model_of(model: Any, dtype: str, device: str, quantization: str) -> LanguageModel:
    """The model with a small tokenizer, as the scoring takes it."""
    return LanguageModel(
        model=model,
        tokenizer=byte_level_bpe(),
        label="random",
        fingerprint="random",
        kind="causal",
        dtype=dtype,
        device=device,
        attention="sdpa",
        quantization=quantization,
        window=model.config.max_position_embeddings,
    )


@torch.inference_mode()
def one_at_a_time(language_model: LanguageModel, texts: Sequence[Text]) -> tuple[float, dict]:
    """Seconds, and token log-probabilities by text id: plain transformers, one text per pass."""
    found = {}
    synchronize(language_model.device)
    start = time.perf_counter()
    for text in texts:
        e = encode(language_model.tokenizer, text, language_model.window)
        assert isinstance(e, Encoded)
        ids = torch.tensor([e.ids], device=language_model.device)
        logits = language_model.model(ids).logits[0, e.first - 1 : -1].float()  # (n_scored, V)
        logprobs = logits.log_softmax(-1).gather(-1, ids[0, e.first :, None])[:, 0]
        found[text.text_id] = logprobs.cpu().numpy()
    return time.perf_counter() - start, found


def measure(
    language_model: LanguageModel, texts: Sequence[Text], rate: float, budget: int | None
) -> dict[str, Any]:
    """Speed, share, memory and agreement of one model at one budget."""
    device = language_model.device
    work = work_of(language_model, texts, budget=budget)  # warms up as well
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = []
    for _ in range(REPETITIONS):
        synchronize(device)
        start = time.perf_counter()
        scores = our_scores(language_model, texts, budget=budget)
        seconds.append(time.perf_counter() - start)
    best = min(seconds)
    peak = torch.cuda.max_memory_allocated() / 1e9 if device == "cuda" else float("nan")
    some = texts[:ALONE]
    one_at_a_time(language_model, some[:4])
    alone, plain = one_at_a_time(language_model, some)
    difference = max(float(np.abs(scores[i].logprobs - plain[i]).max()) for i in plain)
    share = matmul_share(language_model.model, work, best, rate)
    return {
        "budget": budget or 0,
        "seconds": round(best, 3),
        "texts_per_s": round(len(texts) / best, 1),
        "ratio_one_at_a_time": round((alone / len(some)) / (best / len(texts)), 2),
        "matmul_share": round(share, 3),
        "peak_gb": None if np.isnan(peak) else round(peak, 1),
        "tokens_plain": plain_tokens(language_model, texts),
        "tokens_computed": work.tokens,
        "tokens_with_padding": work.padded_tokens,
        "projected": work.projected,
        "batches": work.batches,
        "max_difference": difference,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when something does not agree or a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--budgets", type=int, nargs="*", default=[0], help="0: the device's own")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--skip-nf4", action="store_true")
    options = parser.parse_args(arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not options.tiny:
        sys.exit("there is no GPU here; --tiny runs without one")
    shape, dtype = (TINY, torch.float32) if options.tiny else (EIGHT_B, torch.bfloat16)
    name = dtype_name(dtype)
    items = generated_items(3 * options.items)
    texts = [text for item in items for text in item_texts(item).values()]
    has_nf4 = importlib.util.find_spec("bitsandbytes") is not None
    model = random_model(shape, dtype, device)
    language_model = language_model_of(model, name, device, "none")
    print(f"{len(texts)} texts, torch {torch.__version__}, transformers {transformers.__version__}")
    results: dict[str, Any] = {}
    rates: dict[int, float] = {}
    for budget in options.budgets:
        work = work_of(language_model, texts, budget=budget or None)
        rates[budget] = best_rate(model, work, dtype, device)
        row = measure(language_model, texts, rates[budget], budget or None)
        show(name, row, rates[budget])
        results.setdefault(name, []).append(row)
    if has_nf4 and not options.skip_nf4:
        to_nf4(model)
        torch.cuda.empty_cache()
        quantised = language_model_of(model, name, device, "nf4")
        for budget in options.budgets:
            row = measure(quantised, texts, rates[budget], budget or None)
            show("nf4", row, rates[budget])
            results.setdefault("nf4", []).append(row)
    best = {n: max(row["matmul_share"] for row in rows) for n, rows in results.items()}
    # In bfloat16 every sum rounds in its own way, so there the difference is only printed.
    agrees = all(row["max_difference"] <= PER_TOKEN for row in results.get("float32", []))
    line = {
        "benchmark": "gpu",
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "texts": len(texts),
        "matmul_tflops": round(max(rates.values()) / 1e12, 2),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "results": results,
        "met": agrees and all(best[n] >= target for n, target in TARGETS.items() if n in best),
    }
    print(json.dumps(line))
    return 0 if line["met"] else 1


def show(name: str, row: dict[str, Any], rate: float) -> None:
    """One line per model and budget."""
    print(
        f"{name:9} budget {row['budget']:6}: {row['texts_per_s']:8.1f} texts/s, "
        f"{row['ratio_one_at_a_time']:6.2f}x one at a time, matmul share "
        f"{row['matmul_share']:.1%} of {rate / 1e12:.2f} TFLOP/s, peak {row['peak_gb']} GB",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
