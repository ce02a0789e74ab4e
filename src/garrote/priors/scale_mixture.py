"""Priors that shrink every coefficient and leave none out: normal ones whose variances are unknown.

In standard deviations of the columns, with noise of variance s^2 (Park & Casella 2008: a prior in
units of the noise keeps the posterior of a Laplace prior unimodal),

    w_j = s * scale * v_j,    v_j | tau_j ~ N(0, tau_j^2),

tau_j^2 having one of the laws of Murphy's (2012) Table 13.2. Without a ``scale`` it is learnt, with a
half-Cauchy prior of median ``typical_scale``, by default 1 / sqrt(D n), n the rows beside means and
covariates: under the horseshoe some sqrt(D) coefficients are then larger than their standard errors, a
priori (Piironen & Vehtari 2017). Effects on log odds of labels are w_j = scale * v_j, without noise, and
n is a quarter of the rows: a label tells at most a quarter of what a number of noise variance 1 does.
Settings only; the laws are in `garrote.scale_mixtures.laws`, the samplers in
`garrote.solvers.shrinkage`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.base import Prior
from garrote.priors.covariance_root import Chain, Diagonal, Root
from garrote.rules.integration import Integration
from garrote.scale_mixtures.laws import (
    HALLaw,
    HorseshoeLaw,
    LaplaceLaw,
    MixingLaw,
    NEGLaw,
    NormalGammaLaw,
    StudentLaw,
)

# Variances are kept above this, such that their inverses are numbers.
_SMALLEST = 1e-200


@dataclass(frozen=True)
class ScaleMixturePrior(Prior):
    """What these priors share: the scale, the noise, and independent coefficients by the mixing law.

    ``variance_law`` is that law, where it is in Table 13.2, and ``parameters`` are the settings that it
    takes; ``shares`` are settings that are at most 1.
    """

    scale: float | None = field(default=None, kw_only=True)
    typical_scale: float | None = field(default=None, kw_only=True)
    noise_variance: float | None = field(default=None, kw_only=True)
    kind: ClassVar[str] = "shrinkage"
    integrations: ClassVar[tuple[Integration, ...]] = (
        Integration.CLOSED_FORM,
        Integration.POLYA_GAMMA,
    )
    has_noise: ClassVar[bool] = True
    variance_law: ClassVar[type[Any] | None] = None
    parameters: ClassVar[tuple[str, ...]] = ()
    shares: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = (
        "Murphy (2012), Machine Learning: A Probabilistic Perspective, Table 13.2"
    )

    def __post_init__(self) -> None:
        """Raise unless scale, noise variance and parameters of the law are positive and finite."""
        shared = ("scale", "typical_scale", "noise_variance")
        given = [name for name in shared if getattr(self, name) is not None]
        for name in (*given, *self.parameters, *self.shares):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not number or not 0 < value < np.inf:
                raise ValueError(
                    f"{name} of a {type(self).__name__} must be positive and finite, got {value!r}"
                )
            if name in self.shares and value > 1:
                raise ValueError(
                    f"{name} of a {type(self).__name__} must be at most 1, got {value}"
                )
        if self.scale is not None and self.typical_scale is not None:
            raise ValueError(
                "typical_scale is for a scale that is learnt: give it or scale, not both"
            )

    @property
    def law(self) -> MixingLaw | None:
        """The law of one coefficient, where they are independent and it is in Table 13.2."""
        if self.variance_law is None:
            return None
        return self.variance_law(*(float(getattr(self, name)) for name in self.parameters))

    def among(self, columns: Array) -> "ScaleMixturePrior":
        """Return the prior of some of the columns."""
        return self

    def first_root(self, count: int) -> Root:
        """Return variances to begin with."""
        return Diagonal(np.ones(count))

    def draw_root(self, v: Floats, rng: np.random.Generator) -> Root:
        """Draw the variances given v: their covariance's root."""
        if self.law is None:
            raise NotImplementedError(f"{type(self).__name__} has no law of one coefficient")
        return Diagonal(np.sqrt(self.law.draw_variance(v, rng)))


