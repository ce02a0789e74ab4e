"""The probability of some rows to be without event, over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Floats
from garrote.displays.base import innermost
from garrote.displays.figures import legend_above, set_title, take_axes
from garrote.displays.names import shorten

# Curves in one picture, and letters of a label.
_MOST, _LETTERS = 10, 30


@dataclass(kw_only=True, repr=False, eq=False)
class SurvivalDisplay:
    """Curves of survival, steps at the times of events in the fit.

    Parameters
    ----------
    times : array of shape (m,)
        From 0 on.
    survival : array of shape (n, m)
        The probability of each row to be without event.
    labels : sequence of str
        What each curve is called.
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_, lines_
        What was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SparseRegressor
    >>> from garrote.displays import SurvivalDisplay
    >>> from garrote.likelihoods import survival_times
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3))
    >>> y = survival_times(rng.exponential(np.exp(-X[:, 0])), np.ones(60))
    >>> model = SparseRegressor(family="cox", alpha=0.1).fit(X, y)
    >>> display = SurvivalDisplay.from_estimator(model, [[1.0, 0, 0], [-1.0, 0, 0]])
    >>> bool((display.survival[0] <= display.survival[1]).all())
    True
    """

    times: Floats
    survival: Floats
    labels: Sequence[str]
    name: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        labels: Sequence[str] | None = None,
        strata: Any = None,
        offset: Any = None,
        ax: Any = None,
        name: str | None = None,
    ) -> Self:
        """Draw what a fitted model says of some rows, ten at most.

        Parameters
        ----------
        estimator : estimator
            Fitted with ``family="cox"``, or a search over one.
        X : array of shape (n, D)
        labels : sequence of str, optional
            What each row is called; by default "row 0", "row 1", ...
        strata, offset : array of shape (n,), optional
            As in ``predict_survival``.
        ax : matplotlib Axes, optional
        name : str, optional
            The title; by default the estimator's, none if empty.
        """
        fitted = innermost(estimator)
        if not hasattr(fitted, "baseline_"):
            raise TypeError(
                f"{type(fitted).__name__} has no baseline_: curves are of models fitted with "
                "family='cox'"
            )
        times = np.append(0.0, fitted.baseline_.all_times)
        curves = fitted.predict_survival(X, times, strata=strata, offset=offset)
        if len(curves) > _MOST:
            raise ValueError(f"{len(curves)} curves are too many to tell apart: give {_MOST} rows")
        called = [f"row {k}" for k in range(len(curves))] if labels is None else list(labels)
        if len(called) != len(curves):
            raise ValueError(f"there are {len(called)} labels for {len(curves)} rows")
        made = cls(times=times, survival=curves, labels=called, name=type(fitted).__name__)
        return made.plot(ax, name=name)

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the curves."""
        (self.ax_,) = take_axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = [
            self.ax_.step(self.times, curve, where="post", lw=1.8, label=shorten(of, _LETTERS))[0]
            for curve, of in zip(self.survival, self.labels, strict=True)
        ]
        self.ax_.set_xlabel("time")
        self.ax_.set_ylabel("probability to be without event")
        self.ax_.set_ylim(0.0, 1.02)
        set_title(self.ax_, self.name if name is None else name, pad=22)
        if len(self.lines_) > 1:
            legend_above(self.ax_)
        return self
