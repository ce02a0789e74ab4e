"""``garrote reproduce``: published studies, run again."""

import argparse

from garrote.cli.errors import DONE


def run(options: argparse.Namespace) -> int:
    """Run the studies named, or list them."""
    from garrote.experiments.__main__ import main

    return main(options.arguments or ["--list"]) or DONE
