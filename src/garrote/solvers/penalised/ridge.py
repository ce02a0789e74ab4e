"""Ridge regression at many strengths from one decomposition: of X'X, or of XX' where that is smaller.

With X'WX / n = V diag(s) V' the coefficients are V diag(1 / (s + strength)) V'X'Wy / n; with more
columns than rows the same follows from XX', and X'X is never made. A strength of 0 gives the least
squares of least norm. Columns with a factor of 0 are not penalised: all else is regressed on them
first.
"""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from garrote.arrays import Array, Floats
from garrote.designs.base import block_width
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.solvers.control import Control
from garrote.solvers.descent.optimality import certify
from garrote.solvers.lockstep import run_together
from garrote.solvers.losses.generalised import GeneralisedLoss
from garrote.solvers.losses.least_squares import as_seen, null_squares
from garrote.solvers.penalised.working_set_path import Smooth, solve_path

# A direction in which X varies less than this share of the most has no coefficient of its own.
_DEPENDENT = 1e-12


def solve_ridge(
    problem: Problem, penalty: Penalty, strengths: Floats, terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve a Gaussian problem at every strength; bounds are not looked at.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    penalised = [float(s) * bool(penalty.at(1.0, terms).ridge.any()) for s in strengths]
    by_rows = problem.has_rows and problem.n_features > len(problem.response)
    coef = (_by_rows if by_rows else _by_columns)(problem, np.array(penalised), terms)
    null = null_squares(problem)
    points, together = [], problem.columns_together
    everyone = np.arange(problem.n_features)
    for start in range(0, len(strengths), together):
        chunk = np.ascontiguousarray(coef[:, start : start + together])
        squared, gradient = yield from problem.evaluate(everyone, chunk)
        for k, strength in enumerate(strengths[start : start + together]):
            solution = chunk[:, k]
            seen = as_seen(problem, float(squared[k]), gradient[k], float(solution @ problem.xty))
            used = np.flatnonzero(solution)
            certificate = certify(
                penalty.at(float(strength), terms), used, solution[used], seen,
                problem.curvature / problem.n, null,
            )  # fmt: skip
            points.append(
                PenaltyFit(float(strength), used, solution[used], 0.0, seen.loss, certificate, 1)
            )
        control.report("path", len(points), len(strengths))
    return points


def _by_columns(problem: Problem, strengths: Floats, terms: Terms) -> Floats:
    """Return the coefficients (D x strengths) from X'X."""
    gram, right = problem.whole_gram() / problem.n, problem.xty / problem.n
    free = np.flatnonzero(terms.factor == 0)
    rest = np.flatnonzero((terms.factor > 0) & (problem.curvature > 0))
    root = np.sqrt(terms.factor[rest])
    shares = np.linalg.pinv(gram[np.ix_(free, free)], hermitian=True) @ gram[np.ix_(free, rest)]
    system = (gram[np.ix_(rest, rest)] - gram[np.ix_(rest, free)] @ shares) / np.outer(root, root)
    values, vectors = eigh(system)
    along = vectors.T @ ((right[rest] - shares.T @ right[free]) / root)
    coef = np.zeros((len(gram), len(strengths)))
    coef[rest] = vectors @ (along[:, None] * _inverse(values, strengths)) / root[:, None]
    left = right[free][:, None] - gram[np.ix_(free, rest)] @ coef[rest]
    coef[free] = np.linalg.pinv(gram[np.ix_(free, free)], hermitian=True) @ left
    return coef


def _by_rows(problem: Problem, strengths: Floats, terms: Terms) -> Floats:
    """Return the coefficients (D x strengths) from XX'."""
    n, root = problem.n, np.sqrt(problem.weights)
    # What has been projected out already, or is constant, would be rounding here: it has no part.
    varying = problem.curvature > 0
    free = np.flatnonzero((terms.factor == 0) & varying)
    always = root[:, None] * problem.table.block(free)
    basis = _orthonormal(always)
    kernel = root[:, None] * _row_products(problem, terms.factor) * root / n
    kernel -= basis @ (basis.T @ kernel)
    kernel -= (kernel @ basis) @ basis.T
    y = root * problem.response
    values, vectors = eigh(kernel)
    along = vectors.T @ (y - basis @ (basis.T @ y))
    dual = vectors @ (along[:, None] * _inverse(values, strengths)) / n
    dual -= basis @ (basis.T @ dual)
    coef, explained = np.zeros((problem.n_features, len(strengths))), np.zeros_like(dual)
    for columns in _blocks(problem):
        block = root[:, None] * problem.table.block(columns)
        factor = terms.factor[columns]
        share = np.divide(
            1.0, factor, out=np.zeros(len(columns)), where=(factor > 0) & varying[columns]
        )
        coef[columns] = share[:, None] * (block.T @ dual)
        explained += block @ coef[columns]
    coef[free] = np.linalg.pinv(always) @ (y[:, None] - explained)
    return coef


def _inverse(values: Floats, strengths: Floats) -> Floats:
    """Return 1 / (value + strength), and 0 in directions in which X does not vary."""
    varying = values > _DEPENDENT * values.max(initial=0.0)
    total = np.where(varying, values, np.inf)[:, None] + strengths
    return 1.0 / total


def _orthonormal(columns: Floats) -> Floats:
    if not columns.shape[1]:
        return np.zeros((len(columns), 0))
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > _DEPENDENT * sizes.max(initial=0.0)]


