"""From labels and priors to a posterior over logistic models, by the method that fits the size."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.choosing import Inferred, stage_reporter
from garrote.inference.effects.label_effects import label_effects_posterior
from garrote.inference.effects.single_effects import FEW_ROWS
from garrote.inference.generalized import infer_generalized, make_task
from garrote.inference.mean_field.label_mean_field import label_mean_field, make_bound
from garrote.inference.models.label_sampling import sample_labels
from garrote.inference.sampling import Chains
from garrote.inference.substitutes import with_substitutes
from garrote.likelihoods import Binomial
from garrote.limits.costs import foretell
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import EffectSlab, GaussianSlab
from garrote.problem import Problem
from garrote.solvers.control import Control, Progress
from garrote.solvers.labels.bound_annealing import anneal_bound

LABEL_METHODS = ("auto", "sample", "mean-field", "single-effects", "enumerate", "metropolis")

# "auto" fits all models of up to so many columns, and beyond that ...
_FEW = 10
# ... samples tables of up to so many entries: about a millisecond a sweep.
_MOST_SAMPLED = 500_000
# Seconds of mean field for an entry of X, on one core: one to three of 1e-5 were measured.
_SECONDS_AN_ENTRY = 1e-5
# Entries of X that are kept as a dense copy.
_MOST_ENTRIES = 150_000_000


def infer_labels(
    problem: Problem,
    labels: Floats,
    inclusion: Inclusion | None = None,
    method: str = "auto",
    *,
    slab: GaussianSlab = EffectSlab(),  # noqa: B008 - frozen
    effects: int | None = None,
    chains: Chains = Chains(5000, 500),  # noqa: B008 - frozen
    names: Sequence[str] = (),
    control: Control = Control(max_iter=1000),  # noqa: B008 - frozen
    n_jobs: int | None = None,
    callback: Callable[[Progress], None] | None = None,
) -> Inferred:
    """Find the posterior over logistic models with a spike-and-slab prior.

    Parameters
    ----------
    problem : Problem
        From rows; its weights, offset, covariates and centring are used, not its response.
    labels : array of shape (N,)
        0 or 1.
    inclusion : Inclusion, optional
        The prior on models, over the columns with content.
    method : {"auto", "sample", "mean-field", "single-effects", "enumerate", "metropolis"}
        "auto" fits all models of up to 10 columns, samples tables of up to 500,000 entries and takes
        mean field beyond.
    slab : GaussianSlab
        Of effects on log odds, for columns in standard deviations.
    effects : int, optional
        For single effects: how many there may be at most; by default as many as are asked for.
    chains : Chains
        For sampling.
    names : sequence of str
        Names of the variables.
    control : Control
        Tolerance of mean field.
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Called with a `Progress`.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.inference import infer_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 5))
    >>> y = (X[:, 1] + rng.logistic(size=80) > 0).astype(float)
    >>> found = infer_labels(Problem.from_rows(X, y), y, method="mean-field")
    >>> found.posterior.inclusion_probability.argmax()
    np.int64(1)
    """
    likelihood = Binomial()
    likelihood.check_response(labels[problem.weights > 0])
    method = choose_label_method(method, len(problem.usable), len(labels))
    if method in ("enumerate", "metropolis"):
        return infer_generalized(
            problem, likelihood, labels, inclusion, method, slab=slab, chains=chains, names=names,
            n_jobs=n_jobs, callback=callback,
        )  # fmt: skip
    beliefs = Beliefs.about(problem, slab, inclusion)
    named = tuple(names) or tuple(f"x{j}" for j in range(problem.n_features))
    watched = Control(control.tol, control.max_iter, callback)
    if method == "single-effects" and len(problem.usable):
        summed = label_effects_posterior(problem, labels, beliefs, named, watched, effects)
        return Inferred(
            summed.posterior, summed.certificate, method, summed.how, summed.converged,
            notes=(*beliefs.doubts(None), *summed.notes), cautions=_cautions(problem.n),
        )  # fmt: skip
    if method == "sample":
        task = make_task(problem, likelihood, labels, beliefs)
        start = _start(problem, labels, beliefs)
        posterior, certificate, how = sample_labels(
            task, chains, start, named, n_jobs, stage_reporter(callback, "sampling")
        )
        doubts = beliefs.doubts(posterior.size_probability)
        return Inferred(posterior, certificate, method, how, notes=doubts)
    what = f"mean field for {len(labels)} labels and {len(problem.usable)} columns"
    seconds = _SECONDS_AN_ENTRY * len(labels) * len(problem.usable)
    foretell(what, seconds, "give slab_variance and inclusion")
    found = label_mean_field(problem, labels, beliefs, named, watched)
    return Inferred(
        with_substitutes(problem, found.posterior), found.certificate, method, found.how,
        found.converged, found.path, beliefs.doubts(None),
    )  # fmt: skip


def _cautions(rows: float) -> tuple[str, ...]:
    if rows >= FEW_ROWS:
        return ()
    return (
        f"{rows:g} rows of labels are few, and single effects want {FEW_ROWS}: their sets are not to be "
        "trusted much; method='sample' is more careful",
    )


def choose_label_method(method: str, usable: int, rows: int) -> str:
    """Return the method for a table of labels; refuse what would not fit into memory."""
    if method not in LABEL_METHODS:
        raise ValueError(f"method must be one of {LABEL_METHODS}, got {method!r}")
    if method == "sample" and usable * rows > _MOST_ENTRIES:
        raise ValueError(
            f"method='sample' keeps X dense, and {rows:,} rows x {usable:,} columns need "
            f"{8e-9 * usable * rows:.3g} GB: use method='mean-field', or screen the columns first"
        )
    if method != "auto":
        return method
    if usable <= _FEW:
        return "enumerate"
    return "sample" if usable * rows <= _MOST_SAMPLED else "mean-field"


def _start(problem: Problem, labels: Floats, beliefs: Beliefs) -> list[int]:
    """Return the variables of a rough mean-field solution at the prior odds of a small model."""
    if not len(problem.usable):
        return []
    bound = make_bound(problem, labels, beliefs, Control(1e-2, 100))
    gamma = beliefs.inclusion.odds_of_one_more(0)
    slab: Any = beliefs.slab
    grid = np.linspace(20 * min(gamma, -1.0), gamma, 8)
    last = anneal_bound(bound, grid, slab.variance or 1.0).solutions[-1]
    return [int(j) for j in last.columns[last.probability > 0.5]]
