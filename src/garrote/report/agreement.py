"""What the page says of z-scores and LD: whether they agree, and who is out of line."""

from collections.abc import Mapping, Sequence
from typing import Any

from garrote.report.wording import amount, brief, counted, enumeration, readable

# Variables in the table, and names in a cell of it.
_MOST, _MOST_NAMED = 50, 4


def consistency_words(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a paragraph and the rows of a table, of a selection from z-scores; else None."""
    found = document.get("consistency")
    if found is None:
        return None
    out = found["out_of_line"]
    words = [_mismatch(document["provenance"].get("mismatch")), *_verdict(out, found)]
    return {
        "words": " ".join(words),
        "rows": [
            {
                "name": readable(entry["name"], 200),
                "label": brief(readable(entry["name"])),
                "z": amount(entry["z"], 2),
                "expected": amount(entry["expected"], 2),
                "deviation": amount(entry["deviation"], 1),
                "verdict": _of_one(entry),
            }
            for entry in out[:_MOST]
        ],
        "more": max(0, len(out) - _MOST),
    }


def _mismatch(value: Any) -> str:
    """Say what the LD matrix was taken for."""
    if not isinstance(value, int | float):
        return ""
    if not value:
        return "The LD matrix counts as that of the samples behind the z-scores."
    return (
        "The LD matrix does not count as exactly that of the samples behind the z-scores: it was mixed "
        f"with {amount(100 * value, 2)} % of an identity matrix."
    )


def _of_one(entry: Mapping[str, Any]) -> str:
    if not entry["flipped"]:
        return "out of line"
    others = enumeration([readable(name, 60) for name in entry["instead"]], _MOST_NAMED)
    return f"sign flipped, or that of {others}" if others else "sign flipped"


def _verdict(out: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> list[str]:
    if not out:
        return [
            "Every z-score agrees with what LD and all others imply for it; the largest difference "
            f"is {amount(found['largest_deviation'], 1)} conditional standard deviations."
        ]
    verb = "disagrees" if len(out) == 1 else "disagree"
    said = [f"{counted(len(out), 'z-score')} {verb} with what LD and all others imply."]
    if any(entry["flipped"] for entry in out):
        said.append("Where a sign is flipped, effects were probably counted for the other allele.")
    if any(entry["instead"] for entry in out):
        said.append(
            "Of near copies that contradict each other nothing may tell which one is wrong; or both "
            "have strong effects that hide each other."
        )
    correct = "Correct it, or leave it out" if len(out) == 1 else "Correct these, or leave them out"
    return [*said, f"{correct}, and select again: a wrong z-score passes for an effect."]
