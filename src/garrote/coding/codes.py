"""Codes of many signals, with what is left of each and how good each code is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.coding.coders import CodingMethod
from garrote.results.certificates import Certificate
from garrote.solvers.coding.dealing import TOGETHER, dense_rows
from garrote.summaries import Shown, Summary, Table


@dataclass(frozen=True, repr=False)
class Codes(Shown):
    """What `SparseCoder.encode` finds.

    Attributes
    ----------
    values : sparse array of shape (n_signals, n_atoms)
    error : array of shape (n_signals,)
        Which share of each signal's squared length is left.
    accuracy : array of shape (n_signals,)
        How far each code is from what its method has to find, computed from the signal and the code
        alone: of the lasso and of soft thresholds the duality gap, as a share of the objective without
        atoms; of pursuits and hard thresholds the largest gradient of a code of the atoms that are in,
        as a share of the largest without any; of a spike and slab the largest distance of a probability
        or a mean from its equation.
    certificate : Certificate
        The same of the worst signal.
    inclusion_probability : sparse array of shape (n_signals, n_atoms) or None
        Of a spike and slab.
    """

    values: scipy.sparse.csr_array
    error: Floats
    accuracy: Floats
    certificate: Certificate
    inclusion_probability: scipy.sparse.csr_array | None = None

    @property
    def size(self) -> Array:
        """How many atoms each signal has; how many are expected where atoms have probabilities."""
        if self.inclusion_probability is not None:
            return np.asarray(self.inclusion_probability.sum(axis=1)).ravel()
        return np.asarray((self.values != 0).sum(axis=1)).ravel()

    def summary(self) -> Summary:
        """Return a line on each of the worst ten signals, and facts about all."""
        worst = np.argsort(-self.error, kind="stable")[:10]
        count, size = self.values.shape, self.size
        facts = (
            f"{count[0]:,} signals over {count[1]:,} atoms: {size.mean():.3g} atoms a signal",
            f"left of squared lengths: {self.error.mean():.3g} on average, "
            f"{self.error.max():.3g} at most",
            f"certificate: {self.certificate}",
        )
        columns: dict[str, list[Any]] = {
            "signal": worst.tolist(),
            "atoms": size[worst].tolist(),
            "left": self.error[worst].tolist(),
            "accuracy": self.accuracy[worst].tolist(),
        }
        return Summary(facts, Table(columns, "the signals of which most is left"))


def encoded(method: CodingMethod, atoms: Floats, X: Any, n_jobs: int | None) -> Codes:
    """Code signals, and measure each code on the signal itself."""
    codes, probability = method.code(atoms, X, n_jobs)
    error, accuracy = np.zeros(X.shape[0]), np.zeros(X.shape[0])
    for start in range(0, X.shape[0], TOGETHER):
        rows = slice(start, start + TOGETHER)
        signals, inside = dense_rows(X, rows), dense_rows(codes, rows)
        sure = None if probability is None else dense_rows(probability, rows)
        accuracy[rows] = method.accuracy(atoms, signals, inside, sure)
        left = np.sum((signals - inside @ atoms) ** 2, axis=1)
        whole = np.sum(signals**2, axis=1)
        error[rows] = np.divide(left, whole, out=np.zeros(len(left)), where=whole > 0)
    return Codes(codes, error, accuracy, method.certificate(accuracy), probability)
