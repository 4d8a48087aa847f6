"""Opening a model's tokenizer; its self-checks are in core/models/canary.py."""

from __future__ import annotations

from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from core.errors import ModelError
from core.models.canary import agrees_with_file, check_round_trip, switch_sampling_off
from core.models.config import first_line
from core.models.sources import Source


def load_tokenizer(source: Source, *, trust_remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The model's tokenizer, as its tokenizer.json has it; it must know spans and keep spaces.

    Raises
    ------
    ModelError
        When there is none, it is unreadable, or it is not a fast one.
    CanaryFailed
        When a plain sentence does not survive it, or comes out differently from call to call.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            source.folder, trust_remote_code=trust_remote_code, local_files_only=True
        )
    except Exception as error:  # the tokenizers library raises nothing more precise
        raise ModelError(
            f"The tokenizer of {source.label} cannot be opened: {first_line(error)}; copy or "
            "download its files again."
        ) from error
    if not tokenizer.is_fast:
        raise ModelError(
            f"{source.label} has a slow tokenizer ({type(tokenizer).__name__}), which does not "
            "know which characters a token covers; add its tokenizer.json to the folder."
        )
    published = source.folder / "tokenizer.json"
    if published.is_file() and not agrees_with_file(tokenizer, published):
        # For some families transformers builds the tokenizer that the family usually has around
        # the vocabulary it finds, which is another one than a fine-tuned model was trained with.
        tokenizer = PreTrainedTokenizerFast.from_pretrained(source.folder, local_files_only=True)
    switch_sampling_off(tokenizer)
    # Also undoes truncation and padding that the tokenizer was saved with. Left for later, threads
    # that share the tokenizer would undo it for each other in the middle of their calls.
    check_round_trip(tokenizer)
    return tokenizer
