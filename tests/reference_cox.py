"""Cox's partial likelihood in plain NumPy, a time of events after the other, and times to try it on."""

import numpy as np

from garrote.likelihoods import survival_times


def log_partial_likelihood(eta, stop, event, start, strata, weights, ties):
    """Sum over strata and times; ties by Efron 1977 or Breslow 1974, weights as in R's survival."""
    total = 0.0
    for stratum in np.unique(strata):
        here = (strata == stratum) & (weights > 0)
        for time in np.unique(stop[here & (event > 0)]):
            at_risk = here & (start < time) & (time <= stop)
            events = here & (event > 0) & (stop == time)
            rates = weights * np.exp(eta)
            count, weight = events.sum(), weights[events].sum()
            total += weights[events] @ eta[events]
            for step in range(count):
                left = step / count if ties == "efron" else 0.0
                total -= weight / count * np.log(rates[at_risk].sum() - left * rates[events].sum())
    return total


def breslow_hazard(eta, stop, event, start, weights):
    """Times of events of one stratum, and the cumulated baseline hazard there."""
    times = np.unique(stop[(event > 0) & (weights > 0)])
    rates, total, found = weights * np.exp(eta), 0.0, []
    for time in times:
        total += (
            weights[(stop == time) & (event > 0)].sum()
            / rates[(start < time) & (time <= stop)].sum()
        )
        found.append(total)
    return times, np.array(found)


def make_times(seed=0, n=40, truncated=True, strata=2, rounded=1, effect=None):
    """Rows with times to try everything on: ties, truncation, strata, weights (one of them 0)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    coef = np.array([1.0, -0.7, 0.0, 0.0, 0.0]) if effect is None else effect
    stop = np.round(rng.exponential(np.exp(-X @ coef)), rounded) + 10.0**-rounded
    event = (rng.random(n) < 0.7).astype(float)
    start = np.where(rng.random(n) < 0.5, 0.0, stop * rng.random(n)) if truncated else np.zeros(n)
    weights = rng.uniform(0.3, 2.0, n)
    weights[3] = 0.0
    labels = rng.integers(0, strata, n)
    y = survival_times(stop, event, start=start if truncated else None, strata=labels)
    return (
        X,
        y,
        {"stop": stop, "event": event, "start": start, "strata": labels, "weights": weights},
    )
