"""``garrote methods``: which selectors there are."""

import argparse

from garrote.cli.errors import DONE


def run(options: argparse.Namespace) -> int:
    """Print the registry."""
    from garrote.cli.console import say
    from garrote.estimators.registry import METHODS

    for name, method in METHODS.items():
        say(f"{name}: {method.title}. {method.purpose[0].upper()}{method.purpose[1:]}.")
        say(f"  garrote.{method.estimator}; {method.reference}")
    return DONE
