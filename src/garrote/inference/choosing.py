"""From a problem and a prior to a posterior, by the method that fits its size.

`WAYS` says which methods there are, by how coefficients are integrated out of the likelihood and by the
kind of prior; a new way is a function and a row here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from garrote.inference.annotated.learning import learn_enrichment
from garrote.inference.beliefs import Beliefs
from garrote.inference.effects.fitted_effects import fitted_effects_posterior
from garrote.inference.effects.label_effects import label_effects_posterior
from garrote.inference.effects.single_effects import single_effects_posterior
from garrote.inference.em.em_posterior import em_posterior
from garrote.inference.gaussian_models import (
    enumerate_numbers,
    pursue_numbers,
    sample_numbers,
    search_numbers,
)
from garrote.inference.glm_models import choose_for_fits, enumerate_fitted, walk_fitted
from garrote.inference.grouped.choosing import WAYS_OF_GROUPS, choose_for_groups
from garrote.inference.grouped.laws import law_over_groups, resolve_law
from garrote.inference.label_shrinkage import gibbs_label_shrinkage
from garrote.inference.mean_field.averaged import mean_field_posterior
from garrote.inference.mean_field.label_mean_field import label_mean_field
from garrote.inference.methods import (
    EM,
    BayesianMatchingPursuit,
    EffectByEffect,
    Enumerate,
    FixedPoint,
    Gibbs,
    MeanField,
    Method,
    Metropolis,
    ReweightedL1,
    Sample,
    Search,
    Sequential,
    as_method,
    averages_shapes,
)
from garrote.inference.models.label_sampling import sample_labels
from garrote.inference.models.signs import ways_under
from garrote.inference.relevance.labels import (
    em_label_relevance,
    fixed_point_label_relevance,
    lasso_label_relevance,
)
from garrote.inference.relevance.numbers import (
    em_relevance,
    fixed_point_relevance,
    lasso_relevance,
    sequential_relevance,
)
from garrote.inference.shrinkage import gibbs_shrinkage
from garrote.inference.task import Inferred, Task
from garrote.likelihoods import families_with_posteriors
from garrote.priors.base import Prior
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.names import as_prior
from garrote.priors.structured.annotations import AnnotatedOdds
from garrote.problem import Problem
from garrote.rules.integration import Integration
from garrote.solvers.control import Progress

Way = Callable[[Task, Any], Inferred]

_FITTED: dict[tuple[str, type[Method]], Way] = {
    ("models", Enumerate): enumerate_fitted,
    ("models", Metropolis): walk_fitted,
}
# The ways to a posterior: by how the likelihood is integrated, by the kind of prior, and by the method.
WAYS: dict[Integration, dict[tuple[str, type[Method]], Way]] = {
    Integration.CLOSED_FORM: {
        ("models", Enumerate): enumerate_numbers,
        ("models", Sample): sample_numbers,
        ("models", Metropolis): sample_numbers,
        ("models", Gibbs): sample_numbers,
        ("models", Search): search_numbers,
        ("models", BayesianMatchingPursuit): pursue_numbers,
        ("models", MeanField): mean_field_posterior,
        ("models", EM): em_posterior,
        ("effects", EffectByEffect): single_effects_posterior,
        ("shrinkage", Gibbs): gibbs_shrinkage,
        ("relevance", Sequential): sequential_relevance,
        ("relevance", FixedPoint): fixed_point_relevance,
        ("relevance", EM): em_relevance,
        ("relevance", ReweightedL1): lasso_relevance,
    },
    Integration.POLYA_GAMMA: {
        ("models", Sample): sample_labels,
        **_FITTED,
        ("models", MeanField): label_mean_field,
        ("effects", EffectByEffect): label_effects_posterior,
        ("shrinkage", Gibbs): gibbs_label_shrinkage,
        ("relevance", FixedPoint): fixed_point_label_relevance,
        ("relevance", EM): em_label_relevance,
        ("relevance", ReweightedL1): lasso_label_relevance,
    },
    Integration.LAPLACE: {**_FITTED, ("effects", EffectByEffect): fitted_effects_posterior},
}

# Ways that have nothing to look for without columns: the empty model is all there is.
_NEED_COLUMNS = (sample_numbers, search_numbers, pursue_numbers, mean_field_posterior, em_posterior)
# Methods that fit models of labels one by one, which have no signs.
_FITTED_ONE_BY_ONE = (Enumerate.name, Metropolis.name)
# Beyond this a step of the sampler takes milliseconds, and mean field does instead.
_MANY = 20_000
# "auto" fits all models of labels of up to so many columns, and beyond that ...
_FEW_OF_LABELS = 10
# ... samples tables of up to so many entries: about a millisecond a sweep.
_MOST_SAMPLED = 500_000


def infer(
    problem: Problem,
    prior: Prior | None = None,
    method: Method | str = "auto",
    *,
    inclusion: Any = None,
    names: Sequence[str] = (),
    n_jobs: int | None = None,
    random_state: Any = None,
    callback: Callable[[Progress], None] | None = None,
) -> Inferred:
    """Find the posterior of one problem under a prior.

    Parameters
    ----------
    problem : Problem
        Its likelihood says what y is. Numbers may come from rows or from moments.
    prior : Prior, optional
        Of coefficients, one of `garrote.priors`. By default those of variables that are in have a slab
        of unknown variance and shape, `TwoHumpedSlab` (`TwoHumpedEffectSlab` for labels), or a Gaussian
        one with methods that cannot average over shapes (`Method.averages_shapes`) and below 50 rows.
    method : Method or str, default="auto"
        An object of `garrote.inference` with its settings, or its name for the default ones, one of
        `garrote.inference.METHODS`; "auto" takes what fits the size (`choose_method`).
    inclusion : law of `garrote.priors`, float, array of shape (D,) or pair of floats, optional
        The prior on which variables are in; by default `BetaInclusion`.
    names : sequence of str
        Names of the variables.
    n_jobs : int, optional
        Threads.
    random_state : int or SeedSequence, optional
        The seed of chains and searches.
    callback : callable, optional
        Called with a `Progress`.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.inference import infer
    >>> X = np.random.default_rng(0).standard_normal((60, 5))
    >>> counts = np.random.default_rng(1).poisson(np.exp(X[:, 1]))
    >>> found = infer(Problem.from_rows(X, counts, likelihood="poisson"), method="enumerate")
    >>> found.posterior.inclusion_probability.argmax()
    np.int64(1)
    """
    names = _named(names, problem.n_features)
    law = resolve_law(inclusion, problem.n_features, np.array(names, dtype=object))
    law = law.over(problem.usable, problem.n_features)
    if isinstance(law, AnnotatedOdds):
        settings = {"names": names, "n_jobs": n_jobs, "callback": callback}
        return _learn(problem, prior, method, law, settings, random_state)
    grouped = law_over_groups(law)
    chosen, prior = _chosen(as_method(method), prior, problem, grouped)
    if chosen.columnwise and problem.likelihood.least_squares:
        problem = problem.in_columns()  # which may be a copy in Fortran order
    task = Task(problem, Beliefs.about(problem, prior, law), names, n_jobs, random_state, callback)
    way = find_way(prior, _integration(problem), chosen, grouped is not None)
    nothing = not task.usable and way in _NEED_COLUMNS
    return enumerate_numbers(task, Enumerate()) if nothing else way(task, chosen)


def _learn(
    problem: Problem,
    prior: Prior | None,
    method: Method | str,
    odds: AnnotatedOdds,
    settings: dict[str, Any],
    seed: Any,
) -> Inferred:
    """Find the posterior with the enrichments of annotations."""

    def find(at: AnnotatedOdds) -> Inferred:
        return infer(problem, prior, method, inclusion=at.known(), random_state=seed, **settings)

    return learn_enrichment(odds, problem.usable, find, _whole_seed(seed))


def _whole_seed(seed: Any) -> int:
    """Return a seed as a whole number; 0 for none, as what it draws is of next to no consequence."""
    made = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed or 0)
    return int(made.generate_state(1)[0])


def _named(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Return a name for every column."""
    made = tuple(names) or tuple(f"x{j}" for j in range(count))
    if len(made) != count:
        raise ValueError(f"there are {len(made)} names for {count} columns")
    return made


