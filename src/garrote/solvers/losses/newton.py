"""Maximum likelihood, or posterior, by Newton's method, with steps halved until they help.

The log likelihood is concave in the coefficients, with gradient g = X'W u and information H = X'W C X
(u and C the samples' gradients and curvatures). A step solves H step = g; what it promises is half of
g' H^-1 g, whose root is the gradient's length in standard errors: the certificate. Columns whose
coefficients are held by a Gaussian prior, N(0, 1 / held), have held added to H and held times the
coefficient taken off g.

Where classes are separated (or a group of counts is all zero) no maximum exists: coefficients run to
infinity while the log likelihood converges. That shows as steps that still move linear predictors by
about 1 when nothing is left to gain; the fit then stops and says so.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.likelihoods.coupled import (
    fill_rows,
    information,
    take_shared_off,
    weighted_deviance,
    weighted_gradient,
)
from garrote.solvers.algebra.factor_updates import (
    factor_column,
    invert_root,
    solve_transposed,
    solve_upper,
)
from garrote.summaries import Shown

# A pivot below this share of its column's length is taken for this much: separation empties columns.
_LEAST_PIVOT = 1e-13
# A column whose pivot is below this share of its length depends on those before it.
_DEPENDENT = 1e-10
# Halvings of one step, at most.
_HALVINGS = 60
# A step without gain that moves a linear predictor by this much: there is no maximum.
_STILL_MOVING = 0.1
# Steps at most; separation needs some 25.
_MOST_STEPS = 100
# Squared length of the gradient, in standard errors, at which a fit ends.
TOLERANCE = 1e-10


class Samples(NamedTuple):
    """Columns, one a row of the array, with responses, weights and the known part of the predictor.

    ``held`` are the precisions of the coefficients' priors, 0 where they are free.
    """

    columns: Floats
    y: Floats
    weights: Floats
    offset: Floats
    held: Floats


class Workspace(NamedTuple):
    """What a fit needs beside the data: the samples' predictors and weights, and the equations."""

    eta: Floats
    trial: Floats
    slope: Floats
    row_curvatures: Floats
    scaled: Floats
    gradient: Floats
    step: Floats
    information: Floats
    root: Floats
    inverse: Floats


def make_workspace(samples: Samples, count: int) -> Workspace:
    """Return room for fits of so many columns."""
    rows = len(samples.y)
    return Workspace(
        *(np.zeros(rows) for _ in range(5)),
        *(np.zeros(count) for _ in range(2)),
        *(np.zeros((count, count)) for _ in range(3)),
    )


@dataclass(frozen=True, repr=False)
class GeneralizedFit(Shown):
    """A maximum of the likelihood, in the user's units.

    Attributes
    ----------
    intercept : float
    coef : array of shape (D,)
        0 for the columns in ``dependent``.
    covariance : array of shape (D + 1, D + 1)
        Inverse of the observed information, the intercept first; 0 for dependent columns.
    log_likelihood : float
        Up to a term of y alone.
    deviance : float
    certificate : float
        Length of the gradient in standard errors, sqrt(g' H^-1 g), computed from the answer.
    separated : bool
        Whether coefficients run to infinity; the log likelihood has converged all the same.
    dependent : array of int
        Columns that are combinations of those before them (or constant) and have no coefficient.
    n_iter : int
    message : str
    """

    intercept: float
    coef: Floats
    covariance: Floats
    log_likelihood: float
    deviance: float
    certificate: float
    separated: bool
    dependent: Array
    n_iter: int
    message: str


