"""The most probable models side by side: who is in, with which sign, and how probable it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.displays.base import SelectionDisplay
from garrote.displays.figures import note, set_title, take_axes
from garrote.displays.names import LITERAL, chance, shorten_all
from garrote.displays.palette import BLUE, GREY, VERMILION
from garrote.results.selections.selection import Selection

# A lone row is not as high as the axes.
_FEWEST_ROWS = 4
# Gaps between columns, as a share of the axis: enough to tell models apart that differ elsewhere.
_GAP = 0.0015
# Models whose column is wider than this have their number above it.
_NUMBERED = 0.03
# By the sign of an effect; a variable of several columns has none.
_COLOURS = {1: BLUE, -1: VERMILION, 0: GREY}


@dataclass(kw_only=True, repr=False, eq=False)
class ModelsDisplay(SelectionDisplay):
    """A column for each model, as wide as it is probable, with a cell for each variable that is in.

    Cells are blue where the variable's effect in that model is positive, orange where it is negative,
    grey where it has several columns, as the levels of a word. A row that is filled all along is a
    variable that every model has; one that is filled where another is not takes its place.

    Parameters
    ----------
    probability : array of shape (M,)
        Of each model, the best first.
    size : array of shape (M,)
        How many variables each has.
    names : sequence of k str
        The variables, the most probable first.
    effect : array of shape (M, k)
        Coefficients given the model; NaN where a variable is out, 0 where one of several columns is in.
    inclusion : array of shape (k,)
        Inclusion probabilities, over all models.
    response, name : str
        What is explained, and the title.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    cells_ : PatchCollection
    texts_ : list of Text
        Inclusion probabilities, at the side.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SpikeSlabRegressor
    >>> from garrote.displays import ModelsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> model = SpikeSlabRegressor().fit(X, X[:, 3] - X[:, 7] + rng.standard_normal(60))
    >>> display = ModelsDisplay.from_estimator(model)
    >>> sorted(display.names[:2])
    ['x3', 'x7']
    """

    probability: Floats
    size: Array
    names: Sequence[str]
    effect: Floats
    inclusion: Floats
    response: str = "y"
    name: str = ""

    @classmethod
    def _read(cls, selection: Selection) -> Self:
        selection = selection.by_variable
        found = selection.models
        if found is None:
            raise ValueError(
                f"the {selection.method} was fitted without models to show: use a method that sums or "
                "samples them, such as garrote.SpikeSlabRegressor(method='sample')"
            )
        return cls(
            probability=found.probability,
            size=found.size,
            names=[selection.names[j] for j in found.columns],
            effect=found.effect,
            inclusion=selection.probability[found.columns],
            response=selection.response,
            name=selection.method,
        )

    def plot(
        self, ax: Any = None, *, name: str | None = None, max_models: int = 30, max_shown: int = 25
    ) -> Self:
        """Draw the models.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        name : str, optional
            The title instead of the stored one.
        max_models : int, default=30
            At most so many models.
        max_shown : int, default=25
            At most so many variables.
        """
        for setting, value in (("max_models", max_models), ("max_shown", max_shown)):
            if value < 1:
                raise ValueError(f"{setting} must be at least 1, got {value}")
        models = min(max_models, len(self.probability))
        inside = ~np.isnan(self.effect[:models])
        rows = np.flatnonzero(inside.any(axis=0))[:max_shown]
        (self.ax_,) = take_axes(ax, width=8, height=1.6 + 0.27 * max(len(rows), _FEWEST_ROWS))
        self.figure_ = self.ax_.figure
        self._draw_cells(models, rows)
        self._label(models, rows, beyond=int(inside.any(axis=0).sum()) - len(rows))
        set_title(self.ax_, self.name if name is None else name, loc="left", pad=16)
        return self

    def _draw_cells(self, models: int, rows: Array) -> None:
        from matplotlib.collections import PatchCollection
        from matplotlib.patches import Rectangle

        ends = np.cumsum(self.probability[:models])
        starts = ends - self.probability[:models]
        gap = min(_GAP * ends[-1], 0.2 * self.probability[models - 1])
        cells, colours = [], []
        for place, j in enumerate(rows):
            for k in np.flatnonzero(~np.isnan(self.effect[:models, j])):
                width = max(ends[k] - starts[k] - gap, 0.5 * self.probability[k])
                cells.append(Rectangle((starts[k], place - 0.4), width, 0.8))
                colours.append(_COLOURS[int(np.sign(self.effect[k, j]))])
        self.cells_ = PatchCollection(cells, facecolors=colours, edgecolors="none")
        self.ax_.add_collection(self.cells_)
        self.ax_.set_xlim(0, ends[-1])
        for k in np.flatnonzero(self.probability[:models] > _NUMBERED * ends[-1]):
            middle = (starts[k] + ends[k]) / 2
            self.ax_.annotate(
                str(k + 1), (middle, 1), (0, 2), xycoords=self.ax_.get_xaxis_transform(),
                textcoords="offset points", ha="center", va="bottom", fontsize="x-small",
            )  # fmt: skip

    def _label(self, models: int, rows: Array, beyond: int) -> None:
        axes, count = self.ax_, len(rows)
        axes.set_ylim(max(count, _FEWEST_ROWS) - 0.4, -0.6)
        axes.set_yticks(np.arange(count), shorten_all([self.names[j] for j in rows]), **LITERAL)
        axes.tick_params(axis="y", length=0)
        more = f"; {beyond} more variables in some of them" if beyond else ""
        several = ", grey: several columns" if (self.effect[:models, rows] == 0).any() else ""
        axes.set_xlabel(
            f"cumulative probability of the {models} most probable models{more}\n"
            f"blue: positive effect, orange: negative{several}, blank: not in the model",
            **LITERAL,
        )
        place = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": "small"}
        self.texts_ = [
            axes.text(1.02, row, chance(self.inclusion[j]), **place) for row, j in enumerate(rows)
        ]
        axes.annotate(
            "probability", (1.02, 1), (0, 4), "axes fraction", textcoords="offset points",
            va="bottom", fontsize="small",
        )  # fmt: skip
        if not count:
            note(axes, "no variable is in any of these models")
