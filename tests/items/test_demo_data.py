"""The demo items keep what data/README.md promises of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import pytest

from core.items.report import read_dataset
from core.items.texts import is_collapsed
from core.settings import DEMO_DATA
from core.types import Role, Severity

LANGUAGES = ("es", "fr", "zh", "ko", "ar", "hi", "sw", "nl")
REWORDINGS = ("en~p1", "en~p2", "en~p3")
PARTIAL = ("es~p1", "nl~p1")


@pytest.fixture(scope="module")
def report():
    return read_dataset(DEMO_DATA)


@pytest.fixture(scope="module")
def by_condition(report):
    table = defaultdict(dict)
    for item in report.items:
        if not item.native:
            table[item.condition][item.item_id] = item
    return table


def trigrams(item):
    words = " ".join([item.context, *item.continuations().values()]).casefold().split()
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def test_the_files_have_no_errors(report):
    assert not [p for p in report.problems if p.severity == Severity.ERROR]


def test_notes_are_only_about_collapsed_translations(report):
    assert {p.kind for p in report.problems} <= {"collapsed"}


def test_forms_and_categories(by_condition):
    english = by_condition["en"].values()
    assert len(english) >= 40
    forms = Counter(item.metadata["form"] for item in english)
    assert set(forms) == {"fill_in", "question", "continuation"}
    assert min(forms.values()) >= 12
    categories = Counter(item.category for item in english)
    assert set(categories) == {
        "gender", "profession", "age", "nationality", "religion", "region_or_class",
    }  # fmt: skip
    assert min(categories.values()) >= 5


def test_each_form_has_its_parts(report):
    for item in report.items:
        form = item.metadata["form"]
        texts = item.continuations()
        if form == "question":
            assert set(texts) == {Role.STEREOTYPE, Role.ANTI_STEREOTYPE, Role.UNKNOWN}
            assert sorted(item.answer_order) == sorted(texts)
        else:
            assert set(texts) == {Role.STEREOTYPE, Role.ANTI_STEREOTYPE, Role.UNRELATED}
        if form == "fill_in":
            before, after = item.context.split("BLANK")
            for text in texts.values():
                assert text.startswith(before), item
                assert text.endswith(after), item
        else:
            assert "BLANK" not in item.context


def test_no_two_english_items_share_half_their_trigrams(by_condition):
    sets = {name: trigrams(item) for name, item in by_condition["en"].items()}
    for (a, first), (b, second) in combinations(sets.items(), 2):
        assert len(first & second) < 0.5 * min(len(first), len(second)), (a, b)


@pytest.mark.parametrize("condition", [*REWORDINGS, *LANGUAGES])
def test_each_condition_covers_the_items(by_condition, condition):
    english, other = by_condition["en"], by_condition[condition]
    assert set(other) <= set(english)
    usable = [item for item in other.values() if not is_collapsed(item)]
    assert len(usable) >= 38


@pytest.mark.parametrize("condition", PARTIAL)
def test_rewordings_of_translations_differ_from_them(by_condition, condition):
    rewordings, originals = by_condition[condition], by_condition[condition.split("~")[0]]
    assert len(rewordings) >= 20
    for name, item in rewordings.items():
        assert item.context != originals[name].context


def test_rewordings_differ_from_english_and_keep_the_contrast(by_condition):
    for condition in REWORDINGS:
        for name, item in by_condition[condition].items():
            original = by_condition["en"][name]
            assert item.context != original.context
            assert not is_collapsed(item)


def test_no_translation_is_its_english_text(by_condition):
    for language in LANGUAGES:
        for name, item in by_condition[language].items():
            original = by_condition["en"][name]
            assert item.context != original.context
            for role, text in item.continuations().items():
                assert text != original.continuations()[role], (language, name)


def test_losses_in_translation_are_marked(by_condition):
    judgments = Counter()
    for language in LANGUAGES:
        for item in by_condition[language].values():
            judgment = item.metadata["judgment"]
            judgments[judgment] += 1
            assert (judgment == "lost") == is_collapsed(item), item
    assert set(judgments) == {"preserved", "partly", "lost"}
    assert judgments["lost"] >= 5
    assert judgments["partly"] >= 5


def test_two_native_items_per_language(report, by_condition):
    native = [item for item in report.items if item.native]
    assert Counter(item.condition for item in native) == dict.fromkeys(LANGUAGES, 2)
    assert not {item.item_id for item in native} & set(by_condition["en"])
