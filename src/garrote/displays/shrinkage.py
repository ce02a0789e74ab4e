"""What methods make of one least squares coefficient (VG Figure 2)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from garrote.arrays import Floats
from garrote.displays.base import gamma_and_samples
from garrote.displays.figures import set_title, take_axes
from garrote.displays.palette import BLUE, GREEN, GREY, ORANGE, VERMILION, curve_style
from garrote.orthogonal import shrinkage_curves

_STYLES: dict[str, dict[str, Any]] = {
    "ridge": {"color": GREEN, "linestyle": "--"},
    "lasso": {"color": ORANGE, "linestyle": (0, (6, 1.5))},
    "garrote": {"color": VERMILION, "linestyle": "-."},
    "VG": {"color": BLUE, "linestyle": "-"},
}


@dataclass(kw_only=True, repr=False, eq=False)
class ShrinkageDisplay:
    """Estimates as functions of the least squares estimate of one coefficient.

    Parameters
    ----------
    least_squares : array of shape (K,)
    estimates : dict
        Method -> its estimate for each of them.
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    lines_ : dict
        Method -> Line2D.
    identity_line_ : Line2D
        Least squares itself.
    labels_ : list of Text
        Names at the ends of the curves.

    Examples
    --------
    >>> from garrote.displays import ShrinkageDisplay
    >>> display = ShrinkageDisplay.from_theory([0.4, 2.0])
    >>> display.estimates["lasso"]
    array([0. , 1.5])
    """

    least_squares: Floats
    estimates: dict[str, Floats]
    name: str = ""

    @classmethod
    def from_theory(
        cls,
        least_squares: ArrayLike | None = None,
        *,
        ax: Any = None,
        name: str | None = None,
        **parameters: float,
    ) -> Self:
        """Compute and draw the curves of ridge, lasso, Breiman's garrote and the VG.

        Parameters
        ----------
        least_squares : array, optional
            Where to compute them; by default from 0 to 2.
        ax : matplotlib Axes, optional
        name : str, optional
        **parameters
            Those of `garrote.orthogonal.shrinkage_curves`.
        """
        given = np.linspace(0, 2, 401) if least_squares is None else least_squares
        w = np.sort(np.ravel(np.asarray(given, dtype=float)))
        display = cls(least_squares=w, estimates=shrinkage_curves(w, **parameters))
        return display.plot(ax, name=name)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        least_squares: ArrayLike | None = None,
        *,
        ax: Any = None,
        name: str | None = None,
        **parameters: float,
    ) -> Self:
        """Draw the curves for the gamma and the number of rows of a fitted estimator.

        Lasso and Breiman's garrote have the threshold of the VG unless they are given another.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a gamma, such as `garrote.VariationalGarrote`; or a pipeline that ends in one,
            or a search over one.
        least_squares : array, optional
            Where to compute them; by default from 0 to four times the threshold.
        ax : matplotlib Axes, optional
        name : str, optional
        **parameters
            ``ridge``, ``lasso`` and ``garrote`` of `garrote.orthogonal.shrinkage_curves`.
        """
        gamma, n_samples = gamma_and_samples(estimator)
        threshold = _threshold(gamma, n_samples)
        if threshold > 0:
            parameters = {"lasso": threshold, "garrote": threshold**2, **parameters}
            if least_squares is None:
                least_squares = np.linspace(0, 4 * threshold, 401)
        settings = {**parameters, "gamma": gamma, "n_samples": n_samples}
        return cls.from_theory(least_squares, ax=ax, name=name, **settings)

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the curves on ``ax`` or a new figure; ``name`` is a title instead of the stored one."""
        (self.ax_,) = take_axes(ax, width=6, height=4.6)
        from garrote.displays.end_labels import EndLabels

        self.figure_ = self.ax_.figure
        set_title(self.ax_, self.name if name is None else name)
        axes, w = self.ax_, self.least_squares
        (self.identity_line_,) = axes.plot(w, w, ":", color=GREY, lw=1.2)
        self.lines_ = {}
        for k, (method, values) in enumerate(self.estimates.items()):
            style = _STYLES.get(method, curve_style(k))
            (self.lines_[method],) = axes.plot(w, values, label=method, **style)
        curves = [*self.lines_.values(), self.identity_line_]
        self.labels_ = EndLabels(axes, curves, [*self.lines_, "least squares"]).texts
        axes.set_xlabel("least squares estimate")
        axes.set_ylabel("estimate")
        axes.margins(x=0)
        return self


def _threshold(gamma: float, n_samples: float) -> float:
    """Return the estimate whose log odds, (N / 2) log(1 + w^2), outweigh the prior's."""
    # Beyond this no data would outweigh it, and some noise must be left.
    return float(np.sqrt(np.expm1(np.clip(-2 * gamma / n_samples, 0, 8))))
