"""Codes that are not negative: least squares, or the lasso, of every signal, solved exactly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.coding.coders.base import Coded, CodingMethod, of_the_worst
from garrote.results.certificates import OPTIMALITY, Certificate
from garrote.settings import is_number
from garrote.solvers.coding.lasso_codes import lasso_codes


@dataclass(frozen=True)
class NonNegativeCoding(CodingMethod):
    """The codes z >= 0 that minimise 1/2 |x - z W|^2 + alpha sum z.

    Parameters
    ----------
    alpha : float, default=0.0
        The price of codes; 0 is non-negative least squares.
    """

    alpha: float = 0.0
    name: ClassVar[str] = "non-negative"
    reference: ClassVar[str] = (
        "Hoyer (2004), Non-negative matrix factorization with sparseness constraints. JMLR 5, 1457-1469"
    )

    def __post_init__(self) -> None:
        if not (is_number(self.alpha) and self.alpha >= 0):
            raise ValueError(f"alpha must be >= 0 and finite, got {self.alpha!r}")

    @property
    def price(self) -> float:
        return float(self.alpha)

    def over(self, atoms: Floats) -> Callable[[Floats], Coded]:
        gram, rank = atoms @ atoms.T, min(atoms.shape)
        return lambda signals: Coded(lasso_codes(gram, signals @ atoms.T, self.price, True, rank))

    def accuracy(
        self, atoms: Floats, signals: Floats, codes: Floats, probability: Floats | None
    ) -> Floats:
        products = signals @ atoms.T
        pull = products - codes @ (atoms @ atoms.T) - self.price
        off = np.where(codes > 0, np.abs(pull), np.maximum(pull, 0.0)).max(axis=1)
        most = np.abs(products).max(axis=1)
        off = np.where((codes < 0).any(axis=1), np.inf, off)
        return np.divide(off, most, out=np.zeros(len(off)), where=most > 0)

    def certificate(self, accuracy: Floats) -> Certificate:
        return of_the_worst(OPTIMALITY, "violation", accuracy)
