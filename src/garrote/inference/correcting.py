"""The garrote's inclusion probabilities, corrected by sums over models.

Annealing keeps one of several correlated columns and is sure of it. At the gamma that was chosen the
models of the variables that matter, and of all that correlate with those selected, are summed, or
sampled where they are too many. A model counts by what the garrote's own free energy says of it once
every variable is in or out: its largest likelihood, and gamma for each of its variables.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.grouped.questioned import AllGroups
from garrote.inference.methods import Chains
from garrote.inference.models.enumerated import enumerate_findings
from garrote.inference.models.over_models import Findings, certify_models, make_model_posterior
from garrote.inference.models.representative_models import Components, in_columns
from garrote.inference.resemblance import correlations
from garrote.inference.sampling import independent_part, sample
from garrote.inference.substitutes import with_substitutes
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.garrote import SpikeTerms
from garrote.priors.inclusion import Inclusion
from garrote.priors.largest_likelihood import LargestLikelihood
from garrote.priors.slab import largest_fitted
from garrote.problem import Problem
from garrote.results.accuracy import SamplingAccuracy
from garrote.results.certificates import Certificate
from garrote.results.posterior import Posterior

# Variables of at least this probability are among those whose models are summed.
_LEAST_PROBABLE = 0.01
# So are others whose absolute correlation with a selected one is at least this.
_RESEMBLING = 0.5
# Models of up to so many variables are all summed; beyond, they are sampled ...
_SUMMED = 15
# ... of at most so many variables, the most probable and the most alike.
_MOST = 1000
# States of each of two chains that count, and before them. Where the short ones agree to within this,
# nearly every variable is in or out for sure, and longer ones would tell nothing more.
_LENGTHS = ((1000, 300), (10_000, 1000))
_AGREED = 0.005
# Without more rows than this beside means and covariates no model has noise to be judged by.
_FEWEST_ROWS = 2
# Models that fill this share of the largest ones on average interpolate: gamma does not hold them back.
_CROWDED = 0.5

_SIGNED = (
    "effects are kept to one sign: the probabilities are those of annealing, which is too sure among "
    "correlated columns"
)
_INTERPOLATING = (
    "at this gamma models of a quarter as many variables as rows are probable, and the probabilities "
    "are those of the solution that annealing found: take a smaller gamma"
)


class Correction(NamedTuple):
    """A posterior in which the probabilities of some columns are those of sums over their models.

    ``mean`` are its coefficients in the units of the problem, ``certificate`` says how good the sums
    are, ``notes`` what a reader should know of them.
    """

    posterior: Posterior
    mean: Floats
    certificate: Certificate
    how: str
    notes: tuple[str, ...]


def correct(
    problem: Problem,
    terms: SpikeTerms,
    stated: Posterior,
    seed: Any = None,
    report: Callable[[int, int], None] | None = None,
) -> tuple[Correction | None, str]:
    """Sum over models of the variables that matter, at the gamma of a garrote's posterior.

    All others are taken to be out, and keep the small probability that they have. Where nothing can be
    corrected, the text says why; it is empty where there is nothing to correct.
    """
    if np.any(terms.signs):
        return None, _SIGNED
    everyone = every_variable(problem, stated.groups)
    chosen, left_out = variables_to_sum(everyone, stated.inclusion_probability)
    columns = np.flatnonzero(np.isin(everyone.of_column, chosen))
    spent = problem.scale.intercept_count + len(problem.scale.covariates)
    if not len(columns) or problem.yty <= 0 or problem.n - spent <= _FEWEST_ROWS:
        return None, ""
    among = everyone.problem.among(columns)
    first = np.unique(everyone.of_column[columns], return_index=True)[1]
    log_odds = stated.optima[0].strength + terms.offsets[columns[first]]
    law: Any = everyone.law(chosen, columns, log_odds)
    beliefs = _beliefs(among, terms, law)
    likely = stated.inclusion_probability[columns[first]]
    order = np.argsort(-likely, kind="stable")
    start = everyone.start(among, law, order[: np.count_nonzero(likely > 0.5)])
    most = largest_fitted(beliefs.n)
    if len(start) > _CROWDED * most:
        return None, _INTERPOLATING
    found, certificate, how = _find(everyone, among, beliefs, len(chosen), start, seed, report)
    if found.inclusion.sum() > _CROWDED * most:
        return None, _INTERPOLATING
    placed = _placed(found, columns, problem.n_features)
    made = make_model_posterior(everyone.problem, beliefs, placed, stated.names)
    probability = stated.inclusion_probability.copy()
    probability[columns] = placed.inclusion[columns]
    made = replace(
        made,
        inclusion_probability=probability,
        free_energy=stated.free_energy,
        optima=stated.optima,
    )
    made = everyone.back(made, placed.components)
    mean = everyone.coefficients(placed.mean)
    return Correction(made, mean, certificate, how, left_alone(left_out)), ""


@dataclass(frozen=True)
class _AllColumns:
    """All columns of a problem, each in or out alone; `AllGroups` has the same of groups."""

    problem: Problem

    @property
    def of_column(self) -> Array:
        """The number of each column that has content, its own; -1 for others."""
        return np.where(self.problem.curvature > 0, np.arange(self.problem.n_features), -1)

    def columns(self, chosen: Array) -> Array:
        """Return the columns of some variables: themselves."""
        return chosen

    def likeness(self, selected: Array) -> Floats:
        """Return the largest correlation of every column with one of the selected."""
        return np.abs(correlations(self.problem, selected)).max(axis=0, initial=0.0)

    def law(self, chosen: Array, columns: Array, log_odds: Floats) -> Inclusion:
        """Return the prior on models, in which each column is in with odds of its own."""
        return Inclusion(np.zeros(len(chosen) + 1), log_odds)

    def start(self, among: Problem, law: Inclusion, order: Array) -> list[int]:
        """Return the columns, in an order, that do not depend on those before them."""
        return independent_part(among, order)

    def enumerate(self, among: Problem, beliefs: Beliefs, report: Any) -> Findings:
        """Sum over all models."""
        return enumerate_findings(among, beliefs, None, report)[0]

    def sample(
        self, among: Problem, beliefs: Beliefs, chains: Chains, report: Any, start: list[int]
    ) -> tuple[Findings, Certificate]:
        """Walk over models."""
        return sample(among, beliefs, "sample", chains, None, report, start)

    def coefficients(self, mean: Floats) -> Floats:
        """Return coefficients as they are."""
        return mean

    def back(self, posterior: Posterior, components: Components) -> Posterior:
        """Return a posterior with what credible sets are made of."""
        return with_substitutes(self.problem, posterior, components)


def every_variable(problem: Problem, groups: ColumnGroups | None) -> _AllColumns | AllGroups:
    """Return what is in or out: columns, or groups of them."""
    return _AllColumns(problem) if groups is None else AllGroups.of(problem, groups)


def variables_to_sum(everyone: _AllColumns | AllGroups, probability: Floats) -> tuple[Array, int]:
    """Return the variables whose models are summed, and how many there is no room for."""
    places = np.flatnonzero(everyone.of_column >= 0)
    numbers, first, size = np.unique(
        everyone.of_column[places], return_index=True, return_counts=True
    )
    likely = probability[places[first]]
    alike = everyone.likeness(numbers[likely > 0.5])[numbers]
    wanted = np.flatnonzero((likely > _LEAST_PROBABLE) | (alike >= _RESEMBLING))
    order = wanted[np.lexsort((-alike[wanted], -likely[wanted]))]
    room = int(np.count_nonzero(np.cumsum(size[order]) <= _MOST))
    return np.sort(numbers[order[:room]]), len(order) - room


def _beliefs(among: Problem, terms: SpikeTerms, law: Any) -> Beliefs:
    """Return the garrote's prior of models, in which variables are in or out for sure."""
    known = terms.noise_variance
    slab = LargestLikelihood(None if known is None else known * among.scale.response_scale**2)
    return Beliefs.about(among, slab, law)


