"""Tables of results: aligned text for the terminal, Markdown for the page."""

from dataclasses import dataclass, field


@dataclass
class Table:
    """A title, a sentence on what the columns mean, headings and rows of text."""

    title: str
    headings: list
    rows: list = field(default_factory=list)
    note: str = ""

    def add(self, *cells):
        self.rows.append([cell if isinstance(cell, str) else figure(cell) for cell in cells])

    def text(self):
        lines = [self.headings, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.headings))]
        body = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in lines]
        body.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([self.title, *filter(None, [self.note]), *map(str.rstrip, body)])

    def markdown(self):
        body = ["| " + " | ".join(line) + " |" for line in [self.headings, *self.rows]]
        body.insert(1, "|" + "---|" * len(self.headings))
        note = [self.note, ""] if self.note else []
        return "\n".join([f"### {self.title}", "", *note, *body])


def figure(value):
    """Three digits, or a dash for what does not exist."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    return f"{value:.3g}"


def spread(seconds):
    """The fastest repetition, with the slowest beside it where there were several."""
    return figure(min(seconds)) + (f" .. {figure(max(seconds))}" if len(seconds) > 1 else "")
