"""Codes by one product: what each atom alone would have, shrunk or kept where it is large."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse

from garrote.arrays import Floats
from garrote.coding.coders.base import (
    Coded,
    CodingMethod,
    check_price,
    of_the_worst,
    usual_price,
)
from garrote.coding.coders.lasso import lasso_gaps
from garrote.coding.coders.pursuit import normal_equations
from garrote.results.certificates import GAP, SUBSET, Certificate


@dataclass(frozen=True)
class ThresholdCoding(CodingMethod):
    """The code that each atom would have if it were alone, beyond a threshold.

    Of orthonormal atoms soft thresholds are the lasso's codes, and hard ones the best codes of as many
    atoms; of others they are quick, and the certificate says how far they are from these.

    Parameters
    ----------
    alpha : float, optional
        The threshold: the lasso's price of codes, or for "hard" the least norm of what an atom alone
        explains; by default as in `LassoCoding`.
    rule : {"soft", "hard"}, default="soft"
        Whether what is kept is shrunk by the threshold.
    """

    alpha: float | None = None
    rule: str = "soft"
    name: ClassVar[str] = "threshold"
    reference: ClassVar[str] = (
        "Donoho & Johnstone (1994), Ideal spatial adaptation by wavelet shrinkage. Biometrika 81, "
        "425-455"
    )

    def __post_init__(self) -> None:
        check_price(self.alpha)
        if self.rule not in ("soft", "hard"):
            raise ValueError(f"rule must be 'soft' or 'hard', got {self.rule!r}")

    def for_signals(self, atoms: Floats, signals: Any, weights: Floats) -> Self:
        return self if self.alpha else replace(self, alpha=usual_price(signals, weights))

    @property
    def price(self) -> float:
        return self.alpha or 0.0 if self.rule == "soft" else 0.0

    def over(self, atoms: Floats) -> Callable[[Floats], Coded]:
        assert self.alpha is not None
        return partial(_code, atoms, self.alpha, self.rule == "soft")

    def accuracy(
        self, atoms: Floats, signals: Floats, codes: Floats, probability: Floats | None
    ) -> Floats:
        if self.rule == "soft":
            return lasso_gaps(atoms, signals, codes, self.price)
        return normal_equations(atoms, signals, codes)

    def certificate(self, accuracy: Floats) -> Certificate:
        if self.rule == "soft":
            return of_the_worst(GAP, "duality gap", accuracy)
        return of_the_worst(SUBSET, "normal equations", accuracy)


def _code(atoms: Floats, alpha: float, soft: bool, signals: Floats) -> Coded:
    squares = np.einsum("ij,ij->i", atoms, atoms)
    used = squares > 0  # an atom of zeros explains nothing
    products = (signals @ atoms.T)[:, used]
    if soft:
        kept = np.sign(products) * np.maximum(np.abs(products) - alpha, 0.0)
    else:
        kept = np.where(np.abs(products) > alpha * np.sqrt(squares[used]), products, 0.0)
    codes = np.zeros((len(signals), len(atoms)))
    codes[:, used] = kept / squares[used]
    return Coded(scipy.sparse.csr_array(codes))
