"""The look at a table before the fit, as a person sees it: findings, and one command to paste."""

import argparse
import csv
import io
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from garrote.cli import console

_SINGLE = ("--missing", "--family")
_MOST_NOTES = 5


def with_command(check: Any, options: argparse.Namespace) -> Any:
    """Return a check with the command that settles all its findings, if one of them needs any."""
    remedy = check.remedy
    return replace(check, command=_command(options.words, remedy)) if remedy else check


def show_check(table: Any, check: Any) -> None:
    """Print what was found, and how columns were read, before the fit."""
    if check.findings:
        console.say(f"A look at {table.source} before the fit:")
        for finding in check.findings:
            console.item(finding.text)
    for text in check.reading[:_MOST_NOTES]:
        console.item(text)
    more = len(check.reading) - _MOST_NOTES
    if more > 0:
        said = "note on columns is" if more == 1 else "notes on columns are"
        console.item(f"{more} more {said} in the report and the JSON document")
    if check.command:
        console.say("If you agree with what was found, paste this:")
        print(f"\n    {check.command}\n")


def show_refusal(label: str, check: Any) -> None:
    """Print all that stands in the way, and all else that was found, with the command to paste."""
    file = sys.stderr
    console.say(f"garrote: {label} cannot be fitted as it is:", file)
    for finding in check.findings:
        if finding.blocks:
            console.item(finding.text, file)
    others = [finding for finding in check.findings if not finding.blocks]
    if others:
        console.say("Also:", file)
    for finding in others:
        console.item(finding.text, file)
    if check.command:
        console.say("This settles all of it, if you agree; paste it:", file)
        print(f"\n    {check.command}\n", file=file)


def _command(words: Sequence[str], remedy: Mapping[str, tuple[str, ...]]) -> str:
    """Return a command with further options, in place of those that say the same once."""
    kept = _without(words, [option for option in _SINGLE if option in remedy])
    for option, values in remedy.items():
        if option == "--missing" and values == ("error",):  # the default
            continue
        if not values:
            kept += [] if option in kept else [option]
            continue
        text = values[0] if option in _SINGLE else _line(values)
        kept += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return shlex.join(kept)


def _without(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the words of a command without some options and their values."""
    kept, skip = [], False
    for word in words:
        name, equals, _ = word.partition("=")
        if skip:
            skip = False
        elif name in options:
            skip = not equals
        else:
            kept.append(word)
    return kept


def _line(values: Sequence[str]) -> str:
    """Return names as a list that the command line splits again: a line of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()
