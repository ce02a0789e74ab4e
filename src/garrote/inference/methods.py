"""Ways to a posterior, as objects with the settings that each has.

Which of them there are for a likelihood and a prior, and which is taken by default, is said in
`garrote.inference.choosing`. Settings are checked when a method is used.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from garrote.rules.integration import Integration
from garrote.settings import Settings, as_settings, check_count, check_positive

# States of a chain that is to tell quickly what is in and what is out.
_FEW_STEPS = 2000
# With fewer rows the slab is Gaussian where nobody asked for a shape.
_ROWS_FOR_A_SHAPE = 50
HYPERPARAMETERS = ("average", "em", "anneal")


@dataclass(frozen=True)
class Chains:
    """How long to sample: states that count, states before them, chains, and the seed."""

    steps: int = 10_000
    burn_in: int = 1000
    count: int = 2
    seed: Any = None


class Method(Settings):
    """A way to a posterior: its name, and whether it goes through single columns again and again.

    ``remedy`` is what to do where its solutions do not settle, if that is not what helps all methods;
    ``by_size`` says that it stands for the one that fits the size of the problem.
    """

    name: ClassVar[str]
    by_size: ClassVar[bool] = False
    columnwise: ClassVar[bool] = False
    remedy: ClassVar[str] = ""

    def check(self) -> None:
        """Refuse settings that cannot be meant; the error says what is allowed."""

    def briefly(self) -> "Method":
        """Return the method with as little work as tells what is in and what is out."""
        return self

    def averages_shapes(self, integration: Integration) -> bool:
        """Whether the slab that "spike-slab" stands for is of unknown shape with it, or Gaussian.

        A method that knows of no signs has the Gaussian one.
        """
        return False


@dataclass(frozen=True)
class Auto(Method):
    """Take the method that fits the size of the problem, with its default settings."""

    name: ClassVar[str] = "auto"
    by_size: ClassVar[bool] = True

    def averages_shapes(self, integration: Integration) -> bool:
        """Ask for shapes: which methods are taken for them depends on the number of columns."""
        return True


@dataclass(frozen=True)
class Enumerate(Method):
    """Sum over all models: exactly for numbers, each fitted on its own for labels and counts."""

    name: ClassVar[str] = "enumerate"

    def averages_shapes(self, integration: Integration) -> bool:
        """Whether models have closed forms: one that is fitted has a single mode to be found."""
        return integration is Integration.CLOSED_FORM


@dataclass(frozen=True)
class _Walks(Method):
    """What methods share that draw chains of states."""

    n_steps: int | None = None
    burn_in: int | None = None
    n_chains: int = 2

    def check(self) -> None:
        """Refuse chains that are too short or too few."""
        for name, least in (("n_steps", 100), ("burn_in", 0), ("n_chains", 1)):
            value = getattr(self, name)
            if value is not None or name == "n_chains":
                check_count(name, value, least)

    def briefly(self) -> Method:
        """Return one chain of a few states."""
        return replace(self, n_steps=_FEW_STEPS, burn_in=_FEW_STEPS // 4, n_chains=1)

    def averages_shapes(self, integration: Integration) -> bool:
        """Draw shapes along with signs."""
        return True

    def chains(self, steps: int, burn_in: int, seed: Any) -> Chains:
        """Return chains as long as they are set to be, or as given here."""
        return Chains(
            int(steps if self.n_steps is None else self.n_steps),
            int(burn_in if self.burn_in is None else self.burn_in),
            int(self.n_chains),
            seed,
        )


@dataclass(frozen=True)
class Sample(_Walks):
    """Draw models: of numbers by weighted tempered Gibbs sampling, of labels by Polya-Gamma variables.

    Zanella & Roberts (2019); Polson, Scott & Windle (2013).

    Parameters
    ----------
    n_steps, burn_in : int, optional
        States of each chain that count, and states before them. By default as many as such states are
        worth: 10,000 and 1000 where a state is a step from one model to the next; 5000 and 500 where it
        is a sweep over all variables and the latent variables of all labels; 2000 and 500 where it is a
        draw of all coefficients under a prior that shrinks them.
    n_chains : int, default=2
        The first starts from a mean-field solution, the others from the empty model.
    """

    name: ClassVar[str] = "sample"


@dataclass(frozen=True)
class Metropolis(_Walks):
    """Draw models by random flips and swaps; models that are fitted count by their probability.

    Its settings are those of `Sample`.
    """

    name: ClassVar[str] = "metropolis"

    def averages_shapes(self, integration: Integration) -> bool:
        """Whether models have closed forms: one that is fitted has a single mode to be found."""
        return integration is Integration.CLOSED_FORM


@dataclass(frozen=True)
class Gibbs(_Walks):
    """Draw coefficients: with their inclusion (Titsias & Lazaro-Gredilla 2011), or all of them.

    The latter is for priors that shrink and leave no variable out. Its settings are those of `Sample`.
    """

    name: ClassVar[str] = "gibbs"


@dataclass(frozen=True)
class Search(Method):
    """Look for probable models, and visit none twice.

    Parameters
    ----------
    n_steps : int, default=10,000
        Models whose neighbours are looked at.
    """

    n_steps: int = 10_000
    name: ClassVar[str] = "search"

    def check(self) -> None:
        """Refuse a search that is too short."""
        check_count("n_steps", self.n_steps, 100)


@dataclass(frozen=True)
class BayesianMatchingPursuit(Method):
    """Take variables in one by one, with several models side by side that are the most probable so far.

    Of all models of a size that were scored, the ``beam`` most probable ones are grown further, each by
    every variable (Schniter, Potter & Ziniel 2008; Murphy 2012, section 13.2.3.1). The posterior is over
    all models that were scored: with a beam that holds all models, it is the sum over all of them. The
    certificate is the part of the probability that the less probable half of the beam found.

    Parameters
    ----------
    beam : int, default=20
        Models of each size that are grown.
    max_features : int, optional
        Variables in a model at most; by default models grow until all are improbable beside the best.
    """

    beam: int = 20
    max_features: int | None = None
    name: ClassVar[str] = "matching-pursuit"

    def check(self) -> None:
        """Refuse a beam without models."""
        check_count("beam", self.beam, 1)
        if self.max_features is not None:
            check_count("max_features", self.max_features, 1)


@dataclass(frozen=True)
class MeanField(Method):
    """Approximate the posterior by independent factors: quick, audited, too sure among like variables.

    Carbonetto & Stephens (2012); of labels by the bound of Jaakkola & Jordan (2000).

    Parameters
    ----------
    hyperparameters : {"average", "em", "anneal"}, default="average"
        Average over the slab variance and the inclusion probability, with weights from the evidence; set
        them by EM; or set the slab variance by EM and anneal the inclusion probability from sparse to
        dense and back. What is given stays fixed in all of them.
    tol : float, default=1e-4
        What inclusion probabilities may still move by.
    max_iter : int, optional
        The most sweeps of one solution, by default 10,000; for labels, each with a new bound, 1000.
    """

    hyperparameters: str = "average"
    tol: float = 1e-4
    max_iter: int | None = None
    name: ClassVar[str] = "mean-field"
    columnwise: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse an unknown treatment of hyperparameters, and solutions that never end."""
        if self.hyperparameters not in HYPERPARAMETERS:
            raise ValueError(
                f"hyperparameters must be one of {HYPERPARAMETERS}, got {self.hyperparameters!r}"
            )
        check_positive("tol", self.tol)
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter, 1)

    def averages_shapes(self, integration: Integration) -> bool:
        """Whether there is an audit under every shape, which models of labels have of one hump alone."""
        return integration is Integration.CLOSED_FORM