def _chosen(
    method: Method, prior: Prior | None, problem: Problem, grouped: InclusionOfGroups | None
) -> tuple[Method, Prior]:
    """Return a method, "auto" as what fits the size, and the prior that is given or its default."""
    integration = _integration(problem)
    checked = _checked(prior, integration, method, problem.n, grouped is not None)
    if not method.by_size:
        return method, checked
    usable, rows = len(problem.usable), len(problem.response)
    method = choose_method(checked, integration, usable, rows, grouped)
    return method, _checked(prior, integration, method, problem.n, grouped is not None)


def _checked(
    prior: Prior | None, integration: Integration, method: Method, rows: float, grouped: bool
) -> Prior:
    """Return the prior given, or the default one; refuse what has no meaning for the response."""
    if prior is None:
        # The effects of levels have no common sign, nor one size.
        shapes = averages_shapes(method, integration, rows) and not grouped
        prior = as_prior("spike-slab", "models", integration, shapes)
    if not isinstance(prior, Prior):
        raise TypeError(f"prior must be an object of garrote.priors, got {prior!r}")
    prior.check_integration(integration)
    return prior


def _integration(problem: Problem) -> Integration:
    """Return how coefficients are integrated out; raise where there are no posteriors."""
    integration: Integration | None = problem.likelihood.integration
    if integration is None:
        raise ValueError(
            f"posteriors are for a response that is one of {families_with_posteriors()}, got "
            f"{problem.likelihood.name}"
        )
    return integration