@dataclass(frozen=True)
class LaplacePrior(ScaleMixturePrior):
    """exp(-|v|): the Bayesian lasso (Park & Casella 2008), of penalty |w| / (s * scale)."""

    variance_law: ClassVar[type[Any]] = LaplaceLaw
    reference: ClassVar[str] = "Park & Casella (2008), The Bayesian lasso. JASA 103, 681-686"


@dataclass(frozen=True)
class HorseshoePrior(ScaleMixturePrior):
    """tau ~ half-Cauchy(0, 1) (Carvalho, Polson & Scott 2010).

    Infinitely dense at 0, with Cauchy tails: noise is shrunk to nothing, large effects hardly at all.
    """

    variance_law: ClassVar[type[Any]] = HorseshoeLaw
    reference: ClassVar[str] = (
        "Carvalho, Polson & Scott (2010), The horseshoe estimator for sparse signals. Biometrika 97, "
        "465-480"
    )


@dataclass(frozen=True)
class StudentPrior(ScaleMixturePrior):
    """Student's t with some degrees of freedom; 1 is the Cauchy law."""

    degrees: float = 1.0
    variance_law: ClassVar[type[Any]] = StudentLaw
    parameters: ClassVar[tuple[str, ...]] = ("degrees",)
    reference: ClassVar[str] = (
        "Andrews & Mallows (1974), Scale mixtures of normal distributions. JRSS B 36, 99-102"
    )


@dataclass(frozen=True)
class NormalGammaPrior(ScaleMixturePrior):
    """Gamma variances of some shape (Griffin & Brown 2010); 1 is Laplace, smaller ones are sparser."""

    shape: float = 0.5
    variance_law: ClassVar[type[Any]] = NormalGammaLaw
    parameters: ClassVar[tuple[str, ...]] = ("shape",)
    reference: ClassVar[str] = (
        "Griffin & Brown (2010), Inference with normal-gamma prior distributions in regression "
        "problems. Bayesian Analysis 5, 171-188"
    )


@dataclass(frozen=True)
class NEGPrior(ScaleMixturePrior):
    """Normal-exponential-gamma (Griffin & Brown 2007): tails like |v|^-(2 shape + 1)."""

    shape: float = 0.5
    variance_law: ClassVar[type[Any]] = NEGLaw
    parameters: ClassVar[tuple[str, ...]] = ("shape",)
    reference: ClassVar[str] = (
        "Griffin & Brown (2007), Bayesian adaptive lassos with non-convex penalization. Technical "
        "report, University of Kent"
    )


@dataclass(frozen=True)
class HALPrior(ScaleMixturePrior):
    """The hierarchical adaptive lasso (Lee et al. 2010): tails like |v|^-(shape + 1)."""

    shape: float = 1.0
    variance_law: ClassVar[type[Any]] = HALLaw
    parameters: ClassVar[tuple[str, ...]] = ("shape",)
    reference: ClassVar[str] = (
        "Lee, Caron, Doucet & Holmes (2010), A hierarchical Bayesian framework for constructing "
        "sparsity-inducing priors. arXiv:1009.1914"
    )


@dataclass(frozen=True)
class ElasticNetPrior(ScaleMixturePrior):
    """exp(-l1_ratio |v| - (1 - l1_ratio) v^2 / 2) (Murphy's Eq. 13.128).

    Given tau^2 the precision of v is 1 / tau^2 + 1 - l1_ratio, as in Eq. 13.129. The law of tau^2
    itself is not exponential, as the text has it, but proportional to (1 + (1 - l1_ratio)
    tau^2)^-1/2 times that; given v it is that of the Laplace law again.
    """

    l1_ratio: float = 0.5
    shares: ClassVar[tuple[str, ...]] = ("l1_ratio",)
    reference: ClassVar[str] = (
        "Li & Lin (2010), The Bayesian elastic net. Bayesian Analysis 5, 151-170"
    )

    def draw_root(self, v: Floats, rng: np.random.Generator) -> Root:
        """Draw the variances given v: their covariance's root."""
        variance = _laplace_variances(v, self.l1_ratio, rng)
        return Diagonal(np.sqrt(variance / (1.0 + (1.0 - self.l1_ratio) * variance)))


