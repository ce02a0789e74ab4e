r"""Mathematics as MathML, which browsers draw themselves: no script, no font and no host is needed.

docutils translates the TeX; ``\tag{15}`` becomes the number at the right margin.
"""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_TAG = re.compile(r"\\tag\{([^}]*)\}")


def _translated(writer: Any, node: nodes.Element, text: str, as_block: bool) -> str:
    try:
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s in %r", error, text, location=node)
        return f"<code>{escape(text)}</code>"


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(_translated(writer, node, node.astext(), False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    text = node.astext()
    number = _TAG.search(text)
    formula = _translated(writer, node, _TAG.sub("", text), True)
    margin = f'<span class="formula-number">({escape(number[1])})</span>' if number else ""
    writer.body.append(f'<div class="formula"><div>{formula}</div>{margin}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name that html_math_renderer gives."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
