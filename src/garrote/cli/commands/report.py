"""``garrote report``: the HTML report of a selection that was saved as JSON."""

import argparse
import json
from pathlib import Path

from garrote.cli.errors import DONE, CommandError
from garrote.cli.outputs import check_library, check_targets


def run(options: argparse.Namespace) -> int:
    """Read the JSON, check it, write the page."""
    target = options.output or str(Path(options.file).with_suffix(".html"))
    check_targets({"--output": target}, [options.file])
    check_library("jinja2", "a report", "report")
    try:
        document = json.loads(Path(options.file).read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{options.file} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CommandError(
            f"{options.file} is not JSON ({error}): give a file of garrote select --json"
        ) from None
    from garrote.cli import console
    from garrote.report import write_report

    try:
        with console.warnings_kept() as heard:
            write_report(document, target)
    except ValueError as error:
        raise CommandError(f"{options.file}: {error}") from None
    for text in heard:
        console.warn(text)
    console.say(f"The report is in {target}.")
    return DONE
