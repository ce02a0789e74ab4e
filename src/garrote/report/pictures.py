"""The numbers that the page's script draws: small arrays, variables by position and never by name."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from garrote.report.answer import effect_scale, effect_units, null_model
from garrote.report.held_out import calibration
from garrote.report.levels import curves, shown_levels
from garrote.report.locus import locus
from garrote.report.rows import NUMBERS, Scale
from garrote.report.sources import strength_words
from garrote.report.wording import readable
from garrote.results.selections.evidence import FREQUENCY, is_certainty

_DIGITS = 5
_SIGNS = {1: 1, -1: -1, 0: 2}
# Names of variables and of columns, by position and the name in the document: the first column of a
# variable has its position, and another name.
Names = dict[tuple[int, str], str]


@dataclass(frozen=True)
class Limits:
    """How much is shown at most.

    Attributes
    ----------
    rows : int
        Rows of the table.
    letters : int
        Letters of a name.
    strengths, lines, points, correlated, models, locus : int
        Strengths of the path, its curves, rows with predictions, variables in the picture of
        correlations, models (and variables) in that of models, and variables in that of a locus.
    """

    rows: int
    letters: int
    strengths: int = 100
    lines: int = 40
    points: int = 300
    correlated: int = 25
    models: int = 30
    locus: int = 3000


def picture_data(
    document: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], scale: Scale, limits: Limits
) -> dict[str, Any]:
    """Return what the script needs beyond the text of the page."""
    listed = document["variables"][: len(rows)]
    names: Names = {
        (v["position"], v["name"]): row["name"] for v, row in zip(listed, rows, strict=True)
    }
    levels = _levels(listed, rows, names, limits.letters)
    data: dict[str, Any] = {
        "response": readable(document["response"], 60),
        "scale": effect_scale(document),
        "effect": dict(zip(("on", "per"), effect_units(document), strict=True)),
        "rows": {key: _round([row["values"][key] for row in rows], 7) for key in NUMBERS},
        "selected": [row["selected"] for row in rows],
        "classes": [row["class"] for row in rows],
        "covariate": [row["covariate"] for row in rows],
        "several": [row["several"] for row in rows],
        "levels": levels,
        "reach": None if scale.common else _round([row["reach"] for row in rows]),
        "unit": _round([row["unit"] for row in rows], 7) if scale.per_deviation else None,
        "domain": [scale.low, scale.high],
        "decimals": [row["decimals"] for row in rows],
        "unitDecimals": scale.unit_decimals,
        **_counting(document),
    }
    drawn, failures = _pictures(document, names, limits)
    # Pictures refer to variables by their place among `names`, the rows of the table first.
    places = {key: k for k, key in enumerate(names)}
    for key in ("path", "standIns", "models"):
        if drawn[key] is not None:
            drawn[key]["columns"] = [places[p] for p in drawn[key]["columns"]]
    for level in levels:
        level["column"] = places[level["column"]]
    members = [
        (places.get((level["position"], level["column"])), k)
        for k, variable in enumerate(listed)
        for level in variable.get("levels") or ()
    ]
    data["owners"] = [(column, k) for column, k in members if column is not None]
    return {"names": list(names.values()), **data, **drawn, "failures": failures}


def _counting(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the evidence along a path is, beyond what it selects, and how sizes are called."""
    control = document.get("control")
    if document["evidence"] == FREQUENCY and control is not None:
        least = control["threshold"]
        words = ("variables in a resample on average", "mean number of variables in a resample")
        bold = f"of frequency {least:.4g} or more"
        return {"certainty": True, "frequency": True, "least": least, "sizes": words, "bold": bold}
    certain = is_certainty(document["evidence"])
    words = ("variables expected", "expected number of variables")
    if not certain:
        words = ("not 0", "coefficients that are not 0")
    bold = "of probability above 0.5" if certain else "that are not 0"
    return {"certainty": certain, "frequency": False, "least": None, "sizes": words, "bold": bold}


