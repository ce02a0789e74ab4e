"""Which columns a draw of all coefficients uses, under a prior that leaves none of them at 0.

A draw (w, s^2) says that y ~ N(X w, s^2). Of the laws that some columns A alone can make of y the
nearest, by Kullback and Leibler's divergence, has the least-squares fit of X w and the noise
variance

    s_A^2 = s^2 + ||X w - fit_A||^2 / n, at a distance of n / 2 log(s_A^2 / s^2) nats

(Goutis & Robert 1998; Hahn & Carvalho 2015 summarise a whole posterior so). Columns enter one after the
other, as long as one brings the law nearer by ``LEAST_NATS``, about what a coefficient of one standard
error is worth. So a column is used for what the fit needs of it: copies that share an effect, or hold
two that cancel, count once. Of columns that do as well as the best, up to ``LEAST_NATS``, that one is
taken which has the largest share in the draw itself.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.solvers.algebra.factor_updates import append_row
from garrote.solvers.algebra.gaussian_draws import ByColumns, ByRows

# What a column has to add.
LEAST_NATS = 0.5
# Draws, evenly spaced, that are looked at, columns that may be used, and how many by one draw.
MOST_DRAWS, MOST_COLUMNS, MOST_USED = 1000, 500, 100
# A column of which this share or less is left beside the columns before is a copy of them.
_COPY = 1e-8


class NeededColumns(NamedTuple):
    """The columns that may be used, and which of them each draw uses (draws x columns)."""

    columns: Array
    inside: Array


def needed_columns(
    form: ByRows | ByColumns, coef: Floats, noise: Floats, rows: float
) -> NeededColumns:
    """Return what draws of the coefficients (S x D) and noise variances use.

    Of many columns those may be used that have the largest part in the variance of the fits, on the
    average over draws and in units of the noise.
    """
    every = -(-len(coef) // MOST_DRAWS)
    coef, noise = coef[every - 1 :: every], noise[every - 1 :: every]
    pulls = form.products(coef)
    share = coef * pulls
    explained = share.sum(axis=1)
    part = (1.0 / noise) @ np.abs(share)
    columns = np.sort(np.argsort(-part, kind="stable")[:MOST_COLUMNS])
    gram = np.ascontiguousarray(form.products_of(columns))
    inside = _use(
        gram, np.ascontiguousarray(pulls[:, columns]), np.ascontiguousarray(coef[:, columns]),
        explained, rows * noise, rows, LEAST_NATS, MOST_USED,
    )  # fmt: skip
    return NeededColumns(columns, inside)


@kernel
def _use(gram, pulls, coef, explained, noise, rows, least, most):
    """Add columns to every draw; ``noise`` is that of all rows, ``explained`` the fit's squares."""
    draws, count = pulls.shape
    inside = np.zeros((draws, count), dtype=np.bool_)
    size = np.diag(gram).copy()
    root = np.sqrt(size)
    # What the columns taken so far explain of all columns: the rows of a pivoted Cholesky factor.
    factor = np.empty((min(most, count), count))
    gain = np.empty(count)
    for s in range(draws):
        pull, left, rest = pulls[s].copy(), size.copy(), noise[s] + explained[s]
        for k in range(len(factor)):
            for j in range(count):
                free = left[j] > _COPY * size[j]
                gain[j] = pull[j] * pull[j] / left[j] if free else 0.0
            best, needed = gain.max(), rest * (1.0 - np.exp(-2.0 * least / rows))
            if best < needed:
                break
            # Others do as well that bring enough, and leave it no farther off than by as much.
            enough = max(needed, rest - max(rest - best, noise[s]) * np.exp(2.0 * least / rows))
            chosen, largest = -1, -np.inf
            for j in range(count):
                along = coef[s, j] * root[j] * np.sign(pull[j])
                if gain[j] >= enough and along > largest:
                    chosen, largest = j, along
            inside[s, chosen] = True
            _next_row(gram, factor, k, chosen, np.sqrt(left[chosen]))
            step = pull[chosen] / np.sqrt(left[chosen])
            for j in range(count):
                pull[j] -= step * factor[k, j]
                left[j] -= factor[k, j] * factor[k, j]
            rest = max(rest - step * step, noise[s])
    return inside


@kernel
def _next_row(gram, factor, k, chosen, unit):
    """Write the factor's row k, that of the chosen column."""
    row, count = factor[k], factor.shape[1]
    append_row(gram[chosen], factor, factor[:, chosen], k, 0, count)
    for j in range(count):
        row[j] /= unit
