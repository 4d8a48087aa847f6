"""What the tables of the noise floor say, in sentences for a person.

None of them says that a model is fair: a gap that rewording might make is not shown to be none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from core.analysis.audit.floors import median_floor
from core.analysis.audit.names import MODEL
from core.analysis.audit.words import number, p_words
from core.languages import language_name
from core.stats.levels import LEVEL

Reading = Literal["above the floor", "not shown above", "below the floor", "undefined"]
Row = Mapping[Any, Any]

UNMOVED = "Single items do not differ in their changes, so there is no noise to compare it with."


def floor_sentence(by_model: pd.DataFrame) -> str:
    """How far rewording moves the mean, beside what noise of single items alone would do.

    Parameters
    ----------
    by_model
        Rows of `floors_by_model`.
    """
    known = by_model[by_model["floor"].notna()]
    if known.empty:
        reasons = dict.fromkeys(r for r in by_model["reason"] if r)
        return f"The noise floor is not known. {' '.join(reasons)}".strip()
    floor, noise = median_floor(known), float(known["expected_noise"].median())
    basis = (
        f"{_span(known['n_rewordings'])} {_plural('rewording', known['n_rewordings'].max())} of "
        f"full coverage, n = {_span(known['n_items'])} {_plural('item', known['n_items'].max())}"
    )
    if len(by_model) == 1:
        start = f"Rewording alone moves the mean score of the model by {floor:.3f} ({basis})"
    else:
        low, high = known["floor"].min(), known["floor"].max()
        start = (
            f"Rewording alone moves the mean score of a model by {floor:.3f} (median over "
            f"{len(known)} of {len(by_model)} models, {low:.3f} to {high:.3f}; {basis})"
        )
    if math.isnan(noise) or noise == 0:
        return f"{start}. {UNMOVED}"
    than = "no more than" if floor <= noise else f"{floor / noise:.1f} times"
    one = " One model: how far models differ in this is not known." if len(by_model) == 1 else ""
    return (
        f"{start}. Changes of single items that are nothing but noise would move it by "
        f"{noise:.3f}: what is seen is {than} that.{one}"
    )


def rewording_sentence(tested: pd.DataFrame) -> str:
    """Which rewordings the item test would call a shift, though only the wording differs.

    Parameters
    ----------
    tested
        Rows of `item_tests` about rewordings.
    """
    known = tested[tested["qvalue"].notna()]
    if known.empty:
        reasons = dict.fromkeys(r for r in tested["reason"] if r)
        return f"No rewording can be tested against others. {' '.join(reasons)}".strip()
    found = known.loc[known["qvalue"] < LEVEL, "condition"].tolist()
    held = "Held to the test that languages are held to,"
    if not found:
        which = "the only one that can be tested does not differ"
        if len(known) > 1:
            which = f"none of {len(known)} rewordings differs"
        return f"{held} {which} from the others with q < .05."
    return (
        f"{held} {len(found)} of {len(known)} rewordings ({', '.join(found)}) "
        f"{'differs' if len(found) == 1 else 'differ'} from the others with q < .05, although "
        "only the wording is another. A test over items cannot tell what one wording does to all "
        "items from a shift, be it a rewording or a translation."
    )


def gap_reading(row: Row) -> Reading:
    """What a row of `floor_vs_gap` shows of the gap."""
    if math.isnan(row["difference_low"]):
        return "undefined"
    if row["difference_low"] > 0:
        return "above the floor"
    return "below the floor" if row["difference_high"] < 0 else "not shown above"


def gap_sentence(row: Row, model: str) -> str:
    """A gap against its floor, with the interval of their difference.

    Parameters
    ----------
    row
        Of `floor_vs_gap`.
    model
        What the row's model is called; unused where the row is of a language.
    """
    of_model = row["unit"] == MODEL
    name = model if of_model else language_name(str(row["condition"]))
    if math.isnan(row["gap"]):
        return f"{name}: there is no gap to compare. {row['reason']}".rstrip()
    languages = int(row["n_languages"])
    kind = f"mean gap over {languages} {_plural('language', languages)}" if of_model else "gap"
    start = f"{name}: {kind} {row['gap']:.3f}"
    if math.isnan(row["difference"]):
        return f"{start}; what rewording does is not known. {row['reason']}".rstrip()
    basis = (
        f"n = {row['n_items']:,} {_plural('item', row['n_items'])}, "
        f"{row['n_rewordings']} {_plural('rewording', row['n_rewordings'])}"
    )
    floor = f"floor of the mean over models {row['floor_of_mean']:.3f}"
    if of_model or row["n_models"] == 1:
        floor = f"floor of the same items {row['floor' if of_model else 'floor_of_mean']:.3f}"
    numbers = f"{start}, {floor}, "
    numbers += f"difference {_number(row['difference'])}"
    if math.isnan(row["difference_low"]):
        return f"{numbers} (no interval; {basis}). {row['reason']}".rstrip()
    interval = _interval(row["difference_low"], row["difference_high"])
    meaning = {
        "above the floor": "larger than what rewording does",
        "not shown above": "not shown to be larger than what rewording does",
        "below the floor": "smaller than what rewording does",
    }
    return f"{numbers} {interval} ({basis}): {meaning[gap_reading(row)]}."


def wording_sentences(
    rewordings: Row, languages: pd.DataFrame, who: str, above: Sequence[str] = ()
) -> list[str]:
    """What one more rewording would do to the mean, and which languages lie beyond it.

    Parameters
    ----------
    rewordings
        Row of `wording_variance` about the rewordings of English.
    languages
        Its rows about languages, of the same model or of all.
    who
        Whose mean score: "over 10 models" or "of that model".
    above
        Languages whose gap lies above the noise floor, if that is known of the same scores.
    """
    low, high = rewordings["prediction_low"], rewordings["prediction_high"]
    if math.isnan(low):
        start = f"What one more rewording of English would do to the mean score {who}"
        return [f"{start} cannot be predicted. {rewordings['reason']}"]
    sentences = [
        f"One more rewording of English is predicted to change the mean score {who} by something "
        f"in {_interval(low, high)} (95 %, from {rewordings['n_rewordings']} rewordings, "
        f"n = {rewordings['n']:,} items). Wordings differ by tau = {rewordings['tau']:.3f}; the "
        f"choice of items moves the mean of one rewording by {rewordings['sampling_sd']:.3f} (sd)."
    ]
    if rewordings["tau2_raw"] <= 0:
        sentences.append(
            "The rewordings differ no more than the choice of items explains, so tau is estimated "
            "as 0. With this few, that does not show that there is none."
        )
    known = languages[languages["outside"].notna()]
    return sentences if known.empty else [*sentences, *_beyond(known, above)]


def _beyond(languages: pd.DataFrame, above: Sequence[str]) -> list[str]:
    """Which languages lie outside their interval, and which inside though above the floor."""
    outside = languages["outside"].astype(bool)
    n, noun = len(languages), _plural("language", len(languages))
    if not outside.any():
        first = (
            f"The mean change of none of {n} {noun} lies outside its interval: each may be what "
            "one more wording does."
        )
    else:
        named = [
            f"{language_name(str(row['condition']))} ({_number(row['mean_change'])}, "
            f"n = {row['n']:,}, {p_words('p', row['pvalue_prediction'])}, "
            f"{p_words('q', row['qvalue_prediction'])})"
            for row in languages[outside].to_dict("records")
        ]
        first = (
            f"Outside its interval, so further than one more wording is expected to go, "
            f"{'lies' if len(named) == 1 else 'lie'} {len(named)} of {n} {noun}: {_listed(named)}."
        )
        if not (languages.loc[outside, "qvalue_prediction"] < LEVEL).any():
            first += f" None holds after adjusting for {n} {noun} (q)."
    inside = [c for c in languages.loc[~outside, "condition"] if c in above]
    if not inside:
        return [first]
    names = _listed([language_name(c) for c in inside])
    return [
        first,
        f"Above the floor, yet inside the interval: {names}. These gaps are larger than what the "
        f"{languages['n_rewordings'].max()} rewordings at hand do on average, but one more might "
        "do as much.",
    ]


def _interval(low: float, high: float) -> str:
    return f"[{_number(low)}, {_number(high)}]"


def _number(value: float) -> str:
    """Three digits, more where they would hide on which side of zero it lies; a true minus."""
    digits = 3 if abs(value) >= 0.0005 or value == 0 else 5
    return number(value, digits)


def _span(numbers: pd.Series[Any]) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _plural(noun: str, n: Any) -> str:
    return noun if int(n) == 1 else f"{noun}s"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
