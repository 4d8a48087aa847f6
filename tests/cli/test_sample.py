"""`python -m core sample`: a table of axes to rate, which the command axes takes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from core.axes.named import axes_named
from tests.conftest import Run

SCM = axes_named("scm").axes


@pytest.fixture
def domains(tmp_path: Path) -> Path:
    """Warmth and competence as domains of their synsets, those in both as warmth."""
    found = {
        pole.synset: axis.dimension
        for axis in reversed(SCM)
        for pole in (axis.negative, axis.positive)
    }
    path = tmp_path / "domains.csv"
    pd.DataFrame(found.items(), columns=["synset", "domain"]).to_csv(path, index=False)
    return path


def test_the_table_can_be_read_as_axes(run: Run, domains: Path, tmp_path: Path) -> None:
    file = tmp_path / "drawn.csv"
    asked = ("sample", domains, "--domain=warmth", "--domain=competence", "--axes=scm", "--n=9")
    code, out, err = run(*asked, f"--out={file}")
    assert code == 0
    drawn = axes_named(str(file)).axes
    assert [axis.dimension for axis in drawn] == ["warmth"] * 5 + ["competence"] * 4
    assert {axis.axis_id for axis in drawn} < {axis.axis_id for axis in SCM}
    assert "warmth: 5 of" in out
    assert f"Wrote {file}." in " ".join(err.split())
    other = tmp_path / "other.csv"
    assert run(*asked, f"--out={other}", "--seed=1")[0] == 0
    assert axes_named(str(other)).axes != drawn
    old, new = (
        drawn[0].axis_id,
        next(axis.axis_id for axis in axes_named(str(other)).axes if axis not in drawn),
    )
    (tmp_path / "swap.csv").write_text(f"axis,replacement\n{old},{new}\n", "utf-8")
    code, out, _ = run(*asked, f"--out={file}", f"--replacements={tmp_path / 'swap.csv'}", "--json")
    assert code == 0
    swapped = [axis.axis_id for axis in axes_named(str(file)).axes]
    assert swapped == [new, *(axis.axis_id for axis in drawn[1:])]
    assert len(json.loads(out)["axes"]) == 9


def test_dropped_axes_are_counted_by_kind(run: Run, domains: Path, tmp_path: Path) -> None:
    asked = ("sample", domains, "--domain=warmth", "--n=2", f"--out={tmp_path / 'drawn.csv'}")
    _, _, err = run(*asked)
    told = [line for line in err.splitlines() if line.startswith("Dropped: ")]
    assert 1 <= len(told) <= 8
    assert any("a pole has no domain" in line for line in told)


def test_what_cannot_be_drawn_is_refused(run: Run, domains: Path, tmp_path: Path) -> None:
    asked = ("sample", domains, f"--out={tmp_path / 'drawn.csv'}")
    code, _, err = run(*asked, "--domain=weather")
    assert (code, "The domain weather has 0 axes to draw from" in " ".join(err.split())) == (
        2,
        True,
    )
    code, _, err = run(*asked, "--domain=warmth", "--seed=-1")
    assert (code, "--seed is -1" in err) == (2, True)
    assert not (tmp_path / "drawn.csv").exists()
