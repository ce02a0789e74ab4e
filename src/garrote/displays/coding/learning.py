"""The objective along rounds of learning."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.displays.base import innermost
from garrote.displays.figures import legend_above, set_title, take_axes
from garrote.displays.palette import BLUE, GREY, VERMILION


@dataclass(kw_only=True, repr=False, eq=False)
class LearningDisplay:
    """The objective of a signal, on average, after each round; below it, what is left of the signals.

    Parameters
    ----------
    objective : array of shape (n_rounds,)
    left : array of shape (n_rounds,)
        Which share of the squared lengths is left.
    replaced : array of int of shape (n_rounds,)
        How many atoms were replaced after each round.
    whole : bool
        Whether rounds see all signals; of many batches a running mean is drawn, too.
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_, line_, left_line_
        What was drawn; ``ax_`` are two.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import NonNegativeFactorization
    >>> from garrote.displays import LearningDisplay
    >>> X = np.random.default_rng(0).exponential(size=(40, 8))
    >>> display = LearningDisplay.from_estimator(NonNegativeFactorization(3).fit(X))
    >>> bool(np.all(np.diff(display.line_.get_ydata()) <= 0))
    True
    """

    objective: Floats
    left: Floats
    replaced: Array
    whole: bool = True
    name: str = ""

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, name: str | None = None, **options: Any
    ) -> Self:
        """Draw how a fitted transformer has learned.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a ``record_``; or a pipeline that ends in one, or a search over one.
        ax : two matplotlib Axes, optional
        name : str, optional
            The title; by default the estimator's, none if empty.
        **options
            Passed to `plot`.
        """
        fitted = innermost(estimator)
        if not hasattr(fitted, "record_"):
            raise TypeError(
                f"{type(fitted).__name__} has no record_ of rounds to draw: give a fitted transformer "
                "that learns, such as garrote.coding.DictionaryLearning"
            )
        record = fitted.record_
        read = cls(
            objective=record.objective,
            left=record.left,
            replaced=record.replaced,
            whole=record.whole,
            name=type(fitted).__name__,
        )
        return read.plot(ax, name=name, **options)

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the objective above and what is left below."""
        self.ax_ = take_axes(ax, 2, rows=2, width=6.4, height=6, sharex=True)
        self.figure_ = self.ax_[0].figure
        self.line_ = self._draw(self.ax_[0], self.objective, "objective of a signal")
        marked = np.flatnonzero(self.replaced)
        if len(marked):
            self.ax_[0].plot(
                marked + 1,
                self.objective[marked],
                "o",
                color=VERMILION,
                ms=4,
                label="atoms replaced after it",
            )
        entries = len(self.ax_[0].get_legend_handles_labels()[0])
        if entries:
            legend_above(self.ax_[0])
        # Above a legend of one row or two.
        set_title(self.ax_[0], self.name if name is None else name, pad=22 if entries <= 2 else 38)
        if len(self.ax_) > 1:
            self.left_line_ = self._draw(self.ax_[1], self.left, "share of squares left")
            self.ax_[1].set_ylim(0, 1.05 * float(np.max(self.left)) or None)
        self.ax_[-1].set_xlabel("round" if self.whole else "batch")
        return self

    def _draw(self, axes: Any, values: Floats, label: str) -> Any:
        """Draw a curve over rounds; of batches its running mean in front."""
        rounds = np.arange(1, len(values) + 1)
        axes.set_ylabel(label)
        width = max(1, len(values) // 20)
        if self.whole or width == 1:
            return axes.plot(rounds, values, color=BLUE, lw=1.8)[0]
        line = axes.plot(rounds, values, color=GREY, lw=0.7, label="of a batch, before it")[0]
        sums = np.cumsum(np.concatenate([[0.0], values]))
        mean = (sums[width:] - sums[:-width]) / width
        axes.plot(rounds[width - 1 :], mean, color=BLUE, lw=1.8, label=f"mean of {width}")
        return line
