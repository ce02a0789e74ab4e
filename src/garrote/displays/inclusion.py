"""The most probable variables, ranked, with their effects and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.displays.base import SelectionDisplay
from garrote.displays.figures import note, set_title, take_axes
from garrote.displays.names import LITERAL, chance, number, shorten, shorten_all
from garrote.displays.palette import BLUE, GREY
from garrote.results.selections.evidence import FREQUENCY, Q_VALUE, border, is_certainty, strength
from garrote.results.selections.selection import Selection

# Beside the selected variables others are shown if they are at least this probable ...
_LEAST_PROBABILITY = 0.1
# ... and at least so many, for comparison.
_RUNNERS_UP = 3
_STORED = 200
# Bars beyond this have room for their number inside.
_LONG_BAR = 0.6
# A lone bar is not as high as the axes.
_FEWEST_ROWS = 4


@dataclass(kw_only=True, repr=False, eq=False)
class InclusionDisplay(SelectionDisplay):
    """Bars of inclusion probability, and effects with their intervals in the user's units.

    Parameters
    ----------
    names : sequence of k str
        The best first.
    probability, effect, lower, upper : array of shape (k,)
        NaN where no interval is stated.
    selected : array of k bool
    always_in : array of k bool
        Covariates, which are in the model without having been selected.
    n_variables : int
        How many variables there were, shown or not.
    level : float
        That of the intervals.
    threshold : float
        The probability beyond which a variable is selected.
    response, per, evidence, name : str
        As in `PathDisplay`.
    n_columns : array of shape (k,), optional
        How many columns each variable has; one of several, as levels, has no effect of its own.

    Attributes
    ----------
    ax_, figure_
        What was drawn on; the axes of the bars.
    axes_ : list of Axes
        All panels.
    bars_ : BarContainer
    threshold_line_ : Line2D
        Where the evidence is a probability.
    intervals_ : LineCollection
        The intervals, where that panel was drawn.
    points_ : PathCollection
        The effects, where that panel was drawn.
    texts_ : list of Text
        Effects and intervals in numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import VariationalGarrote
    >>> from garrote.displays import InclusionDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> model = VariationalGarrote().fit(X, X[:, 3] + rng.standard_normal(100))
    >>> display = InclusionDisplay.from_estimator(model)
    >>> display.names[0]
    'x3'
    """

    names: Sequence[str]
    probability: Floats
    effect: Floats
    lower: Floats
    upper: Floats
    selected: Array
    always_in: Array
    n_variables: int
    level: float = 0.95
    threshold: float = 0.5
    response: str = "y"
    per: str = "unit"
    evidence: str = "inclusion probability"
    name: str = ""
    n_columns: Array | None = None

    @classmethod
    def _read(cls, selection: Selection) -> Self:
        groups, selection = selection.groups, selection.by_variable
        order = selection.ranked()[:_STORED]
        n_columns = np.ones(len(selection.names)) if groups is None else np.bincount(groups.number)
        names = [selection.names[j] for j in order]
        return cls(
            names=names,
            probability=strength(selection.evidence, selection.probability[order]),
            effect=selection.effect[order],
            lower=selection.lower[order],
            upper=selection.upper[order],
            selected=selection.selected[order],
            always_in=np.array([name in selection.always_in for name in names], dtype=bool),
            n_variables=len(selection.names),
            level=selection.level,
            threshold=_border(selection),
            response=selection.affected,
            per=selection.per,
            evidence="1 - q-value" if selection.evidence == Q_VALUE else selection.evidence,
            name=selection.method,
            n_columns=n_columns[order],
        )

    def plot(self, ax: Any = None, *, name: str | None = None, max_shown: int = 20) -> Self:
        """Draw the ranking.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, optional
            One gets the bars, with effects and intervals in numbers at the side; two get bars and
            intervals. By default a new figure with both.
        name : str, optional
            The title instead of the stored one.
        max_shown : int, default=20
            At most so many variables.
        """
        if max_shown < 1:
            raise ValueError(f"max_shown must be at least 1, got {max_shown}")
        count = self._shown(max_shown)
        panels: dict[str, Any] = {"width_ratios": [1, 1.1], "sharey": True}
        height = 1.5 + 0.27 * count
        self.axes_ = take_axes(ax, 2, width=9, height=height, **panels)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        self._draw_bars(count)
        if len(self.axes_) == 2:
            self._draw_effects(self.axes_[1], count)
        self._write_numbers(self.axes_[-1], count)
        set_title(self.ax_, self.name if name is None else name, loc="left")
        return self

    def _shown(self, most: int) -> int:
        """Return how many variables of the ranking are shown."""
        worth = self.selected | (self.probability >= _LEAST_PROBABILITY)
        least = int(np.sum(self.selected)) + _RUNNERS_UP
        return min(most, len(self.names), max(least, int(np.sum(worth))))

    def _at_most(self, count: int) -> str:
        """Say how probable the variables are that are not shown."""
        largest = float(np.max(self.probability[count:], initial=0.0))
        return f"at most {largest:.2f}" if largest >= 0.01 else "each below 0.01"

    def _draw_bars(self, count: int) -> None:
        axes, rows = self.ax_, np.arange(count)
        colours = [BLUE if chosen else GREY for chosen in self.selected[:count]]
        self.bars_ = axes.barh(rows, self.probability[:count], height=0.7, color=colours)
        for bar, fixed in zip(self.bars_, self.always_in[:count], strict=True):
            bar.set(**{"alpha": 0.35} if fixed else {})
        for row in range(count):
            self._write_probability(row)
        if is_certainty(self.evidence):
            self.threshold_line_ = axes.axvline(
                self.threshold, color=axes.spines["left"].get_edgecolor(), ls=":", lw=1.2
            )
        axes.set_xlim(0, 1.02)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        axes.set_ylim(max(count, _FEWEST_ROWS) - 0.4, -0.6)
        axes.set_yticks(rows, shorten_all(self.names[:count]), **LITERAL)
        axes.tick_params(axis="y", length=0)
        hidden = self.n_variables - count
        more = f"\n{hidden:,} more, {self._at_most(count)}" if hidden else ""
        axes.set_xlabel(self.evidence + more, **LITERAL)
        if not np.any(self.selected):
            note(axes, "no variable is selected", x=0.75)

    def _write_probability(self, row: int) -> None:
        """Write a probability into its bar, or behind a short one."""
        value, fixed = float(self.probability[row]), bool(self.always_in[row])
        inside = value > _LONG_BAR
        at = (min(value, 1.0), row)
        settings = {"va": "center", "fontsize": "x-small", "ha": "right" if inside else "left"}
        if inside and not fixed:
            settings["color"] = "white"
        text = "always in" if fixed else chance(value)
        shift = (-4 if inside else 3, 0)
        self.ax_.annotate(text, at, shift, textcoords="offset points", **settings)

    def _draw_effects(self, axes: Any, count: int) -> None:
        rows = np.arange(count)
        low, high = self.lower[:count], self.upper[:count]
        known = np.isfinite(low) & np.isfinite(high)
        colours = np.where(self.selected[:count], BLUE, GREY)
        axes.axvline(0, color=GREY, lw=0.8, zorder=1)
        self.intervals_ = axes.hlines(
            rows[known], low[known], high[known], colors=colours[known], lw=2
        )
        self.points_ = axes.scatter(self.effect[:count], rows, c=colours, s=22, zorder=3)
        response = shorten(self.response)
        axes.set_xlabel(f"effect on {response} per {self.per} of the variable", **LITERAL)
        axes.set_ylim(max(count, _FEWEST_ROWS) - 0.4, -0.6)
        axes.set_yticks(rows)
        axes.tick_params(axis="y", length=0, labelleft=False)

    def _write_numbers(self, axes: Any, count: int) -> None:
        """Write effects and intervals in numbers at the right of the axes."""
        place = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": "small"}
        self.texts_ = [
            axes.text(1.02, row, self._effect_in_words(row), **place) for row in range(count)
        ]
        above = {"textcoords": "offset points", "va": "bottom", "fontsize": "small"}
        stated = np.isfinite(self.lower[:count]).any()
        words = f"effect [{100 * self.level:g}% interval]" if stated else "effect"
        axes.annotate(words, (1.02, 1), (0, 4), "axes fraction", **above)

    def _effect_in_words(self, row: int) -> str:
        """Return an effect with its interval; of a variable of several columns, how many it has."""
        if self.n_columns is not None and self.n_columns[row] > 1:
            return f"{int(self.n_columns[row])} columns"
        return _effect(self.effect[row], self.lower[row], self.upper[row])


def _effect(effect: float, low: float, high: float) -> str:
    """Write an effect and its interval with the digits that its uncertainty leaves."""
    if not np.isfinite([low, high]).all():
        return number(effect)
    reach = (high - low) / 2
    largest = max(abs(low), abs(high))
    if reach > 0 and largest < 1e5 and reach > 1e-4:
        decimals = max(0, 1 - int(np.floor(np.log10(reach))))
        texts = [f"{value:.{decimals}f}".replace("-", "−") for value in (effect, low, high)]
    else:
        texts = [number(value) for value in (effect, low, high)]
    return "{} [{}, {}]".format(*texts)


def _border(selection: Selection) -> float:
    """Return what the evidence of selected variables is beyond; of frequencies, their threshold."""
    if selection.evidence == FREQUENCY and selection.control is not None:
        return selection.control.threshold
    return border(selection.evidence, selection.level)
