"""EM for enrichments: the posterior given a and b, then a and b given the posterior.

The slope of the log likelihood of a and b is that of the expected log prior of the sets, and what is
known of them is what would be known if sets were, less what is missing (Louis 1982): steps are Newton's
where that is positive, and those of EM elsewhere. Intervals are those of draws of a and b, whose
likelihood is the mean over sets, drawn at the mode, of how much likelier they are elsewhere.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.inference.annotated.sets import AnnotatedSets
from garrote.inference.task import Inferred
from garrote.priors.structured.annotations import AnnotatedOdds
from garrote.results.enrichment import Enrichment

# Rounds at most, how far in standard errors the last step may have gone, and the longest one.
_ROUNDS, _STILL, _LONGEST = 40, 0.02, 2.0
# Draws of a and b: how many count, how many do not, and how far steps go.
_DRAWS, _BURN_IN, _STEP = 6000, 1000, 2.4
# Intervals that rest on fewer draws of sets deserve a caution.
_FEW = 30

Find = Callable[[AnnotatedOdds], Inferred]


def learn_enrichment(odds: AnnotatedOdds, columns: Array, find: Find, seed: int) -> Inferred:
    """Find the posterior at the mode of a and b, and intervals of these.

    Parameters
    ----------
    odds : AnnotatedOdds
    columns : array of int
        Those that may be in or out.
    find : callable
        Finds the posterior under these odds.
    seed : int
    """
    for rounds in range(1, _ROUNDS + 1):
        inferred = find(odds)
        sets = AnnotatedSets.of(
            inferred.posterior, odds, columns, np.random.default_rng([seed, rounds])
        )
        step, curvature, off = _step(sets, odds)
        if off <= _STILL:
            break
        odds = odds.with_values(odds.at + step)
    enrichment = _describe(sets, odds, curvature, off, rounds, np.random.default_rng(seed))
    posterior = replace(inferred.posterior, enrichment=enrichment)
    return replace(
        inferred,
        posterior=posterior,
        how=f"{inferred.how}; {enrichment}",
        notes=(*inferred.notes, *_doubts(enrichment, inferred)),
    )


def _step(sets: AnnotatedSets, odds: AnnotatedOdds) -> tuple[Floats, Floats, float]:
    """Return the step to take, the curvature at hand, and how far from the mode in standard errors."""
    slope = sets.slope() + odds.slope_of(odds.at)
    complete = sets.known() + odds.precision_of(odds.at)
    curvature = complete - sets.missing()
    if not _positive(curvature):
        curvature = complete
    step = cho_solve(cho_factor(curvature), slope)
    off = float(np.sqrt(max(slope @ step, 0.0)))
    return step * min(1.0, _LONGEST / max(np.abs(step).max(), 1e-300)), curvature, off


def _positive(matrix: Floats) -> bool:
    try:
        root = np.linalg.cholesky(matrix)
    except (LinAlgError, np.linalg.LinAlgError):
        return False
    return bool(np.diag(root).min() > 1e-6)


def _describe(
    sets: AnnotatedSets,
    odds: AnnotatedOdds,
    curvature: Floats,
    off: float,
    rounds: int,
    rng: np.random.Generator,
) -> Enrichment:
    """Draw a and b from their posterior by a random walk, and describe them in units as given."""
    covariance = np.linalg.inv(curvature)
    root = np.linalg.cholesky(covariance) * _STEP / np.sqrt(len(curvature))
    at, draws, fewest = odds.at, [], []
    now, effective = _log_posterior(sets, odds, at)
    for k in range(_BURN_IN + _DRAWS):
        there = at + root @ rng.standard_normal(len(at))
        log_there, others = _log_posterior(sets, odds, there)
        if np.log(rng.random()) < log_there - now:
            at, now, effective = there, log_there, others
        if k >= _BURN_IN:
            draws.append(at)
            fewest.append(effective)
    drawn = np.array(draws)[:, 1:] / odds.units
    estimate = odds.at[1:] / odds.units
    lower, upper = np.quantile(drawn, [0.025, 0.975], axis=0)
    return Enrichment(
        labels=odds.labels,
        estimate=estimate,
        standard_error=drawn.std(axis=0),
        lower=lower,
        upper=upper,
        positive=(drawn > 0).mean(axis=0),
        base=float(odds.at[0] - odds.centers @ estimate),
        off=off,
        effective=float(np.quantile(fewest, 0.1)),
        rounds=rounds,
    )


def _log_posterior(sets: AnnotatedSets, odds: AnnotatedOdds, at: Floats) -> tuple[float, float]:
    likelihood, effective = sets.log_likelihood(at)
    return likelihood + odds.log_prior_of(at), effective


def _doubts(found: Enrichment, inferred: Inferred) -> tuple[str, ...]:
    """Say where enrichments did not settle, or where their intervals rest on little."""
    said = []
    if found.off > 5 * _STILL:
        said.append(
            f"enrichments are {found.off:.2g} standard errors from their mode after {found.rounds} "
            "rounds: give sampled chains more steps, or a smaller scale"
        )
    if found.effective < _FEW and inferred.method != "enumerate":
        said.append(
            f"intervals of enrichments rest on about {found.effective:.0f} sets of variables: few"
        )
    return tuple(said)
