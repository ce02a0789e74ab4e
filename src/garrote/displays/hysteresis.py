"""Where the way up and the way down the path lead to different solutions.

Free energies of hundreds differ by few units between the branches, so that what is drawn is their
difference: above zero the forward branch is the better one, below it the backward branch, and the
better one is kept.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.displays.base import SelectionDisplay, path_of
from garrote.displays.figures import legend_above, note, set_title, take_axes
from garrote.displays.names import number
from garrote.displays.palette import BLUE, GREY, VERMILION
from garrote.results.path import branches_differ
from garrote.results.selections.selection import Selection

_BRANCHES = {
    "forward": {"color": BLUE, "linestyle": "-", "marker": ">"},
    "backward": {"color": VERMILION, "linestyle": "--", "marker": "<"},
}
_DIRECTIONS = {"forward": "rising", "backward": "falling"}


@dataclass(kw_only=True, repr=False, eq=False)
class HysteresisDisplay(SelectionDisplay):
    """Forward and backward branches of the path, with the ranges shaded where they differ.

    Parameters
    ----------
    strengths : array of shape (K,)
    energies : dict
        Branch ("forward", "backward") -> free energy at each strength.
    sizes : dict, optional
        Branch -> expected number of variables at each strength. A `Selection` does not tell them;
        the path of a fitted estimator does.
    chosen : int
        Position of the strength in use.
    strength, name : str
        As in `PathDisplay`.

    Attributes
    ----------
    ax_, figure_
        What was drawn on; the axes of the difference.
    axes_ : list of Axes
        All panels.
    line_ : Line2D
        The free energy of the backward branch minus that of the forward one.
    lines_ : dict
        Branch -> Line2D of its expected size, where that panel was drawn.
    ranges_ : list of (float, float)
        Where the branches differ, to the middle of the steps of the path.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import VariationalGarrote
    >>> from garrote.displays import HysteresisDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> model = VariationalGarrote().fit(X, X[:, 3] + rng.standard_normal(100))
    >>> display = HysteresisDisplay.from_estimator(model)
    >>> sorted(display.energies)
    ['backward', 'forward']
    """

    strengths: Floats
    energies: dict[str, Floats]
    sizes: dict[str, Floats] | None = None
    chosen: int = 0
    strength: str = "gamma"
    name: str = ""

    @classmethod
    def _read_fitted(cls, fitted: Any) -> Self:
        """Take the branches of a path, with their sizes where it has them."""
        path: Any = getattr(fitted, "path_", None)
        has_branches = all(hasattr(path, branch) for branch in _BRANCHES)
        if fitted.selection_.path is None and has_branches:
            # A prior was annealed: the path belongs to the posterior, not to the selection.
            display = cls(
                strengths=path.strengths,
                energies=_of_branches(path, "free_energy"),
                chosen=path.index(fitted.posterior_.optima[0].strength),
                name=fitted.selection_.method,
            )
        else:
            display = cls._read(fitted.selection_)
        if has_branches:
            display.sizes = _of_branches(path, "expected_size")
        return display

    @classmethod
    def _read(cls, selection: Selection) -> Self:
        path = path_of(selection)
        if not path.energies:
            raise ValueError(
                f"the path of the {selection.method} has one branch only: there is no hysteresis to draw"
            )
        return cls(
            strengths=path.strengths,
            energies=path.energies,
            chosen=path.chosen,
            strength=path.strength,
            name=selection.method,
        )

    @property
    def difference(self) -> Floats:
        """Free energy of the backward branch minus that of the forward one."""
        return self.energies["backward"] - self.energies["forward"]

    @property
    def apart(self) -> Array:
        """Whether the branches differ at each strength."""
        return branches_differ(self.energies["forward"], self.energies["backward"])

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the difference of the branches and, with a second axes, their sizes.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, optional
            By default a new figure with both panels, or one where sizes are unknown.
        name : str, optional
            The title instead of the stored one.
        """
        panels = 1 if self.sizes is None else 2
        settings = {"sharex": True} if panels == 2 else {}
        height = 3.6 if panels == 1 else 5.6
        self.axes_ = take_axes(ax, panels, rows=panels, width=7, height=height, **settings)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        from garrote.displays.strength_axis import mark_chosen, set_strength_axis

        self.ranges_ = self._ranges()
        title = self.name if name is None else name
        # The legend of the difference lies between the axes and the title.
        set_title(self.ax_, title, **{"pad": 22} if self.ranges_ else {})
        for axes in self.axes_:
            last = axes is self.axes_[-1] or ax is not None
            set_strength_axis(axes, self.strengths, self.strength, label=last)
            for low, high in self.ranges_:
                axes.axvspan(low, high, color=GREY, alpha=0.15, lw=0, zorder=0)
        self._draw_difference()
        if len(self.axes_) == 2:
            self._draw_sizes(self.axes_[1])
        value = float(self.strengths[self.chosen])
        self.chosen_line_, self.chosen_label_ = mark_chosen(self.ax_, value)
        for axes in self.axes_[1:]:
            mark_chosen(axes, value, label=False)
        return self

    def _ranges(self) -> list[tuple[float, float]]:
        """Return the runs of strengths where the branches differ, widened by half a step."""
        x = self.strengths
        edges = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2, x[-1:]])
        steps = np.diff(np.concatenate([[0], self.apart.astype(int), [0]]))
        starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
        return [(float(edges[a]), float(edges[b])) for a, b in zip(starts, ends, strict=True)]

    def _draw_difference(self) -> None:
        axes, x, y = self.ax_, self.strengths, self.difference
        axes.axhline(0, color=GREY, lw=0.8, zorder=1)
        (self.line_,) = axes.plot(x, y, color=GREY, marker="o", markersize=2.5, lw=1.0, zorder=3)
        # Linear up to one unit, which is a factor e of probability, and logarithmic beyond.
        axes.set_yscale("symlog", linthresh=1.0)
        reach = 2 * max(1.0, float(np.abs(y).max(initial=0.0)))
        axes.set_ylim(-reach, 2 * reach)
        axes.yaxis.set_major_formatter(lambda y, _: number(y))
        axes.set_ylabel("free energy,\nbackward minus forward")
        if not self.ranges_:
            note(axes, "forward and backward branches agree everywhere", y=0.75)
            return
        fill: dict[str, Any] = {"interpolate": True, "alpha": 0.55, "lw": 0}
        axes.fill_between(x, y, 0, where=y > 0, color=BLUE, label="forward is lower", **fill)
        axes.fill_between(x, y, 0, where=y < 0, color=VERMILION, label="backward is lower", **fill)
        legend_above(axes)

    def _draw_sizes(self, axes: Any) -> None:
        assert self.sizes is not None
        self.lines_ = {}
        for branch, style in _BRANCHES.items():
            label = f"{branch} ({_DIRECTIONS[branch]})"
            (self.lines_[branch],) = axes.plot(
                self.strengths, self.sizes[branch], label=label, markersize=3.5, lw=1.3, **style
            )
        axes.set_ylabel("expected number of\nvariables in the model")
        axes.set_ylim(bottom=0)
        legend_above(axes)


def _of_branches(path: Any, quantity: str) -> dict[str, Floats]:
    """Return one number of each solution, branch by branch."""
    return {
        branch: np.array([getattr(fit, quantity) for fit in getattr(path, branch)])
        for branch in _BRANCHES
    }
