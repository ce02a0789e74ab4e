"""Which variables a posterior selects, and how sure that is."""

import numpy as np
from scipy.stats import norm

from garrote.arrays import Array
from garrote.results.posterior import Posterior
from garrote.results.selections.evidence import SIGN
from garrote.results.selections.verdict import Verdict

# The level of the intervals.
LEVEL = 0.95
# What probabilities and intervals that are averages over models are called.
AVERAGED = "posterior inclusion probability"
AVERAGED_INTERVALS = "intervals are averaged over models, so that doubt about inclusion widens them"


def judge(posterior: Posterior, fixed: Array, how: str) -> Verdict:
    """Select what is more likely in than out or, where nothing is ever out, what has a sure sign.

    ``how`` says, after the rule, how the posterior was found.
    """
    if posterior.keeps_every_variable:
        return _by_sign(posterior, fixed, how)
    return by_inclusion(
        posterior,
        float(norm.ppf(0.5 + LEVEL / 2)),
        evidence=AVERAGED,
        intervals=AVERAGED_INTERVALS,
        rule=f"probability > 0.5 (the median probability model), {how}",
    )


def by_inclusion(
    posterior: Posterior, quantile: float, *, evidence: str, intervals: str, rule: str
) -> Verdict:
    """Select what is more likely in than out, the median probability model (Murphy 2012, Eq. 13.4).

    Intervals reach ``quantile`` standard errors to either side.
    """
    error = np.full(len(posterior.mean), np.nan)
    error[posterior.support] = posterior.standard_error
    return Verdict(
        selected=posterior.inclusion_probability > 0.5,
        probability=posterior.inclusion_probability,
        effect=posterior.mean,
        standard_error=error,
        lower=posterior.mean - quantile * error,
        upper=posterior.mean + quantile * error,
        evidence=evidence,
        intervals=intervals,
        rule=rule,
    )


def _by_sign(posterior: Posterior, fixed: Array, how: str) -> Verdict:
    """Select what has an interval without 0."""
    lower, upper = posterior.interval(LEVEL)
    selected = (lower > 0) | (upper < 0)
    selected[fixed] = True
    return Verdict(
        selected=selected,
        probability=np.asarray(posterior.sign_probability),
        effect=posterior.mean,
        standard_error=np.sqrt(posterior.variance),
        lower=lower,
        upper=upper,
        evidence=SIGN,
        intervals=posterior.law.intervals_in_words,
        rule=f"{100 * LEVEL:g}% interval excludes 0 (sign probability > {0.5 + LEVEL / 2:g}), {how}",
    )
