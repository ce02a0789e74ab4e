"""How often each variable is selected among resamples of the rows, along the path of the penalty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.displays.base import SelectionDisplay, path_of
from garrote.displays.figures import leave_headroom, note, set_title, take_axes
from garrote.displays.names import LITERAL, shorten_all
from garrote.displays.palette import DISTINCT_CURVES, GREY, curve_style
from garrote.results.selections.evidence import FREQUENCY
from garrote.results.selections.selection import Selection


@dataclass(kw_only=True, repr=False, eq=False)
class StabilityDisplay(SelectionDisplay):
    """Selection frequencies along the path: one curve a variable, and the threshold.

    Murphy (2012, Figure 13.10) draws how often a variable is in when rows are drawn anew, for one
    strength after the other; Meinshausen & Buehlmann (2010) call it the stability path. Of
    `StabilitySelection` a curve is in which share of the halves the variable has come in by then; it
    never falls where each half selects what comes first.

    Parameters
    ----------
    strengths : array of shape (K,)
    frequency : array of shape (K, k)
        In which share of the resamples each variable is in.
    names : sequence of k str
    selected : array of bool of shape (k,)
    size : array of shape (K,)
        The mean number of variables in a resample.
    threshold : float
        From which frequency on variables are selected.
    strength : str
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_, lines_, labels_, threshold_line_
        What was drawn.

    Examples
    --------
    >>> from garrote import StabilitySelection
    >>> from garrote.datasets import make_sparse_regression
    >>> from garrote.displays import StabilityDisplay
    >>> data = make_sparse_regression(n_samples=120, n_features=40, n_informative=3, random_state=0)
    >>> model = StabilitySelection(n_features=5, threshold=0.9).fit(data.X, data.y)
    >>> display = StabilityDisplay.from_estimator(model)
    >>> len(display.labels_)
    3
    """

    strengths: Floats
    frequency: Floats
    names: Sequence[str]
    selected: Array
    size: Floats
    threshold: float
    strength: str = "alpha"
    name: str = ""

    @classmethod
    def _read(cls, selection: Selection) -> Self:
        if selection.evidence != FREQUENCY or selection.control is None:
            raise ValueError(
                f"the evidence of {selection.method} is not a frequency among resamples: take "
                "PathDisplay, or fit StabilitySelection"
            )
        path = path_of(selection)
        return cls(
            strengths=path.strengths,
            frequency=path.probability,
            names=[selection.names[j] for j in path.columns],
            selected=selection.selected[path.columns],
            size=path.expected_size,
            threshold=selection.control.threshold,
            strength=path.strength,
            name=selection.method,
        )

    def plot(self, ax: Any = None, *, name: str | None = None, max_named: int = 12) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        name : str, optional
            The title instead of the stored one.
        max_named : int, default=12
            At most so many of the selected variables are coloured and named.
        """
        from garrote.displays.end_labels import EndLabels
        from garrote.displays.strength_axis import add_size_axis, set_strength_axis

        (self.ax_,) = take_axes(ax, width=7)
        self.figure_ = self.ax_.figure
        set_title(self.ax_, self.name if name is None else name)
        set_strength_axis(self.ax_, self.strengths, self.strength)
        named = np.flatnonzero(self.selected)[: min(max_named, DISTINCT_CURVES)].tolist()
        styles: dict[int, dict[str, Any]] = {k: curve_style(i) for i, k in enumerate(named)}
        strong, weak = {"lw": 1.8, "zorder": 3}, {"color": GREY, "lw": 0.7, "alpha": 0.55}
        self.lines_ = [
            self.ax_.plot(
                self.strengths,
                self.frequency[:, k],
                label=text,
                **(styles[k] | strong if k in styles else weak),
            )[0]
            for k, text in enumerate(shorten_all(self.names))
        ]
        rule: dict[str, Any] = {"color": GREY, "lw": 0.8, "zorder": 1, "ls": ":"}
        self.threshold_line_ = self.ax_.axhline(self.threshold, **rule)
        self.ax_.set_ylim(-0.03, 1.03)
        self.ax_.set_ylabel(FREQUENCY, **LITERAL)
        leave_headroom(self.ax_)
        self.size_axis_ = add_size_axis(self.ax_, self.strengths, self.size, self.strength)
        self.labels_ = EndLabels(
            self.ax_, [self.lines_[k] for k in named], [self.names[k] for k in named]
        ).texts
        if not np.any(self.selected):
            note(self.ax_, "no variable is selected", 0.03, 0.87, ha="left")
        return self