@dataclass(frozen=True)
class GroupLaplacePrior(ScaleMixturePrior):
    """exp(-sum of ||v_g||) over groups g (Murphy's Eq. 13.103): one variance for all members.

    tau_g^2 ~ Ga((d_g + 1) / 2, 1 / 2) for a group of d_g columns (Eq. 13.105, whose rate should
    read gamma^2 / 2). ``groups`` are labels, one a column; lists of columns, by name or position;
    or "factors" (see `garrote.penalties.GroupLasso`).
    """

    groups: Any = None
    reference: ClassVar[str] = (
        "Kyung, Gill, Ghosh & Casella (2010), Penalized regression, standard errors, and Bayesian "
        "lassos. Bayesian Analysis 5, 369-412"
    )

    def with_groups(self, resolve: Callable[[Any], Any]) -> "GroupLaplacePrior":
        """Return the prior with its groups as numbers: one a column."""
        if self.groups is None:
            raise ValueError(
                "prior='group-laplace' needs to know the groups: give GroupLaplacePrior(groups=...) of "
                "garrote.priors"
            )
        return replace(self, groups=resolve(self.groups))

    def among(self, columns: Array) -> "GroupLaplacePrior":
        """Return the prior of some of the columns."""
        labels = np.asarray(self.groups)[columns]
        return replace(self, groups=np.unique(labels, return_inverse=True)[1])

    def draw_root(self, v: Floats, rng: np.random.Generator) -> Root:
        """Draw the variances given v: their covariance's root."""
        size = np.sqrt(np.bincount(self.groups, np.square(v)))
        return Diagonal(np.sqrt(LaplaceLaw().draw_variance(size, rng))[self.groups])


@dataclass(frozen=True)
class FusedLaplacePrior(ScaleMixturePrior):
    """exp(-l1_ratio sum |v_j| - (1 - l1_ratio) sum |v_j - v_(j-1)|), along the order of the columns.

    Kyung et al. (2010); Murphy's Eqs. 13.117-13.121. The variances of coefficients and differences
    are not independent exponentials there (the Gaussian's determinant ties them); given v they are
    independent, each as in the Laplace law.
    """

    l1_ratio: float = 0.5
    shares: ClassVar[tuple[str, ...]] = ("l1_ratio",)
    reference: ClassVar[str] = (
        "Kyung, Gill, Ghosh & Casella (2010), Penalized regression, standard errors, and Bayesian "
        "lassos. Bayesian Analysis 5, 369-412"
    )

    def draw_root(self, v: Floats, rng: np.random.Generator) -> Root:
        """Draw the variances given v: their covariance's root."""
        variances = _laplace_variances(v, self.l1_ratio, rng)
        if self.l1_ratio == 1.0:
            return Diagonal(np.sqrt(variances))
        between = _laplace_variances(np.diff(v), 1.0 - self.l1_ratio, rng)
        return Chain.of_precisions(1.0 / variances, 1.0 / between)


def _laplace_variances(v: Floats, rate: float, rng: np.random.Generator) -> Floats:
    """Draw variances given coefficients of density exp(-rate |v|)."""
    return np.maximum(LaplaceLaw().draw_variance(rate * v, rng) / rate**2, _SMALLEST)


# Priors by the name that estimators know them by.
SHRINKAGE_PRIORS: dict[str, type[ScaleMixturePrior]] = {
    "laplace": LaplacePrior,
    "elastic-net": ElasticNetPrior,
    "group-laplace": GroupLaplacePrior,
    "fused-laplace": FusedLaplacePrior,
    "horseshoe": HorseshoePrior,
    "neg": NEGPrior,
    "normal-gamma": NormalGammaPrior,
    "student": StudentPrior,
    "hal": HALPrior,
}
