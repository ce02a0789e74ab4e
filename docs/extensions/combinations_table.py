"""The directive ``combinations-table``: which penalty goes with which family and solver."""

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from garrote.paths.combinations import ALL_FAMILIES, is_possible, solvers
from garrote.penalties import PENALTIES


class CombinationsTable(SphinxDirective):
    """A row for each penalty, a column for each family, with the solvers that there are."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the table."""
        heads = ["penalty", *ALL_FAMILIES]
        lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        lines += [f"| `{name}` | {_cells(make())} |" for name, make in PENALTIES.items()]
        return self.parse_text_to_nodes("\n".join(lines))


def _cells(penalty: Any) -> str:
    return " | ".join(
        ", ".join(solver for solver in solvers() if is_possible(penalty, family, solver)) or "–"
        for family in ALL_FAMILIES
    )


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("combinations-table", CombinationsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
