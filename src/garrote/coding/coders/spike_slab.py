"""Codes of which it is known how probable each atom is: a spike and a slab, by mean field."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from scipy.special import expit, logit

from garrote.arrays import Floats
from garrote.coding.coders.base import Coded, CodingMethod, of_the_worst, some_rows
from garrote.results.certificates import EQUATIONS, Certificate
from garrote.settings import check_positive, is_number
from garrote.solvers.coding.lasso_codes import lasso_codes
from garrote.solvers.coding.spike_slab_codes import spike_rule, spike_slab_codes

# Signals from which numbers are learned at most, rounds of that, and the change at which they end.
_MOST_SIGNALS, _ROUNDS, _SETTLED = 2000, 50, 1e-3
# Variances are no less than this share of the first guess: many atoms fit anything, and none nothing.
_LEAST = 1e-5
# Atoms less probable than this are left out of sparse codes.
_IMPROBABLE = 1e-8


@dataclass(frozen=True)
class SpikeSlabCoding(CodingMethod):
    """Posterior means of codes: each atom is in with a probability, its code then from a Gaussian.

    x = sum of s_j w_j d_j + noise, with s_j = 1 of probability ``inclusion``, w_j ~ N(0,
    ``slab_variance``) and noise ~ N(0, ``noise_variance``) in every column. Factors of the posterior are
    made to agree, from the lasso's codes on (mean field; where atoms resemble each other one of them may
    take it all). What is not given is learned by EM when signals are fitted.

    Parameters
    ----------
    inclusion : float, optional
        The prior probability that an atom is in.
    slab_variance : float, optional
        The prior variance of a code that is.
    noise_variance : float, optional
    """

    inclusion: float | None = None
    slab_variance: float | None = None
    noise_variance: float | None = None
    name: ClassVar[str] = "spike-slab"
    reference: ClassVar[str] = (
        "Titsias & Lazaro-Gredilla (2011), Spike and slab variational inference for multi-task and "
        "multiple kernel learning. NeurIPS 24, 2339-2347"
    )

    def __post_init__(self) -> None:
        if self.inclusion is not None and not (
            is_number(self.inclusion) and 0 < self.inclusion < 1
        ):
            raise ValueError(f"inclusion must be between 0 and 1, got {self.inclusion!r}")
        for name in ("slab_variance", "noise_variance"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))

    def for_signals(self, atoms: Floats, signals: Any, weights: Floats) -> Self:
        if self.inclusion and self.slab_variance and self.noise_variance:
            return self
        given, weights = some_rows(signals, weights, _MOST_SIGNALS)
        square = float(weights @ np.mean(given**2, axis=1) / weights.sum())
        silent, square = not square, square or 1.0
        length = float(np.mean(np.sum(atoms**2, axis=1))) or 1.0
        count, width = atoms.shape
        share = self.inclusion or min(0.1, 0.25 * width / count)
        now = replace(
            self,
            inclusion=share,
            slab_variance=self.slab_variance or square * width / (share * count * length),
            noise_variance=self.noise_variance or 0.1 * square,
        )
        first = now._numbers
        for _ in range(0 if silent else _ROUNDS):
            before, now = now, self._learned(now, atoms, given, weights, _LEAST * first)
            if np.abs(np.log(now._numbers / before._numbers)).max() <= _SETTLED:
                break
        return now

    @property
    def _numbers(self) -> Floats:
        return np.array([self.inclusion, self.slab_variance, self.noise_variance], float)

    def _learned(self, now: Self, atoms: Floats, x: Floats, weights: Floats, least: Floats) -> Self:
        """Return the method after a step of EM for what was not given."""
        _, slab, noise = now._numbers
        means, m = _code(atoms, now, x)
        curvature = np.sum(atoms**2, axis=1)
        spread = 1.0 / (curvature / noise + 1.0 / slab)
        weight = np.divide(means, m, out=np.zeros_like(means), where=m > 0)
        total = weights.sum()
        left = np.sum((x - means @ atoms) ** 2, axis=1)
        variance = m * (spread + weight**2) - means**2
        expected = weights @ (left + variance @ curvature) / (total * x.shape[1])
        inside = float(weights @ m.sum(axis=1))
        sizes = float(weights @ (m * (weight**2 + spread)).sum(axis=1))
        return replace(
            self,
            inclusion=self.inclusion or float(np.clip(inside / (total * m.shape[1]), 1e-6, 0.9)),
            slab_variance=self.slab_variance or max(sizes / max(inside, 1e-300), least[1]),
            noise_variance=self.noise_variance or max(float(expected), least[2]),
        )

    def over(self, atoms: Floats) -> Callable[[Floats], Coded]:
        return partial(_sparse_code, atoms, self)

    def accuracy(
        self, atoms: Floats, signals: Floats, codes: Floats, probability: Floats | None
    ) -> Floats:
        """Return how far a probability, or a mean in standard errors, is from its equation at most."""
        assert probability is not None
        share, slab, noise = self._numbers
        curvature = np.sum(atoms**2, axis=1)
        spread = 1.0 / (curvature / noise + 1.0 / slab)
        pull = (signals - codes @ atoms) @ atoms.T + codes * curvature
        weight = pull * spread / noise
        m = expit(logit(share) + 0.5 * np.log(spread / slab) + 0.5 * weight**2 / spread)
        off = np.abs(m * weight - codes) / np.sqrt(spread)
        return np.asarray(np.maximum(np.abs(m - probability), off).max(axis=1))

    def certificate(self, accuracy: Floats) -> Certificate:
        return of_the_worst(EQUATIONS, "inclusion", accuracy)


def _code(atoms: Floats, method: SpikeSlabCoding, signals: Floats) -> tuple[Floats, Floats]:
    """Return means and probabilities of all atoms, dense."""
    share, slab, noise = method._numbers
    gram, products = atoms @ atoms.T, signals @ atoms.T
    curvature = np.ascontiguousarray(np.diag(gram))
    # Beyond this an atom is hardly ever noise.
    alpha = np.sqrt(2 * noise * np.log(len(atoms) + 1) * max(curvature.max(), 1e-300))
    start = lasso_codes(gram, products, alpha, False, min(atoms.shape)).toarray()
    return spike_slab_codes(gram, products, spike_rule(curvature, share, slab, noise), start)


def _sparse_code(atoms: Floats, method: SpikeSlabCoding, signals: Floats) -> Coded:
    means, probability = _code(atoms, method, signals)
    kept = probability > _IMPROBABLE
    return Coded(scipy.sparse.csr_array(means * kept), scipy.sparse.csr_array(probability * kept))
