"""The posterior of a sum of single effects: which variables, in which sets, with which effects."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.covariates import with_covariates
from garrote.inference.effects.columns_of_effects import EffectOfGroups, GroupedColumns
from garrote.inference.effects.effects_certificate import certify_effects
from garrote.inference.grouped.laws import law_over_groups
from garrote.inference.methods import Method
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.credible_sets import Likeness, Substitutes, most_probable
from garrote.results.fit import Fit
from garrote.results.laws import EffectsLaw, Spread
from garrote.results.optima import Optima
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.algebra.gram_products import GramProducts
from garrote.solvers.algebra.group_coordinates import equal_within
from garrote.solvers.effects.effects_in_turn import IDLE
from garrote.solvers.effects.existence import with_doubt
from garrote.solvers.effects.refining import NumbersFitter, SummedEffects, refine
from garrote.solvers.effects.single_effect_regression import SingleEffect
from garrote.solvers.effects.single_effects import EffectsFit, EffectsTask, fit_single_effects
from garrote.solvers.effects.student_effects import with_unknown_noise

# Rows below which the noise variance is too uncertain to be taken for known.
FEW_ROWS = 30
# Tables of fewer rows than this, and so many times the columns, have sets that are too sure.
_SHORT, _WIDE = 200, 10
# Effects are kept on as many columns as have this share of their probability: sets of a coverage up to
# `MOST_COVERED` are made of these.
_SHARE = 0.9999
# Groups that are compared with each other, at most.
_MOST_COMPARED = 500

# One effect on the user's columns.
Effect = SingleEffect | EffectOfGroups


def single_effects_posterior(analysis: Task, method: Method) -> Inferred:
    """Fit, refine, certify, and change to the user's units."""
    problem, grouped = analysis.problem, columns_in_groups(analysis)
    task = make_task(problem, analysis.beliefs, grouped)
    fit = fit_single_effects(task)
    better = 0
    if task.prior.refine:
        fit, better = refine(NumbersFitter(task), fit, analysis.reporter("refining"))
    certificate = certify_effects(task, fit)
    stated = _stated(task, fit)
    effects = stated if grouped is None else grouped.effects(stated)
    described = describe_effects(problem, fit, effects, task.rows, analysis.names, certificate)
    posterior = with_covariates(problem, described)
    posterior = with_likeness(problem, posterior, grouped)
    how = say_how_many(fit, task.prior.effects, better)
    variables = int(np.count_nonzero(np.isfinite(task.log_prior)))
    notes = (*notes_on_effects(fit, variables), *_note_on_width(task.rows, analysis.usable))
    return Inferred(
        posterior, certificate, method.name, how, fit.converged, notes=notes,
        cautions=_cautions(task),
    )  # fmt: skip


def columns_in_groups(analysis: Task) -> GroupedColumns | None:
    """Return the groups that effects are of; None where they are of columns."""
    law, problem = law_over_groups(analysis.beliefs.inclusion), analysis.problem
    if law is None:
        return None
    return GroupedColumns(problem, law, projected=problem.likelihood.least_squares)


def with_likeness(
    problem: Problem, posterior: Posterior[EffectsLaw], grouped: GroupedColumns | None
) -> Posterior[EffectsLaw]:
    """Return the posterior with how alike the columns, or groups, of credible sets are."""
    if grouped is None:
        return with_substitutes(problem, posterior)
    columns = np.sort(posterior.law.compared_columns[:_MOST_COMPARED])
    alike = Likeness(columns, grouped.likeness(columns))
    # A level without rows is in where its variable is; covariates have left their groups.
    inclusion = posterior.inclusion_probability.copy()
    inclusion[posterior.covariates] = 0.0
    inclusion = equal_within(grouped.found.numbers, inclusion)
    inclusion[posterior.covariates] = 1.0
    return replace(
        posterior,
        inclusion_probability=inclusion,
        substitutes=Substitutes(alike),
        groups=grouped.found,
    )


def make_task(
    problem: Problem, beliefs: Beliefs, grouped: GroupedColumns | None = None
) -> EffectsTask:
    """Return what the loop needs; prior probabilities are in proportion to prior odds."""
    if grouped is not None:
        seen, known = grouped.coordinates.problem.compressed(), beliefs.prior.noise_variance
        return EffectsTask(
            seen, beliefs.prior, grouped.log_prior, beliefs.n, GramProducts(seen), known,
            units=grouped.units,
        )  # fmt: skip
    log_prior = np.full(problem.n_features, -np.inf)
    if len(problem.usable):
        odds = beliefs.inclusion.log_odds
        log_prior[problem.usable] = odds - logsumexp(odds)
    problem, prior = problem.compressed(), beliefs.prior
    products = GramProducts(problem)
    return EffectsTask(problem, prior, log_prior, beliefs.n, products, prior.noise_variance)


def _stated(task: EffectsTask, fit: EffectsFit) -> tuple[SingleEffect, ...]:
    """Return the effects with what the fit takes for sure and is not: the noise, that they are there."""
    if _few_rows(task):
        return with_unknown_noise(task, fit)
    if not task.prior.doubt:
        return fit.effects
    known = task.prior.known_variance is not None
    return with_doubt(fit.effects, task.log_prior, task.rows, known)


