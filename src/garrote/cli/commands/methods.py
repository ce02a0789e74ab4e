"""``garrote methods``: which selectors there are."""

import argparse

from garrote.cli.errors import DONE


def run(options: argparse.Namespace) -> int:
    """Print the registry."""
    from garrote.cli.console import say
    from garrote.estimators.registry import CONTROLS, SELECTORS

    for name, method in SELECTORS.items():
        say(f"{name}: {method.title}. {method.purpose[0].upper()}{method.purpose[1:]}.")
        names = [method.estimator, *([method.for_labels.estimator] if method.for_labels else [])]
        said = " and ".join(f"garrote.{name}" for name in names)
        say(f"  {said}; {method.reference}")
        if method.for_labels and method.for_labels.reference:
            say(f"  for labels: {method.for_labels.reference}")
    for name, control in CONTROLS.items():
        say(
            f"--control {name}: {control.title}. {control.purpose[0].upper()}{control.purpose[1:]}."
        )
        say(f"  garrote.{control.place.estimator}; {control.place.reference}")
    return DONE
