"""The directive ``texts-table``: the map from the source texts to classes, functions and studies."""

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from garrote.experiments.texts import TEXTS, Entry
from garrote.experiments.texts.places import NOT_YET


class TextsTable(SphinxDirective):
    """All places of the text that is named: a new row of the map appears by itself."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the text's table."""
        text = TEXTS[self.arguments[0]]
        lines = [text.citation, "", "| place | what is there | by | study |", "|---|---|---|---|"]
        lines += [_row(entry) for entry in text.entries]
        return self.parse_text_to_nodes("\n".join(lines))


def _row(entry: Entry) -> str:
    names = ", ".join(f"{{obj}}`{name.removeprefix('garrote.')} <{name}>`" for name in entry.names)
    studies = ", ".join(f"`{name}`" for name in entry.study_names)
    remark = f" ({entry.remark})" if entry.remark else ""
    state = "" if entry.there else f"*{NOT_YET}*"
    cells = (entry.place, f"{entry.what}{remark}", names or state, studies)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("texts-table", TextsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
