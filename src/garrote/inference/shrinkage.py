"""Posteriors under priors that shrink every coefficient and leave none out, by Gibbs sampling.

There is no inclusion probability: no coefficient is ever 0. In its place stand the probability of a
coefficient's sign and its interval, both counted from draws.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import pinvh

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.methods import Chains, Gibbs
from garrote.inference.models.representative_models import Components, membership
from garrote.inference.sampling import run_chains
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.limits.budgets import NUMBERS_DRAWN
from garrote.limits.costs import FLOPS, SAMPLING_HOURS, foretell
from garrote.priors.evidence import SMALLEST_LEFT
from garrote.problem import Problem
from garrote.results.accuracy import SamplingAccuracy
from garrote.results.certificates import of_draws
from garrote.results.laws import Draws, Spread
from garrote.results.posterior import Posterior
from garrote.solvers.algebra.gaussian_draws import ridge_form
from garrote.solvers.diagnostics import Diagnostics, diagnose_draws
from garrote.solvers.shrinkage.columns_of_a_draw import NeededColumns, needed_columns
from garrote.solvers.shrinkage.shrinkage_gibbs import ShrinkageChain, ShrinkageTarget, run_shrinkage
from garrote.solvers.shrinkage.swap_moves import similar_pairs

# States that count, and those before them, by default: each is a draw of all coefficients.
LENGTHS = 2000, 500
# Correlations are stated among the columns of the surest signs, so many of them.
_CORRELATED = 200
# Means that may be off by this share of a posterior deviation, or chains this far apart, are unsettled.
_LARGEST_ERROR, _LARGEST_R_HAT = 0.1, 1.1


class DrawsFound(NamedTuple):
    """All chains' draws in one (S x D, the user's units), and what is known of them.

    ``level`` are the intercepts, where they were drawn.
    """

    coef: Floats
    noise: Floats
    scale: Floats
    shrinkage: Floats
    diagnosed: Diagnostics
    level: Floats | None = None


def gibbs_shrinkage(task: Task, method: Gibbs) -> Inferred:
    """Find the posterior under a shrinkage prior, from rows or from moments."""
    problem, beliefs, chains = task.problem, task.beliefs, method.chains(*LENGTHS, task.seed)
    check_time(problem, chains)
    kept = keep_every(chains, task.usable)
    form = ridge_form(problem)
    target = ShrinkageTarget(
        form=form,
        prior=beliefs.prior.among(problem.usable),
        curvature=form.curvature,
        rows=beliefs.n,
        least=SMALLEST_LEFT * (form.yty or 1.0),
        noise=beliefs.prior.noise_variance,
        pairs=similar_pairs(form),
    )
    report = task.reporter("sampling")

    def run(rng: np.random.Generator, start: Sequence[int]) -> ShrinkageChain:
        return run_shrinkage(target, rng, chains.steps, chains.burn_in, kept, report)

    runs = run_chains(run, chains, task.n_jobs) if task.usable else _nothing(target, chains)
    found = _joined(problem, runs, np.random.default_rng(chains.seed))
    used = needed_columns(form, *_all(runs), beliefs.n)
    return inferred_from(task, method, chains, kept, found, used)


def inferred_from(
    task: Task, method: Gibbs, chains: Chains, kept: int, found: DrawsFound, used: NeededColumns
) -> Inferred:
    """Describe draws, one of ``kept`` states each, and the columns that each of them uses."""
    problem, beliefs = task.problem, task.beliefs
    certificate = of_draws(
        error=float(found.diagnosed.error.max(initial=0.0)),
        split_r_hat=float(found.diagnosed.split_r_hat.max(initial=1.0)),
    )
    beyond = certificate["halves of chains"]
    converged = certificate.value <= _LARGEST_ERROR and 1.0 + beyond <= _LARGEST_R_HAT
    states = f"{chains.count * chains.steps} states of {chains.count} chains"
    how = f"{states} sampled" + (f", one of {kept} kept" if kept > 1 else "")
    posterior = _with_sets(problem, _posterior(problem, beliefs, found, task.names), used)
    return Inferred(
        posterior, certificate, method.name, how, converged, notes=beliefs.doubts(None),
        steps=chains.steps,
    )  # fmt: skip


def check_time(problem: Problem, chains: Chains, by_columns: bool = False) -> None:
    """Refuse what would not end within a day, and say what takes more than a minute.

    ``by_columns`` says that every state forms the cross products of all columns anew.
    """
    columns = len(problem.usable)
    rows = len(problem.response) if problem.has_rows else columns
    small, large = float(min(rows, columns)), float(max(rows, columns) if rows < columns else 0)
    each = small**2 * large + 2.0 * small**3
    if by_columns:
        each = float(columns) ** 2 * (rows + 2.0 * columns)
    seconds = each * chains.count * (chains.steps + chains.burn_in) / FLOPS
    hours = seconds / 3600
    if hours > SAMPLING_HOURS:
        raise ValueError(
            f"sampling {columns} coefficients given {rows} rows would take about {hours:.0f} hours: a "
            "state factorises a matrix of the smaller of the two; lower n_steps, name fewer columns, or "
            "take a prior by which few variables are in"
        )
    what = f"sampling {columns} coefficients given {rows} rows"
    foretell(what, seconds, f"lower n_steps ({chains.steps})")


def keep_every(chains: Chains, columns: int) -> int:
    """Return of how many states one is kept, such that all draws fit in memory."""
    numbers = chains.count * chains.steps * max(columns, 1)
    return int(min(np.ceil(numbers / NUMBERS_DRAWN), max(1, chains.steps // 100)))


def _nothing(target: ShrinkageTarget, chains: Chains) -> list[ShrinkageChain]:
    """Return draws where no column has content: the noise alone is unknown."""
    rng = np.random.default_rng(chains.seed)
    none, one = np.zeros((chains.steps, 0)), np.ones(chains.steps)
    left = 0.5 * (target.form.yty + target.least)
    noise = [
        left / rng.standard_gamma(0.5 * target.rows, chains.steps) for _ in range(chains.count)
    ]
    known = target.noise
    noise = noise if known is None else [known * one] * chains.count
    return [ShrinkageChain(none, each, one, np.zeros(0)) for each in noise]


def _all(runs: Sequence[ShrinkageChain]) -> tuple[Floats, Floats]:
    """Return the coefficients and noise variances of all chains."""
    return np.concatenate([run.coef for run in runs]), np.concatenate([run.noise for run in runs])


def _joined(
    problem: Problem, runs: Sequence[ShrinkageChain], rng: np.random.Generator
) -> DrawsFound:
    """Join chains, in the user's units, with the covariates drawn beside them."""
    usable, scale = problem.usable, problem.scale
    known = np.array([np.column_stack([r.coef, np.log(r.noise), np.log(r.scale)]) for r in runs])
    diagnosed = diagnose_draws(known)
    inside, noise = _all(runs)
    coef = np.zeros((len(inside), problem.n_features))
    coef[:, usable] = inside * (scale.response_scale / scale.column_scale[usable])
    fixed = scale.covariates
    if len(fixed):
        drawn = scale.covariate_response - inside @ scale.covariate_columns[:, usable].T
        spread = np.linalg.cholesky(_positive(pinvh(problem.raw_gram(fixed))))
        drawn += np.sqrt(noise)[:, None] * (rng.standard_normal(drawn.shape) @ spread.T)
        coef[:, fixed] = drawn * (scale.response_scale / scale.column_scale[fixed])
    return DrawsFound(
        coef,
        noise * scale.response_scale**2,
        np.concatenate([run.scale for run in runs]),
        np.mean([run.shrinkage for run in runs], axis=0),
        diagnosed,
    )