def methods_for(integration: Integration, kind: str, grouped: bool = False) -> tuple[str, ...]:
    """Return the names of the methods that there are for a kind of priors."""
    ways = (WAYS_OF_GROUPS if grouped else WAYS)[integration]
    return ("auto", *(method.name for known, method in ways if known == kind))


def find_way(prior: Prior, integration: Integration, method: Method, grouped: bool = False) -> Way:
    """Return what finds a posterior by a method, or say which methods there are.

    ``grouped`` tells that columns are in or out in groups.
    """
    ways = (WAYS_OF_GROUPS if grouped else WAYS)[integration]
    way = ways.get((prior.kind, type(method)))
    if way is None:
        together = " where columns are in groups, or depend on others," if grouped else ""
        offered = methods_for(integration, prior.kind, grouped)
        if prior.has_humps and integration is Integration.POLYA_GAMMA:
            offered = tuple(name for name in offered if name not in _FITTED_ONE_BY_ONE)
        raise ValueError(
            f"method must be one of {offered} for "
            f"{integration.value} under {type(prior).__name__}{together}, got {method.name!r}"
        )
    if grouped and prior.has_humps:
        raise ValueError(
            f"{type(prior).__name__} gives every coefficient one of two sizes, which effects of levels "
            f"do not have: take {type(prior).of_one_shape().__name__} where columns are in groups"
        )
    return way


def choose_method(
    prior: Prior,
    integration: Integration,
    usable: int,
    rows: int,
    grouped: InclusionOfGroups | None = None,
) -> Method:
    """Return the method for so many columns that may be in or out, and so many rows.

    ``integration`` is the likelihood's, as ``Binomial().integration``. Where columns are in or out in
    groups, ``grouped`` is the law over them: it is their number, not that of columns, that counts.

    All models of numbers are enumerated up to 15 columns (10, where they have signs), sampled up to
    20,000, and beyond that it is mean field. For labels these are 10 columns (none, where they have
    signs), tables of 500,000 entries, and beyond. Models of counts, and those of labels under BIC, are
    all fitted up to 12 columns (10, where the slab's variance is unknown), and found on walks beyond.
    Single effects and priors that shrink have one method each; relevance is determined variable by
    variable, or by a fixed point for labels and where no variable is ever out.
    """
    if grouped is not None:
        return choose_for_groups(prior, integration, grouped)
    usual = prior.usual_method(integration)
    if usual is not None:
        return as_method(usual)
    only = [method for kind, method in WAYS[integration] if kind == prior.kind]
    if len(only) == 1:
        return only[0]()
    if integration is Integration.CLOSED_FORM:
        small, sampled = usable <= ways_under(prior).few, usable <= _MANY
    elif integration is Integration.POLYA_GAMMA and prior.independent:
        small = usable <= _FEW_OF_LABELS and ways_under(prior).fits_labels
        sampled = usable * rows <= _MOST_SAMPLED
    else:
        return choose_for_fits(usable, prior.variance_is_unknown)
    if small:
        return Enumerate()
    return Sample() if sampled else MeanField()
