"""Choosing a scoring job: what it would take first, then the button that starts it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.errors import StereoscopeError
from core.jobs.follow import JobView, opening_words
from core.jobs.launch import estimate_apart, launch
from core.jobs.spec import JobSpec
from core.score_request import DEMO_MODEL, ScoreRequest
from core.words import duration_words, precision_words, size_words
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.widgets import errors_in_one_sentence

DTYPES = ("auto", "float32", "bfloat16", "float16")
QUANTIZATIONS = {
    "none": "as the model is",
    "int8": "8 bits (LLM.int8)",
    "nf4": "4 bits (NF4)",
}
VARIANTS = {"original": "the token", "within_word_l2r": "the token and the rest of its word"}
DEVICES = ("auto", "cpu", "cuda", "mps")
ESTIMATED = "estimated"


def choose_request(datasets: list[str], views: list[JobView]) -> ScoreRequest | None:
    """The inputs of a new job."""
    known = list(dict.fromkeys([DEMO_MODEL, *(v.model for v in views if v.model)]))
    left, middle, right = st.columns([2, 3, 3])
    dataset = left.selectbox("Data set", datasets)
    model = middle.selectbox(
        "Model",
        known,
        accept_new_options=True,
        help="demo, the path of a model folder on this machine, or org/name[@revision] from the "
        "hub. Type to enter another one.",
    )
    variant = right.selectbox(
        "Masked models hide",
        VARIANTS,
        format_func=VARIANTS.__getitem__,
        help="What is hidden from a masked model while it is asked for a token; a scorer of its "
        "own. Of no meaning to a causal model, which is asked for the next token.",
    )
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    dtype = first.selectbox("Precision", DTYPES, help="auto: float32 on the CPU, else the model's")
    quantization = second.selectbox(
        "Weights",
        QUANTIZATIONS,
        format_func=lambda name: QUANTIZATIONS[name],
        help="Fewer bits take less memory and move the scores, so each choice is a scorer of its "
        "own. With 8 bits texts are scored one at a time, which is slow.",
    )
    device = third.selectbox("Device", DEVICES, help="auto: a GPU where there is one")
    exact = fourth.checkbox("Exact", help="One text at a time: slower, and a scorer of its own")
    compute_dtype, no_double_quant = (
        choose_four_bits() if quantization == "nf4" else ("auto", False)
    )
    if not model or not model.strip():
        return None
    return ScoreRequest(
        model=model.strip(),
        dataset=dataset,
        dtype=dtype,
        device=device,
        exact=exact,
        quantization=quantization,
        compute_dtype=compute_dtype,
        no_double_quant=no_double_quant,
        variant=variant,
    )


def choose_four_bits() -> tuple[str, bool]:
    """What 4-bit weights compute in, and whether their scales are kept as they are."""
    left, right = st.columns(2, vertical_alignment="bottom")
    compute_dtype = left.selectbox(
        "4-bit layers compute in",
        DTYPES,
        help="auto: the precision above. 4-bit weights are unpacked to this whenever they are used",
    )
    double = right.checkbox(
        "Quantise the scales too",
        value=True,
        help="Double quantisation: 8 % less memory for a little more rounding",
    )
    return compute_dtype, not double


def start_form(datasets: list[str], views: list[JobView]) -> None:
    """Choose, see what it takes, start."""
    request = choose_request(datasets, views)
    asked = st.button("Estimate", icon=":material/calculate:", disabled=request is None)
    if request is None:
        return
    if asked:
        with st.spinner("Reading config and tokenizer, counting what is missing …"):
            st.session_state[ESTIMATED] = (request, *estimated(request))
    known, found, error = st.session_state.get(ESTIMATED, (None, None, ""))
    if known != request:
        st.caption("Memory, time and disk are estimated first; then the job can be started.")
    elif found is None:
        st.error(literal(error), icon=":material/error:")
    else:
        show_estimate(found)
        possible = found["texts"] > 0 and found["memory"]["fits"]
        if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=not possible):
            with errors_in_one_sentence():
                launch(open_cache(), JobSpec(request=request))
            del st.session_state[ESTIMATED]
            st.rerun()


def estimated(request: ScoreRequest) -> tuple[dict[str, Any] | None, str]:
    """The estimate, or the sentence why there is none."""
    try:
        return estimate_apart(open_cache(), request), ""
    except StereoscopeError as error:
        return None, str(error)


def show_estimate(found: dict[str, Any]) -> None:
    """What the job would take, as four numbers and what they rest on."""
    scorer, memory = found["scorer"], found["memory"]
    free = min(memory["free_bytes"].values())
    texts, needed, time, disk = st.columns(4)
    about = "" if found["tokens_counted"] else "about "
    texts.metric("Missing texts", f"{found['texts']:,}", help=f"{about}{found['tokens']:,} tokens")
    needed.metric(
        "Memory needed",
        size_words(memory["needed_bytes"]),
        help="Weights with a margin, and the logits of one batch. Python and torch take about half "
        "a gigabyte besides.",
    )
    seconds = found["seconds"]
    time.metric("Time", "unknown" if seconds is None else duration_words(seconds))
    disk.metric("Disk, at most", size_words(found["disk_bytes"]))
    sentences = [
        f"Scorer {scorer['scorer_id']}: "
        f"{precision_words(scorer['dtype'], scorer['quantization'])} on {scorer['device']}, "
        f"{scorer['attention']}, {scorer['batching']}.",
        f"Free: {size_words(free)} of memory, {size_words(found['disk_free_bytes'])} of disk.",
    ]
    if found["texts"]:
        source = found["speed_from"]
        opening = opening_words(found["opening_seconds"])
        sentences.append(
            f"Time {source}."
            if seconds is None
            else f"Time at the speed of run {source}, {opening}."
        )
    if found["download_bytes"]:
        sentences.append(f"About {size_words(found['download_bytes'])} are downloaded first.")
    st.caption(literal(" ".join(sentences)))
    if not found["texts"]:
        st.info("This scorer has scored every text of the data set; there is nothing to do.")
    elif not memory["fits"]:
        st.warning("It does not fit into memory; choose a smaller model, or fewer bits.")