@dataclass(frozen=True)
class EM(Method):
    """Run EM from several starts, each of which ends in one of many local optima.

    Parameters
    ----------
    spike_variance : float, optional
        Variables that are out have small effects of this variance (Rockova & George 2014), in units of
        the noise variance like that of the slab; by default none (the Bernoulli-Gaussian model).
    """

    spike_variance: float | None = None
    name: ClassVar[str] = "em"
    columnwise: ClassVar[bool] = True

    def check(self) -> None:
        """Raise unless the variance is positive and finite."""
        if self.spike_variance is not None:
            check_positive("spike_variance", self.spike_variance)

    def averages_shapes(self, integration: Integration) -> bool:
        """Whether signs are expectations, as they are beside a narrow spike."""
        return self.spike_variance is not None


@dataclass(frozen=True)
class EffectByEffect(Method):
    """Fit single effects in turn, each to what the others leave (Wang et al. 2020).

    The method of `garrote.priors.SingleEffects`, which has its settings.
    """

    name: ClassVar[str] = "single-effects"
    columnwise: ClassVar[bool] = True
    remedy: ClassVar[str] = "allow for fewer effects, or give prior=SingleEffects(max_iter=...)"


@dataclass(frozen=True)
class _ByEvidence(Method):
    """What methods share that set variances by the evidence, until nothing would raise it by ``tol``."""

    tol: float = 1e-5
    max_iter: int = 10_000

    def check(self) -> None:
        """Refuse tolerances and limits that could not be kept."""
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter, 1)