def fit_newton(
    likelihood: Any,
    X: Floats,
    y: Floats,
    *,
    sample_weight: Floats | None = None,
    offset: Floats | None = None,
    fit_intercept: bool = True,
) -> GeneralizedFit:
    """Maximise the likelihood of a linear predictor, without a penalty.

    Parameters
    ----------
    likelihood : NamedTuple
        One of `garrote.likelihoods`.
    X : array of shape (N, D)
        With no columns the null model is fitted.
    y : array of shape (N,)
    sample_weight : array of shape (N,), optional
        A weight of k counts as k repeats of a row.
    offset : array of shape (N,), optional
        A known part of the linear predictor.
    fit_intercept : bool

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.likelihoods import Binomial
    >>> from garrote.solvers.losses.newton import fit_newton
    >>> X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    >>> fit = fit_newton(Binomial(), X, np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0]))
    >>> round(float(fit.coef[0]), 6)  # twice log 2, the log odds ratio
    1.386294
    """
    likelihood, y = likelihood.given(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    known = np.zeros(len(y)) if offset is None else np.asarray(offset, np.float64)
    _check_lengths(np.shape(X), y, weights, known)
    likelihood.check_response(y[weights > 0])
    fit_intercept = fit_intercept and likelihood.has_level
    columns, mean, scale = _standardized(np.asarray(X, np.float64), weights, fit_intercept)
    samples = Samples(columns, y, weights, known, np.zeros(len(columns)))
    return _fit_samples(likelihood, samples, mean, scale, fit_intercept)


def _fit_samples(
    likelihood: Any, samples: Samples, mean: Floats, scale: Floats, fit_intercept: bool
) -> GeneralizedFit:
    """Maximise, and go back to the user's units."""
    columns, weights = samples.columns, samples.weights
    members = independent_columns((columns * weights) @ columns.T)
    coef = np.zeros(len(members))
    if fit_intercept:
        coef[0] = null_intercept(likelihood, samples)
    work = make_workspace(samples, len(members))
    value, steps, moving = maximise(likelihood, samples, members, len(members), coef, work)
    eta = samples.offset + coef @ columns[members]
    held = information_at(likelihood, samples, members, eta)
    certificate = gradient_length(likelihood, samples, members, eta, coef)
    back = _to_users_units(members, mean, scale, fit_intercept)
    values = back @ coef
    return GeneralizedFit(
        intercept=float(values[0]),
        coef=values[1:],
        covariance=back @ stable_inverse(held) @ back.T,
        log_likelihood=value,
        deviance=weighted_deviance(likelihood, samples.y, weights, eta),
        certificate=certificate,
        separated=bool(moving),
        dependent=np.setdiff1d(np.arange(len(mean)), members - int(fit_intercept)),
        n_iter=int(steps),
        message=_message(steps, moving, certificate),
    )


def _check_lengths(shape: tuple[int, ...], y: Floats, weights: Floats, offset: Floats) -> None:
    if len(shape) != 2 or not y.shape == weights.shape == offset.shape == shape[:1]:
        raise ValueError(
            f"X of shape {shape} needs as many entries in y, sample_weight and offset as it has rows, "
            f"got {y.shape}, {weights.shape} and {offset.shape}"
        )
    if not np.isfinite(offset).all():
        raise ValueError("offset must be finite at every row; exposures must be positive")
    if not (weights >= 0).all() or not weights.any():
        raise ValueError("sample_weight must be non-negative, and not zero for all rows")


def _standardized(X: Floats, weights: Floats, fit_intercept: bool) -> tuple[Floats, Floats, Floats]:
    """Return the columns as rows, the intercept's first, with what was taken off and divided by."""
    total = weights.sum()
    mean = weights @ X / total if fit_intercept else np.zeros(X.shape[1])
    centred = X - mean
    scale = np.sqrt(weights @ centred**2 / total)
    constant = ~(scale > 1e-13 * np.abs(mean))
    scale[constant] = 1.0
    centred[:, constant] = 0.0
    first = [np.ones(len(X))] if fit_intercept else []
    return np.ascontiguousarray(np.vstack([*first, (centred / scale).T])), mean, scale


def _to_users_units(members: Array, mean: Floats, scale: Floats, fit_intercept: bool) -> Floats:
    """Return the map from standardised coefficients to the intercept and the user's coefficients."""
    back = np.zeros((len(mean) + 1, len(members)))
    for k, member in enumerate(members):
        if fit_intercept and member == 0:
            back[0, k] = 1.0
        else:
            j = member - int(fit_intercept)
            back[1 + j, k], back[0, k] = 1.0 / scale[j], -mean[j] / scale[j]
    return back


def _message(steps: int, moving: bool, certificate: float) -> str:
    if moving:
        return (
            f"no maximum: the response is separated, coefficients were still growing after {steps} "
            "steps when the log likelihood had converged"
        )
    return f"{steps} steps, gradient of {certificate:.1e} standard errors"


def independent_columns(gram: Floats) -> Array:
    """Return the columns that are no combinations of those before them, by their cross products."""
    left, kept = gram.copy(), []
    for j in range(len(gram)):
        pivot = left[j, j]
        if pivot > _DEPENDENT * gram[j, j]:
            kept.append(j)
            left = left - np.outer(left[j], left[j]) / pivot
    return np.array(kept, dtype=np.int64)


def null_intercept(likelihood: Any, samples: Samples) -> float:
    """Return where the intercept starts: at the mean response, beside the mean offset."""
    mean = np.average(samples.y, weights=samples.weights)
    known = np.average(samples.offset, weights=samples.weights)
    return float(likelihood.link(mean) - known)


def information_at(likelihood: Any, samples: Samples, members: Array, eta: Floats) -> Floats:
    """Return X'W C X of some columns at a linear predictor, and what holds their coefficients."""
    block = samples.columns[members]
    found = information(likelihood, samples.y, samples.weights, eta, block)
    return np.asarray(found + np.diag(samples.held[members]))


def gradient_length(
    likelihood: Any, samples: Samples, members: Array, eta: Floats, coef: Floats
) -> float:
    """Return sqrt(g' H^-1 g): how far a fit is from its maximum, in standard errors."""
    slope = weighted_gradient(likelihood, samples.y, samples.weights, eta)
    g = samples.columns[members] @ slope - samples.held[members] * coef
    inverse = stable_inverse(information_at(likelihood, samples, members, eta))
    return float(np.sqrt(max(float(g @ inverse @ g), 0.0)))


def stable_inverse(information: Floats) -> Floats:
    """Invert by eigenvalues that are kept positive: separation leaves some at rounding."""
    values, vectors = np.linalg.eigh(information)
    values = np.maximum(values, _LEAST_PIVOT * values.max(initial=1e-300))
    return np.asarray((vectors / values) @ vectors.T)


@kernel
def maximise(likelihood, samples, members, size, coef, work):
    """Fit the first ``size`` of ``members``, from and into ``coef``.

    Returns the log likelihood (less half of held times squared coefficients), the steps made, and
    whether linear predictors were still moving at the end. ``work.root`` is then the factor of the
    information one step before the end.
    """
    rows = samples.y.shape[0]
    y, weights = samples.y, samples.weights
    for i in range(rows):
        work.eta[i] = samples.offset[i]
    for a in range(size):
        column, value = samples.columns[members[a]], coef[a]
        for i in range(rows):
            work.eta[i] += value * column[i]
    value = fill_rows(likelihood, y, weights, work.eta, work.slope, work.row_curvatures)
    value -= _held_back(samples, members, size, coef, work.step, 0.0)
    largest = 0.0
    for made in range(_MOST_STEPS):
        promised = newton_step(likelihood, samples, members, size, coef, work)
        largest = 0.0
        for i in range(rows):
            work.scaled[i] = 0.0
        for a in range(size):
            column, part = samples.columns[members[a]], work.step[a]
            for i in range(rows):
                work.scaled[i] += part * column[i]
        for i in range(rows):
            if samples.weights[i] > 0.0:
                largest = max(largest, abs(work.scaled[i]))
        share, gained = 1.0, False
        for _ in range(_HALVINGS):
            for i in range(rows):
                work.trial[i] = work.eta[i] + share * work.scaled[i]
            reached = fill_rows(likelihood, y, weights, work.trial, work.slope, work.row_curvatures)
            reached -= _held_back(samples, members, size, coef, work.step, share)
            if reached >= value + 1e-4 * share * promised - 1e-13 * (1.0 + abs(value)):
                gained = True
                break
            share *= 0.5
        if gained:
            value = reached
            for i in range(rows):
                work.eta[i] = work.trial[i]
            for a in range(size):
                coef[a] += share * work.step[a]
        if promised <= TOLERANCE or not gained:
            return value, made + 1, largest > _STILL_MOVING
    return value, _MOST_STEPS, largest > _STILL_MOVING


@kernel
def _held_back(samples, members, size, coef, step, share):
    """Return half of held times squared coefficients, some way along a step."""
    total = 0.0
    for a in range(size):
        if samples.held[members[a]] > 0.0:
            total += samples.held[members[a]] * (coef[a] + share * step[a]) ** 2
    return 0.5 * total


@kernel
def newton_step(likelihood, samples, members, size, coef, work):
    """Fill in the step for the gradients and curvatures at hand; return g' H^-1 g."""
    rows = samples.y.shape[0]
    for a in range(size):
        column = samples.columns[members[a]]
        total = 0.0
        for i in range(rows):
            work.scaled[i] = work.row_curvatures[i] * column[i]
            total += work.slope[i] * column[i]
        work.gradient[a] = work.step[a] = total - samples.held[members[a]] * coef[a]
        for b in range(a + 1):
            other = samples.columns[members[b]]
            total = 0.0
            for i in range(rows):
                total += work.scaled[i] * other[i]
            work.information[b, a] = total
    inside, weights = members[:size], samples.weights
    take_shared_off(likelihood, weights, work.eta, samples.columns, inside, work.information)
    for a in range(size):
        work.information[a, a] += samples.held[members[a]]
    _factorise(work.information, work.root, size)
    # R' z = g, then R step = z; g' H^-1 g = z' z.
    solve_transposed(work.root, work.step.reshape((1, work.step.shape[0])), size)
    promised = 0.0
    for a in range(size):
        promised += work.step[a] * work.step[a]
    solve_upper(work.root, work.step, size)
    return promised


@kernel
def _factorise(matrix, root, size):
    """Make the upper triangular root of a matrix given by its upper triangle."""
    for b in range(size):
        for a in range(b):
            root[a, b] = matrix[a, b]
        least = max(_LEAST_PIVOT * matrix[b, b], 1e-300)
        root[b, b] = np.sqrt(max(factor_column(root, b, matrix[b, b]), least))


@kernel
def fill_variances(work, size, variances):
    """Fill in the diagonal of the inverse information, of the fit made last."""
    invert_root(work.root, work.inverse, size)
    for a in range(size):
        total = 0.0
        for b in range(a, size):
            total += work.inverse[a, b] * work.inverse[a, b]
        variances[a] = total
