"""One self-contained HTML file that tells what was selected and how.

`write_report` renders the JSON document of a selection. The page asks nothing of any host, and its
Content-Security-Policy forbids it to: only the script and the style written here run, known by
their hashes. Text, table and answer are in the HTML itself; a script draws the pictures.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from garrote.files.writing import write_text
from garrote.report import held_out, sections
from garrote.report.agreement import consistency_words
from garrote.report.answer import answer, evidence_noun
from garrote.report.assembly import page_of, part
from garrote.report.data_check import data_check
from garrote.report.document import check_document
from garrote.report.levels import drawn_effects, levels_words, variable_row
from garrote.report.locus import locus_words
from garrote.report.pictures import Limits, picture_data
from garrote.report.rows import forest_scale, long_numbers
from garrote.report.wording import brief, isolated, readable

__all__ = ["check_document", "render_report", "write_report"]

_LARGEST = 2_000_000
# Tried in turn until the page is small enough.
_LIMITS = (Limits(500, 1000), Limits(200, 200), Limits(100, 60, 60, 20, 100, 15, 15, 300))
_SCRIPTS = (
    "drawing.js",
    "pictures.js",
    "calibration.js",
    "curves.js",
    "locus.js",
    "models.js",
    "path.js",
    "table.js",
    "report.js",
)


def write_report(
    document: Mapping[str, Any], path: str | os.PathLike[str], *, title: str | None = None
) -> None:
    """Write the report of a selection as one HTML file.

    Parameters
    ----------
    document : dict
        What `Selection.to_dict` returns, or the same read from JSON.
    path : path
        The file; one that exists is replaced, in one step.
    title : str, optional
        The heading, in place of "Which variables explain <response>?".
    """
    write_text(path, render_report(document, title=title))


def render_report(document: Mapping[str, Any], *, title: str | None = None) -> str:
    """Return the report as HTML text; the same document gives the same text."""
    check_document(document)
    for limits in _LIMITS:
        page = _render(document, title, limits)
        if len(page.encode("utf-8")) < _LARGEST:
            break
    return page


def _render(document: Mapping[str, Any], title: str | None, limits: Limits) -> str:
    listed = document["variables"][: limits.rows]
    scale = forest_scale(drawn_effects(listed))
    always_in = frozenset(document["always_in"])
    rows = [variable_row(v, scale, always_in, limits.letters) for v in listed]
    levels = [level for row in rows for level in row["levels"]]
    data = picture_data(document, rows, scale, limits)
    response, noun = readable(document["response"]), evidence_noun(document)
    heading = readable(title) if title else f"Which variables explain {isolated(response)}?"
    return page_of(
        "report.html.jinja",
        style=part("report.css"),
        script=_script(),
        data=_embedded(data),
        pictures=data,
        failures=data["failures"],
        tab=readable(title, 80) if title else f"Which variables explain {brief(response)}?",
        heading=heading,
        document=document,
        method=readable(document["method"], 80),
        answer=answer(document),
        warnings=sections.warnings(document),
        check=data_check(document),
        rule=readable(document["rule"], 200),
        rows=rows,
        long=long_numbers([*rows, *levels]),
        scale=scale,
        noun=noun,
        classes=(document.get("classes") or {}).get("kind"),
        refits=(document.get("stability") or {}).get("refits"),
        certainty=data["certainty"],
        frequency=data["frequency"],
        sizes=data["sizes"],
        bare=not any(row["values"]["lower"] is not None for row in (*rows, *levels)),
        about=sections.variables_words(document) + levels_words(document),
        level=f"{100 * document['interval_level']:g}",
        intervals=sections.sentence(readable(document["intervals"], 300)),
        unlisted=sections.unlisted(document, len(rows)),
        bands=any(v is not None for one in data["curves"] or () for v in one["lower"]),
        credible_sets=sections.credible_sets(document),
        models=sections.models(document),
        path=sections.path_words(document),
        branches=sections.branch_words(document),
        validation=sections.validation_words(document),
        folds=held_out.folds_table(document),
        density=held_out.density_table(document),
        confusion=held_out.confusion_table(document),
        locus=locus_words(document),
        stand_ins=sections.stand_ins(document),
        consistency=consistency_words(document),
        computed=sections.computed(document),
    )


def _script() -> str:
    """Return the scripts as one, whose names do not reach the page's global scope."""
    body = "\n".join(part(name) for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


def _embedded(data: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the script element around it."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
