"""What a person says about the files of a data set: where they are, and what they are read as."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import InputError
from core.files.layouts import layout_named
from core.files.places import listed
from core.files.reading import SUFFIXES
from core.files.uploads import on_disk
from core.items.formats.questions import CONTEXTS
from core.items.formats.stereoset import FORMS
from core.items.label_file import read_labels
from core.items.layout import Layout, ReadOptions
from core.items.layouts import FORMATS, LAYOUTS
from core.items.sampling import Sample
from core.words import size_words
from pages.shared.data import open_cache
from pages.shared.data_sets.reading import Files, Labels, Wish, at_path, look_at, uploaded
from pages.shared.figures import literal

UPLOAD, PATH = "Upload", "Path on the server"
STRICT, LENIENT = "Refuse the data set", "Leave these rows out"
LARGE = 50_000_000  # bytes; an upload stays in the server's memory as long as its tab is open
_DETECT = ""  # the choice of no format
_ROUND = "data-set-round"  # how many data sets this tab has imported


def begin_again() -> None:
    """Empty the form: its files are stored."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def _key(name: str) -> str:
    return f"data-set-{name}-{st.session_state.get(_ROUND, 0)}"


def choose_files() -> Files | None:
    """Files that are uploaded, or a path; None before there is one."""
    how = st.segmented_control(
        "Where the file is", [UPLOAD, PATH], default=UPLOAD, required=True, key=_key("from")
    )
    if how == PATH:
        text = st.text_input(
            "File or folder on the server",
            key=_key("path"),
            help="For large files: nothing goes through the browser. A folder is one data set with "
            "all the data files directly in it.",
        )
        return at_path(text) if text and text.strip() else None
    sent = st.file_uploader(
        "Files of one data set",
        type=[suffix.removeprefix(".") for suffix in SUFFIXES],
        accept_multiple_files=True,
        key=_key("files"),
        help="Several files become one data set, such as one file per language.",
    )
    if not sent:
        return None
    size = sum(file.size for file in sent)
    if size > LARGE:
        st.info(
            f"{size_words(size)} stay in the server's memory while this tab is open; for files of "
            "this size give their path on the server instead.",
            icon=":material/info:",
        )
    return uploaded([(file.name, file.getvalue()) for file in sent])


def choose_format(files: Files) -> tuple[Wish, tuple[Layout, ...]]:
    """The layout: what the columns show, unless the reader says otherwise."""
    left, right = st.columns(2)
    named = right.text_input(
        "Encoding of bytes that are not UTF-8",
        placeholder="found by itself where it is evident",
        key=_key("encoding"),
    )
    encoding = (named or "").strip() or None
    found = look_at(files, encoding)
    names = ", ".join(layout.name for layout in found.layouts)

    def shown(name: str) -> str:
        if name == _DETECT:
            return f"detected: {names}"
        return f"{name} ({layout_named(LAYOUTS, name).title})"

    chosen = left.selectbox(
        "Format", [_DETECT, *FORMATS], format_func=shown, key=_key(f"format-{files.token}")
    )
    if found.unknown and chosen == _DETECT:
        st.caption(
            literal(
                f"The columns of {listed(list(found.unknown))} are those of no known format, so "
                "they are read as the program's own schema; data/README.md describes all formats."
            )
        )
    layouts = found.layouts if chosen == _DETECT else (layout_named(LAYOUTS, chosen),)
    return Wish(format=chosen or None, encoding=encoding), layouts


def choose_options(files: Files, wish: Wish, layouts: tuple[Layout, ...]) -> Wish:
    """What the layouts take besides, what happens to rows with errors, and a sample."""
    # An option of one layout alone would be refused by the others.
    taken = frozenset.intersection(*(layout.options for layout in layouts))
    usual, labels = ReadOptions(), Labels()
    language, contexts, form = None, usual.contexts, usual.form
    columns = iter(st.columns(max(len(taken), 1)))
    if "language" in taken:
        text = next(columns).text_input(
            "Language",
            placeholder="from the file's name, else en",
            key=_key("language"),
            help="Code of the language of all rows, such as nl or pt-BR.",
        )
        language = (text or "").strip() or None
    if "contexts" in taken:
        contexts = next(columns).selectbox(
            "Contexts",
            CONTEXTS,
            key=_key("contexts"),
            help="Questions whose context leaves open who it was, or also those that tell.",
        )
    if "form" in taken:
        form = next(columns).selectbox(
            "Sentences with a blank",
            FORMS,
            key=_key("form"),
            help="As context and filled sentence, or the filled sentence alone.",
        )
    if "labels" in taken:
        labels = _labels(next(columns))
    lenient, sample = _rows_and_sample()
    return Wish(wish.format, language, contexts, form, labels, wish.encoding, lenient, sample)


def _labels(column: DeltaGenerator) -> Labels:
    sent = column.file_uploader(
        "Label file",
        type=["json"],
        key=_key("labels"),
        help="Role corrections by base id: {base: {role: field}}, or null to leave an item out.",
    )
    if sent is None:
        return ()
    with on_disk([(sent.name, sent.getvalue())], open_cache().folder) as path:
        try:
            found = read_labels(path)
        except InputError as error:
            raise InputError(str(error).replace(f"{path.parent}/", "")) from error
    return tuple((base, None if r is None else tuple(r.items())) for base, r in found.items())


def _rows_and_sample() -> tuple[bool, Sample | None]:
    left, middle, right = st.columns(3)
    errors = left.radio("Rows with an error", [STRICT, LENIENT], key=_key("errors"))
    n = middle.number_input(
        "Sample: items per category",
        min_value=0,
        value=0,
        key=_key("sample"),
        help="0 takes all. Drawn as published samples are: the seed is set anew for each category.",
    )
    seed = right.number_input(
        "Seed of the sample", min_value=0, value=Sample(1).seed, disabled=not n, key=_key("seed")
    )
    return errors == LENIENT, Sample(int(n), int(seed)) if n else None
