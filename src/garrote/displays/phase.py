"""For which correlations and prior odds a single variable has two solutions (VG Figure 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Floats
from garrote.displays.base import gamma_and_samples
from garrote.displays.figures import ground, set_title, take_axes
from garrote.displays.names import number
from garrote.displays.palette import BLUE, GREY, VERMILION
from garrote.orthogonal import (
    best_univariate_solution,
    critical_point,
    even_odds_line,
    transition_lines,
    univariate_solutions,
)

# Where insets go: above the lines to the right, below them to the left.
_PLACES = ((0.64, 0.7, 0.33, 0.24), (0.1, 0.27, 0.33, 0.24))


@dataclass(frozen=True)
class Section:
    """Solutions over rho at one gamma: the two stable ones, NaN where there is one, and the best."""

    rho: Floats
    sparse: Floats
    dense: Floats
    best: Floats


@dataclass(kw_only=True, repr=False, eq=False)
class PhaseDisplay:
    """The phase plot of one variable: squared correlation with the response against prior odds.

    Parameters
    ----------
    rho : array of shape (K,)
        Squared correlations from the critical one upwards.
    sparse_end, dense_end : array of shape (K,)
        Gammas at which the sparse and the dense solution cease to exist.
    smooth_rho, smooth_gamma : array
        Below the critical point, where the only solution is m = 1/2.
    critical : (float, float)
        rho and gamma of the critical point.
    sections : dict
        Gamma -> `Section`, drawn as insets.
    n_samples : float
    explained : float
        Share of the response's variance that other variables explain.
    chosen : float, optional
        The gamma in use, which gets a line.
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    even_line_, sparse_end_line_, dense_end_line_, exact_line_, critical_point_ : Line2D
    chosen_line_ : Line2D or None
    insets_ : list of Axes
    texts_ : list of Text
        Names of the regions.

    References
    ----------
    Kappen, H. J. and Gomez, V. (2014). The Variational Garrote. Machine Learning 96, 269-294.

    Examples
    --------
    >>> from garrote.displays import PhaseDisplay
    >>> display = PhaseDisplay.from_theory(n_samples=100)
    >>> round(display.critical[0], 3)
    0.246
    """

    rho: Floats
    sparse_end: Floats
    dense_end: Floats
    smooth_rho: Floats
    smooth_gamma: Floats
    critical: tuple[float, float]
    sections: dict[float, Section]
    n_samples: float
    explained: float = 0.0
    chosen: float | None = None
    name: str = ""

    @classmethod
    def from_theory(
        cls,
        n_samples: float = 100,
        *,
        explained: float = 0.0,
        gammas: Sequence[float] = (),
        ax: Any = None,
        name: str | None = None,
    ) -> Self:
        """Compute and draw the phase plot.

        Parameters
        ----------
        n_samples : float, default=100
            Number of samples.
        explained : float, default=0.0
            Share of the response's variance that other variables explain, in [0, 1).
        gammas : sequence of at most two floats, optional
            Prior log odds for which insets show the probability m over rho.
        ax : matplotlib Axes, optional
        name : str, optional
        """
        return cls._compute(n_samples, explained, gammas).plot(ax, name=name)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        explained: float = 0.0,
        gammas: Sequence[float] = (),
        ax: Any = None,
        name: str | None = None,
    ) -> Self:
        """Draw the phase plot for the number of rows of a fitted estimator, with a line at its gamma.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a gamma, such as `garrote.VariationalGarrote`; or a pipeline that ends in one,
            or a search over one.
        explained, gammas, ax, name
            As in `from_theory`.
        """
        chosen, n_samples = gamma_and_samples(estimator)
        display = cls._compute(n_samples, explained, gammas)
        display.chosen = chosen
        return display.plot(ax, name=name)

    @classmethod
    def _compute(cls, n_samples: float, explained: float, gammas: Sequence[float]) -> Self:
        if len(gammas) > len(_PLACES):
            raise ValueError(f"gammas may be at most {len(_PLACES)}, got {len(gammas)}")
        rho_star, gamma_star = critical_point(n_samples, explained)
        most = (1 - explained) * (1 - 1e-3)
        rho = np.linspace(min(rho_star, most), most, 400)
        sparse_end, dense_end = transition_lines(rho, n_samples, explained)
        smooth = np.linspace(0, rho_star, 100)
        return cls(
            rho=rho,
            sparse_end=sparse_end,
            dense_end=dense_end,
            smooth_rho=smooth,
            smooth_gamma=even_odds_line(smooth, n_samples, explained),
            critical=(rho_star, gamma_star),
            sections={gamma: _section(gamma, n_samples, explained) for gamma in gammas},
            n_samples=n_samples,
            explained=explained,
        )

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the plot on ``ax`` or a new figure; ``name`` is a title instead of the stored one."""
        (self.ax_,) = take_axes(ax, width=7, height=6)
        self.figure_ = self.ax_.figure
        set_title(self.ax_, self.name if name is None else name)
        self._draw_lines()
        self._name_regions()
        self.chosen_line_ = None
        if self.chosen is not None:
            self._mark_chosen(self.chosen)
        self.insets_ = []
        for (gamma, section), place in zip(self.sections.items(), _PLACES, strict=False):
            inset = self.ax_.inset_axes(place)
            _draw_section(inset, gamma, section)
            self.insets_.append(inset)
        return self

    def _draw_lines(self) -> None:
        axes, most = self.ax_, 1 - self.explained
        (self.even_line_,) = axes.plot(
            self.smooth_rho, self.smooth_gamma, color=BLUE, label="m = 1/2"
        )
        (self.sparse_end_line_,) = axes.plot(
            self.rho, self.sparse_end, "--", color=BLUE, label="end of the sparse solution"
        )
        (self.dense_end_line_,) = axes.plot(
            self.rho, self.dense_end, "-.", color=BLUE, label="end of the dense solution"
        )
        axes.fill_between(self.rho, self.dense_end, self.sparse_end, color=BLUE, alpha=0.13, lw=0)
        (self.exact_line_,) = axes.plot(
            [0, most], [0, -self.n_samples / 2], ":", color=GREY, label="exact, out to in"
        )
        (self.critical_point_,) = axes.plot(*self.critical, "o", color=BLUE, ls="none")
        rho, gamma = self.critical
        axes.annotate(
            f"critical point\nrho = {rho:.3f}, gamma = {number(gamma)}",
            self.critical,
            # Beside the point, where the line of a chosen gamma may run above it.
            (14, 24) if self.chosen is None else (30, -6),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": BLUE, "lw": 0.8, "shrinkB": 4},
            fontsize="small",
            bbox=ground(axes),
        )
        axes.set_xlim(0, most)
        axes.set_ylim(min(-0.8 * self.n_samples, 2.5 * gamma), 0)
        axes.set_xlabel("squared correlation with the response, rho")
        axes.set_ylabel("prior log odds of inclusion, gamma")
        axes.legend(loc="lower left", fontsize="small", frameon=False)

    def _mark_chosen(self, gamma: float) -> None:
        """Draw a line at the gamma in use: where it meets the others, a variable comes in."""
        axes = self.ax_
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 1.1 * gamma), max(high, 1.1 * gamma))
        words = f"chosen gamma = {number(gamma)}"
        self.chosen_line_ = axes.axhline(gamma, color=VERMILION, lw=1.2, label=words)
        axes.legend(loc="lower left", fontsize="small", frameon=False)

    def _name_regions(self) -> None:
        """Say in the plot what each region means."""
        bottom, most = self.ax_.get_ylim()[0], 1 - self.explained
        high, middle, low = 0.2 * bottom, 0.38 * bottom, 0.75 * bottom
        # Both ends fall with rho, and np.interp wants what rises.
        into = np.interp(-high, -self.sparse_end, self.rho)
        out_of = np.interp(-middle, -self.dense_end, self.rho)
        both = [np.interp(-low, -end, self.rho) for end in (self.dense_end, self.sparse_end)]
        texts = {
            "in": (into + 0.35 * (most - into), high),
            "out": (out_of / 2, middle),
            "two solutions": (sum(both) / 2, low),
        }
        place = {"ha": "center", "va": "center", "color": GREY}
        self.texts_ = [self.ax_.text(*at, text, **place) for text, at in texts.items()]
        self.texts_[-1].set_color(BLUE)


def _section(gamma: float, n_samples: float, explained: float) -> Section:
    rho = (1 - explained) * np.linspace(0.001, 0.999, 500)
    found = [univariate_solutions(r, gamma, n_samples, explained) for r in rho]
    branches = np.array([one.probability[one.stable][[0, -1]] for one in found])
    two = np.array([one.stable.sum() == 2 for one in found])
    sparse, dense = np.where(two[:, None], branches, np.nan).T
    best = np.array([best_univariate_solution(r, gamma, n_samples, explained) for r in rho])
    return Section(rho, sparse, dense, best)


def _draw_section(axes: Any, gamma: float, section: Section) -> None:
    """Draw the stable solutions dashed and those of lowest free energy solid."""
    for probability in (section.sparse, section.dense):
        axes.plot(section.rho, probability, "--", color=GREY, lw=1)
    axes.plot(section.rho, section.best, color=BLUE)
    axes.set(xlim=(0, section.rho[0] + section.rho[-1]), ylim=(-0.05, 1.05), yticks=[0, 1])
    axes.set_title(f"m over rho at gamma = {number(gamma)}", fontsize="small")
    axes.tick_params(labelsize="x-small")