def describe_effects(
    problem: Problem,
    fit: EffectsFit,
    effects: Sequence[Effect],
    rows: float,
    names: tuple[str, ...],
    certificate: Certificate,
) -> Posterior[EffectsLaw]:
    """Describe a fit to so many rows in the user's units, by its effects on columns."""
    scale, fixed = problem.scale, problem.scale.covariates
    unit = scale.response_scale / scale.column_scale
    D = problem.n_features
    out, coef, square = np.ones(D), np.zeros(D), np.zeros(D)
    for effect in effects:
        out *= 1.0 - effect.probability
        coef += effect.coef
        square += effect.second_moment - effect.coef**2
    inclusion = 1.0 - out
    support = np.flatnonzero(inclusion > IN_SUPPORT)
    deviation = np.sqrt(np.maximum(square[support], 0.0))
    mean = coef * unit
    columns = np.flatnonzero(coef)
    mean[fixed] = scale.covariate_coefficients(columns, coef[columns])
    listed = np.flatnonzero(inclusion > 0)
    fit_listed = Fit(
        strength=float("nan"),
        columns=listed,
        probability=inclusion[listed],
        weight=coef[listed] / inclusion[listed],
        noise_variance=fit.noise,
        free_energy=-fit.bound,
        expected_size=_expected_size(effects, inclusion),
        certificate=certificate,
        n_iter=len(fit.bounds),
    )
    inclusion[fixed] = 1.0
    return Posterior(
        inclusion_probability=inclusion,
        mean=mean,
        spread=Spread(
            support, deviation * unit[support], _correlation(effects, support, deviation)
        ),
        law=_law(effects, unit),
        noise_variance=float(fit.noise * scale.response_scale**2),
        degrees_of_freedom=max(rows, 1.0),
        free_energy=-fit.bound,
        optima=Optima((fit_listed,), ("single effects",)),
        names=names,
        log_evidence=fit.bound,
        covariates=fixed,
    )


def _correlation(effects: Sequence[Effect], support: Array, deviation: Floats) -> Floats:
    """Return correlations of coefficients: of one effect only one is not 0, which sets them apart."""
    covariance = np.zeros((len(support), len(support)))
    for effect in effects:
        coef = effect.coef[support]
        covariance += effect.second_moments(support) - np.outer(coef, coef)
    size = np.where(deviation > 0, deviation, 1.0)
    correlation = covariance / np.outer(size, size)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _expected_size(effects: Sequence[Effect], inclusion: Floats) -> float:
    """Return how many variables are expected; a group is one."""
    return float(inclusion[effects[0].first].sum()) if effects else 0.0


def _kept_columns(effects: Sequence[Effect], count: int) -> Array:
    """Return the columns that have nearly all of the probability of the effects."""
    wanted = np.zeros(count, dtype=bool)
    for effect in effects:
        places = effect.first
        p = effect.probability[places]
        kept = places[most_probable(p, _SHARE * float(p.sum()))]
        wanted[effect.together_with(kept)] = True
    return np.flatnonzero(wanted)


def _law(effects: Sequence[Effect], unit: Floats) -> EffectsLaw:
    columns = _kept_columns(effects, len(unit))
    shape = len(effects), len(columns)

    def stack(rows: list[Floats]) -> Floats:
        return np.array(rows).reshape(shape)

    law = EffectsLaw(
        columns=columns,
        probability=stack([effect.probability[columns] for effect in effects]),
        mean=stack([effect.mean[columns] * unit[columns] for effect in effects]),
        deviation=stack([np.sqrt(effect.variance[columns]) * unit[columns] for effect in effects]),
        present=np.array([effect.present for effect in effects]),
        log_bayes_factor=np.array([effect.log_bayes_factor for effect in effects]),
    )
    groups = effects[0].groups if effects else None
    if groups is None:
        return law
    _, group = np.unique(groups[columns], return_inverse=True)
    roots = np.array([effect.roots_of(columns, unit) for effect in effects])
    return replace(law, group=group, roots=roots)


def _few_rows(task: EffectsTask) -> bool:
    """Tell whether the noise variance is unknown, and too uncertain to be taken for known."""
    return task.noise is None and task.rows < FEW_ROWS - 1


def _cautions(task: EffectsTask) -> tuple[str, ...]:
    if not _few_rows(task):
        return ()
    return (
        f"{task.rows:g} rows are left beside means and covariates, and single effects want "
        f"{FEW_ROWS}: the noise is integrated out of each, doubt whether it is there at all counts, "
        "and sets are still not to be trusted much",
    )


def _note_on_width(rows: float, usable: int) -> tuple[str, ...]:
    if rows >= _SHORT or usable < _WIDE * rows:
        return ()
    return (
        f"{usable:,} columns are many for {rows:g} rows: on expression data of such a shape sets of "
        "95 % held a true variable in three of four cases, so take them for candidates",
    )


def say_how_many(fit: SummedEffects, asked: int | None, better: int, by: str = "") -> str:
    """Say how many effects there are, and how they were found."""
    count = len(fit.effects)
    chosen = "" if asked else ", a number found by itself"
    said = f"a sum of {count} single effect{'s' * (count != 1)} ({fit.tried} tried{chosen}){by}"
    return said + (f", {better} times refined" if better else "")


def notes_on_effects(fit: SummedEffects, usable: int) -> tuple[str, ...]:
    """Say where more effects were wanted than there may be."""
    spare = fit.tried > len(fit.effects) or fit.tried >= usable
    if spare or not fit.effects or fit.effects[-1].log_bayes_factor < IDLE:
        return ()
    return (
        f"all {fit.tried} effects that there may be are in use: there may be more, so allow for more "
        "effects",
    )
