"""Splines and polynomials of one number, made from the rows fitted to.

`bs` and `poly` are those of R: B-splines with knots at quantiles and without the first of them, and
polynomials orthogonal to the constant and to each other. `natural` has straight ends. `curve` is what
bends in a natural spline: its columns are orthogonal, over the rows, to the constant and to the number
itself, so that beside the number they say nothing but that its effect is no straight line.
"""

import numpy as np
from scipy.interpolate import BSpline

from garrote.arrays import Floats
from garrote.tables.errors import TableError
from garrote.tables.terms.shapes import Splines

# The columns of a curve beside the straight line, where nobody says how many.
CURVE_COLUMNS = 3
# Directions of less than this share of the largest are rounding.
_ROUNDING = 1e-9


def bs(x: Floats, df: int, degree: int = 3) -> Splines:
    """Return ``df`` B-splines, the first of all being left out."""
    if df < degree:
        raise TableError(f"bs needs at least {degree} columns, got {df}: give bs(x, {degree})")
    knots = _knots(x, df - degree, degree)
    mix = np.eye(df + 1)[:, 1:]
    return _splines(knots, degree, mix, straight=True)


def natural(x: Floats, df: int) -> Splines:
    """Return ``df`` cubic splines with straight ends."""
    knots = _knots(x, df - 1, 3)
    mix = _straight_ends(knots)
    at = BSpline(knots, mix, 3)(x)
    # The constant is the intercept's: what is left of the others has one column less.
    mix = mix @ _without(at, np.ones((len(x), 1)))
    return _splines(knots, 3, mix, straight=True)


def curve(x: Floats, columns: int = CURVE_COLUMNS) -> Splines:
    """Return natural splines that are orthogonal to the constant and to the number, of unit variance."""
    distinct = len(np.unique(x))
    columns = min(columns, distinct - 2)
    knots = _knots(x, columns, 3)
    mix = _straight_ends(knots)
    at = BSpline(knots, mix, 3)(x)
    line = np.column_stack([np.ones(len(x)), x])
    mix = mix @ _without(at, line)
    at = BSpline(knots, mix, 3)(x)
    return _splines(knots, 3, mix / at.std(axis=0), straight=True)


def poly(x: Floats, degree: int) -> Splines:
    """Return orthogonal polynomials up to a degree, of length 1 as in R."""
    if degree >= len(np.unique(x)):
        raise TableError(
            f"poly needs more than {degree} different values, got {len(np.unique(x))}: lower the degree"
        )
    knots = _knots(x, 0, degree)
    # Powers of the scaled number as mixtures of B-splines without inner knots, then orthogonalised.
    at = BSpline.design_matrix(x, knots, degree).toarray()
    centred = (x - x.mean()) / (np.abs(x - x.mean()).max() or 1.0)
    powers = np.vander(centred, degree + 1, increasing=True)
    q, r = np.linalg.qr(powers)
    q = q[:, 1:] * np.sign(np.diag(r))[1:]
    mix = np.linalg.lstsq(at, q, rcond=None)[0]
    return _splines(knots, degree, mix, straight=False)


def _knots(x: Floats, inner: int, degree: int) -> Floats:
    """Return inner knots at quantiles, and the ends so often that splines reach them."""
    if inner < 0:
        raise TableError(f"splines need at least one column more, got {inner + 1}")
    places = np.quantile(x, np.linspace(0, 1, inner + 2))
    ends = np.repeat(places[[0, -1]], degree + 1)
    within = np.unique(places[1:-1])
    within = within[(within > places[0]) & (within < places[-1])]
    if len(within) < inner:
        # Of few values, or many equal ones, knots lie between different values.
        values = np.unique(x)
        between = (values[1:] + values[:-1]) / 2
        picks = np.linspace(0, len(between) - 1, min(inner, len(between))).round().astype(int)
        within = between[np.unique(picks)]
    return np.concatenate([ends[: degree + 1], within, ends[degree + 1 :]])


def _straight_ends(knots: Floats) -> Floats:
    """Return mixtures of cubic B-splines whose second derivative vanishes at both ends."""
    count = len(knots) - 4
    second = BSpline(knots, np.eye(count), 3).derivative(2)
    bends = second(np.array([knots[0], knots[-1]]))
    return _null_space(bends)


def _without(columns: Floats, taken: Floats) -> Floats:
    """Return mixtures of columns that are orthogonal to some taken ones and span all else."""
    q, _ = np.linalg.qr(taken)
    return _mixtures(columns, _null_space(q.T @ columns))


def _mixtures(columns: Floats, free: Floats) -> Floats:
    """Return mixtures that are orthogonal to each other over the rows, the largest first."""
    _, size, vt = np.linalg.svd(columns @ free, full_matrices=False)
    return np.asarray(free @ vt[size > _ROUNDING * size[0]].T)


def _null_space(conditions: Floats) -> Floats:
    _, size, vt = np.linalg.svd(conditions)
    rank = int((size > _ROUNDING * max(size.max(initial=0.0), 1e-300)).sum())
    return np.asarray(vt[rank:].T)


def _splines(knots: Floats, degree: int, mix: Floats, straight: bool) -> Splines:
    rows = tuple(tuple(row) for row in mix.tolist())
    return Splines(tuple(knots.tolist()), degree, rows, straight)
