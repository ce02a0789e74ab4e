"""The picture of a locus: variables along a chromosome, credible sets in colours."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from garrote.files.json_values import numbers
from garrote.report.wording import readable
from garrote.results.selections.locus import minus_log_p

_LONGEST = 60


def locus(document: Mapping[str, Any], limits: Any) -> dict[str, Any] | None:
    """Return the points of the picture, each with the number of its credible set or 0."""
    found = document.get("locus")
    if found is None or len(found["variables"]) < 2:
        return None
    member = {
        position: number
        for number, one in enumerate(document.get("credible_sets") or [], start=1)
        for position in one["positions"]
    }
    sets = [member.get(position, 0) for position in found["positions"]]
    order = sorted(range(len(sets)), key=lambda k: (not sets[k], -(found["probability"][k] or 0)))
    kept = sorted(order[: limits.locus])
    by_order = all(
        at == position for at, position in zip(found["at"], found["positions"], strict=True)
    )
    z = [found["z"][k] for k in kept] if any(z is not None for z in found["z"]) else None
    return {
        "names": [readable(found["variables"][k], _LONGEST) for k in kept],
        "at": [found["at"][k] for k in kept],
        "probability": [found["probability"][k] for k in kept],
        "z": z,
        "log_p": _log_p(z) if z is not None and _of_variants(document) else None,
        "sets": [sets[k] for k in kept],
        "along": "column" if by_order else "position",
    }


def _of_variants(document: Mapping[str, Any]) -> bool:
    """Tell whether variables are genetic variants, whose pictures show p-values."""
    return any(variable.get("place") for variable in document["variables"])


def _log_p(z: list[float | None]) -> list[float | None]:
    return numbers(minus_log_p(np.array(z, dtype=np.float64)), 4)


def locus_words(document: Mapping[str, Any]) -> str:
    """Say what the picture shows."""
    found = document.get("locus")
    if found is None:
        return ""
    left = document["n_variables"] - len(found["variables"])
    thinned = (
        f" Shown are {len(found['variables']):,}; the other {left:,} are less probable."
        if left
        else ""
    )
    below = "its z-score"
    if _of_variants(document):
        below = "-log10 of its p-value"
    return (
        "Each point is a variable, in the colour of its credible set. Above, how probable it is to have "
        f"an effect; below, {below} when it is looked at alone.{thinned}"
    )
