"""Absolute values in docstrings: |w| is a size there, and no substitution to be looked up."""

import re

# A bar that nothing escapes yet; those between double backticks are shown as they are.
_LITERAL = re.compile(r"(``.*?``)")
_BAR = re.compile(r"(?<!\\)\|")


def setup(app):
    """Look at every docstring that goes into the reference."""
    app.connect("autodoc-process-docstring", escape_bars)
    return {"parallel_read_safe": True}


def escape_bars(app, what, name, obj, options, lines):
    """Escape bars outside of examples and literal blocks, in place."""
    literal = example = False
    for number, line in enumerate(lines):
        indented = line.startswith(" ")
        if literal and line and not indented:
            literal = False
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not literal and not example:
            parts = _LITERAL.split(line)
            parts[::2] = [_BAR.sub(r"\\|", part) for part in parts[::2]]
            lines[number] = "".join(parts)
        literal = literal or line.rstrip().endswith("::")
