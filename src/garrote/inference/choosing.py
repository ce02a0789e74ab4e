"""From a problem and priors to a posterior, by the method that fits its size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrote.inference.auditing import audit
from garrote.inference.beliefs import Beliefs
from garrote.inference.effects.single_effects import single_effects_posterior
from garrote.inference.em.em_posterior import em_posterior
from garrote.inference.mean_field.averaged import HYPERPARAMETERS, mean_field_posterior
from garrote.inference.models.enumerated import enumerate_findings
from garrote.inference.models.over_models import (
    Findings,
    certify_models,
    make_model_posterior,
    search_findings,
)
from garrote.inference.sampling import SAMPLERS, Chains, mean_field_start, sample
from garrote.inference.substitutes import with_substitutes
from garrote.limits.costs import foretell
from garrote.priors.single_effects import SingleEffects
from garrote.priors.slab import GaussianSlab, Slab
from garrote.problem import Problem
from garrote.results.certificates import Certificate, of_search
from garrote.results.path import Path
from garrote.results.posterior import Audit, Posterior
from garrote.solvers.control import Control, Progress

# What is taken for y'y / n where nothing of the response is left to explain.
_NOTHING_LEFT = 1e-12

# Methods whose variables are independent of each other, and all methods.
FACTORISED = ("mean-field", "em")
METHODS = ("auto", "enumerate", *SAMPLERS, "search", *FACTORISED)
# What the method of a sum of single effects is called; the prior alone asks for it.
SINGLE_EFFECTS = "single-effects"

# "auto" enumerates up to so many columns: a fraction of a second for each of the slab's variances.
_FEW = 15
# Beyond this a step of the sampler takes milliseconds, and mean field does instead.
_MANY = 20_000
# Models that one second enumerates, about, on one thread, and the minutes that an enumeration may take.
_MODELS_PER_SECOND = 5e6
_MINUTES = 3.0
# Neighbours of models that a search looks at in one second, about.
_NEIGHBOURS_PER_SECOND = 3e5
# Slab variances that an enumeration visits where it is unknown, about.
_VARIANCES = 15


@dataclass(frozen=True)
class Inferred:
    """A posterior, its certificate, the method that was used and how, in words.

    ``notes`` say what to be careful about, ``cautions`` what deserves a warning besides; ``converged``
    tells whether every solution behind it reached the tolerance asked for; ``path`` has both branches
    where a prior was annealed.
    """

    posterior: Posterior
    certificate: Certificate
    method: str
    how: str
    converged: bool = True
    path: Path | None = None
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


def infer(
    problem: Problem,
    beliefs: Beliefs | Slab | SingleEffects | None = None,
    method: str = "auto",
    *,
    hyperparameters: str = "average",
    spike_variance: float | None = None,
    chains: Chains = Chains(),  # noqa: B008 - frozen
    names: Sequence[str] = (),
    n_jobs: int | None = None,
    callback: Callable[[Progress], None] | None = None,
) -> Inferred:
    """Find the posterior over models of one problem, from rows or from moments.

    Parameters
    ----------
    problem : Problem
    beliefs : Beliefs, or a prior of coefficients, optional
        The priors; see `Beliefs.about`. A slab or `SingleEffects` stands for the default with it.
    method : {"auto", "enumerate", "sample", "metropolis", "gibbs", "search", "mean-field", "em"}
        "auto" enumerates up to 15 columns, samples up to 20,000, and takes mean field beyond.
    hyperparameters : {"average", "em", "anneal"}
        For mean field: how the slab variance and the inclusion probability are treated, if unknown.
    spike_variance : float, optional
        For EM: the variance of a spike that is a narrow Gaussian, in units of the noise variance.
    chains : Chains
        For sampling; a search expands ``chains.steps`` models.
    names : sequence of str
        Names of the variables.
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Called with a `Progress`.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.inference import infer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 1] + rng.standard_normal(60)
    >>> X, y = X - X.mean(axis=0), y - y.mean()
    >>> problem = Problem.from_moments(X.T @ X, X.T @ y, y @ y, 60)
    >>> infer(problem).posterior.inclusion_probability.argmax()
    np.int64(1)
    """
    beliefs = _as_beliefs(problem, beliefs)
    usable = np.flatnonzero(problem.curvature > 0)
    labels = tuple(names) or tuple(f"x{j}" for j in range(problem.n_features))
    if beliefs.effects is not None:
        _check_alone(method, hyperparameters, spike_variance)
        report = stage_reporter(callback, "refining")
        summed = single_effects_posterior(problem, beliefs, beliefs.effects, labels, report)
        return Inferred(
            summed.posterior, summed.certificate, SINGLE_EFFECTS, summed.how, summed.converged,
            notes=summed.notes, cautions=summed.cautions,
        )  # fmt: skip
    method = choose_method(method, len(usable), _passes(beliefs.slab))
    if hyperparameters not in HYPERPARAMETERS:
        raise ValueError(
            f"hyperparameters must be one of {HYPERPARAMETERS}, got {hyperparameters!r}"
        )
    if hyperparameters != "average" and method != "mean-field":
        raise ValueError(
            f"hyperparameters={hyperparameters!r} needs method='mean-field', but method is {method!r}, "
            "which treats them in its own way"
        )
    if spike_variance is not None and method != "em":
        raise ValueError(
            f"spike_variance={spike_variance} needs method='em', but method is {method!r}, in which "
            "variables that are out have no effect at all"
        )
    if not len(usable):  # the empty model is all there is
        method = "enumerate"
    if method in FACTORISED:
        control = Control(callback=callback)
        if method == "em":
            solved = em_posterior(problem, beliefs, labels, control, spike_variance)
        else:
            solved = mean_field_posterior(problem, beliefs, labels, control, hyperparameters)
        return Inferred(
            with_substitutes(problem, solved.posterior), solved.best.certificate, method,
            solved.how, solved.converged, solved.path,
            beliefs.doubts(solved.posterior.size_probability),
        )  # fmt: skip
    if problem.yty <= 0:
        problem = replace(problem, yty=_NOTHING_LEFT * problem.n)
    certificate: Certificate
    if method == "enumerate":
        report = stage_reporter(callback, "enumeration")
        found, change = enumerate_findings(problem, beliefs, usable, n_jobs, report)
        certificate = certify_models(problem, beliefs, found, change)
        how = "all models summed exactly"
    elif method == "search":
        what = f"a search that expands {chains.steps} models of {len(usable)} columns"
        seconds = chains.steps * len(usable) / _NEIGHBOURS_PER_SECOND
        foretell(what, seconds, f"lower n_steps ({chains.steps})")
        start = mean_field_start(problem, beliefs)
        report = stage_reporter(callback, "search")
        found, late, change = search_findings(
            problem, beliefs, start, chains.steps, chains.seed, report
        )
        exact = certify_models(problem, beliefs, found)
        certificate = of_search(late, exact["log probability"], change)
        how = f"{found.seen} models found and none of them visited twice"
    else:
        report = stage_reporter(callback, "sampling")
        found, certificate = sample(problem, beliefs, method, chains, n_jobs, report)
        states, seen = chains.count * chains.steps, found.seen
        how = f"{states} states of {chains.count} chains sampled, {seen} models seen"
    posterior = make_model_posterior(problem, beliefs, found, labels)
    posterior = replace(posterior, checked=_audited(problem, beliefs, method, found))
    posterior = with_substitutes(problem, posterior, found.components)
    doubts = beliefs.doubts(found.size_probability)
    return Inferred(posterior, certificate, method, how, notes=doubts)


def _as_beliefs(problem: Problem, given: Any) -> Beliefs:
    """Return beliefs about a problem from what stands for them."""
    if given is None or isinstance(given, Slab):
        return Beliefs.about(problem, given)
    if isinstance(given, SingleEffects):
        return Beliefs.about(problem, effects=given)
    if not isinstance(given, Beliefs):
        raise TypeError(
            f"beliefs must be Beliefs, or a slab or SingleEffects of garrote.priors, got {given!r}"
        )
    return given


def _check_alone(method: str, hyperparameters: str, spike_variance: float | None) -> None:
    """Refuse settings of other methods: a sum of single effects has one of its own."""
    if method not in ("auto", SINGLE_EFFECTS):
        raise ValueError(
            f"prior='single-effects' has a method of its own, got method={method!r}: leave it out"
        )
    if hyperparameters != "average" or spike_variance is not None:
        raise ValueError(
            "prior='single-effects' estimates its own variances: leave out hyperparameters and "
            "spike_variance"
        )


def _audited(problem: Problem, beliefs: Beliefs, method: str, found: Findings) -> Audit:
    """Return the check of a posterior over models; an exact one needs none."""
    if method == "enumerate":
        columns = np.flatnonzero(found.inclusion > 0.01)
        same = found.inclusion[columns]
        return Audit(columns, same, same, "themselves, which are exact sums")
    variance = np.maximum(found.second_moment - found.mean**2, 0.0)
    return audit(problem, beliefs, found.inclusion, found.mean, variance)


def _passes(slab: Slab) -> int:
    """Return how many slab variances an enumeration is repeated for, about."""
    unknown = isinstance(slab, GaussianSlab) and slab.variance is None
    return _VARIANCES if unknown else 1


def choose_method(method: str, usable: int, passes: int = 1) -> str:
    """Return the method for so many columns; refuse an enumeration that would never end.

    ``passes`` are the slab's variances, each of which an enumeration is repeated for.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    minutes = 2.0**usable * passes / _MODELS_PER_SECOND / 60 if usable < 1000 else np.inf
    if method == "enumerate" and minutes > _MINUTES:
        time = f"{minutes:.2g} minutes" if minutes < 100 else f"{minutes / 60:.3g} hours"
        raise ValueError(
            f"method='enumerate' with {usable} columns would take about {time}; use "
            "method='sample', or name fewer columns"
        )
    if method != "auto":
        return method
    if usable <= _FEW:
        return "enumerate"
    return "sample" if usable <= _MANY else "mean-field"


def stage_reporter(callback: Any, stage: str) -> Callable[[int, int], None] | None:
    """Return what tells a callback how much of a stage is done."""
    if callback is None:
        return None
    return lambda done, total: callback(Progress(stage, done, total))
