"""What displays draw on: the axes given, or a new figure; and marks that several of them share."""

from typing import Any

import numpy as np

from garrote.displays.names import LITERAL, shorten
from garrote.displays.palette import GREY

_LONGEST_TITLE = 80


def take_axes(
    ax: Any,
    panels: int = 1,
    *,
    rows: int = 1,
    width: float = 6.4,
    height: float = 4.8,
    **settings: Any,
) -> list[Any]:
    """Return the axes given, as a list, or ``panels`` new ones in a figure of pyplot.

    Of several panels a single axes gets only the first.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('displays need matplotlib: run `pip install "garrote[plot]"`') from error
    if ax is None:
        columns = panels // rows
        _, axes = plt.subplots(
            rows, columns, figsize=(width, height), layout="constrained", squeeze=False, **settings
        )
        return list(axes.ravel())
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    if not all(isinstance(one, plt.Axes) for one in given):
        raise TypeError(f"ax must be matplotlib Axes, got {type(given[0]).__name__}")
    if len(given) not in {1, panels}:
        allowed = "one Axes" if panels == 1 else f"one Axes or {panels}"
        raise ValueError(f"ax must be {allowed}, got {len(given)}")
    return given


def set_title(axes: Any, name: str | None, **settings: Any) -> None:
    """Write a name above the axes, taken literally."""
    if name:
        axes.set_title(shorten(name, _LONGEST_TITLE), **LITERAL, **settings)


def note(axes: Any, text: str, x: float = 0.5, y: float = 0.5, **settings: Any) -> Any:
    """Write a sentence into the axes, at a share of their width and height."""
    place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "zorder": 6}
    place["bbox"] = ground(axes)
    return axes.text(x, y, text, transform=axes.transAxes, **place | LITERAL | settings)


def mark_position(axes: Any, x: float, text: str = "") -> tuple[Any, Any]:
    """Draw a vertical line, with a label at its top on the side where there is more room."""
    line = axes.axvline(x, color=GREY, lw=1.2, ls=(0, (5, 2)), zorder=2)
    left = axes.transAxes.inverted().transform(axes.transData.transform((x, 0)))[0] > 0.5
    label = axes.annotate(
        text,
        (x, 1),
        (-4 if left else 4, -3),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        fontsize="small",
        zorder=6,
        **LITERAL,
    )
    return line, label


def legend_above(axes: Any) -> None:
    """Explain the curves in a row above the axes, where it hides none of them."""
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2, "frameon": False}
    axes.legend(fontsize="small", borderaxespad=0.2, **place)


def leave_headroom(axes: Any, share: float = 0.09) -> None:
    """Widen the vertical axis upwards, so that a label at its top is clear of the curves."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + share * (high - low))


def ground(axes: Any) -> dict[str, Any]:
    """Return a box in the colour of the axes, which keeps a text legible across lines."""
    return {"facecolor": axes.get_facecolor(), "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
