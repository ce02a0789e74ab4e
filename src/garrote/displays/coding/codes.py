"""Codes of signals: which atoms each has, and how often each atom is used."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from garrote.arrays import Floats
from garrote.displays.base import innermost
from garrote.displays.figures import set_title, take_axes
from garrote.displays.palette import BLUE


@dataclass(kw_only=True, repr=False, eq=False)
class CodesDisplay:
    """Codes of the first signals, and the share of all signals that each atom is in.

    Parameters
    ----------
    codes : array of shape (k, n_atoms)
        Of the signals that are drawn.
    use : array of shape (n_atoms,)
        In which share of all signals each atom is; where atoms have probabilities, their mean.
    count : int
        How many signals there are.
    name : str
        The title.

    Attributes
    ----------
    ax_, figure_, image_, bars_
        What was drawn; ``ax_`` are two.

    Examples
    --------
    >>> from garrote.coding import SparseCoder, dct_dictionary
    >>> from garrote.displays import CodesDisplay
    >>> atoms = dct_dictionary(16)
    >>> coder = SparseCoder(atoms).fit(atoms)
    >>> CodesDisplay.from_estimator(coder, atoms).use.round(2).tolist()[:3]
    [0.06, 0.06, 0.06]
    """

    codes: Floats
    use: Floats
    count: int
    name: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        ax: Any = None,
        name: str | None = None,
        max_signals: int = 60,
    ) -> Self:
        """Code signals by a fitted transformer, and draw the codes.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``encode``; or a search over one.
        X : array or sparse matrix of shape (n_signals, D)
        ax : two matplotlib Axes, optional
        name : str, optional
            The title; by default the estimator's, none if empty.
        max_signals : int, default=60
            The codes of so many signals are drawn.
        """
        fitted = innermost(estimator)
        if not hasattr(fitted, "encode"):
            raise TypeError(
                f"{type(fitted).__name__} has no codes to draw: give a fitted transformer, such as "
                "garrote.coding.SparseCoder"
            )
        found = fitted.encode(X)
        sure = found.inclusion_probability
        use = (found.values != 0).mean(axis=0) if sure is None else sure.mean(axis=0)
        read = cls(
            codes=found.values[:max_signals].toarray(),
            use=np.asarray(use).ravel(),
            count=found.values.shape[0],
            name=type(fitted).__name__,
        )
        return read.plot(ax, name=name)

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the codes above, the use of atoms below."""
        self.ax_ = take_axes(ax, 2, rows=2, width=7, height=6)
        self.figure_ = self.ax_[0].figure
        most = float(np.abs(self.codes).max(initial=0.0)) or 1.0
        above = self.ax_[0]
        self.image_ = above.imshow(
            self.codes, cmap="PuOr", vmin=-most, vmax=most, aspect="auto", interpolation="nearest"
        )
        above.set_ylabel("signal")
        self.figure_.colorbar(self.image_, ax=above, label="code")
        set_title(above, self.name if name is None else name)
        if len(self.ax_) > 1:
            below = self.ax_[1]
            order = np.argsort(-self.use, kind="stable")
            self.bars_ = below.fill_between(
                np.arange(len(order)), self.use[order], step="mid", color=BLUE
            )
            below.set_xlabel("atoms, from the most used")
            below.set_ylabel(f"share of {self.count:,} signals")
            below.set_ylim(0, None)
            below.margins(x=0)
        above.set_xlabel("atom")
        return self
