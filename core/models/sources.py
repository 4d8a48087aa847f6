"""Spec -> a folder on this machine that holds the model, with its name and fingerprint.

::

    demo                    the demo model, converted once
    ./some/folder           a folder with config.json, tokenizer and weights
    org/name[@revision]     the Hugging Face hub, or its cache on this machine
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    GatedRepoError,
    HFValidationError,
    HTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from core.errors import HubUnreachable, ModelError, ModelGated, ModelNotFound
from core.models.demo import demo_model_folder
from core.models.demo_files import DEMO_FINGERPRINT
from core.models.fingerprint import (
    FOREIGN,
    PICKLED,
    SAFETENSORS,
    TOKENIZER_FILES,
    folder_fingerprint,
    weight_files,
)

HUB_SPEC = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
DEMO_NAMES = ("demo", "smollm2", "smollm2-135m-instruct")


@dataclass(frozen=True)
class Source:
    """Where a model's files lie, and what to call them."""

    folder: Path
    label: str
    published: str | None  # the fingerprint that its place of origin gives it
    with_code: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """Computed when first asked for: that of a folder takes every byte of its weights."""
        return self.published or folder_fingerprint(self.folder, with_code=self.with_code)


def find_source(
    spec: str, models_folder: Path, *, with_code: bool = False, with_weights: bool = True
) -> Source:
    """Find the model that a spec names; a hub model is downloaded, on request without its weights.

    A folder that exists wins over a hub name; the spec "demo" always is the demo model.

    Raises
    ------
    ModelNotFound, ModelGated, ModelError
        With one sentence that says what to do.
    """
    if spec == "demo":
        return Source(demo_model_folder(models_folder, read=with_weights), "demo", DEMO_FINGERPRINT)
    path = Path(spec).expanduser()
    if spec and path.is_dir():
        return _local_source(path, with_code=with_code)
    if path.is_file():
        raise ModelNotFound(f"{spec} is a file; name the folder that holds config.json.")
    named = HUB_SPEC.fullmatch(spec)
    if named and not spec.startswith((".", "/")):
        return _hub_source(named[1], named[2], with_code=with_code, with_weights=with_weights)
    raise ModelNotFound(
        f'There is no model "{spec}": name a folder that exists, org/name[@revision] from the '
        f"hub, or demo.{_hint(spec)}"
    )


def _local_source(folder: Path, *, with_code: bool) -> Source:
    folder = folder.resolve()
    if not (folder / "config.json").is_file():
        raise ModelNotFound(f"{folder} holds no config.json, so it is not a model folder.")
    return Source(folder, folder.name, None, with_code)


def _hub_source(name: str, revision: str | None, *, with_code: bool, with_weights: bool) -> Source:
    wanted = SAFETENSORS if with_weights else ()
    folder = _download(name, revision, wanted, with_code=with_code)
    if with_weights and not weight_files(folder):
        folder = _download(name, revision, PICKLED, with_code=with_code)
    if not (folder / "config.json").is_file():
        raise ModelNotFound(f"{name} on the hub holds no config.json, so it is not a model.")
    label = f"{name}@{revision}" if revision else name
    # The hub's cache names a snapshot's folder after its commit.
    return Source(folder, label, f"hub:{name}@{folder.name}")


def _download(
    name: str, revision: str | None, weights: tuple[str, ...], *, with_code: bool
) -> Path:
    wanted = ["config.json", "generation_config.json", *TOKENIZER_FILES, *weights]
    try:
        folder = snapshot_download(
            name,
            revision=revision,
            allow_patterns=[*wanted, *(["*.py"] if with_code else [])],
            ignore_patterns=["*/*", *FOREIGN],
        )
    except GatedRepoError as error:
        raise ModelGated(
            f"{name} is gated: accept its terms at https://huggingface.co/{name}, then log in on "
            "this machine with `hf auth login`."
        ) from error
    except RevisionNotFoundError as error:
        raise ModelNotFound(
            f'{name} has no revision "{revision}" on the hub; name a branch, a tag or a full '
            "commit hash, or leave out the @."
        ) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise ModelNotFound(
            f'There is no model "{name}" on the hub, or it is private and you are not logged in '
            f"(`hf auth login`), nor is there such a folder.{_hint(name)}"
        ) from error
    except (LocalEntryNotFoundError, HTTPError, ConnectionError, TimeoutError) as error:
        raise HubUnreachable(
            f"{name} is not complete on this machine and the hub cannot be reached; connect to "
            f"the network, or give a local folder that holds the model.{_hint(name)}"
        ) from error
    except OSError as error:
        raise ModelError(
            f"{name} cannot be kept in the hub's cache on this machine ({error.strerror}); make "
            "room or allow writing there, or set HF_HOME to another folder."
        ) from error
    return Path(folder)


def _hint(spec: str) -> str:
    """A pointer to the demo model where the spec looks as if it was meant."""
    name = spec.rsplit("/", 1)[-1].lower()
    return ' Did you mean "demo"?' if difflib.get_close_matches(name, DEMO_NAMES) else ""


def check_weights_exist(source: Source) -> None:
    """Refuse a folder without weights before anything else is loaded from it."""
    if not weight_files(source.folder):
        raise ModelError(
            f"{source.label} holds no weights (*.safetensors or pytorch_model*.bin); copy them "
            "into the folder or download the model again."
        )
