"""Coefficients whose law is a mixture of laws, under each of which they are independent."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats


@dataclass(frozen=True)
class MixtureLaw:
    """Components under each of which variables are in or out independently, in the user's units.

    A component has a ``weight``; under it column j is in with ``probability``, and given that its
    coefficient is Gaussian with ``mean`` and ``deviation``. What components disagree on makes
    coefficients depend on each other: where one of two copies is in, the other is out.
    """

    columns: Array
    weight: Floats
    probability: Floats
    mean: Floats
    deviation: Floats

    @property
    def centers(self) -> Floats:
        """The mean coefficients under each component."""
        return self.probability * self.mean

    @property
    def within(self) -> Floats:
        """The variances of the coefficients under each component."""
        square = self.probability * (self.mean**2 + self.deviation**2)
        return np.asarray(np.maximum(square - self.centers**2, 0.0))

    @property
    def covariance(self) -> Floats:
        """The covariance of the coefficients: between components, and within them."""
        centers = self.centers
        away = centers - self.weight @ centers
        return np.asarray(
            (self.weight[:, None] * away).T @ away + np.diag(self.weight @ self.within)
        )

    def variance_along(self, rows: Floats) -> Floats:
        """Return the variance of sums of the coefficients, with the factors of one sum in each row."""
        centers = rows @ self.centers.T
        away = centers - (centers @ self.weight)[:, None]
        return np.asarray(away**2 @ self.weight + rows**2 @ (self.weight @ self.within))

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw coefficients: a component, then each of them on its own."""
        shape = (count, len(self.columns))
        chosen = rng.choice(len(self.weight), size=count, p=self.weight)
        inside = rng.random(shape) < self.probability[chosen]
        drawn = self.mean[chosen] + self.deviation[chosen] * rng.standard_normal(shape)
        return np.where(inside, drawn, 0.0)
