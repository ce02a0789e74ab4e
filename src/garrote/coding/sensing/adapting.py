"""Measurements chosen one after the other: next is what the posterior of the signal is widest along."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.results.posterior import Posterior
from garrote.settings import Settings, is_number

# Draws of the posterior whose covariance stands for that of the signal.
_DRAWS = 200


@dataclass(frozen=True)
class Adapted(Settings):
    """Random rows at first, then those along which the signal is most uncertain, all of one length.

    The next row r has the largest posterior variance of r'x: it is the first eigenvector of the
    signal's posterior covariance, and tells most of x where noise is alike in all measurements.

    Parameters
    ----------
    first : float, default=0.5
        The share of measurements that are random, before there is a posterior.
    together : float, default=0.05
        The share of measurements that are chosen from one posterior, along its widest directions.

    References
    ----------
    Ji, Xue & Carin (2008), Bayesian compressive sensing. IEEE Trans. Signal Processing 56, 2346-2356.
    Seeger & Nickisch (2008), Compressed sensing and Bayesian experimental design. ICML 25, 912-919.
    """

    first: float = 0.5
    together: float = 0.05
    name: ClassVar[str] = "adapted"

    def __post_init__(self) -> None:
        for name in ("first", "together"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value <= 1:
                raise ValueError(f"{name} must be above 0 and at most 1, got {value!r}")


def measure_adaptively(
    settings: Adapted,
    ask: Callable[[Floats], Floats],
    basis: Any,
    count: int,
    rng: np.random.Generator,
    recover: Callable[[Floats, Floats], Posterior],
    told: Callable[[int], None],
) -> tuple[Floats, Floats]:
    """Return rows and what is measured through them.

    Parameters
    ----------
    settings : Adapted
    ask : callable
        From rows to measurements.
    basis : operator
    count : int
        Measurements in all.
    rng : Generator
    recover : callable
        From rows and measurements to a posterior of coefficients.
    told : callable
        Called with the number of measurements so far.
    """
    size = basis.shape[0]
    begin = min(count, max(2, round(settings.first * count)))
    length = np.sqrt(size / count)  # that of the rows of random projections on average
    rows = rng.standard_normal((begin, size))
    rows *= length / np.linalg.norm(rows, axis=1, keepdims=True)
    y = ask(rows)
    told(begin)
    while len(rows) < count:
        wanted = min(count - len(rows), max(1, round(settings.together * count)))
        posterior = recover(rows, y)
        new = length * _widest(posterior, basis, wanted, rng)
        rows, y = np.vstack([rows, new]), np.append(y, ask(new))
        told(len(rows))
    return rows, y


def _widest(posterior: Posterior, basis: Any, wanted: int, rng: np.random.Generator) -> Floats:
    """Return orthonormal rows of the largest posterior variance; random ones where there is none."""
    draws = posterior.sample(_DRAWS, int(rng.integers(2**31)))
    signals = basis.matmat((draws - draws.mean(axis=0)).T)
    left, sizes, _ = np.linalg.svd(signals, full_matrices=False)
    rows = np.asarray(left[:, :wanted].T)
    empty = sizes[: len(rows)] <= 1e-12 * max(float(sizes.max(initial=0.0)), 1e-300)
    missing = wanted - np.count_nonzero(~empty)
    more = rng.standard_normal((missing, basis.shape[0]))
    return np.asarray(np.linalg.qr(np.vstack([rows[~empty], more]).T)[0].T)
