"""The held-out error along the path, with what the rule of choice looked at."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Floats
from garrote.displays.base import SelectionDisplay, path_of
from garrote.displays.figures import leave_headroom, note, set_title, take_axes
from garrote.displays.names import LITERAL, number, shorten
from garrote.displays.palette import BLUE, GREY, VERMILION
from garrote.results.selections.selection import Selection


@dataclass(kw_only=True, repr=False, eq=False)
class CVCurveDisplay(SelectionDisplay):
    """Cross-validated error along the path, beside the null model's.

    Parameters
    ----------
    strengths : array of shape (K,)
    mean, standard_error : array of shape (K,)
        Held-out error over the folds; NaN where no fold reached a strength.
    null : float
        The error without any variable.
    expected_size : array of shape (K,)
    chosen : int
        Position of the strength in use.
    measure : str
        What kind of error it is.
    folds : int
    rule : str
        How the strength was chosen: "1se" or "min".
    strength, response, name : str
        As in `PathDisplay`.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    line_ : Line2D
        The mean error.
    band_ : PolyCollection
        One standard error to either side.
    null_line_ : Line2D
    limit_line_ : Line2D
        The least error plus its standard error.
    least_point_, chosen_point_ : Line2D
        Where the error is least, and where the strength in use lies.
    chosen_line_ : Line2D
    size_axis_ : SecondaryAxis

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import VariationalGarrote
    >>> from garrote.displays import CVCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> model = VariationalGarrote().fit(X, X[:, 3] + rng.standard_normal(100))
    >>> display = CVCurveDisplay.from_estimator(model)
    >>> bool(display.mean[display.chosen] < display.null)
    True
    """

    strengths: Floats
    mean: Floats
    standard_error: Floats
    null: float
    expected_size: Floats
    chosen: int
    measure: str = "error"
    folds: int = 0
    rule: str = ""
    strength: str = "gamma"
    response: str = "y"
    name: str = ""

    @classmethod
    def _read(cls, selection: Selection) -> Self:
        path, validation = path_of(selection), selection.validation
        if validation is None:
            raise ValueError(
                f"there was no cross-validation to draw ({selection.rule}): set "
                f'{path.strength}="cv" and fit again'
            )
        return cls(
            strengths=path.strengths,
            mean=validation.mean,
            standard_error=validation.standard_error,
            null=validation.null,
            expected_size=path.expected_size,
            chosen=path.chosen,
            measure=validation.measure,
            folds=validation.folds,
            rule=validation.rule,
            strength=path.strength,
            response=selection.response,
            name=selection.method,
        )

    @property
    def least(self) -> int:
        """Position of the least error."""
        return int(np.nanargmin(self.mean))

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the curve on ``ax`` or a new figure; ``name`` is a title instead of the stored one."""
        (self.ax_,) = take_axes(ax, width=7)
        from garrote.displays.strength_axis import add_size_axis, mark_chosen, set_strength_axis

        self.figure_ = self.ax_.figure
        set_title(self.ax_, self.name if name is None else name)
        set_strength_axis(self.ax_, self.strengths, self.strength)
        self._draw_errors()
        self._draw_points()
        leave_headroom(self.ax_)
        self.size_axis_ = add_size_axis(self.ax_, self.strengths, self.expected_size, self.strength)
        value = float(self.strengths[self.chosen])
        self.chosen_line_, self.chosen_label_ = mark_chosen(self.ax_, value)
        folds = f",\nmean over {self.folds} folds" if self.folds > 1 else ""
        response = shorten(self.response)
        self.ax_.set_ylabel(f"held-out {self.measure} of {response}{folds}", **LITERAL)
        self.ax_.legend(loc="best", frameon=True, fontsize="small")
        return self

    def _draw_errors(self) -> None:
        axes, x = self.ax_, self.strengths
        marker = {"marker": "o", "markersize": 2.5}
        (self.line_,) = axes.plot(x, self.mean, color=BLUE, lw=1.6, label="mean", **marker)
        low, high = self.mean - self.standard_error, self.mean + self.standard_error
        band = {"color": BLUE, "alpha": 0.18, "lw": 0, "label": "± one standard error"}
        self.band_ = axes.fill_between(x, low, high, **band)
        self.null_line_ = axes.axhline(
            self.null, color=VERMILION, ls="-.", lw=1.4, label="null model: no variable"
        )
        if np.isfinite(self.mean).any():
            limit = self.mean[self.least] + self.standard_error[self.least]
            self.limit_line_ = axes.axhline(
                limit, color=GREY, ls=":", lw=1.2, label="least + its standard error"
            )

    def _draw_points(self) -> None:
        """Mark the least error and the chosen one, which may be the same."""
        axes, chosen = self.ax_, self.chosen
        point: dict[str, Any] = {"ls": "none", "color": BLUE, "markersize": 8, "zorder": 5}
        point["clip_on"] = False  # the ends of the path are on the frame
        if not np.isfinite(self.mean).any():
            note(axes, "no fold reached any strength of this path")
            return
        at = (self.strengths[self.least], self.mean[self.least])
        label = f"least: {number(at[0])}"
        ground = {"markerfacecolor": axes.get_facecolor(), "markeredgewidth": 1.6}
        (self.least_point_,) = axes.plot(*at, marker="o", label=label, **point | ground)
        at = (self.strengths[chosen], self.mean[chosen])
        label = f"chosen, rule {self.rule!r}" if self.rule else "chosen"
        (self.chosen_point_,) = axes.plot(*at, marker="D", label=label, **point | {"markersize": 6})
