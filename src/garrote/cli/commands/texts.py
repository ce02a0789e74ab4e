"""``garrote texts``: where an equation, section or figure of the source texts is."""

import argparse

from garrote.cli.errors import DONE, UsageError, suggestion


def run(options: argparse.Namespace) -> int:
    """Print the rows of a place, all rows of a text, or which texts there are."""
    from garrote.cli.console import say
    from garrote.experiments.texts import TEXTS

    if options.text is None:
        for name, text in TEXTS.items():
            there = len(text.entries) - len(text.missing)
            say(f"{name}: {text.citation}")
            say(f"  {there} of {len(text.entries)} places are there")
        return DONE
    if options.text not in TEXTS:
        hint = suggestion(options.text, TEXTS) or f"; known are {', '.join(TEXTS)}"
        raise UsageError(f"there is no text {options.text!r}{hint}", "texts")
    _print_places(options.text, " ".join(options.place))
    return DONE


def _print_places(name: str, place: str) -> None:
    """Print what is known of a place, or of all places of a text."""
    from garrote.cli.console import say
    from garrote.experiments.texts import TEXTS
    from garrote.experiments.texts.places import in_lines

    text = TEXTS[name]
    found = text.find(place) if place else text.entries
    if not found:
        raise UsageError(f"{name} has no place {place!r} that the map knows", "texts")
    for entry in found:
        for line in in_lines(entry):
            say(line)
