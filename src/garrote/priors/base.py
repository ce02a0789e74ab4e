"""What every prior answers, whatever it says of coefficients.

A prior is one file: a frozen dataclass of settings that derives from `Slab`, `SingleEffects`,
`ScaleMixturePrior`, or `Prior` itself as `RelevancePrior` does. Its ``kind`` names the ways to a
posterior that `garrote.inference` has for it, its ``integrations`` the likelihoods that it has a meaning
for; the rest are methods. Nothing outside asks for the class of a prior.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import gammaln

from garrote.arrays import Floats
from garrote.rules.integration import Integration
from garrote.settings import Settings


class Prior(Settings):
    """A prior of coefficients, by its settings.

    ``kind`` is "models" (variables are in or out), "effects" (a sum of single effects), "shrinkage"
    (all variables are in, their coefficients small) or "relevance" (each coefficient has a variance that
    the evidence sets). ``integrations`` say for which likelihoods it has a
    meaning, by how coefficients are integrated out of them; ``integrated`` is False where models count
    by their largest likelihood instead. ``noise_variance``, where ``has_noise`` says that the prior has
    such a setting, is that of a noise which is known, in squared units of the response. ``independent``
    tells whether the coefficients of variables that are in are independent of each other, with a
    ``variance`` that is given or unknown: mean field, EM and the samplers that draw coefficients ask for
    that. ``reference`` is a source to cite, if it has one.
    """

    kind: ClassVar[str]
    integrations: ClassVar[tuple[Integration, ...]] = (Integration.CLOSED_FORM,)
    has_noise: ClassVar[bool] = False
    independent: ClassVar[bool] = False
    reference: ClassVar[str | None] = None
    integrated: ClassVar[bool] = True

    @property
    def known_noise(self) -> float | None:
        """The noise variance, where it is given."""
        return getattr(self, "noise_variance", None)

    @property
    def variance_is_unknown(self) -> bool:
        """Whether there is a slab variance to be averaged over."""
        return False

    @property
    def has_humps(self) -> bool:
        """Whether coefficients have signs that are summed over, or sampled."""
        return False

    def holding_noise(self, variance: float) -> Self:
        """Return the prior with a known noise variance, where it has one that is not known yet."""
        if not self.has_noise or self.known_noise is not None:
            return self
        return replaced(self, noise_variance=variance)

    def in_unit(self, unit: float) -> Self:
        """Return the prior for a response that is divided by a unit."""
        if self.known_noise is None:
            return self
        return replaced(self, noise_variance=self.known_noise / unit**2)

    def with_groups(self, resolve: Callable[[Any], Any]) -> Self:
        """Return the prior with groups of columns, where it has any, as numbers: one a column."""
        return self

    def doubts(self, n: float, size_probability: Floats | None) -> tuple[str, ...]:
        """Say where the prior does not hold what it promises, given n rows and the sizes of models."""
        return ()

    @classmethod
    def for_integration(cls, integration: Integration | None) -> "type[Prior]":
        """Return the prior of the same name where coefficients are integrated out in some way.

        None stands for a likelihood without any such way, of which the error is told later.
        """
        return cls

    @classmethod
    def of_one_shape(cls) -> "type[Prior]":
        """Return the prior of the same name for methods that cannot average over shapes."""
        return cls

    def usual_method(self, integration: Integration) -> str | None:
        """Return the method that "auto" stands for, where it does not depend on the problem's size."""
        return None

    def check_integration(self, integration: Integration) -> None:
        """Refuse a likelihood for which the prior has no meaning."""
        if integration not in self.integrations:
            known = " or ".join(known.value for known in self.integrations)
            other = type(self).for_integration(integration)
            there_is = integration in other.integrations and not isinstance(self, other)
            remedy = f"take {other.__name__}" if there_is else "see garrote.priors for others"
            raise ValueError(
                f"{type(self).__name__} is for {known}, not for {integration.value}: {remedy}"
            )


class Fitting(NamedTuple):
    """How models without closed forms are fitted: the ridge of each coefficient, and its penalty.

    Models of more than ``most`` variables have no probability.
    """

    ridge: float
    penalty: float
    most: float


class Slab(Prior):
    """A prior of the coefficients of variables that are in; others have none.

    ``yardstick`` says in words by what models count that are fitted one by one.
    """

    kind: ClassVar[str] = "models"
    yardstick: ClassVar[str] = "Laplace's evidence"
    # Shape and rate of the Gamma law of 1 / variance, where that is unknown.
    law: ClassVar[tuple[float, float]] = (0.5, 0.5)

    @property
    def known_variance(self) -> float | None:
        """The slab's variance, where it has one that is given."""
        return None

    @property
    def known_separation(self) -> float:
        """The separation of two humps, where it is given; 0 of one."""
        return 0.0

    def shapes(self) -> "list[tuple[float, Slab]]":
        """Return slabs of known shape with their log probabilities: of one shape, itself."""
        return [(0.0, self)]

    def at(self, variance: float) -> Self:
        """Return the slab with a known variance, where it has one."""
        return self

    def grid(
        self, log_variances: tuple[float, float, int] | None = None
    ) -> list[tuple[float, Self]]:
        """Return slabs with log weights to average over: without an unknown variance, itself."""
        return [(0.0, self)]

    @classmethod
    def log_density(cls, log_variance: Any) -> Any:
        """Return the log density of an unknown variance's logarithm."""
        shape, rate = cls.law
        constant = shape * np.log(rate) - gammaln(shape)
        return constant - shape * log_variance - rate * np.exp(-log_variance)

    def rule(self, n: float, yty: float, most: int, spent: float = 0.0) -> Any:
        """Return the marginal likelihood as a rule for kernels (`garrote.priors.evidence`).

        ``n`` are the rows less ``spent`` ones, which went into means; ``most`` is the size of the
        largest model.
        """
        raise NotImplementedError(f"{type(self).__name__} has no closed form of the evidence")

    def reference_rule(self, n: float, yty: float, spent: float = 0.0) -> Any:
        """Return the marginal likelihood for a few models, a certificate's: without any tables."""
        return self.rule(n, yty, 0, spent)

    def noise_shape(self, n: float) -> float:
        """Return the shape of the noise's inverse gamma law given a model; infinite if it has none."""
        return np.inf

    def fitting(self, n: float, spent: float = 0.0) -> Fitting:
        """Return how models of labels and counts are fitted, given the slab's variance."""
        raise NotImplementedError(f"{type(self).__name__} has no models that are fitted one by one")

    def check_independent(self, method: str) -> None:
        """Refuse, for a method that needs them, coefficients that are not independent."""
        if not self.independent:
            raise ValueError(
                f"method={method!r} needs prior='spike-slab': a g-prior ties the coefficients together, "
                "and BIC has no law of them"
            )

    def check_flat_noise(self, method: str) -> None:
        """Refuse, for a method that takes the noise for known or flat, another law of it."""

    def check_one_hump(self, method: str) -> None:
        """Refuse two humps, for a method that has a Gaussian slab alone."""


def replaced(prior: Any, **changes: Any) -> Any:
    """Return a prior with other settings, which its own class has."""
    return replace(prior, **changes)