def _find(
    everyone: _AllColumns | AllGroups,
    among: Problem,
    beliefs: Beliefs,
    count: int,
    start: list[int],
    seed: Any,
    report: Callable[[int, int], None] | None,
) -> tuple[Findings, Certificate, str]:
    """Sum over all models of so many variables, or sample them from what annealing found."""
    if count <= _SUMMED:
        found = everyone.enumerate(among, beliefs, report)
        how = f"sums over all models of {count} variables"
        return found, certify_models(among, beliefs, found), how
    for steps, burn_in in _LENGTHS:
        chains = Chains(steps, burn_in, 2, seed)
        found, certificate = everyone.sample(among, beliefs, chains, report, start)
        if certificate.value <= _AGREED:
            break
    return found, certificate, f"sampling models of {count} variables"


def _placed(found: Findings, columns: Array, count: int) -> Findings:
    """Return what was found of some columns by their places among all."""

    def everywhere(values: Any, fill: float = 0.0) -> Any:
        if values is None:
            return None
        whole = np.full(count, fill)
        whole[columns] = values
        return whole

    accuracy, covariance = found.accuracy, found.covariance
    if accuracy is not None:
        accuracy = SamplingAccuracy(
            everywhere(accuracy.monte_carlo_error),
            everywhere(accuracy.effective_sample_size, np.nan),
            everywhere(accuracy.split_r_hat, 1.0),
        )
    inside = found.components.inside
    there = (inside.data, columns[inside.indices], inside.indptr)
    components = found.components._replace(
        inside=scipy.sparse.csr_array(there, (inside.shape[0], count))
    )
    return replace(
        found,
        inclusion=everywhere(found.inclusion),
        mean=everywhere(found.mean),
        second_moment=everywhere(found.second_moment),
        members=in_columns(found.members, columns),
        representatives=found.representatives._replace(
            members=in_columns(found.representatives.members, columns)
        ),
        components=components,
        covariance=None if covariance is None else (columns[covariance[0]], covariance[1]),
        accuracy=accuracy,
    )


def left_alone(left_out: int) -> tuple[str, ...]:
    """Say how many variables there was no room for."""
    if not left_out:
        return ()
    return (
        f"{left_out:,} more variables correlate with the selected ones beyond {_RESEMBLING:g} than "
        f"models are sampled of, {_MOST:,}: they keep the probability that annealing found",
    )
