"""Cox's partial likelihood: its value, its slopes, and its second derivatives, which couple rows.

At a time of events with d of them, of total weight W, those events compete with all rows at risk:

    log L = sum_i w_i eta_i - sum_times sum_l (W / d) log(S - (l / d) D),   l = 0, ..., d - 1,

S and D being the sums of w exp(eta) over the rows at risk and over the events among them (Efron 1977).
Breslow's form has l = 0 in all terms (Breslow 1974). Each term is the logarithm of a sum over rows, so
that minus the second derivatives are

    diag(w exp(eta) H) - sum_times sum_l (W / d) p_l p_l',

H being a row's cumulated hazard and p_l the shares of rows in the sum l.
"""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.likelihoods.survival.risk_sets import sum_at_risk, sum_over_stay

# Rows of a hazard this far below the largest of their stratum count as this far: sums stay positive.
_FARTHEST = 600.0


@kernel
def fill_rates(cox: Any, weights: Any, eta: Any, rate: Any) -> Any:
    """Fill in w exp(eta), relative to the largest of the stratum; return the logarithms of these."""
    highest = np.full(cox.risk.begin.shape[0] - 1, -np.inf)
    for i in range(eta.shape[0]):
        if weights[i] > 0.0:
            highest[cox.risk.stratum[i]] = max(highest[cox.risk.stratum[i]], eta[i])
    for i in range(eta.shape[0]):
        rate[i] = 0.0
        if weights[i] > 0.0:
            rate[i] = weights[i] * np.exp(max(eta[i] - highest[cox.risk.stratum[i]], -_FARTHEST))
    return highest


@kernel
def fill_events(cox: Any, weights: Any, rate: Any, table: Any) -> None:
    """Fill in, for every time, the sum of rates at risk and of the events, their weight and number."""
    sum_at_risk(cox.risk, rate, table[0])
    for g in range(table.shape[1]):
        table[1, g] = table[2, g] = table[3, g] = 0.0
    for i in range(rate.shape[0]):
        g = cox.risk.own[i]
        if g >= 0 and weights[i] > 0.0:
            table[1, g] += rate[i]
            table[2, g] += weights[i]
            table[3, g] += 1.0


@kernel
def fill_hazards(cox: Any, table: Any, hazard: Any, ahead: Any) -> Any:
    """Fill in the increments of the baseline hazard, and what rows with an event do without of them.

    Returns the sum of the logarithms, weighted.
    """
    total = 0.0
    for g in range(hazard.shape[0]):
        hazard[g] = ahead[g] = 0.0
        if table[2, g] == 0.0:
            continue
        terms = int(table[3, g]) if cox.efron else 1
        each = table[2, g] / terms
        for step in range(terms):
            share = step / terms
            at_risk = table[0, g] - share * table[1, g]
            total += each * np.log(at_risk)
            hazard[g] += each / at_risk
            ahead[g] += share * each / at_risk
    return total


@kernel
def partial_rows(cox: Any, weights: Any, eta: Any, slope: Any, row_curvatures: Any) -> Any:
    """Return the log likelihood; fill in its slopes, and the diagonal part of the curvature."""
    count = cox.risk.times.shape[0]
    table, hazard, ahead = np.zeros((4, count)), np.zeros(count), np.zeros(count)
    highest = fill_rates(cox, weights, eta, slope)
    fill_events(cox, weights, slope, table)
    total = -fill_hazards(cox, table, hazard, ahead)
    sum_over_stay(cox.risk, hazard, row_curvatures)
    for i in range(eta.shape[0]):
        g = cox.risk.own[i]
        stay = row_curvatures[i]
        if g >= 0:
            stay -= ahead[g]
        row_curvatures[i] = slope[i] * stay
        slope[i] = -row_curvatures[i]
        if g >= 0 and weights[i] > 0.0:
            slope[i] += weights[i]
            total += weights[i] * (eta[i] - highest[cox.risk.stratum[i]])
    return total


@kernel
def fill_shared(cox: Any, weights: Any, eta: Any, columns: Any, shared: Any) -> None:
    """Fill in rows whose cross products the coupling takes off those of the columns.

    ``columns`` has a column of X in each row, and ``shared`` (k x (G + tied times)) gets what belongs to
    it: sum_l (W / d) p_l p_l' is that of two vectors at each time, as p_l is linear in l.
    """
    n, count = eta.shape[0], cox.risk.times.shape[0]
    rate, sums, values = np.zeros(n), np.zeros(count), np.zeros(n)
    table, own = np.zeros((4, count)), np.zeros(count)
    fill_rates(cox, weights, eta, rate)
    fill_events(cox, weights, rate, table)
    power = np.zeros((3, count))
    for g in range(count):
        # Relative to the sum at risk, whose square may be less than any number.
        terms = int(table[3, g]) if cox.efron else int(table[3, g] > 0.0)
        for step in range(terms):
            share = step / terms
            worth = table[2, g] / terms / (1.0 - share * table[1, g] / table[0, g]) ** 2
            power[0, g] += worth
            power[1, g] += share * worth
            power[2, g] += share**2 * worth
    for j in range(columns.shape[0]):
        for i in range(n):
            values[i] = rate[i] * columns[j, i]
        sum_at_risk(cox.risk, values, sums)
        for g in range(count):
            own[g] = 0.0
        for i in cox.risk.events:
            own[cox.risk.own[i]] += values[i]
        for g in range(count):
            shared[j, g] = 0.0
            if power[0, g] > 0.0:
                taken = sums[g] - power[1, g] / power[0, g] * own[g]
                shared[j, g] = np.sqrt(power[0, g]) * (taken / table[0, g])
        for k in range(cox.risk.tied.shape[0]):
            g = cox.risk.tied[k]
            shared[j, count + k] = 0.0
            if power[0, g] > 0.0:
                left = max(power[2, g] - power[1, g] ** 2 / power[0, g], 0.0)
                shared[j, count + k] = np.sqrt(left) * (own[g] / table[0, g])


@kernel
def distance_from_events(cox: Any, weights: Any, eta: Any) -> Any:
    """Return the sum over all terms of how far their shares are from the events', by chi squared.

    The events' shares e are in proportion to their weights. A term's distance is sum_i e_i^2 / p_i - 1.
    """
    n, count = eta.shape[0], cox.risk.times.shape[0]
    rate, table, inverse = np.zeros(n), np.zeros((4, count)), np.zeros(count)
    fill_rates(cox, weights, eta, rate)
    fill_events(cox, weights, rate, table)
    for i in cox.risk.events:
        if weights[i] > 0.0:
            inverse[cox.risk.own[i]] += weights[i] ** 2 / rate[i]
    total = 0.0
    for g in range(count):
        if table[2, g] == 0.0:
            continue
        terms = int(table[3, g]) if cox.efron else 1
        each = table[2, g] / terms
        for step in range(terms):
            share = step / terms
            at_risk = table[0, g] - share * table[1, g]
            total += each * (at_risk / (1.0 - share) * inverse[g] / table[2, g] ** 2 - 1.0)
    return total
