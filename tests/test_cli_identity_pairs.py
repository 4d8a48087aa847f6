"""The command `identity-pairs`: what is printed and refused."""

from __future__ import annotations

import json
import re

import pytest

from benchmarks.simulated_pairs import DATASET, fill_pairs
from core.analysis.identities.tables import TABLES
from core.store.gate import Cache
from tests.conftest import Run
from tests.pair_samples import pair
from tests.store_samples import put


@pytest.fixture
def filled(cache: Cache) -> Cache:
    fill_pairs(cache, n_models=2, n_pairs=800)
    return cache


def test_models_identities_and_verdicts_are_printed(run: Run, filled: Cache) -> None:
    code, out, err = run("identity-pairs", "--dataset", DATASET)
    assert (code, err) == (0, "")
    for words in (
        "SIMULATED: no model",
        "Bias (W), %",
        "simulated-02",
        "mean of 2 models",
        "Non-binary",
        "go opposite",
    ):
        assert words in out
    assert re.search(r"simulated-01 .* \d+\.\d \(11\) ", out)
    assert "The same claims in another template move bias (W) by" in out
    assert "fair" not in out
    assert max(map(len, out.split("Bias (W): share")[0].splitlines())) <= 80


def test_one_scorer_and_one_table(run: Run, filled: Cache) -> None:
    code, out, _ = run(
        *("identity-pairs", "--dataset", DATASET, "--scorer", "simulated-02", "--table", "tiers")
    )
    assert code == 0
    assert "tiers 1-3" in out
    assert "survey-added" in out
    assert "simulated-01" not in out
    assert "Note: Tiers are nested" in out


def test_json_has_every_table_with_its_notes(run: Run, filled: Cache) -> None:
    code, out, _ = run("identity-pairs", "--dataset", DATASET, "--seed", 7, "--json")
    said = json.loads(out)
    assert code == 0
    assert (said["datasets"], said["seed"], said["n_confounded"]) == ([DATASET], 7, 0)
    assert said["simulated"] is True
    assert [*said["tables"]] == [*(name for name in TABLES if name != "languages"), "confounds"]
    for table in said["tables"].values():
        assert table["rows"]
        assert all("n" in row and "reason" in row for row in table["rows"])
    again = json.loads(run("identity-pairs", "--dataset", DATASET, "--seed", 7, "--json")[1])
    assert again == said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--table", "shares"), "'shares' is not a table; choose from: overview"),
        (("--table", "languages"), "name the data set of another one with --against"),
        (("--scorer", "nobody"), "No scorer is called 'nobody'"),
        (("--against", "elsewhere"), "no data set 'elsewhere'"),
        (("--against", "d"), "No pair of d has an identity and a predicate"),
    ],
)
def test_what_cannot_be_shown_is_refused(run: Run, filled: Cache, arguments, message) -> None:
    put(filled, [pair("plain", ("he ran", "she ran"))])
    code, out, err = run("identity-pairs", "--dataset", DATASET, *arguments)
    assert (code, out) == (2, "")
    assert message in err
