"""What a look at a table found before anything was fitted: all of it at once, with the remedies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# What can be done about missing values; of several wishes the later one covers the earlier.
_MISSING = ("error", "drop", "mean", "impute", "drop-most")


@dataclass(frozen=True)
class Finding:
    """One thing that a person should know of a table.

    Parameters
    ----------
    topic : str
        What it is about, in a word or two: "text", "missing values", "identifier", ...
    text : str
        What was found, as a sentence without its full stop, without options of the command line.
    remedy : dict from options to values
        What would settle it at the command line: "--exclude": ("id",). An option without a value has
        an empty tuple.
    blocks : bool
        Whether nothing can be fitted before it is settled; otherwise it is a remark or a question.
    left_out : tuple of str
        Columns that are not used because of it, without being asked.
    """

    topic: str
    text: str
    remedy: dict[str, tuple[str, ...]]
    blocks: bool = False
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as texts and lists, for JSON."""
        remedy = {option: list(values) for option, values in self.remedy.items()}
        return {
            "topic": self.topic,
            "text": self.text,
            "remedy": remedy,
            "blocks": self.blocks,
        }


@dataclass(frozen=True)
class DataCheck:
    """All that was found in a table, what stands in the way of a fit first.

    Parameters
    ----------
    findings : tuple of Finding
    reading : tuple of str
        How the columns were read: what was coded how, as sentences without their full stops.
    command : str
        The command with the options that settle all of it, "" where there is nothing to settle or
        nobody typed a command.
    """

    findings: tuple[Finding, ...] = ()
    reading: tuple[str, ...] = ()
    command: str = ""

    @property
    def blocks(self) -> bool:
        """Whether something stands in the way of a fit."""
        return any(finding.blocks for finding in self.findings)

    @property
    def remedy(self) -> dict[str, tuple[str, ...]]:
        """What settles all findings together: each option with the values that any of them asks for."""
        found: dict[str, tuple[str, ...]] = {}
        for finding in self.findings:
            for option, values in finding.remedy.items():
                found[option] = tuple(dict.fromkeys((*found.get(option, ()), *values)))
        if "--missing" in found:
            found["--missing"] = (max(found["--missing"], key=_MISSING.index),)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return it as texts and lists, for JSON."""
        return {
            "findings": [finding.to_dict() for finding in self.findings],
            "reading": list(self.reading),
            "command": self.command,
        }


def names_left_out(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the columns that are not used because of some findings, without being asked."""
    return tuple(name for finding in findings for name in finding.left_out)


def in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings with those first that stand in the way of a fit."""
    return tuple(sorted(findings, key=lambda finding: not finding.blocks))
