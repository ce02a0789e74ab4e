"""How good an answer is: numbers computed apart from the solver's state, one kind for each method."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Certificate:
    """How far an answer is from satisfying its own equations, over all columns.

    Attributes
    ----------
    inclusion : float
        Largest violation of m = sigmoid(gamma + beta N chi w^2 / 2) (Eq. 8).
    weight : float
        Largest distance of a weight w from what Eq. 9 implies, in standard errors.
    noise : float
        Relative violation of the equation for the noise variance (Eq. 10).

    Examples
    --------
    >>> from garrote import Certificate
    >>> certificate = Certificate(inclusion=2e-6, weight=3e-5, noise=1e-9)
    >>> certificate.value
    3e-05
    >>> print(certificate)
    3.0e-05 (inclusion 2.0e-06, weight 3.0e-05, noise 1.0e-09)
    """

    inclusion: float
    weight: float
    noise: float

    @property
    def value(self) -> float:
        """The largest of the three."""
        return max(self.inclusion, self.weight, self.noise)

    @property
    def parts(self) -> dict[str, float]:
        """The three violations by name."""
        return {"inclusion": self.inclusion, "weight": self.weight, "noise": self.noise}

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (inclusion {self.inclusion:.1e}, weight {self.weight:.1e}, "
            f"noise {self.noise:.1e})"
        )


@dataclass(frozen=True)
class LearnedCertificate(Certificate):
    """The certificate of an answer that has learned its priors too.

    Attributes
    ----------
    hyperparameters : float
        Largest change of the log slab variance or the prior log odds that another step would make.
    """

    hyperparameters: float = 0.0

    @property
    def value(self) -> float:
        """The largest of the four."""
        return max(self.inclusion, self.weight, self.noise, self.hyperparameters)

    @property
    def parts(self) -> dict[str, float]:
        """The four violations by name."""
        return {**super().parts, "hyperparameters": self.hyperparameters}

    def __str__(self) -> str:
        return f"{super().__str__()[:-1]}, hyperparameters {self.hyperparameters:.1e})"


@dataclass(frozen=True)
class EffectsCertificate(Certificate):
    """How far a sum of single effects is from standing still, computed from the data.

    ``inclusion`` and ``weight`` are the largest changes that one more update of an effect would make to
    a probability and, in standard errors, to a coefficient; ``noise`` is the relative change of the
    noise variance.

    Attributes
    ----------
    prior_variance : float
        The most that an update of one effect's prior variance would add to its log evidence.
    bound : float
        How far the lower bound stated is from the one computed afresh.
    fall : float
        The largest fall of the bound from one sweep to the next; it must never fall.
    """

    prior_variance: float = 0.0
    bound: float = 0.0
    fall: float = 0.0

    @property
    def value(self) -> float:
        """The largest of the six."""
        return max(self.parts.values())

    @property
    def parts(self) -> dict[str, float]:
        """The six violations by name."""
        return {
            **super().parts,
            "prior variance": self.prior_variance,
            "lower bound": self.bound,
            "falls of the bound": self.fall,
        }

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (inclusion {self.inclusion:.1e}, weight {self.weight:.1e}, noise "
            f"{self.noise:.1e}, lower bound {max(self.bound, self.fall):.1e})"
        )


@dataclass(frozen=True)
class BoundCertificate(Certificate):
    """The certificate of an answer that replaces a logistic likelihood by a bound.

    Attributes
    ----------
    bound : float
        Largest distance, over rows, of the place xi where the bound touches from the best one, the root
        of the linear predictor's expected square.
    """

    bound: float = 0.0

    @property
    def value(self) -> float:
        """The largest of the violations."""
        return max(self.inclusion, self.weight, self.bound)

    @property
    def parts(self) -> dict[str, float]:
        """The violations by name; labels have no noise."""
        return {"inclusion": self.inclusion, "weight": self.weight, "bound": self.bound}

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (inclusion {self.inclusion:.1e}, weight {self.weight:.1e}, "
            f"bound {self.bound:.1e})"
        )


@dataclass(frozen=True)
class MonteCarloCertificate:
    """How far sampled inclusion probabilities may be off.

    Attributes
    ----------
    error : float
        Largest Monte Carlo standard error of an inclusion probability, from batches of the chains.
    disagreement : float
        Largest difference between the chains' inclusion probabilities.
    split_r_hat : float
        Largest R-hat of an inclusion between the halves of all chains; 1 if they agree.
    """

    error: float
    disagreement: float
    split_r_hat: float = float("nan")

    @property
    def value(self) -> float:
        """The larger of error and disagreement."""
        return max(self.error, self.disagreement)

    @property
    def parts(self) -> dict[str, float]:
        """Error and disagreement by name."""
        return {"Monte Carlo error": self.error, "between chains": self.disagreement}

    def __str__(self) -> str:
        r_hat = "" if np.isnan(self.split_r_hat) else f", split R-hat {self.split_r_hat:.3f}"
        parts = f"error {self.error:.1e}, between chains {self.disagreement:.1e}{r_hat}"
        return f"{self.value:.1e} ({parts})"


@dataclass(frozen=True)
class DrawsCertificate:
    """How well draws of coefficients know their means.

    Attributes
    ----------
    error : float
        Largest Monte Carlo standard error of a coefficient's mean (or of that of the logarithm of
        the noise variance or of the prior's scale), in posterior standard deviations: 0.1 is 100
        independent draws.
    split_r_hat : float
        Largest R-hat of these between the halves of all chains; 1 if they agree.

    Examples
    --------
    >>> from garrote.results.certificates import DrawsCertificate
    >>> print(DrawsCertificate(error=0.05, split_r_hat=1.01))
    5.0e-02 (of a posterior deviation, split R-hat 1.010)
    """

    error: float
    split_r_hat: float

    @property
    def value(self) -> float:
        """The error."""
        return self.error

    @property
    def parts(self) -> dict[str, float]:
        """The error, and by how much R-hat is beyond 1."""
        return {"error of a mean": self.error, "halves of chains": self.split_r_hat - 1.0}

    def __str__(self) -> str:
        return f"{self.error:.1e} (of a posterior deviation, split R-hat {self.split_r_hat:.3f})"


@dataclass(frozen=True)
class ExactCertificate:
    """How far log probabilities of models are from those computed one by one, from scratch.

    ``quadrature`` bounds the error of an inclusion probability by the integral over an unknown slab
    variance: the change at its last refinement, with all that lies beyond its ends; 0 without one.
    """

    log_probability: float
    quadrature: float = 0.0

    @property
    def value(self) -> float:
        """The larger of the two."""
        return max(self.log_probability, self.quadrature)

    @property
    def parts(self) -> dict[str, float]:
        """Both by name, the second where there is an integral."""
        integral = {"slab variance": self.quadrature} if self.quadrature else {}
        return {"log probability": self.log_probability} | integral

    def __str__(self) -> str:
        return f"{self.value:.1e} (exact sum over all models)"


@dataclass(frozen=True)
class SearchCertificate:
    """What a search among models may have missed, and how well it knows the models it found.

    Attributes
    ----------
    late_share : float
        The part of the probability that the last tenth of the search added.
    log_probability : float
        How far log odds of the best models are from those computed one by one, from scratch.
    quadrature : float
        How far inclusion probabilities moved with the last variances of an unknown slab; 0 without one.
    """

    late_share: float
    log_probability: float
    quadrature: float = 0.0

    @property
    def value(self) -> float:
        """The largest of them."""
        return max(self.late_share, self.log_probability, self.quadrature)

    @property
    def parts(self) -> dict[str, float]:
        """All by name, the last where there is an integral."""
        integral = {"slab variance": self.quadrature} if self.quadrature else {}
        return {"found late": self.late_share, "log probability": self.log_probability} | integral

    def __str__(self) -> str:
        return f"{self.value:.1e} (the last tenth of the search added {self.late_share:.1e})"


@dataclass(frozen=True)
class OptimalityCertificate:
    """How far a penalised fit is from the optimum of its objective.

    Attributes
    ----------
    gap : float
        For a convex objective: how much better any other answer could be at most, as a share of the null
        model's objective (the duality gap). NaN for objectives that have no dual.
    kkt : float
        Largest violation of a coefficient's optimality given all others, as a share of the largest
        gradient of the null model.

    Examples
    --------
    >>> from garrote.results.certificates import OptimalityCertificate
    >>> OptimalityCertificate(gap=2e-9, kkt=1e-7).value
    2e-09
    """

    gap: float
    kkt: float

    @property
    def value(self) -> float:
        """The gap where there is one, else the violation."""
        return self.kkt if np.isnan(self.gap) else self.gap

    @property
    def parts(self) -> dict[str, float]:
        """Both by name, as far as they are there."""
        gap = {} if np.isnan(self.gap) else {"duality gap": self.gap}
        return gap | {"violation": self.kkt}

    def with_refit(self, refit: "OptimalityCertificate") -> "OptimalityCertificate":
        """Return what covers a fit without a penalty, too, to the columns that this one has found."""
        gap = float(np.maximum(self.gap, refit.gap))  # NaN where either has none
        return OptimalityCertificate(gap, max(self.kkt, refit.kkt))

    def __str__(self) -> str:
        if np.isnan(self.gap):
            return f"{self.kkt:.1e} (largest violation of optimality)"
        return f"{self.gap:.1e} (duality gap; largest violation {self.kkt:.1e})"


@dataclass(frozen=True)
class FittedCertificate:
    """How far models that were all fitted are from their maxima.

    Attributes
    ----------
    log_probability : float
        Largest difference of log probabilities, among the best models, from fits started afresh.
    gradient : float
        Largest length of a likelihood's gradient at those fits, in standard errors.
    """

    log_probability: float
    gradient: float

    @property
    def value(self) -> float:
        """The larger of the two."""
        return max(self.log_probability, self.gradient)

    @property
    def parts(self) -> dict[str, float]:
        """Both by name."""
        return {"log probability": self.log_probability, "gradient": self.gradient}

    def __str__(self) -> str:
        return (
            f"{self.value:.1e} (log probability {self.log_probability:.1e}, "
            f"gradient {self.gradient:.1e})"
        )


AnyCertificate = (
    Certificate
    | MonteCarloCertificate
    | DrawsCertificate
    | ExactCertificate
    | SearchCertificate
    | FittedCertificate
    | OptimalityCertificate
)