def _row_products(problem: Problem, factor: Floats) -> Floats:
    """Return the products of all rows with each other (N x N), by the columns' penalised shares."""
    count = len(problem.response)
    products = np.zeros((count, count))
    for columns in _blocks(problem):
        inside = columns[factor[columns] > 0]
        block = problem.table.block(inside) / np.sqrt(factor[inside])
        products += block @ block.T
    return products


def _blocks(problem: Problem) -> list[Array]:
    width = block_width(len(problem.response))
    return np.split(np.arange(problem.n_features), np.arange(width, problem.n_features, width))


def ridge_scores(
    problem: Problem, strengths: Floats, terms: Terms, points: list[PenaltyFit]
) -> Floats:
    """Return generalised cross-validation: loss / (1 - degrees of freedom / N)^2 at each strength.

    N counts rows, not weights, of which the ratios alone matter: a fit of which these scores choose the
    strength does not change with their scale.
    """
    by_rows = problem.has_rows and problem.n_features > len(problem.response)
    if by_rows:
        root = np.sqrt(problem.weights)
        products = root[:, None] * _row_products(problem, terms.factor) * root
    else:
        root = np.sqrt(np.where(terms.factor > 0, terms.factor, np.inf))
        products = problem.whole_gram() / np.outer(root, root)
    values = np.maximum(np.linalg.eigvalsh(products / problem.n), 0.0)[:, None]
    freedom = (values / (values + np.maximum(strengths, 1e-300))).sum(axis=0)
    freedom += np.count_nonzero(terms.factor == 0) + problem.scale.intercept_count
    loss = np.array([point.loss for point in points])
    rows = problem.n_rows
    return np.where(freedom < rows, loss / (1 - freedom / rows) ** 2, np.inf)


class _Rotated(NamedTuple):
    problem: Problem
    back: Floats


def solve_rotated(
    problem: Problem,
    penalty: Penalty,
    strengths: Floats,
    terms: Terms,
    control: Control,
    make_loss: Callable[[Problem], Smooth] = GeneralisedLoss,
) -> list[PenaltyFit]:
    """Solve a problem of any likelihood in the at most N directions in which its rows vary.

    A ridge is blind to rotations: with X = R V' and coefficients V v, the penalty of v is that of w.
    """
    turned = _rotate(problem, terms.factor)
    outputs = len(terms.factor) // problem.n_features
    equal = Terms.equal(turned.problem.n_features).repeated(outputs)
    path = solve_path(make_loss(turned.problem), penalty, strengths, equal, control)
    (points,) = run_together([path], turned.problem.table.stored)
    return [_turned_back(problem, terms.factor, turned.back, point, outputs) for point in points]


def _rotate(problem: Problem, factor: Floats) -> _Rotated:
    values, vectors = eigh(_row_products(problem, factor))
    varying = values > _DEPENDENT * values.max(initial=0.0)
    sizes, vectors = np.sqrt(values[varying]), vectors[:, varying]
    reduced = Problem.from_rows(
        vectors * sizes, problem.response, problem.weights, standardize=False,
        fit_intercept=bool(problem.scale.intercept_count), likelihood=problem.likelihood,
        offset=problem.known_part.T,
    )  # fmt: skip
    return _Rotated(reduced, vectors / sizes)


def _turned_back(
    problem: Problem, factor: Floats, back: Floats, point: PenaltyFit, outputs: int
) -> PenaltyFit:
    turned = np.zeros(outputs * back.shape[1])
    turned[point.columns] = point.coef
    dual = back @ turned.reshape(outputs, -1).T
    blocks = [
        problem.table.block(columns).T @ dual / factor[columns, None]
        for columns in _blocks(problem)
    ]
    coef = np.concatenate(blocks).T.ravel()
    used = np.flatnonzero(coef)
    return replace(point, columns=used, coef=coef[used])