def _positive(covariance: Floats) -> Floats:
    """Return a covariance with rounding's worth added, where it is singular."""
    return covariance + 1e-12 * np.diag(np.diag(covariance) + 1e-300)


def _posterior(
    problem: Problem, beliefs: Beliefs, found: DrawsFound, names: tuple[str, ...]
) -> Posterior:
    usable, fixed, count = problem.usable, problem.scale.covariates, problem.n_features
    positive = (found.coef > 0).mean(axis=0)
    sign = np.maximum(positive, (found.coef < 0).mean(axis=0))
    sign = np.where(problem.curvature > 0, sign, 0.5)
    sign[fixed] = 1.0
    inclusion = np.full(count, np.nan)
    inclusion[fixed] = 1.0
    deviation = found.coef.std(axis=0)
    shrinkage, size, r_hat = np.ones(count), np.full(count, np.inf), np.ones(count)
    shrinkage[usable], shrinkage[fixed] = found.shrinkage, 0.0
    size[usable] = found.diagnosed.effective_size[: len(usable)]
    r_hat[usable] = found.diagnosed.split_r_hat[: len(usable)]
    size[fixed] = len(found.coef)
    support = _surest(sign, fixed)
    return Posterior(
        inclusion_probability=inclusion,
        mean=found.coef.mean(axis=0),
        spread=Spread(support, deviation[support], _correlation(found.coef[:, support])),
        law=Draws(found.coef, sign, shrinkage, found.level),
        noise_variance=float(found.noise.mean()),
        degrees_of_freedom=beliefs.n,
        names=names,
        accuracy=SamplingAccuracy(deviation / np.sqrt(size), size, r_hat),
        covariates=fixed,
    )


def _with_sets(
    problem: Problem,
    posterior: Posterior,
    used: NeededColumns,
) -> Posterior:
    """Return the posterior with what credible sets are made of: the columns that its draws use."""
    columns = problem.usable[used.columns]
    inclusion = np.zeros(problem.n_features)
    inclusion[columns] = used.inside.mean(axis=0)
    members = [tuple(columns[row].tolist()) for row in used.inside]
    weight = np.full(len(members), 1.0 / len(members))
    components = Components(membership(members, problem.n_features), weight, 0)
    return with_substitutes(problem, posterior, components, inclusion)


def _surest(sign: Floats, fixed: Array) -> Array:
    order = np.argsort(-sign, kind="stable")
    return np.union1d(order[:_CORRELATED], fixed).astype(np.intp)


def _correlation(draws: Floats) -> Floats:
    off = draws - draws.mean(axis=0)
    size = np.sqrt(np.square(off).sum(axis=0))
    off /= np.where(size > 0, size, 1.0)
    return off.T @ off