@dataclass(frozen=True)
class Sequential(_ByEvidence):
    """Set variances by the evidence from nothing, variable by variable (Tipping & Faul 2003).

    For `garrote.priors.RelevancePrior`.

    Parameters
    ----------
    tol : float, default=1e-5
        What a change of one variance may still add to the log evidence.
    max_iter : int, default=10,000
        The most variables that come or go.
    """

    name: ClassVar[str] = "sequential"
    remedy: ClassVar[str] = "raise max_iter, or give prior=RelevancePrior(noise_variance=...)"


@dataclass(frozen=True)
class FixedPoint(_ByEvidence):
    """Set all variances by MacKay's fixed point, from all variables in (Murphy 2012, Eq. 13.169).

    For `garrote.priors.RelevancePrior`; its settings are those of `Sequential`, ``max_iter`` counts
    steps.
    """

    name: ClassVar[str] = "fixed-point"
    remedy: ClassVar[str] = "raise its max_iter, as in method=FixedPoint(max_iter=100_000)"


@dataclass(frozen=True)
class ReweightedL1(_ByEvidence):
    """Set variances by lassos, each weighed by the evidence of the one before (Eqs. 13.172-13.173).

    For `garrote.priors.RelevancePrior` (Wipf & Nagarajan 2010).

    Parameters
    ----------
    tol : float, default=1e-5
        What coefficients may still move by, in standard deviations of the response.
    max_iter : int, default=10,000
        The most lassos.
    """

    name: ClassVar[str] = "reweighted-l1"
    remedy: ClassVar[str] = "raise its max_iter, or take method='fixed-point'"


METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        Auto, Enumerate, Sample, Metropolis, Gibbs, Search, BayesianMatchingPursuit, MeanField, EM,
        EffectByEffect, Sequential, FixedPoint, ReweightedL1,
    )
}  # fmt: skip


def averages_shapes(method: Method, integration: Integration, rows: float) -> bool:
    """Tell whether "spike-slab" stands for a slab of unknown shape: so many rows, by their weights.

    Few rows find few effects, and a handful of effects has no shape to be learnt.
    """
    return rows >= _ROWS_FOR_A_SHAPE and method.averages_shapes(integration)


def as_method(given: Method | str) -> Method:
    """Return a method by itself or, with its default settings, by its name; its settings are checked."""
    method = as_settings("method", given, Method, METHODS, "an object of garrote.inference")
    method.check()
    return method
