"""The posterior of a sum of single effects: which variables, in which sets, with which effects."""

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.covariates import with_covariates
from garrote.inference.effects.effects_certificate import certify_effects
from garrote.inference.methods import Method
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.fit import Fit
from garrote.results.laws import EffectsLaw, Spread
from garrote.results.optima import Optima
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.algebra.gram_products import GramProducts
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


def single_effects_posterior(analysis: Task, method: Method) -> Inferred:
    """Fit, refine, certify, and change to the user's units."""
    problem, task = analysis.problem, make_task(analysis.problem, analysis.beliefs)
    fit = fit_single_effects(task)
    better = 0
    if task.prior.refine:
        fit, better = refine(NumbersFitter(task), fit, analysis.reporter("refining"))
    certificate = certify_effects(task, fit)
    stated = replace(fit, effects=_stated(task, fit))
    described = describe_effects(task.problem, stated, task.rows, analysis.names, certificate)
    posterior = with_substitutes(problem, with_covariates(problem, described))
    how = say_how_many(fit, task.prior.effects, better)
    notes = (*notes_on_effects(fit, analysis.usable), *_note_on_width(task.rows, analysis.usable))
    return Inferred(
        posterior, certificate, method.name, how, fit.converged, notes=notes,
        cautions=_cautions(task),
    )  # fmt: skip


def make_task(problem: Problem, beliefs: Beliefs) -> EffectsTask:
    """Return what the loop needs; prior probabilities are in proportion to prior odds."""
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
    rows: float,
    names: tuple[str, ...],
    certificate: Certificate,
) -> Posterior[EffectsLaw]:
    """Describe a fit to so many rows in the user's units."""
    scale, fixed = problem.scale, problem.scale.covariates
    unit = scale.response_scale / scale.column_scale
    D = problem.n_features
    out, coef, square = np.ones(D), np.zeros(D), np.zeros(D)
    for effect in fit.effects:
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
        expected_size=float(inclusion.sum()),
        certificate=certificate,
        n_iter=len(fit.bounds),
    )
    inclusion[fixed] = 1.0
    return Posterior(
        inclusion_probability=inclusion,
        mean=mean,
        spread=Spread(support, deviation * unit[support], _correlation(fit, support, deviation)),
        law=_law(fit, unit),
        noise_variance=float(fit.noise * scale.response_scale**2),
        degrees_of_freedom=max(rows, 1.0),
        free_energy=-fit.bound,
        optima=Optima((fit_listed,), ("single effects",)),
        names=names,
        log_evidence=fit.bound,
        covariates=fixed,
    )


def _correlation(fit: EffectsFit, support: Array, deviation: Floats) -> Floats:
    """Return correlations of coefficients: of one effect only one is not 0, which sets them apart."""
    covariance = np.zeros((len(support), len(support)))
    for effect in fit.effects:
        coef = effect.coef[support]
        covariance += np.diag(effect.second_moment[support]) - np.outer(coef, coef)
    size = np.where(deviation > 0, deviation, 1.0)
    correlation = covariance / np.outer(size, size)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _law(fit: EffectsFit, unit: Floats) -> EffectsLaw:
    wanted = np.zeros(len(unit), dtype=bool)
    for effect in fit.effects:
        order = np.argsort(-effect.probability, kind="stable")
        reached = np.cumsum(effect.probability[order])
        wanted[order[: int(np.searchsorted(reached, _SHARE * reached[-1])) + 1]] = True
    columns = np.flatnonzero(wanted)
    shape = len(fit.effects), len(columns)

    def stack(rows: list[Floats]) -> Floats:
        return np.array(rows).reshape(shape)

    return EffectsLaw(
        columns=columns,
        probability=stack([effect.probability[columns] for effect in fit.effects]),
        mean=stack([effect.mean[columns] * unit[columns] for effect in fit.effects]),
        deviation=stack(
            [np.sqrt(effect.variance[columns]) * unit[columns] for effect in fit.effects]
        ),
        present=np.array([effect.probability.sum() for effect in fit.effects]),
        log_bayes_factor=np.array([effect.log_bayes_factor for effect in fit.effects]),
    )


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
