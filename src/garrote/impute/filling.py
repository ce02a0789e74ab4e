"""Tables without gaps, drawn from what is known: each a guess of all missing values at once."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Array, Floats
from garrote.impute.drawn_regression import DrawnRegression
from garrote.limits.magnitudes import VALUES
from garrote.settings import check_count
from garrote.summaries import listing


def completed_tables(
    X: Floats,
    y: Array | None = None,
    n_imputations: int = 10,
    *,
    random_state: Any = None,
    max_iter: int = 10,
) -> Iterator[Floats]:
    """Yield tables in which missing values are drawn given all others, chained equations.

    Each column with gaps is regressed on the response and on up to 11 of the other columns, and its
    gaps are drawn from the posterior predictive of that, in turn and several times over: scikit-learn's
    ``IterativeImputer`` with a linear regression under a flat prior, of which each round draws
    coefficients and noise once for all gaps of a column (Rubin 1987; `DrawnRegression`). The response
    must be among the predictors, or effects of columns with gaps come out too small (Moons et al.
    2006). Columns are standardised for it.

    Parameters
    ----------
    X : array of shape (N, D)
        NaN where a value is missing.
    y : array of shape (N,), optional
        The response, without gaps: numbers, or labels, which enter as one column for each but one.
    n_imputations : int >= 2, default=10
    random_state : int, Generator, RandomState or None
        The seeds of the tables are spawned from it: each table depends on its own alone.
    max_iter : int, default=10
        Rounds over all columns.

    References
    ----------
    van Buuren, S. and Groothuis-Oudshoorn, K. (2011). mice: Multivariate imputation by chained
    equations in R. Journal of Statistical Software 45(3).
    Moons, K. G. M. et al. (2006). Using the outcome for imputation of missing predictor values was
    preferred. Journal of Clinical Epidemiology 59, 1092-1101.
    Rubin, D. B. (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.
    """
    gaps = np.isnan(X)
    _refuse(X, gaps, n_imputations)
    _refuse_unknown(y)
    if not gaps.any():
        for _ in range(n_imputations):
            yield X.copy(order="K")
        return
    center, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    # Columns without spread predict nothing.
    useful = np.flatnonzero(np.nanstd(X, axis=0) > 0)
    known = (X[:, useful] - center[useful]) / spread[useful]
    response = np.empty((len(X), 0)) if y is None else _as_columns(y)
    table = np.column_stack([known, response])
    for seed in _seeds(random_state, n_imputations):
        filled = X.copy(order="K")
        drawn = _draw(table, response.shape[1], seed, max_iter)[:, : len(useful)]
        values = np.broadcast_to(center, X.shape).copy()
        values[:, useful] = center[useful] + spread[useful] * drawn
        filled[gaps] = values[gaps]
        yield filled


def _draw(table: Floats, n_responses: int, seed: int, max_iter: int) -> Floats:
    """Return a table, of which the last columns are the response, with its gaps drawn once."""
    # The imputer is declared experimental, and is switched on by this import.
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    imputer = IterativeImputer(
        DrawnRegression(np.random.default_rng(seed), n_responses),
        sample_posterior=True,
        max_iter=max_iter,
        skip_complete=True,
        random_state=seed,
    )
    with warnings.catch_warnings():
        # Draws never settle, which the imputer takes for a failure to converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(imputer.fit_transform(table))


def _as_columns(y: Array) -> Floats:
    """Return a response as standardised columns of numbers."""
    if y.dtype.kind in "fiub" and len(np.unique(y)) > 2:
        columns = np.asarray(y, dtype=np.float64)[:, None]
    else:
        columns = (y[:, None] == np.unique(y)[1:]).astype(np.float64)
    spread = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _seeds(random_state: Any, count: int) -> list[int]:
    """Return a seed for each table; a generator is asked for one number, from which they come."""
    entropy = random_state
    if isinstance(random_state, np.random.Generator):
        entropy = int(random_state.integers(2**32))
    elif isinstance(random_state, np.random.RandomState):
        entropy = int(random_state.randint(2**31))
    children = np.random.SeedSequence(entropy).spawn(count)
    return [int(child.generate_state(1)[0]) for child in children]


def _refuse_unknown(y: Array | None) -> None:
    if y is not None and y.dtype.kind == "f" and np.isnan(y).any():
        count = int(np.isnan(y).sum())
        rows = "1 row" if count == 1 else f"{count:,} rows"
        raise ValueError(f"y has no value in {rows}: leave these out, a response is not imputed")


def _refuse(X: Floats, gaps: Array, n_imputations: int) -> None:
    # One filling would not tell how much they differ.
    check_count("n_imputations", n_imputations, 2)
    empty = np.flatnonzero(gaps.all(axis=0))
    if len(empty):
        raise ValueError(
            f"columns {listing(empty.tolist(), str, 3)} of X have no value at all: leave them out"
        )
    if np.isinf(X).any() or np.fmax.reduce(np.abs(X), axis=None) > VALUES.most:
        raise ValueError(f"X holds values beyond {VALUES.most:g}: correct or rescale them")
