"""The directive ``methods-table``: every method that there is, from the registry."""

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from garrote.estimators.registry import SELECTORS


class MethodsTable(SphinxDirective):
    """A table of `garrote.estimators.registry.SELECTORS`: a new method appears by itself."""

    def run(self) -> list[nodes.Node]:
        """Return the table's nodes."""
        lines = ["| `--method` | for | classes | source |", "|---|---|---|---|"]
        for name, method in SELECTORS.items():
            places = [place for place in (method, method.for_labels) if place]
            home = ", ".join(f"[{place.estimator}](#garrote.{place.estimator})" for place in places)
            purpose = f"**{method.title}.** {method.purpose[0].upper()}{method.purpose[1:]}."
            lines.append(f"| `{name}` | {purpose} | {home} | {method.reference} |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("methods-table", MethodsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
