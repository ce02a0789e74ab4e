"""Codes of small sum: the lasso of every signal, solved exactly."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding.coders.base import (
    Coded,
    CodingMethod,
    check_price,
    of_the_worst,
    usual_price,
)
from garrote.results.certificates import GAP, Certificate
from garrote.solvers.coding.lasso_codes import lasso_codes


@dataclass(frozen=True)
class LassoCoding(CodingMethod):
    """The codes that minimise 1/2 |x - z W|^2 + alpha |z|_1.

    Parameters
    ----------
    alpha : float, optional
        The price of codes; by default 1.2 / sqrt(D) times the root mean square of the norms of the
        signals that are fitted, D being their length.
    positive : bool, default=False
        Whether codes are not negative.
    """

    alpha: float | None = None
    positive: bool = False
    name: ClassVar[str] = "lasso"
    reference: ClassVar[str] = (
        "Efron, Hastie, Johnstone & Tibshirani (2004), Least angle regression. Annals of Statistics "
        "32, 407-499"
    )

    def __post_init__(self) -> None:
        check_price(self.alpha)

    def for_signals(self, atoms: Floats, signals: Any, weights: Floats) -> Self:
        return self if self.alpha else replace(self, alpha=usual_price(signals, weights))

    @property
    def price(self) -> float:
        return self.alpha or 0.0

    def over(self, atoms: Floats) -> Callable[[Floats], Coded]:
        gram, rank = atoms @ atoms.T, min(atoms.shape)
        return lambda signals: Coded(
            lasso_codes(gram, signals @ atoms.T, self.price, self.positive, rank)
        )

    def accuracy(
        self, atoms: Floats, signals: Floats, codes: Floats, probability: Floats | None
    ) -> Floats:
        return lasso_gaps(atoms, signals, codes, self.price, self.positive)

    def certificate(self, accuracy: Floats) -> Certificate:
        return of_the_worst(GAP, "duality gap", accuracy)


def lasso_gaps(
    atoms: Floats,
    signals: Floats,
    codes: Floats,
    alpha: float,
    positive: bool = False,
    seen: Array | None = None,
) -> Floats:
    """Return each signal's duality gap, as a share of the objective without any atom.

    Signals are 0 where an entry was not ``seen``.
    """
    left = signals - codes @ atoms
    left = left if seen is None else left * seen
    pull = left @ atoms.T
    largest = (pull if positive else np.abs(pull)).max(axis=1)
    share = np.minimum(1.0, alpha / np.maximum(largest, alpha))
    primal = 0.5 * np.einsum("ij,ij->i", left, left) + alpha * np.abs(codes).sum(axis=1)
    # The dual objective, |x|^2 / 2 - |x - share * left|^2 / 2, without cancellation.
    dual = share * np.einsum("ij,ij->i", left, signals - 0.5 * share[:, None] * left)
    null = 0.5 * np.einsum("ij,ij->i", signals, signals)
    return np.divide(
        np.maximum(primal - dual, 0.0), null, out=np.zeros(len(signals)), where=null > 0
    )
