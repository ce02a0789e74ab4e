"""Posteriors by EM: run from several starts, listed with their weights, mixed and audited.

EM climbs to the optimum above its start, and the models here have many. One start is an annealed mean
field, for a narrow spike another one has it narrowed by steps, one has all variables in, others are
random.
"""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from garrote.inference.auditing import audit
from garrote.inference.beliefs import Beliefs
from garrote.inference.em.bernoulli_gaussian import BernoulliGaussian
from garrote.inference.em.narrow_spike import NarrowSpike
from garrote.inference.em.steps import EMFit, EMModel, Starts, run_em
from garrote.inference.mean_field.evidence_bound import evidence_bounds, mix
from garrote.inference.mean_field.factorised import Average, Component, factorised_posterior
from garrote.inference.mean_field.hyperparameters import Learning
from garrote.inference.mean_field.paired_mean_field import anneal_to_first
from garrote.inference.mean_field.prior_grid import whole_cell
from garrote.inference.methods import EM
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.problem import Problem
from garrote.solvers.algebra.weighted_ridge import WeightedRidge
from garrote.solvers.control import Control
from garrote.solvers.garrote.starts import Optima, distinct_optima

_STARTS = 4
# Random starts have at most so many variables for each row, and the dense start no more than that.
_PER_ROW = 0.25
# EM creeps where mean field walks, and a step costs less.
_MOST_STEPS = 5000


def em_posterior(task: Task, method: EM) -> Inferred:
    """Run EM for the Bernoulli-Gaussian model or, with a spike variance, for a narrow spike."""
    problem, beliefs, spike_variance = task.problem, task.beliefs, method.spike_variance
    if spike_variance is None:
        beliefs.prior.check_one_hump("em")
    known = task.prior.known_variance
    if spike_variance is not None and known is not None and spike_variance >= known:
        raise ValueError(
            f"spike_variance = {spike_variance} must be below the slab's variance = {known}, the wider "
            "of the two"
        )
    control = task.control(max_iter=_MOST_STEPS)
    starts, sound = _best_shape(problem, beliefs, control, spike_variance)
    optima = distinct_optima(problem, {how: one.fit for how, one in sound.items()})
    best = min(sound.values(), key=lambda one: one.fit.free_energy)
    model = starts["annealed"][0]
    components = _components(model, list(sound.values()), optima)
    weights = mix([-fit.free_energy for fit in optima.fits], optima.fits).weight
    average = Average(problem.n_features, np.log(np.maximum(weights, 1e-300)), components)
    checked = audit(problem, beliefs, average.inclusion, average.mean, average.variance)
    log_evidence = None  # of a narrow spike the mode is known, not a bound
    if spike_variance is None:
        cell = whole_cell(Learning.under(beliefs, "em"), beliefs)
        log_evidence = mix(
            evidence_bounds(problem, beliefs, [(cell, fit) for fit in optima.fits]), optima.fits
        ).bound
    posterior = factorised_posterior(
        problem, beliefs, average, optima, weights, task.names, checked, log_evidence
    )
    converged = [one.fit.certificate.value <= control.tol for one in sound.values()]
    return Inferred(
        with_substitutes(problem, posterior), best.fit.certificate, method.name,
        _in_words(best, spike_variance, model.learning.slab.known_separation), all(converged),
        notes=beliefs.doubts(None),
    )  # fmt: skip


def _best_shape(
    problem: Problem, beliefs: Beliefs, control: Control, spike_variance: float | None
) -> tuple[Starts, dict[str, EMFit]]:
    """Run EM from all starts, for every shape of the slab; return those of the best shape.

    Solutions that interpolate are left out.
    """
    limit = max(problem.most_variables, 1.0)
    each = []
    for log, slab in beliefs.prior.shapes():
        starts = make_starts(problem, replace(beliefs, prior=slab), control, spike_variance)
        found = {}
        for how, (model, state) in starts.items():
            found[how] = run_em(model, state, control)
            control.report("EM", len(found), len(starts))
        sound = {how: one for how, one in found.items() if one.fit.expected_size <= limit}
        sound = sound or {"annealed": found["annealed"]}
        reached = max(log - one.fit.free_energy for one in sound.values())
        each.append((reached, starts, sound))
    _, starts, sound = max(each, key=lambda one: one[0])
    return starts, sound


def make_starts(
    problem: Problem,
    beliefs: Beliefs,
    control: Control,
    spike_variance: float | None,
    seed: int = 0,
) -> Starts:
    """Return states for EM to begin with, by what they are."""
    learning, ridge = Learning.under(beliefs, "em"), WeightedRidge(problem)
    count = len(ridge.columns)
    model: EMModel
    if spike_variance is None:
        model = BernoulliGaussian(problem, learning, ridge)
    else:
        model = NarrowSpike(problem, learning, ridge, spike_variance)
    annealed = anneal_to_first(problem, beliefs, control)
    everywhere = np.zeros(problem.n_features)
    everywhere[annealed.columns] = annealed.probability
    starts: Starts = {"annealed": (model, model.first(everywhere[ridge.columns]))}
    share = min(1.0, _PER_ROW * problem.n / max(count, 1))
    starts |= model.extreme_starts(control, dense=share == 1.0)
    rng = np.random.default_rng(seed)
    for number in range(_STARTS):
        m = rng.uniform(size=count) * (rng.uniform(size=count) < share)
        starts[f"start {number + 1}"] = (model, model.first(m))
    return starts


def _components(model: EMModel, found: list[EMFit], optima: Optima) -> list[Component]:
    """Return the distinct optima with the spreads of their weights."""
    states = {id(one.fit): one.state for one in found}
    components = []
    for fit in optima.fits:
        spread = np.zeros(model.problem.n_features)
        spread[model.ridge.columns] = model.spread(states[id(fit)])
        components.append((fit, spread[fit.columns]))
    return components


def _in_words(best: EMFit, spike_variance: float | None, separation: float) -> str:
    at = best.state.at
    humps = f"two humps of separation {separation:g}, " if separation else ""
    model = "Bernoulli-Gaussian" if spike_variance is None else f"spike variance {spike_variance:g}"
    return (
        f"by EM ({model}, {humps}slab variance {at.variance:.3g}, prior probability "
        f"{float(expit(at.log_odds)):.3g})"
    )
