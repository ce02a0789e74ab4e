"""A matplotlib figure without pyplot: no window, no state, any backend."""

from typing import Any

from garrote.displays.palette import BLUE, GREEN, GREY, ORANGE

GARROTE, LASSO, RIDGE, OTHER = BLUE, ORANGE, GREEN, GREY


def make_axes(rows: int = 1, columns: int = 1, width: float = 6.4, height: float = 4.8) -> Any:
    """Return an empty figure and its axes, rows x columns."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib: run `pip install "garrote[plot]"`, or ask for no picture'
        ) from error
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)
