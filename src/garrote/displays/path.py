"""How probabilities or effects of the variables change along the path."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.displays.base import SelectionDisplay, path_of
from garrote.displays.figures import leave_headroom, note, set_title, take_axes
from garrote.displays.names import LITERAL, shorten, shorten_all
from garrote.displays.palette import DISTINCT_CURVES, GREY, curve_style
from garrote.results.selections.evidence import is_certainty
from garrote.results.selections.selection import Selection

# With nothing selected, so many of the most probable are named.
_RUNNERS_UP = 5

# Where sums over models are stated at the strength chosen, all other strengths are annealed.
_ANNEALED = "inclusion probability"


@dataclass(kw_only=True, repr=False, eq=False)
class PathDisplay(SelectionDisplay):
    """Inclusion probabilities or effects along the path, the selected variables coloured and named.

    Parameters
    ----------
    strengths : array of shape (K,)
    probability, effect : array of shape (K, k)
    names : sequence of k str
        The most important first.
    selected : array of k bool
    expected_size : array of shape (K,)
    chosen : int
        Position of the strength in use.
    strength : str
        What the strength is called.
    response : str
        The name of what is explained.
    per : str
        How much of a variable effects are for: "unit".
    evidence : str
        What the probabilities are.
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    lines_ : list of Line2D
        The curves in the order of ``names``; those that are not named are grey.
    labels_ : list of Text
        Names at the ends of the curves, the most important first.
    chosen_line_ : Line2D
    size_axis_ : SecondaryAxis
        The expected number of variables, above.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import VariationalGarrote
    >>> from garrote.displays import PathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> model = VariationalGarrote().fit(X, X[:, 3] + rng.standard_normal(100))
    >>> display = PathDisplay.from_estimator(model, kind="effect")
    >>> [text.get_text() for text in display.labels_]
    ['x3']
    """

    strengths: Floats
    probability: Floats
    effect: Floats
    names: Sequence[str]
    selected: Array
    expected_size: Floats
    chosen: int
    strength: str = "gamma"
    response: str = "y"
    per: str = "unit"
    evidence: str = "inclusion probability"
    name: str = ""

    @classmethod
    def _read(cls, selection: Selection) -> Self:
        path = path_of(selection)
        return cls(
            strengths=path.strengths,
            probability=path.probability,
            effect=path.effect,
            names=[selection.names[j] for j in path.columns],
            selected=selection.selected[path.columns],
            expected_size=path.expected_size,
            chosen=path.chosen,
            strength=path.strength,
            response=selection.affected,
            per=selection.per,
            evidence=selection.evidence if selection.models is None else _ANNEALED,
            name=selection.method,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        kind: str | None = None,
        max_named: int = 12,
    ) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        name : str, optional
            The title instead of the stored one.
        kind : {"probability", "effect"}, optional
            By default probabilities, and effects where the method gives none.
        max_named : int, default=12
            At most so many variables are coloured and named: the selected ones or, without any,
            the five most probable.
        """
        if kind is None:
            kind = "probability" if is_certainty(self.evidence) else "effect"
        if kind not in ("probability", "effect"):
            raise ValueError(f"kind must be 'probability' or 'effect', got {kind!r}")
        (self.ax_,) = take_axes(ax, width=7)
        from garrote.displays.strength_axis import add_size_axis, mark_chosen, set_strength_axis

        self.figure_ = self.ax_.figure
        set_title(self.ax_, self.name if name is None else name)
        set_strength_axis(self.ax_, self.strengths, self.strength)
        self._draw_curves(kind, self._named(max_named))
        self._set_values_axis(kind)
        leave_headroom(self.ax_)
        self.size_axis_ = add_size_axis(self.ax_, self.strengths, self.expected_size, self.strength)
        value = float(self.strengths[self.chosen])
        self.chosen_line_, self.chosen_label_ = mark_chosen(self.ax_, value)
        if not np.any(self.selected):
            said = f"no variable is selected at the chosen {self.strength}"
            note(self.ax_, said, 0.03, 0.87, ha="left")
        return self

    def _named(self, most: int) -> list[int]:
        """Return the positions of the curves that are named, the most important first."""
        found = np.flatnonzero(self.selected)
        if not len(found):
            found = np.arange(min(_RUNNERS_UP, len(self.names)))
        return [int(k) for k in found[: min(most, DISTINCT_CURVES)]]

    def _draw_curves(self, kind: str, named: list[int]) -> None:
        from garrote.displays.end_labels import EndLabels

        values = self.probability if kind == "probability" else self.effect
        marker = "o" if len(self.strengths) == 1 else None
        styles: dict[int, dict[str, Any]] = {k: curve_style(i) for i, k in enumerate(named)}
        strong, weak = {"lw": 1.8, "zorder": 3}, {"color": GREY, "lw": 0.7, "alpha": 0.55}
        self.lines_ = [
            self.ax_.plot(
                self.strengths,
                values[:, k],
                marker=marker,
                label=name,
                **(styles[k] | strong if k in styles else weak),
            )[0]
            for k, name in enumerate(shorten_all(self.names))
        ]
        curves = [self.lines_[k] for k in named]
        self.labels_ = EndLabels(self.ax_, curves, [self.names[k] for k in named]).texts

    def _set_values_axis(self, kind: str) -> None:
        rule: dict[str, Any] = {"color": GREY, "lw": 0.8, "zorder": 1}
        if kind == "probability":
            self.ax_.axhline(0.5, ls=":", **rule)
            self.ax_.set_ylim(-0.03, 1.03)
            label = self.evidence if is_certainty(self.evidence) else "in the model"
            self.ax_.set_ylabel(label, **LITERAL)
        else:
            self.ax_.axhline(0.0, **rule)
            response = shorten(self.response)
            self.ax_.set_ylabel(f"effect on {response}\nper {self.per} of the variable", **LITERAL)
