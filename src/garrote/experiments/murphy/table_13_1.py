"""Murphy Table 13.1: least squares, best subset, ridge and lasso on the prostate data.

All 40 numbers come out again with the protocol that made them, which is not one to follow: three of the
four columns are in units of all 97 rows, test rows included, and are fitted to training rows that are
then not centred, without an intercept; the folds of the cross-validation are neighbours, and unequal.
"""

from collections.abc import Callable

import numpy as np

from garrote.arrays import Array, Floats
from garrote.datasets import Prostate, load_prostate
from garrote.experiments.murphy.methods import (
    all_subsets,
    fit_lasso,
    fit_least_squares,
    fit_ridge,
    fit_subsets,
)
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

# Intercept, eight coefficients, test error.
_PUBLISHED = {
    "LS": (2.452, 0.716, 0.293, -0.143, 0.212, 0.310, -0.289, -0.021, 0.277, 0.586),
    "best subset": (2.481, 0.651, 0.380, 0.0, 0.0, 0.0, 0.0, 0.0, 0.178, 0.572),
    "ridge": (2.479, 0.656, 0.300, -0.129, 0.208, 0.301, -0.260, -0.019, 0.256, 0.580),
    "lasso": (2.480, 0.653, 0.297, -0.119, 0.200, 0.289, -0.236, 0.0, 0.226, 0.564),
}
_LAMBDAS = np.logspace(2, 0, 30)
_FOLDS = 10

Fit = Callable[[Floats, Floats], Floats]


def run_table_13_1(settings: StudySettings) -> Report:
    """Fit the four methods by the text's protocol."""
    data = load_prostate(corrected=False)
    subsets = all_subsets(data.X.shape[1])
    candidates: dict[str, Fit] = {
        "best subset": lambda X, y: fit_subsets(X, y, subsets),
        "ridge": lambda X, y: fit_ridge(X, y, _LAMBDAS),
        "lasso": lambda X, y: fit_lasso(X, y, _LAMBDAS),
    }
    numbers, chosen = {"LS": _least_squares(data)}, {}
    for name, fit in candidates.items():
        numbers[name], chosen[name] = _chosen_by_validation(data, fit)
    members = ", ".join(data.names[j] for j in subsets[chosen["best subset"]])
    rounded = {name: np.round(values, 3) + 0.0 for name, values in numbers.items()}
    rows: dict[str, list[str]] = {"": ["intercept", *data.names, "test error"]}
    for name, published in _PUBLISHED.items():
        rows[name] = [f"{a:6.3f} {b:6.3f}" for a, b in zip(published, rounded[name], strict=True)]
    equal = sum(int(np.sum(rounded[name] == _PUBLISHED[name])) for name in _PUBLISHED)
    right = load_prostate()
    return Report(
        "Murphy Table 13.1: four methods on the prostate data",
        (Table(rows, caption="in each column the text's number, then ours"),),
        (
            f"{equal} of 40 numbers agree to three decimals",
            f"chosen by {_FOLDS}-fold cross-validation: {{{members}}}, ridge lambda "
            f"{_LAMBDAS[chosen['ridge']]:.5g}, lasso lambda {_LAMBDAS[chosen['lasso']]:.5g}",
            "the protocol, which is not recommended: least squares in units of the training rows; the "
            "others in units of all 97 rows, fitted to a centred response and uncentred columns without "
            "an intercept; folds of neighbouring rows, nine of 6 and one of 13",
            f"the text's data have a known error, lweight {data.X[31, 1]:.3f} in test row 32; corrected "
            f"to {right.X[31, 1]:.3f}, least squares has a test error of "
            f"{_least_squares(right)[-1]:.3f}, not {numbers['LS'][-1]:.3f}",
        ),
        {"numbers": numbers, "published": _PUBLISHED, "chosen": chosen, "equal": equal},
    )


def _least_squares(data: Prostate) -> Floats:
    """Fit the training rows in their own units."""
    X, y = data.standardised_on_training()
    coef = fit_least_squares(X, y)
    raw = data.X[data.train]
    test = (data.X[~data.train] - raw.mean(axis=0)) / raw.std(axis=0, ddof=1)
    return _numbers(coef, float(data.y[data.train].mean()), test, data.y[~data.train])


def _chosen_by_validation(data: Prostate, fit: Fit) -> tuple[Floats, int]:
    """Choose among candidates by the text's cross-validation; return its numbers and its position."""
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0, ddof=1)
    train, y = X[data.train], data.y[data.train]
    squares = 0.0
    for held_out in _folds(len(y)):
        coef, intercept = _fit_uncentred(train[~held_out], y[~held_out], fit)
        fitted = coef @ train[held_out].T + intercept[:, None]
        squares = squares + np.sum((y[held_out] - fitted) ** 2, axis=1)
    position = int(np.argmin(squares))
    coef, intercept = _fit_uncentred(train, y, fit)
    test = X[~data.train]
    return _numbers(coef[position], float(intercept[position]), test, data.y[~data.train]), position


def _fit_uncentred(X: Floats, y: Floats, fit: Fit) -> tuple[Floats, Floats]:
    """Centre the response but not the columns, and let the intercept make up for it afterwards."""
    coef = fit(X, y - y.mean())
    return coef, y.mean() - coef @ X.mean(axis=0)


def _folds(count: int) -> list[Array]:
    """Return which rows each fold holds out: neighbours, and the last fold takes what is left over."""
    fold = np.minimum(np.arange(count) // (count // _FOLDS), _FOLDS - 1)
    return [fold == k for k in range(_FOLDS)]


def _numbers(coef: Floats, intercept: float, X: Floats, y: Floats) -> Floats:
    return np.concatenate([[intercept], coef, [np.mean((y - intercept - X @ coef) ** 2)]])
