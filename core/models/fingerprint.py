"""Which files of a folder make a model what it is, and a hash over them."""

from __future__ import annotations

import hashlib
from pathlib import Path

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
    "*.tiktoken",
)
SAFETENSORS = ("*.safetensors", "*.safetensors.index.json")
PICKLED = ("pytorch_model*.bin", "pytorch_model.bin.index.json")
FOREIGN = ("consolidated*",)  # the same weights once more, in their authors' own format


def model_files(folder: Path, *, with_code: bool = False) -> list[Path]:
    """The files of a model folder that can move a score, by name.

    Parameters
    ----------
    with_code
        Whether the folder's own Python code is run, and so counts.
    """
    patterns = ["config.json", *TOKENIZER_FILES, *(["*.py"] if with_code else [])]
    return sorted({*_matching(folder, patterns), *weight_files(folder)})


def weight_files(folder: Path) -> list[Path]:
    """The weights: safetensors, and pickled files only where there are none."""
    return _matching(folder, SAFETENSORS) or _matching(folder, PICKLED)


def folder_fingerprint(folder: Path, *, with_code: bool = False) -> str:
    """A hash over names and contents, the same wherever the folder lies.

    Returns
    -------
    str
        "folder:" and 64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for path in model_files(folder, with_code=with_code):
        digest.update(f"{path.name}\0{file_sha256(path)}\n".encode())
    return f"folder:{digest.hexdigest()}"


def file_states(folder: Path, *, with_code: bool = False) -> dict[str, tuple[int, int, int]]:
    """Inode, size and time of change (ns) of the model's files: they differ after any writing."""
    stats = {path.name: path.stat() for path in model_files(folder, with_code=with_code)}
    return {name: (s.st_ino, s.st_size, s.st_mtime_ns) for name, s in stats.items()}


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _matching(folder: Path, patterns: tuple[str, ...] | list[str]) -> list[Path]:
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(path for path in found if not any(path.match(p) for p in FOREIGN))
