"""Ratings: the example of the documentation, every refusal by its row, verdicts by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import DataSetError, InputError
from core.people.ratings import Ratings, read_ratings
from core.people.verdicts import reliability_table, verdicts
from core.settings import DATA

HEAD = "annotator,group,axis,rating,expected\n"
AXIS = "bad~good"


def _read(folder: Path, rows: str, head: str = HEAD) -> Ratings:
    path = folder / "ratings.csv"
    path.write_text(head + rows)
    return read_ratings(path)


def _answers(*rows: tuple[str, float], axis: str = AXIS) -> pd.DataFrame:
    """Answers of as many annotators: (group, rating), NaN for not applicable."""
    names = ["annotator", "group", "axis", "rating"]
    return pd.DataFrame([(f"p{i}", g, axis, r) for i, (g, r) in enumerate(rows)], columns=names)


def test_the_example_of_the_documentation_says_what_is_written_beside_it(tmp_path):
    text = (DATA / "README.md").read_text()
    (example,) = re.findall(r"```csv\n(annotator,.*?)```", text, re.DOTALL)
    found = _read(tmp_path, example, head="")
    assert found.annotators.drop(columns="reason").to_numpy().tolist() == [
        ["p1", 2, 1, 0, False],
        ["p2", 2, 1, 0, False],
        ["p3", 1, 2, 2, True],
    ]
    assert found.annotators["reason"].iloc[2] == "2 control items wrong, more than 1"
    assert len(found.answers) == 5 and len(found.kept) == 4
    rows = verdicts(found.kept).set_index("axis")
    assert rows["stereotypical"].to_dict() == {
        "dishonest.a.01~honest.a.01": True,
        "rural.a.01~urban.a.01": True,  # one of two says 3, which is all of the ratings
    }
    assert {note.kind for note in found.notes} == {"few_controls", "excluded"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (f"p,Nurse,{AXIS},6,", "row 2: rating is '6'; write a whole number from 1 to 5, or NA"),
        (f"p,Nurse,{AXIS},0,", "rating is '0'"),
        (f"p,{'N' * 201},{AXIS},3,", "group has 201 characters"),
        (f"p,Nurse,{'a' * 300}~{'b' * 300},3,", "axis has 601 characters"),
        (f"p,Nurse,{AXIS},3.5,", "rating is '3.5'"),
        (f"p,Nurse,{AXIS},,", "rating is ''"),
        (f"p,Nurse,{AXIS},3,9", "expected is '9'"),
        (f",Nurse,{AXIS},3,", "The row has no annotator"),
        (f"p,,{AXIS},3,", "The row has no group"),
        ("p,Nurse,good,3,", "axis is 'good'; write its two poles with ~"),
        ("p,Nurse,good~good,3,", "axis is 'good~good'"),
        (f"p,Nurse,{AXIS},3,\nq,Nurse,good~bad,3,", "row 3: An earlier row has the axis as 'bad~g"),
        (f"p,Nurse,{AXIS},3,\np,nurse,{AXIS},4,", "row 3: 'p' has answered this in row 2 already"),
        (f"p,Nurse,{AXIS},3,3", "All rows are control items; add ratings."),
    ],
)
def test_a_wrong_row_refuses_the_file_with_its_reason(tmp_path, rows, said):
    with pytest.raises(DataSetError, match=re.escape(said)):
        _read(tmp_path, rows + "\n")


def test_all_that_is_wrong_in_a_row_is_told_at_once(tmp_path):
    with pytest.raises(DataSetError) as refused:
        _read(tmp_path, "p,Nurse,cool-warm,6,\n,,good~bad,NA,9\n")
    first, second = refused.value.problems
    assert "axis is 'cool-warm'" in first.message and "rating is '6'" in first.message
    for said in ("no annotator", "no group", "expected is '9'"):
        assert said in second.message


def test_every_problem_is_carried_and_a_missing_column_named(tmp_path):
    with pytest.raises(DataSetError) as refused:
        _read(tmp_path, f"p,A,{AXIS},7,\np,B,{AXIS},8,\np,C,{AXIS},3,\n")
    assert [problem.row for problem in refused.value.problems] == [2, 3]
    with pytest.raises(DataSetError, match="Missing columns: rating"):
        _read(tmp_path, "p,A,x~y\n", head="annotator,group,axis\n")
    with pytest.raises(InputError):
        read_ratings(tmp_path / "none.csv")


def test_more_than_one_wrong_control_excludes_and_none_is_noted(tmp_path):
    rows = [f"{who},A,{AXIS},4," for who in ("none", "one", "two")]
    rows += [f"one,x,{AXIS},1,5", f"one,y,{AXIS},4,4|5", f"two,x,{AXIS},NA,5", f"two,y,{AXIS},1,NA"]
    found = _read(tmp_path, "\n".join(rows) + "\n")
    table = found.annotators.set_index("annotator")
    assert table["n_wrong"].to_dict() == {"none": 0, "one": 1, "two": 2}
    assert set(found.kept["annotator"]) == {"none", "one"}
    assert table.loc["none", "reason"] == "answered no control item"
    assert any("1 annotator of 3 answered no control item" in note.message for note in found.notes)


def test_other_files_hold_numbers_and_groups_keep_their_first_spelling(tmp_path):
    path = tmp_path / "ratings.parquet"
    pd.DataFrame(
        {
            "annotator": [1, 2],
            "group": ["Nurse", "NURSE"],
            "axis": [AXIS, " bad ~ good"],
            "rating": [4.0, 2.0],
        }
    ).to_parquet(path)
    answers = read_ratings(path).answers
    assert answers["annotator"].tolist() == ["1", "2"]
    assert answers["group"].tolist() == ["Nurse", "Nurse"]
    assert answers["axis"].unique().tolist() == [AXIS]


@pytest.mark.parametrize(
    ("ratings", "published", "sided", "side"),
    [
        ((1, 2, 5), True, True, -1),
        ((4, 5, 1), True, True, 1),
        ((3, 3, 5), True, False, 0),
        ((1, 3, 5), False, False, None),
        ((1, 1, 5, 5), False, False, None),  # half is not more than half
        ((1, math.nan, math.nan), None, None, None),
        ((1, 2, math.nan, math.nan), True, True, -1),  # half says that it does not apply
    ],
)
def test_verdicts_follow_majorities(ratings, published, sided, side):
    answers = _answers(*[("A", rating) for rating in ratings])
    for rule, expected in (("published", published), ("sided", sided)):
        (row,) = verdicts(answers, rule=rule).to_dict("records")
        flag = None if pd.isna(row["stereotypical"]) else bool(row["stereotypical"])
        assert flag is expected
        assert (row["reason"] == "") == (expected is not None)
        assert (None if pd.isna(row["side"]) else row["side"]) == side
        assert row["n"] == len(ratings) == row["n_annotators"]


def test_an_axis_pools_the_answers_of_its_groups():
    answers = _answers(("A", 1), ("A", 2), ("B", 5), ("B", 4), ("B", 5))
    by_group = verdicts(answers, over="groups").set_index("group")
    assert by_group["side"].to_dict() == {"A": -1, "B": 1}
    (row,) = verdicts(answers).to_dict("records")
    assert (row["n_below"], row["n_middle"], row["n_above"], row["side"]) == (2, 0, 3, 1)


def test_reliability_is_of_groups_on_axes():
    same = [("p1", "A", AXIS, 1.0), ("p2", "A", AXIS, 2.0), ("p1", "B", AXIS, 5.0)]
    same += [("p2", "B", AXIS, 5.0), ("p1", "C", AXIS, np.nan), ("p2", "C", AXIS, np.nan)]
    names = ["annotator", "group", "axis", "rating"]
    rows = reliability_table(pd.DataFrame(same, columns=names))
    assert rows["value"].tolist()[:2] == [1, 1]  # 1 and 2 are one class
    assert rows["value"].iloc[2] < 1 and rows["n_items"].tolist() == [3, 3, 2]
    assert (rows["n_annotators"] == 2).all() and (rows["reason"] == "").all()
    alone = reliability_table(pd.DataFrame(same[:1], columns=names))
    assert alone["value"].isna().all()
    assert set(alone["reason"]) == {"nothing was answered by two annotators"}
