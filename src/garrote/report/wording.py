"""Names, numbers and lists as a reader sees them.

A column may have any name. `readable` leaves nothing in it that could steer a page or a terminal:
control and direction characters become visible escapes. Letters that run from right to left stay
and are isolated from their neighbours by a pair of marks, which the page turns into ``<bdi>``.
"""

import math
from collections.abc import Sequence

from garrote.summaries import visible

_OPEN, _CLOSE = "\u2068", "\u2069"
_MINUS = "\u2212"
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def readable(name: str, most: int = 1000) -> str:
    """Return a name without hidden characters, cut if it is very long."""
    if len(name) > most:
        name = name[: 2 * most // 3] + "…" + name[-(most // 4) :]
    return " ".join(visible(name).split()) or "(no name)"


def brief(name: str, most: int = 40) -> str:
    """Return a readable name short enough for a label: its beginning and its end."""
    if len(name) <= most:
        return name
    return name[: most * 2 // 3 - 1].rstrip() + "…" + name[-(most // 3) :].lstrip()


def isolated(name: str) -> str:
    """Return a readable name, short, that cannot turn the direction of the text around it."""
    return f"{_OPEN}{brief(name)}{_CLOSE}"


def unmarked(text: str) -> str:
    """Return text for a terminal, without the marks around isolated names."""
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def markup(text: str) -> str:
    """Return text as HTML, isolated names in ``<bdi>``."""
    from markupsafe import Markup, escape

    marked = str(escape(text)).replace(_OPEN, "<bdi>").replace(_CLOSE, "</bdi>")
    return Markup(marked)  # escaped above; the marks themselves cannot be in a readable name


def amount(value: float | None, decimals: int | None = None) -> str:
    """Return a number with so many decimals, or with four digits; the page's script does alike."""
    if value is None or not math.isfinite(value):
        return "–"
    if decimals is not None:
        text = f"{value:.{decimals}f}"
    elif value == 0:
        text = "0"
    else:
        size = math.floor(math.log10(abs(value)))
        text = f"{value:.3e}" if size < -4 or size > 6 else f"{value:.{max(0, 3 - size)}f}"
        if "e" in text:
            digits, power = text.split("e")
            text = f"{digits}e{int(power)}"
    if not text.strip("-0."):
        text = text.lstrip("-")
    return text.replace("-", _MINUS)


def probability(value: float | None) -> str:
    """Return a probability with three digits, never rounded to certainty."""
    if value is None or not math.isfinite(value):
        return "–"
    if 0 < value < 0.0005:
        return "<0.001"
    if 0.9995 < value < 1:
        return ">0.999"
    return f"{value:.3f}"


def counted(count: int, noun: str) -> str:
    """Return "1 variable" or "7 variables"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def in_words(count: int) -> str:
    """Return a small number as a word."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def enumeration(names: Sequence[str], most: int = 8) -> str:
    """Return names joined by commas and "and"; of many the first, and how many more."""
    return joined([isolated(name) for name in names], most)


def joined(parts: Sequence[str], most: int = 8) -> str:
    """Return parts of a sentence joined by commas and "and"; of many the first, and how many more."""
    if len(parts) > most:
        return ", ".join(parts[:most]) + f" and {len(parts) - most:,} more"
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def exponent(value: float | None) -> str:
    """Return a certificate's number: its order of magnitude matters."""
    if value is None:
        return "not a number"
    return "0" if value == 0 else f"{value:.1e}"


def at_most(largest: float) -> str:
    """Return a bound for display: rounded up to two digits."""
    if largest <= 0:
        return "0"
    scale = 10.0 ** (math.floor(math.log10(largest)) - 1)
    return f"at most {math.ceil(largest / scale - 1e-9) * scale:.2g}"


def sentence(text: str) -> str:
    """Return words as a sentence."""
    return ended(text[:1].upper() + text[1:])


def ended(text: str) -> str:
    """Return words with a full stop, if they have none."""
    return text if text.endswith((".", "!", "?")) else text + "."
