"""What the page says of z-scores and LD: whether they agree, and who is out of line."""

from collections.abc import Mapping
from typing import Any

from garrote.report.wording import amount, brief, counted, readable

# Variables in the table.
_MOST = 50


def consistency_words(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a paragraph and the rows of a table, of a selection from z-scores; else None."""
    found = document.get("consistency")
    if found is None:
        return None
    out = found["out_of_line"]
    return {
        "words": f"{_mismatch(found['mismatch'])} {_verdict(out, found['largest_deviation'])}",
        "rows": [
            {
                "name": readable(entry["name"], 200),
                "label": brief(readable(entry["name"])),
                "z": amount(entry["z"], 2),
                "expected": amount(entry["expected"], 2),
                "deviation": amount(entry["deviation"], 1),
                "verdict": "sign exchanged" if entry["exchanged"] else "out of line",
            }
            for entry in out[:_MOST]
        ],
        "more": max(0, len(out) - _MOST),
    }


def _mismatch(value: float | None) -> str:
    if not value:
        return "The z-scores fit the LD matrix as those of the same samples do."
    return (
        "The LD matrix is not exactly that of the samples behind the z-scores: without any effects it "
        f"would best be mixed with {amount(100 * value, 2)} % of an identity matrix."
    )


def _verdict(out: list[Mapping[str, Any]], largest: float | None) -> str:
    if out:
        verb = "disagrees" if len(out) == 1 else "disagree"
        return (
            f"{counted(len(out), 'z-score')} {verb} with what LD and all others imply. Where a sign is "
            "exchanged, effects were probably counted for the other allele. Correct these, or leave "
            "them out, and select again: a wrong z-score passes for an effect."
        )
    return (
        "Every z-score agrees with what LD and all others imply for it; the largest difference is "
        f"{amount(largest, 1)} conditional standard deviations."
    )