def _pictures(
    document: Mapping[str, Any], names: Names, limits: Limits
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the numbers of each picture, None where there is none, and why some could not be made.

    A picture that fails is left out, with a warning, and stops no other one.
    """
    drawn: dict[str, Any] = {}
    failures: dict[str, str] = {}

    def draw(key: str, make: Callable[..., Any], *given: Any) -> None:
        drawn[key] = None
        try:
            drawn[key] = make(*given, limits)
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            failures[key] = readable(f"{type(error).__name__}: {reason}")
            warnings.warn(
                f"a picture of the report ({key}) could not be drawn: {failures[key]}",
                UserWarning,
                stacklevel=2,
            )

    path = document["path"]
    kept = _kept(path, limits)
    draw("path", _path, path, kept, names)
    if "path" in failures:  # the other pictures show the chosen strength alone
        kept = [path["chosen"]]
    draw("validation", _validation, document, kept)
    draw("predictions", _predictions, document, kept)
    draw("standIns", _stand_ins, document["stand_ins"], names)
    draw("models", _models, document.get("models"), names)
    draw("calibration", calibration, document)
    draw("locus", locus, document)
    draw("curves", curves, document)
    return drawn, failures


def _kept(path: Mapping[str, Any] | None, limits: Limits) -> list[int]:
    """Return the positions of the strengths that are shown: evenly spread, the chosen one in."""
    if path is None:
        return []
    count, most = len(path["strengths"]), limits.strengths
    if count <= most:
        return list(range(count))
    even = {round(k * (count - 1) / (most - 1)) for k in range(most)}
    return sorted(even | {path["chosen"]})


def _path(
    path: Mapping[str, Any] | None, kept: Sequence[int], names: Names, limits: Limits
) -> dict[str, Any] | None:
    if path is None or len(kept) < 2:
        return None
    lines = limits.lines
    columns = _named(path, lines, names, limits)
    gap = None
    if has_branches(path):
        forward, backward = path["energies"]["forward"], path["energies"]["backward"]
        gap = [_difference(backward[k], forward[k]) for k in kept]
    return {
        "strength": readable(path["strength"], 30),
        "meaning": strength_words(path["strength"])[0],
        "strengths": [path["strengths"][k] for k in kept],
        "chosen": kept.index(path["chosen"]),
        "columns": columns,
        "probability": [_round(path["probability"][k][:lines]) for k in kept],
        "effect": [_round(path["effect"][k][:lines]) for k in kept],
        "size": _round([path["expected_size"][k] for k in kept]),
        "gap": gap,
        "apart": apart_ranges(path),
    }


def has_branches(path: Mapping[str, Any]) -> bool:
    """Tell whether a path was followed in both directions."""
    return len(path["strengths"]) > 1 and {"forward", "backward"} <= set(path["energies"])


def apart_ranges(path: Mapping[str, Any]) -> list[list[float]]:
    """Return the ranges of strengths in which forward and backward solutions differ."""
    ranges: list[list[float]] = []
    if not has_branches(path) or path["hysteresis"] is None:
        return ranges
    forward, backward = path["energies"]["forward"], path["energies"]["backward"]
    low, high = path["hysteresis"]
    before = False
    for strength, f, b in zip(path["strengths"], forward, backward, strict=True):
        gap = _difference(b, f)
        # Smaller differences are those of one solution, reached twice.
        differs = gap is not None and abs(gap) > 1e-3 * max(1.0, abs(f) * 1e-3)
        differs = differs and low - 1e-9 <= strength <= high + 1e-9
        if differs and before:
            ranges[-1][1] = strength
        elif differs:
            ranges.append([strength, strength])
        before = differs
    return ranges


def _validation(
    document: Mapping[str, Any], kept: Sequence[int], limits: Limits
) -> dict[str, Any] | None:
    found = document["validation"]
    if found is None or len(kept) < 2:
        return None
    return {
        "measure": readable(found["measure"], 60),
        "rule": readable(found["rule"], 30),
        "mean": _round([found["mean"][k] for k in kept]),
        "error": _round([found["standard_error"][k] for k in kept]),
        "null": found["null"],
        "nullModel": null_model(document),
    }


def _predictions(
    document: Mapping[str, Any], kept: Sequence[int], limits: Limits
) -> dict[str, Any] | None:
    found = document["predictions"]
    if found is None or not found["observed"] or not found["predicted"]:
        return None
    step = math.ceil(len(found["observed"]) / limits.points)
    return {
        "heldOut": found["held_out"],
        "rows": found["rows"][::step],
        "observed": _round(found["observed"][::step]),
        # Without a path there is one row of predictions.
        "predicted": [_round(found["predicted"][k][::step]) for k in kept or [0]],
    }


def _stand_ins(
    found: Mapping[str, Any] | None, names: Names, limits: Limits
) -> dict[str, Any] | None:
    if found is None or len(found["variables"]) < 2:
        return None
    most = limits.correlated
    return {
        "columns": _named(found, most, names, limits),
        "correlation": [_round(row[:most]) for row in found["correlation"][:most]],
    }


def _models(found: Mapping[str, Any] | None, names: Names, limits: Limits) -> dict[str, Any] | None:
    """Return the models as signs, 0 where a variable is out: the picture shows no more of them.

    A variable of several columns, whose effect is written as 0, is in with a sign of 2.
    """
    if found is None:
        return None
    models = found["effect"][: limits.models]
    inside = [k for k in range(len(found["variables"])) if any(m[k] is not None for m in models)]
    inside = inside[: limits.models]
    if not inside:
        return None
    columns = _named(found, len(found["variables"]), names, limits)
    return {
        "columns": [columns[k] for k in inside],
        "probability": _round(found["probability"][: limits.models]),
        "sign": [
            [0 if model[k] is None else _SIGNS[(model[k] > 0) - (model[k] < 0)] for k in inside]
            for model in models
        ],
    }


def _named(
    found: Mapping[str, Any], most: int, names: Names, limits: Limits
) -> list[tuple[int, str]]:
    """Return the columns that a picture shows, and see to it that they have names."""
    keys = list(zip(found["positions"][:most], found["variables"][:most], strict=True))
    for key in keys:
        names.setdefault(key, readable(key[1], limits.letters))
    return keys


def _levels(
    listed: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    names: Names,
    longest: int,
) -> list[dict[str, Any]]:
    """Return what the script needs of the rows of levels, in their order."""
    found = []
    for k, (variable, row) in enumerate(zip(listed, rows, strict=True)):
        for level, shown in zip(shown_levels(variable), row["levels"], strict=True):
            key = (level["position"], level["column"])
            names.setdefault(key, readable(level["column"], longest))
            found.append(
                {
                    "row": k,
                    "column": key,
                    "effect": shown["values"]["effect"],
                    "unit": shown["unit"],
                    "decimals": shown["decimals"],
                    "reach": shown["reach"],
                }
            )
    return found


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else round(a - b, 6)


def _round(values: Sequence[float | None], digits: int = _DIGITS) -> list[float | None]:
    return [None if v is None else float(f"{v:.{digits}g}") for v in values]
