"""The average of a function over normal arguments: smooth whatever the function, and above its least."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.settings import check_count, is_number
from garrote.smoothing.averages import Average, draw_pairs, from_slopes, from_values
from garrote.smoothing.objective import Objective, to_numpy
from garrote.solvers.smoothing.guarantee import smoothing_error, width_for

# Pairs of draws: this many at least and at most, and for every coordinate, where none are asked for.
_LEAST, _MOST, _EACH = 32, 1024, 5


@dataclass(frozen=True, eq=False)
class GaussianBound:
    r"""U(mu, sigma) = E f(x) over x ~ N(mu, diag(sigma^2)), an upper bound of min f.

    Where f has kinks, jumps or plateaus, U has none; where f is convex, U is convex in (mu, sigma)
    (Staines & Barber 2012, Theorem 1). With ``average`` and ``gradient`` it is computed as the user
    knows it; else it is sampled, from pairs mu +- sigma z whose z are the same for all mu (common random
    numbers), with a linear control variate.

    Parameters
    ----------
    f : callable
        Takes points as rows, an array of shape (K, D), and returns K numbers.
    average : callable, optional
        (mu, sigma) -> U. ``sigma`` is an array of D deviations.
    gradient : callable, optional
        (mu, sigma) -> dU/dmu, D numbers.
    curvature : callable, optional
        (mu, sigma) -> the second derivatives by mu: D numbers, the diagonal, or the matrix (D, D).
    derivative : callable or "autograd", optional
        Of f itself, where it is smooth almost everywhere: points (K, D) -> derivatives (K, D).
        "autograd" asks PyTorch for it, of an f that works on tensors.
    batched : bool, default=True
        False where f takes one point and returns one number.
    draws : int, optional
        How many points to draw, an even number; some ten for every coordinate by default.
    added : (float, float), optional
        What averaging adds to f at most: quadratic sigma^2 + linear sigma. A Lipschitz constant L gives
        (0, L sqrt(D)); x'Ax gives (trace(A), 0), and lambda \|x\|_1 gives (0, lambda D sqrt(2 / pi)).
    convexity : float, default=0
        Least second derivative of f along any line, where f is strongly convex. With ``added`` it
        bounds the gap.
    random_state : int, default=0

    References
    ----------
    Staines, J. and Barber, D. (2012). Variational Optimization. arXiv:1212.4507.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.smoothing import GaussianBound, minimise
    >>> def stairs(x):
    ...     return np.floor(np.abs(x - 3.0)).sum(axis=1)
    >>> fit = minimise(GaussianBound(stairs), np.zeros(2), sigma=2.0)
    >>> fit.value
    0.0
    """

    f: Callable[[Any], Any]
    average: Callable[[Floats, Floats], Any] | None = None
    gradient: Callable[[Floats, Floats], Any] | None = None
    curvature: Callable[[Floats, Floats], Any] | None = None
    derivative: Any = None
    batched: bool = True
    draws: int | None = None
    added: tuple[float, float] | None = None
    convexity: float = 0.0
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.draws is not None:
            check_count("draws", self.draws, 4)
        if (self.average is None) != (self.gradient is None):
            raise ValueError(
                "average and gradient go together: give both, or none of them and U is sampled"
            )
        if self.curvature is not None and self.average is None:
            raise ValueError("curvature goes with average and gradient: give all three")
        check_count("random_state", self.random_state, 0)
        added = self.added
        if added is not None and not (
            isinstance(added, tuple | list) and len(added) == 2 and all(map(_is_size, added))
        ):
            raise ValueError(f"added must be two numbers >= 0, got {added!r}")
        if not _is_size(self.convexity):
            raise ValueError(f"convexity must be >= 0 and finite, got {self.convexity!r}")

    @property
    def sampled(self) -> bool:
        """Whether U is estimated."""
        return self.average is None

    @property
    def follows_values(self) -> bool:
        """Whether the gradient is exactly that of the value, so that line searches may rely on it."""
        return not self.sampled or self.derivative is not None

    def width_for(self, error: float) -> float:
        """Return the sigma at which averaging adds ``error`` at most (Eq. 18, as derived)."""
        if self.added is None:
            raise ValueError(
                "give added=(quadratic, linear): without it no error is known in advance"
            )
        return width_for(*self.added, error)

    def adds(self, sigma: Floats) -> float:
        """Return what averaging adds at most; NaN where that is not known."""
        return np.nan if self.added is None else smoothing_error(*self.added, float(sigma.max()))

    def at(
        self, objective: Objective, mu: Floats, sigma: Floats, stream: int, times: int = 1
    ) -> Average:
        """Return U and its derivatives, from draws of some stream, ``times`` as many as usual."""
        if not self.sampled:
            return self.known(mu, sigma)
        if not objective.has_slopes:
            return self.drawn(objective, mu, sigma, stream, times)
        normal, above, below = self._around(objective, mu, sigma, stream, times)
        values = 0.5 * (objective.values(above) + objective.values(below))
        slopes = objective.slopes(above), objective.slopes(below)
        return from_slopes(values, *slopes, normal, sigma)

    def drawn(
        self, objective: Objective, mu: Floats, sigma: Floats, stream: int, times: int = 1
    ) -> Average:
        """Return U and its derivatives from values of f alone, whatever else is known."""
        normal, above, below = self._around(objective, mu, sigma, stream, times)
        values = objective.values(above), objective.values(below)
        return from_values(objective.value(mu), *values, normal, sigma)

    def _around(
        self, objective: Objective, mu: Floats, sigma: Floats, stream: int, times: int
    ) -> tuple[Floats, Any, Any]:
        """Return normal numbers, and the pairs of points that they make."""
        pairs = times * self._pairs(len(mu))
        normal = draw_pairs(pairs, len(mu), self.random_state, stream)
        centre, away = objective.place(mu), objective.place(normal) * objective.place(sigma)
        return normal, centre + away, centre - away

    def _pairs(self, count: int) -> int:
        if self.draws is not None:
            return (self.draws + 1) // 2
        return min(max(_LEAST, _EACH * (count + 1)), _MOST)

    def known(self, mu: Floats, sigma: Floats) -> Average:
        """Return what the user's own functions say, checked."""
        count = len(mu)
        value = to_numpy(self.average(mu, sigma)) if self.average else np.empty(0)
        gradient = to_numpy(self.gradient(mu, sigma)) if self.gradient else np.empty(0)
        second = to_numpy(self.curvature(mu, sigma)) if self.curvature else None
        for name, found, shapes in (
            ("average", value, [()]),
            ("gradient", gradient, [(count,)]),
            ("curvature", second, [(count,), (count, count)]),
        ):
            if found is not None and found.shape not in shapes:
                raise ValueError(
                    f"{name} must return an array of shape {' or '.join(map(str, shapes))}, got "
                    f"{found.shape}"
                )
            if found is not None and not np.isfinite(found).all():
                raise ValueError(
                    f"{name} returned a number that is not finite at sigma = {sigma.max():.3g}"
                )
        return Average(float(value), gradient, second, 0.0, np.zeros(count))


def _is_size(value: Any) -> bool:
    """Tell whether a setting is a finite number that is not negative."""
    return is_number(value) and value >= 0
