"""A slab of two humps, or one: how alike in size the effects are is told by the data."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from garrote.priors.base import Slab, replaced
from garrote.priors.evidence import SMALLEST_LEFT
from garrote.priors.evidence.humps import HumpsKnownNoise, HumpsUnknownNoise, humps_rule, log_fit
from garrote.priors.slab import EffectSlab, GaussianSlab, IndependentSlab
from garrote.rules.integration import Integration

# Separations that are averaged over, and their probabilities before seeing the data: one hump or two are
# even, and so are all separations of the two.
SEPARATIONS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98)
_PROBABILITIES = (0.5, 0.1, 0.1, 0.1, 0.1, 0.1)
# Beyond it humps are narrower than any column's own error.
_LARGEST = 0.99


class _TwoHumps(IndependentSlab):
    """What slabs of two humps share: shapes that are averaged over, and what they are refused by.

    ``one_hump`` is the slab in their place for methods that have no signs, ``methods_with_signs`` names
    the others.
    """

    separation: float | None
    one_hump: ClassVar[str]
    methods_with_signs: ClassVar[str]

    def __post_init__(self) -> None:
        """Raise unless the separation lies between 0 and 1."""
        super().__post_init__()
        if self.separation is not None and not 0 <= self.separation <= _LARGEST:
            raise ValueError(
                f"separation of a {type(self).__name__} must lie between 0 and {_LARGEST}, got "
                f"{self.separation!r}"
            )

    @property
    def has_humps(self) -> bool:
        """Whether coefficients have signs that are summed over, or sampled."""
        return self.separation != 0

    @property
    def known_separation(self) -> float:
        """The separation, where it is given; 0 of one hump."""
        return self.separation or 0.0

    def shapes(self) -> list[tuple[float, Slab]]:
        """Return slabs of known shape with their log probabilities."""
        if self.separation is not None:
            return [(0.0, self)]
        each = zip(_PROBABILITIES, SEPARATIONS, strict=True)
        return [(float(np.log(p)), self.apart(rho)) for p, rho in each]

    def grid(
        self, log_variances: tuple[float, float, int] | None = None
    ) -> list[tuple[float, Self]]:
        """Return slabs of known variance and shape with log weights, to average over."""
        if self.separation is not None:
            return super().grid(log_variances)
        return [
            (log_shape + log, slab)
            for log_shape, shape in self.shapes()
            for log, slab in shape.grid(log_variances)
        ]

    def apart(self, separation: float) -> Self:
        """Return the slab with a known separation."""
        return replaced(self, separation=separation)

    def check_one_hump(self, method: str) -> None:
        """Refuse two humps, for a method that has a Gaussian slab alone."""
        if self.has_humps:
            raise ValueError(
                f"method={method!r} has no slab of two humps: it needs prior={self.one_hump}, or "
                f"method={self.methods_with_signs}"
            )


@dataclass(frozen=True)
class TwoHumpedSlab(_TwoHumps, GaussianSlab):
    """w_j ~ N(m, s^2) / 2 + N(-m, s^2) / 2: effects of either sign, alike in size.

    A Gaussian slab expects many effects near zero. Where all that there are have about the same size, it
    believes in small ones that are not there. This slab has little probability there. For standardised
    columns m^2 + s^2 = noise * variance, as for `GaussianSlab`, with the same law where it is unknown,
    and ``separation`` = m^2 / (m^2 + s^2) tells the shape: 0 is the Gaussian slab, 0.5 a plateau, 0.98
    two humps at a distance of seven times their width from zero. Without one it is unknown: 0 with
    probability 1/2, else one of 0.5, 0.8, 0.9, 0.95 and 0.98, and all of them are averaged over.

    Given signs the coefficients are Gaussian, so that models keep their closed forms: signs are summed
    over by "enumerate", sampled by the walks ("sample", "metropolis", "gibbs"), and part of each
    variable's factor in "mean-field"; EM(spike_variance=...) takes each at its expected value. EM() has
    no factor for a sign, and "search" scores models without one: they have the Gaussian slab alone.

    The product moment priors of Johnson & Rossell (2012) have no mass at zero either, but their
    evidence is a polynomial moment of a Gaussian, with as many terms as there are pairings of the
    variables, and a single shape: their density vanishes at zero whatever the data say, and their humps
    are as wide as they are apart.
    """

    separation: float | None = None
    one_hump: ClassVar[str] = "GaussianSlab()"
    methods_with_signs: ClassVar[str] = (
        "'enumerate', 'sample', 'metropolis', 'gibbs', 'mean-field' or EM(spike_variance=...)"
    )

    @classmethod
    def for_integration(cls, integration: Integration | None) -> type[Slab]:
        """Return itself, for labels two humps on log odds; models that are fitted have one hump."""
        if integration is Integration.POLYA_GAMMA:
            return TwoHumpedEffectSlab
        return super().for_integration(integration)

    @classmethod
    def of_one_shape(cls) -> type[Slab]:
        """Return the Gaussian slab."""
        return GaussianSlab

    def rule(self, n: float, yty: float, most: int, spent: float = 0.0) -> Any:
        """Return the marginal likelihood for n rows (less those spent on means)."""
        if self.has_humps:
            return self.signed_rule(n, yty)
        return super().rule(n, yty, most, spent)

    def signed_rule(self, n: float, yty: float) -> HumpsKnownNoise | HumpsUnknownNoise:
        """Return the marginal likelihood of models with signs, of one hump too."""
        least = SMALLEST_LEFT * (yty or 1.0)
        return humps_rule(self.humps, self.noise_variance, self.shape + 0.5 * n, self.rate, least)

    def log_fit(self, n: float, yty: float, left: float, along: float) -> float:
        """Return the log of the integral over the noise, given what is ``left`` of y'y in all."""
        return float(log_fit(self.signed_rule(n, yty), left, along))


@dataclass(frozen=True)
class TwoHumpedEffectSlab(_TwoHumps, EffectSlab):
    """w_j ~ N(m, s^2) / 2 + N(-m, s^2) / 2 on log odds: `TwoHumpedSlab` for labels, without noise.

    m^2 + s^2 = variance, with the law of `EffectSlab` where it is unknown, and the same separations.
    Method "sample" draws signs along with Polya-Gamma variables, "mean-field" has them in its factors.
    Methods that fit models one by one ("enumerate", "metropolis") look for the one mode of each, and two
    humps make a mode for every choice of signs.
    """

    separation: float | None = None
    integrations: ClassVar[tuple[Integration, ...]] = (Integration.POLYA_GAMMA,)
    one_hump: ClassVar[str] = "EffectSlab()"
    methods_with_signs: ClassVar[str] = "'sample' or 'mean-field'"
