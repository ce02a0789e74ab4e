"""Colours that people with any colour vision tell apart, on light and on dark ground.

Okabe and Ito (2008), Color universal design. Their black and yellow are left out: each vanishes on
one of the two grounds.
"""

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
GREY = "#808080"

_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
_LINES = ("-", "--", "-.", ":")
DISTINCT_CURVES = len(_COLOURS) * len(_LINES)


def curve_style(k: int) -> dict[str, str]:
    """Return the colour and line style of the k-th curve; styles change once colours run out."""
    style = _LINES[k // len(_COLOURS) % len(_LINES)]
    return {"color": _COLOURS[k % len(_COLOURS)], "linestyle": style}
