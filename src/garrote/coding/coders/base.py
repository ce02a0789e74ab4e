"""What a way of coding is: settings, the codes of many signals, and how good each of these is."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse

from garrote.arrays import Floats
from garrote.results.certificates import Certificate
from garrote.settings import Settings, check_positive
from garrote.solvers.coding.dealing import deal, dense_rows, stacked


class Coded(NamedTuple):
    """Codes of many signals, and the inclusion probabilities of atoms where there are any."""

    codes: scipy.sparse.csr_array
    probability: scipy.sparse.csr_array | None = None


@dataclass(frozen=True)
class CodingMethod(Settings):
    """How signals are coded over atoms that are given, one a row."""

    name: ClassVar[str]
    reference: ClassVar[str]

    def for_signals(self, atoms: Floats, signals: Any, weights: Floats) -> Self:
        """Return the method with all that was left open decided for some signals."""
        return self

    @property
    def price(self) -> float:
        """What the sum of a code's sizes is multiplied with in the objective."""
        return 0.0

    @abstractmethod
    def over(self, atoms: Floats) -> Callable[[Floats], Coded]:
        """Return what codes a block of signals over these atoms."""

    def cost(self, atoms: Floats) -> float:
        """Return how many products a signal may take."""
        return float(atoms.size)

    def code(self, atoms: Floats, signals: Any, n_jobs: int | None = None) -> Coded:
        """Code signals, dense or sparse, one a row."""
        parts = deal(signals, self.over(atoms), n_jobs, self.cost(atoms))
        codes = stacked([part.codes for part in parts], len(atoms))
        sure = [part.probability for part in parts if part.probability is not None]
        return Coded(codes, stacked(sure, len(atoms)) if sure else None)

    @abstractmethod
    def accuracy(
        self, atoms: Floats, signals: Floats, codes: Floats, probability: Floats | None
    ) -> Floats:
        """Return how far each code is from what the method has to find, from data and code alone."""

    @abstractmethod
    def certificate(self, accuracy: Floats) -> Certificate:
        """Return what the worst of all codes says of them together."""


def usual_price(signals: Any, weights: Floats) -> float:
    """Return 1.2 / sqrt(length) times the root mean square of the signals' norms.

    Mairal et al. (2010) take that price of a code of size 1 for patches of norm 1.
    """
    if scipy.sparse.issparse(signals):
        squares = np.asarray(signals.multiply(signals).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", signals, signals, dtype=np.float64)
    mean = float(weights @ squares / weights.sum())
    return 1.2 * np.sqrt(mean / signals.shape[1]) if mean > 0 else 1.0


def check_price(alpha: float | None) -> None:
    """Refuse a price of codes that is not positive; None leaves it to the signals."""
    if alpha is not None:
        check_positive("alpha", alpha)


def some_rows(signals: Any, weights: Floats, most: int) -> tuple[Floats, Floats]:
    """Return signals of positive weight and their weights; ``most`` of them, evenly spread, if more."""
    inside = np.flatnonzero(weights > 0)
    if len(inside) > most:
        inside = inside[np.linspace(0, len(inside) - 1, most).astype(int)]
    return dense_rows(signals, inside), weights[inside]


def of_the_worst(kind: str, part: str, accuracy: Floats) -> Certificate:
    """Return the certificate of many signals: that of the one which is furthest off."""
    worst = float(accuracy.max(initial=0.0))
    return Certificate(kind, worst, {part: worst}, f"largest {part} of {len(accuracy):,} signals")
