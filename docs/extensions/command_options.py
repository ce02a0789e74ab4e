"""The directive ``command-options``: what a command takes, from the parser that reads it."""

import argparse
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from garrote.cli.arguments import COMMANDS, make_parser


class CommandOptions(SphinxDirective):
    """Usage, purpose and all options of the command given as argument; without one, all commands."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes of a table, or of the commands' list."""
        lines = _described(self.arguments[0]) if self.arguments else _commands()
        return self.parse_text_to_nodes("\n".join(lines))


def _commands() -> list[str]:
    rows = [f"| [`garrote {name}`](#garrote-{name}) | {said} |" for name, said in COMMANDS.items()]
    return ["| command | what it does |", "|---|---|", *rows]


def _described(name: str) -> list[str]:
    parser = make_parser(name)
    rows = []
    for group in parser._action_groups:
        actions = [a for a in group._group_actions if a.help is not argparse.SUPPRESS]
        actions = [a for a in actions if "--help" not in a.option_strings]
        if actions:
            heading, _, remark = (group.title or "").partition(" (")
            rows += [f"| **{heading.capitalize()}** | {_escaped(remark.rstrip(')'))} |"]
            rows += [f"| {_written(action)} | {_escaped(action.help)} |" for action in actions]
    lines = [f"{parser.description}", ""]
    if rows:
        usage = parser.format_usage().removeprefix("usage: ").strip()
        table = ["| | |", "|---|---|", *rows]
        lines += ["```text", usage, "```", "", ":::{container} command-options", *table, ":::"]
    return lines


def _written(action: argparse.Action) -> str:
    """Return how an option is typed, with what has to follow it."""
    if not action.option_strings:
        return f"`{action.dest}`"
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else "")
    return "`" + f"{action.option_strings[-1]} {value}".strip().replace("|", r"\|") + "`"


def _escaped(text: str | None) -> str:
    return (text or "").replace("|", r"\|").replace("*", r"\*")


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-options", CommandOptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
