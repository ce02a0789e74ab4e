"""Variables along a chromosome, or along the columns, with credible sets in colours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.displays.base import SelectionDisplay
from garrote.displays.figures import legend_above, note, set_title, take_axes
from garrote.displays.names import LITERAL, push_apart, shorten
from garrote.displays.palette import GREY, curve_style
from garrote.results.selections.evidence import is_certainty
from garrote.results.selections.locus import minus_log_p
from garrote.results.selections.selection import Selection

_HEIGHTS = {"probability": "probability", "z": "z-score", "p": "-log10 p"}
# Variables whose names are written beside them, at most one of a set.
_MOST_NAMED = 8
# Letters of a name, and the share of the axis between two of them.
_LONGEST, _GAP = 14, 0.06


@dataclass(kw_only=True, repr=False, eq=False)
class CredibleSetsDisplay(SelectionDisplay):
    """A point for every variable at its position, those of each credible set in a colour.

    Parameters
    ----------
    names : sequence of D str
    positions : array of shape (D,)
        Where variables are; their columns' numbers where nothing else is known.
    probability : array of shape (D,)
        Inclusion probabilities.
    z : array of shape (D,)
        Z-scores of the variables one by one; NaN where they are not known.
    sets : sequence of arrays of int
        The variables of each credible set, the most probable first.
    along, name : str
        What positions are, and the title.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    points_ : list of PathCollection
        All variables outside of sets, then those of each set.
    texts_ : list of Text
        The name of the most probable variable of each set.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SingleEffectsRegressor
    >>> from garrote.displays import CredibleSetsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> X[:, 8] = X[:, 7] + 0.05 * rng.standard_normal(200)
    >>> model = SingleEffectsRegressor().fit(X, X[:, 7] + rng.standard_normal(200))
    >>> display = CredibleSetsDisplay.from_estimator(model, positions=np.arange(30) * 1000, y="z")
    >>> [sorted(one.tolist()) for one in display.sets]
    [[7, 8]]
    """

    names: Sequence[str]
    positions: Floats
    probability: Floats
    z: Floats
    sets: Sequence[Array]
    along: str = "column"
    name: str = ""

    @classmethod
    def _read(cls, selection: Selection) -> Self:
        if not is_certainty(selection.evidence):
            raise ValueError(
                f"the {selection.method} states no probabilities, of which credible sets are made: use "
                "a method that does, such as garrote.SingleEffectsRegressor"
            )
        found = selection.locus
        back = np.argsort(found.columns)
        return cls(
            names=selection.names,
            positions=found.at[back],
            probability=found.probability[back],
            z=found.z[back],
            sets=found.sets,
            along="column" if selection.positions is None else "position",
            name=selection.method,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        positions: Any = None,
        y: str = "probability",
    ) -> Self:
        """Draw the variables.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        name : str, optional
            The title instead of the stored one.
        positions : array of shape (D,), optional
            Where variables are, such as base pairs of a chromosome, instead of the stored ones.
        y : {"probability", "z", "p"}
            How high points are; "p" is -log10 of the two-sided p-value of the z-score.
        """
        if y not in _HEIGHTS:
            raise ValueError(f"y must be one of {tuple(_HEIGHTS)}, got {y!r}")
        shown = self if positions is None else self._at(positions)
        heights = shown.probability if y == "probability" else shown.z
        heights = minus_log_p(heights) if y == "p" else heights
        if not np.isfinite(heights).any():
            raise ValueError("z-scores are not known of several classes: take y='probability'")
        self.along, self.positions = shown.along, shown.positions
        (self.ax_,) = take_axes(ax, width=8, height=3.6)
        self.figure_ = self.ax_.figure
        self._draw_points(heights)
        self._write_names(heights)
        self.ax_.set_xlabel(shown.along, **LITERAL)
        self.ax_.set_ylabel(_HEIGHTS[y])
        if y == "probability":
            self.ax_.set_ylim(-0.04, 1.06)
        if self.sets:
            legend_above(self.ax_)
        else:
            note(self.ax_, "no credible set was found")
        set_title(
            self.ax_, self.name if name is None else name, loc="left", pad=18 + 6 * len(self.sets)
        )
        return self

    def _at(self, positions: Any) -> Self:
        """Return the same at other positions."""
        at = np.asarray(positions, dtype=np.float64)
        if at.shape != self.positions.shape or not np.isfinite(at).all():
            raise ValueError(
                f"positions must be {len(self.positions)} finite numbers, one for each variable, got "
                f"shape {at.shape}"
            )
        return replace(self, positions=at, along="position")

    def _draw_points(self, heights: Floats) -> None:
        outside = np.setdiff1d(
            np.arange(len(heights)), np.concatenate([*self.sets, []]).astype(int)
        )
        axes = self.ax_
        points = axes.scatter(self.positions[outside], heights[outside], s=9, c=GREY, alpha=0.6)
        self.points_ = [points]
        for k, one in enumerate(self.sets):
            count = "1 variable" if len(one) == 1 else f"{len(one)} variables"
            self.points_.append(
                axes.scatter(
                    self.positions[one],
                    heights[one],
                    s=34,
                    color=curve_style(k)["color"],
                    marker=_marker(k),
                    label=f"set {k + 1}: {count}",
                    zorder=3,
                )
            )

    def _write_names(self, heights: Floats) -> None:
        """Write the most probable variable of each set beside it, names pushed apart."""
        best = [int(one[0]) for one in self.sets[:_MOST_NAMED]]
        self.texts_ = []
        if not best:
            return
        low, high = self.ax_.get_ylim()
        wanted = push_apart(heights[best], _GAP * (high - low), low, high)
        for j, at in zip(best, wanted, strict=True):
            self.texts_.append(
                self.ax_.annotate(
                    shorten(self.names[j], _LONGEST),
                    (self.positions[j], at),
                    (7, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize="small",
                    zorder=4,
                    **LITERAL,
                )
            )


def _marker(k: int) -> str:
    """Return the shape of a set's points, which changes once colours run out."""
    return "osD^"[k // 6 % 4]
