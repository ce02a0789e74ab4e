"""Models that have to be fitted one by one: their log likelihoods or evidences, and sums over them.

Where coefficients have a Gaussian prior the evidence of a model is Laplace's: with b the maximum of the
posterior and H its information there, both over k variables of prior precision r and f flat columns,

    log p(y | model) = log p(y | b) - r |b|^2 / 2 + k log(r) / 2 + f log(2 pi) / 2 - log|H| / 2.

Models follow each other in Gray code, so that neighbours differ by one variable, and each fit starts
from the coefficients of the one before: two or three Newton steps in place of five. Stretches of the
code are independent of each other, and run in threads.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.special import logsumexp, softmax

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import copy_into
from garrote.limits.budgets import PRODUCTS_PER_CALL
from garrote.solvers.algebra.factor_updates import factor_column
from garrote.solvers.losses.newton import (
    Samples,
    fill_variances,
    make_workspace,
    maximise,
    newton_step,
)

# A column whose pivot is below this share of its length depends on the others of its model.
_DEPENDENT = 1e-10
# Models of one kernel call, at most.
_MOST_PER_CALL = 1024


class Table(NamedTuple):
    """The data of all models: samples, and the fit of the model without variables.

    The first ``fixed`` columns are in every model. ``null`` are their coefficients, and ``most`` is the
    largest number of variables beside them. ``integrated`` tells that the samples hold coefficients by a
    prior, over which models are integrated.
    """

    samples: Samples
    fixed: int
    null: Floats
    most: float
    integrated: bool = False

    @property
    def n_variables(self) -> int:
        """How many columns are in or out."""
        return len(self.samples.columns) - self.fixed

    def members(self, variables: Array) -> Array:
        """Return the columns of a model: the fixed ones, then its variables."""
        return np.concatenate([np.arange(self.fixed), np.asarray(variables, int) + self.fixed])


class FittedModel(NamedTuple):
    """One model: its log likelihood (-inf where columns depend on each other), and what was fitted.

    Where coefficients have a prior it is the log evidence, and dependent columns do no harm. ``coef``
    and ``variance`` run over the fixed columns and then the model's variables.
    """

    log_likelihood: float
    coef: Floats
    variance: Floats
    separated: bool


@dataclass(frozen=True)
class FittedModels:
    """Sums over all models of a table, and every model's log weight.

    ``log_weight[i]`` belongs to the model with the bit pattern i ^ (i >> 1): -inf where columns depend
    on each other or are too many. ``mean`` and ``second_moment`` are averaged over models, of the fixed
    columns too.
    """

    log_total: float
    inclusion: Floats
    size_probability: Floats
    mean: Floats
    second_moment: Floats
    log_weight: Floats
    table: Table


def make_table(
    likelihood: Any, samples: Samples, fixed: int, most: float, integrated: bool = False
) -> Table:
    """Fit the model without variables, from which all others start."""
    start = np.zeros(len(samples.columns))
    table = Table(samples, fixed, start[:fixed], most, integrated)
    return table._replace(null=fit_model(likelihood, table, np.zeros(0, int), start).coef)


def fit_model(likelihood: Any, table: Table, variables: Array, start: Floats) -> FittedModel:
    """Fit one model, from coefficients of all columns."""
    members = table.members(variables)
    size = len(members)
    work = make_workspace(table.samples, size)
    block = table.samples.columns[members]
    gram = (block * table.samples.weights) @ block.T
    coef, variance = start[members], np.zeros(size)
    allowed = table.integrated or _independent(gram, np.arange(size), size, work.root)
    if len(variables) > table.most or not allowed:
        return FittedModel(-np.inf, coef, variance, False)
    value, _, separated = maximise(likelihood, table.samples, members, size, coef, work)
    if table.integrated:
        value += _volume(likelihood, table.samples, members, size, coef, work)
    fill_variances(work, size, variance)
    return FittedModel(float(value), coef, variance, bool(separated))


def fit_over_slabs(
    likelihood: Any, tables: Sequence[tuple[float, Table]], variables: Array, start: Floats
) -> FittedModel:
    """Fit one model with every one of some slabs, by tables with log weights; average over them.

    Each fit starts from the one before.
    """
    members, fits = tables[0][1].members(variables), []
    for _, table in tables:
        fits.append(fit_model(likelihood, table, variables, start))
        start = start.copy()
        start[members] = fits[-1].coef
    if len(fits) == 1:
        return fits[0]
    logs = np.array([w + fit.log_likelihood for (w, _), fit in zip(tables, fits, strict=True)])
    share = softmax(logs)
    coef = np.array([fit.coef for fit in fits])
    mean = share @ coef
    variance = share @ (np.array([fit.variance for fit in fits]) + (coef - mean) ** 2)
    return FittedModel(float(logsumexp(logs)), mean, variance, any(fit.separated for fit in fits))


def fit_all_models(
    likelihood: Any,
    table: Table,
    penalty: float,
    by_size: Floats,
    log_odds: Floats,
    *,
    n_jobs: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> FittedModels:
    """Fit every model; its weight is likelihood exp(-penalty size) times the prior.

    Parameters
    ----------
    likelihood : NamedTuple
        One of `garrote.likelihoods`.
    table : Table
    penalty : float
        What a variable costs in log likelihood: half of log N for BIC.
    by_size : array of shape (D + 1,)
        Log prior of a model of each size.
    log_odds : array of shape (D,)
        Added for each variable that is in.
    n_jobs : int, optional
        Threads.
    report : callable, optional
        Called with how many stretches are done, and of how many.
    """
    D = table.n_variables
    sums = _Sums(len(table.samples.columns), D)
    log_weight = np.empty(2**D)
    columns = table.samples.columns
    gram = (columns * table.samples.weights) @ columns.T
    stretches = list(_stretches(table))
    jobs = min(effective_n_jobs(n_jobs), len(stretches))
    fitted = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
        delayed(_fit_stretch_of)(likelihood, table, gram, first, count)
        for first, count in stretches
    )
    for done, ((first, count), (value, coef, variance)) in enumerate(
        zip(stretches, fitted, strict=True)
    ):
        index = np.arange(first, first + count)
        inside = ((index ^ (index >> 1))[:, None] >> np.arange(D)) & 1
        size = inside.sum(axis=1)
        log_weight[index] = value - penalty * size + by_size[size] + inside @ log_odds
        sums.add(log_weight[index], inside, size, coef, variance)
        if report is not None:
            report(done + 1, len(stretches))
    return sums.averages(log_weight, table)


class _Sums:
    """Weighted sums over models, relative to the best so far."""

    def __init__(self, columns: int, variables: int):
        self.reference, self.total = -np.inf, 0.0
        self.inclusion, self.by_size = np.zeros(variables), np.zeros(variables + 1)
        self.mean, self.square = np.zeros(columns), np.zeros(columns)

    def add(
        self, log_weight: Floats, inside: Array, size: Array, coef: Floats, variance: Floats
    ) -> None:
        best = log_weight.max()
        if best > self.reference:
            fade = np.exp(self.reference - best)
            for part in (self.inclusion, self.by_size, self.mean, self.square):
                part *= fade
            self.total, self.reference = self.total * fade, best
        if not np.isfinite(self.reference):
            return
        p = np.exp(log_weight - self.reference)
        self.total += p.sum()
        self.inclusion += p @ inside
        self.by_size += np.bincount(size, p, len(self.by_size))
        self.mean += p @ coef
        self.square += p @ (coef**2 + variance)

    def averages(self, log_weight: Floats, table: Table) -> FittedModels:
        return FittedModels(
            float(self.reference + np.log(self.total)),
            self.inclusion / self.total,
            self.by_size / self.total,
            self.mean / self.total,
            self.square / self.total,
            log_weight,
            table,
        )


def _stretches(table: Table) -> Iterator[tuple[int, int]]:
    columns, rows = table.samples.columns.shape
    each = 4 * rows * (columns**2 / 8 + 20)
    count = int(np.clip(PRODUCTS_PER_CALL / each, 1, _MOST_PER_CALL))
    for first in range(0, 2**table.n_variables, count):
        yield first, min(count, 2**table.n_variables - first)


def _fit_stretch_of(
    likelihood: Any, table: Table, gram: Floats, first: int, count: int
) -> tuple[Floats, Floats, Floats]:
    columns = len(table.samples.columns)
    value, coef, variance = np.zeros(count), np.zeros((count, columns)), np.zeros((count, columns))
    work = make_workspace(table.samples, columns)
    _fit_stretch(likelihood, table, gram, first, value, coef, variance, work)
    return value, coef, variance


@kernel
def _fit_stretch(likelihood, table, gram, first, values, coefs, variances, work):
    """Fit models that follow each other in Gray code, each from where the one before ended."""
    columns, fixed = coefs.shape[1], table.fixed
    members, coef, spread = np.zeros(columns, np.int64), np.zeros(columns), np.zeros(columns)
    start = np.zeros(columns)
    copy_into(start[:fixed], table.null)
    for s in range(values.shape[0]):
        pattern = (first + s) ^ ((first + s) >> 1)
        size = 0
        for j in range(columns):
            if j < fixed or (pattern >> (j - fixed)) & 1:
                members[size] = j
                coef[size] = start[j]
                size += 1
        if size - fixed > table.most or not (
            table.integrated or _independent(gram, members, size, work.root)
        ):
            values[s] = -np.inf
            continue
        value, _, separated = maximise(likelihood, table.samples, members, size, coef, work)
        if table.integrated:
            value += _volume(likelihood, table.samples, members, size, coef, work)
        values[s] = value
        fill_variances(work, size, spread)
        start[:] = 0.0
        for a in range(size):
            coefs[s, members[a]] = start[members[a]] = coef[a]
            variances[s, members[a]] = spread[a]
        if separated:  # where nothing is finite is no place to start from
            start[:] = 0.0
            copy_into(start[:fixed], table.null)


def fit_each(
    likelihood: Any, samples: Samples, fixed: int, start: Floats, near: Floats, work: Any
) -> tuple[Floats, Floats, Floats]:
    """Fit every variable alone beside the fixed columns, its coefficient held by its prior.

    Returns log evidences, coefficients and their variances. Fits begin at ``start`` and ``near``, the
    coefficients of the fixed columns and those of the variables.
    """
    value, coef, variance = np.zeros((3, len(samples.columns) - fixed))
    _fit_each(likelihood, samples, fixed, start, near, value, coef, variance, work)
    return value, coef, variance


@kernel
def _fit_each(likelihood, samples, fixed, start, near, values, coefs, variances, work):
    """Fill in the fit of every variable alone."""
    members, coef, spread = np.arange(fixed + 1), np.zeros(fixed + 1), np.zeros(fixed + 1)
    for j in range(values.shape[0]):
        members[fixed] = fixed + j
        copy_into(coef[:fixed], start)
        coef[fixed] = near[j]
        value, _, _ = maximise(likelihood, samples, members, fixed + 1, coef, work)
        values[j] = value + _volume(likelihood, samples, members, fixed + 1, coef, work)
        fill_variances(work, fixed + 1, spread)
        coefs[j], variances[j] = coef[fixed], spread[fixed]


@kernel
def _volume(likelihood, samples, members, size, coef, work):
    """Return what Laplace's approximation adds to the largest log posterior of a model fitted last.

    The information is computed anew: that of the last step was one step behind.
    """
    newton_step(likelihood, samples, members, size, coef, work)
    total = 0.0
    for a in range(size):
        held = samples.held[members[a]]
        total += 0.5 * np.log(held if held > 0.0 else 2.0 * np.pi) - np.log(work.root[a, a])
    return total


@kernel
def _independent(gram, members, size, root):
    """Tell whether no column of a model is a combination of the others, by a Cholesky factor."""
    for b in range(size):
        for a in range(b):
            root[a, b] = gram[members[a], members[b]]
        length = gram[members[b], members[b]]
        pivot = factor_column(root, b, length)
        if pivot <= _DEPENDENT * length:
            return False
        root[b, b] = np.sqrt(pivot)
    return True
