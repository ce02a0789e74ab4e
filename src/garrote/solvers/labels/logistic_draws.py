"""The draws that the Gibbs sampler of `garrote.solvers.labels.logistic_gibbs` is made of, compiled.

`draw_all` makes all of them. Where columns are many its parts are called one by one, and those that
read all columns in pieces.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.solvers.algebra.factor_updates import factor_column, solve_transposed, solve_upper
from garrote.solvers.labels.polya_gamma import fill_polya_gamma


class LabelledRows(NamedTuple):
    """Standardised columns, one a row of the array, and what is in every model.

    ``fixed`` are the intercept and covariates, whose priors have precisions ``held``; ``labels`` are
    0 or 1, and ``offset`` is a known part of their log odds. A column without content is all 0.
    """

    columns: Floats
    fixed: Floats
    held: Floats
    labels: Floats
    weights: Floats
    offset: Floats


class GibbsState(NamedTuple):
    """Where a walk is: changed in place.

    Coefficients of all columns and of the fixed ones, the linear predictor ``eta``, the Polya-Gamma
    variables, and ``slope``, kappa - omega eta, as it was when those were drawn and coefficients
    have moved since.
    """

    coef: Floats
    fixed: Floats
    eta: Floats
    omega: Floats
    slope: Floats


class Given(NamedTuple):
    """What draws are made under: the law of inclusion, the slab by its humps, and who may be in.

    ``humps`` are ridge, lift and height; see `garrote.priors.evidence.humps`.
    """

    by_size: Floats
    log_odds: Floats
    humps: tuple[float, float, float]
    usable: Array


@kernel(inline=True)
def _gain(product, c, humps):
    """Return the log evidence of a variable, of both signs, and how probable its hump is the upper one.

    ``product`` is that of its column with what the others leave, ``c`` its precision given inclusion.
    """
    ridge, lift, height = humps
    gain, upper = 0.5 * np.log(ridge / c), 0.5
    if lift > 0.0:
        gap = 2.0 * product * lift / c
        upper = 1.0 / (1.0 + np.exp(-gap)) if gap > -700.0 else 0.0
        gain += 0.5 * (lift * lift / c - height) + np.log(0.5 + 0.5 * np.exp(-abs(gap)))
        gain += 0.5 * abs(gap)
    return gain, upper


@kernel
def predict(rows, state):
    """Compute the linear predictor anew: roundings add up."""
    for i in range(state.eta.shape[0]):
        state.eta[i] = rows.offset[i]
    for f in range(state.fixed.shape[0]):
        for i in range(state.eta.shape[0]):
            state.eta[i] += state.fixed[f] * rows.fixed[f, i]
    for j in range(state.coef.shape[0]):
        if state.coef[j] != 0.0:
            value, column = state.coef[j], rows.columns[j]
            for i in range(state.eta.shape[0]):
                state.eta[i] += value * column[i]


@kernel
def draw_weights(rng, rows, state):
    """Draw omega, and the coefficients of the fixed columns given it."""
    fill_polya_gamma(rng, rows.weights, state.eta, state.omega)
    omega, slope, count = state.omega, state.slope, state.fixed.shape[0]
    for i in range(omega.shape[0]):
        slope[i] = rows.weights[i] * (rows.labels[i] - 0.5) - omega[i] * state.eta[i]
    root, right = np.zeros((count, count)), np.zeros((1, count))
    for f in range(count):
        for i in range(omega.shape[0]):
            right[0, f] += rows.fixed[f, i] * slope[i]
        for g in range(count):
            product = 0.0
            for i in range(omega.shape[0]):
                product += omega[i] * rows.fixed[f, i] * rows.fixed[g, i]
            root[f, g] = product
            right[0, f] += product * state.fixed[g]
    for f in range(count):
        root[f, f] = np.sqrt(factor_column(root, f, root[f, f] + rows.held[f]))
    solve_transposed(root, right, count)
    for f in range(count):
        right[0, f] += rng.standard_normal()
    solve_upper(root, right[0], count)
    for f in range(count):
        change = right[0, f] - state.fixed[f]
        state.fixed[f] = right[0, f]
        for i in range(omega.shape[0]):
            slope[i] -= change * omega[i] * rows.fixed[f, i]


@kernel
def draw_for(rng, columns, usable):
    """Return a uniform and a normal number for every usable column, and an order of these."""
    uniforms, normals = np.empty(columns), np.empty(columns)
    for j in usable:
        uniforms[j] = rng.random()
    for j in usable:
        normals[j] = rng.standard_normal()
    return uniforms, normals, usable[rng.permutation(usable.shape[0])]


@kernel
def update(columns, state, given, begin, end, draws, averages):
    """Draw some variables in turn; the slope follows."""
    omega, slope, coef = state.omega, state.slope, state.coef
    uniforms, normals, order = draws
    ridge, lift, _ = given.humps
    rows = omega.shape[0]
    size = 0
    for j in range(coef.shape[0]):
        size += coef[j] != 0.0
    for j in order[begin:end]:
        column, old = columns[j], coef[j]
        length, product = 0.0, 0.0
        for i in range(rows):
            length += omega[i] * column[i] * column[i]
            product += slope[i] * column[i]
        others = size - (old != 0.0)
        c = length + ridge
        mean = (product + length * old) / c
        gain, upper = _gain(product + length * old, c, given.humps)
        log_ratio = gain + 0.5 * mean * mean * c + given.log_odds[j]
        log_ratio += given.by_size[others + 1] - given.by_size[others]
        p = 1.0 / (1.0 + np.exp(-log_ratio)) if log_ratio > -700.0 else 0.0
        # A draw that lets the variable in is even below p: it tells the hump, too.
        pull = lift / c if uniforms[j] < p * upper else -lift / c
        new = mean + pull + normals[j] / np.sqrt(c) if uniforms[j] < p else 0.0
        if new != old:
            change = new - old
            for i in range(rows):
                slope[i] -= change * omega[i] * column[i]
            coef[j] = new
            size = others + (new != 0.0)
        tilt = (2.0 * upper - 1.0) * lift / c
        averages.inclusion[j] += p
        averages.mean[j] += p * (mean + tilt)
        averages.square[j] += p * (
            mean * mean + 2.0 * mean * tilt + lift * lift / (c * c) + 1.0 / c
        )


@kernel
def count_state(coef, averages):
    """Count a state by its size."""
    size = 0
    for j in range(coef.shape[0]):
        size += coef[j] != 0.0
    averages.weight[0] += 1.0
    averages.by_size[size] += 1.0


@kernel
def leave_out(rng, columns, state):
    """Take one of the variables that are in out; return it, or -1 where none is in."""
    members = np.flatnonzero(state.coef)
    if members.shape[0] == 0:
        return -1
    j = members[rng.integers(0, members.shape[0])]
    for i in range(state.omega.shape[0]):
        state.slope[i] += state.coef[j] * state.omega[i] * columns[j, i]
    state.coef[j] = 0.0
    return j


@kernel
def weigh(columns, state, given, begin, end, weighed):
    """Weigh each of some variables that are out as the one that comes in.

    Fills in the logarithm of that weight, and mean and precision of the coefficient.
    """
    omega, slope = state.omega, state.slope
    log_weight, mean, precision = weighed[0], weighed[1], weighed[2]
    for k in range(begin, min(end, given.usable.shape[0])):
        j = given.usable[k]
        log_weight[k] = -np.inf
        if state.coef[j] != 0.0:
            continue
        column = columns[j]
        length, product = 0.0, 0.0
        for i in range(omega.shape[0]):
            length += omega[i] * column[i] * column[i]
            product += slope[i] * column[i]
        c = length + given.humps[0]
        mean[k], precision[k] = product / c, c
        gain, _ = _gain(product, c, given.humps)
        log_weight[k] = given.log_odds[j] + gain + 0.5 * product * product / c


@kernel
def put_in(rng, coef, given, weighed):
    """Draw which variable comes in by its weight, then the sign of its hump, and its coefficient."""
    usable, lift = given.usable, given.humps[1]
    log_weight, mean, precision = weighed[0], weighed[1], weighed[2]
    best, total = log_weight.max(), 0.0
    for k in range(usable.shape[0]):
        total += np.exp(log_weight[k] - best)
    goal, chosen = rng.random() * total, 0
    for k in range(usable.shape[0]):
        if log_weight[k] > -np.inf:
            chosen = k
            goal -= np.exp(log_weight[k] - best)
            if goal < 0.0:
                break
    new = mean[chosen]
    if lift > 0.0:
        upper = 1.0 / (1.0 + np.exp(-2.0 * mean[chosen] * lift))
        new += (lift if rng.random() < upper else -lift) / precision[chosen]
    coef[usable[chosen]] = new + rng.standard_normal() / np.sqrt(precision[chosen])


@kernel
def draw_all(rng, rows, state, given, averages):
    """Draw weights, all variables, and which of them one that is in stands for."""
    draw_weights(rng, rows, state)
    usable = given.usable
    draws = draw_for(rng, state.coef.shape[0], usable)
    update(rows.columns, state, given, 0, usable.shape[0], draws, averages)
    count_state(state.coef, averages)
    if leave_out(rng, rows.columns, state) >= 0:
        weighed = np.empty((3, usable.shape[0]))
        weigh(rows.columns, state, given, 0, usable.shape[0], weighed)
        put_in(rng, state.coef, given, weighed)
    predict(rows, state)
