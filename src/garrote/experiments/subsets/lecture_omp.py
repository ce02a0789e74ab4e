"""The Lecture's matching pursuits, step by step, and beside the best subsets that they stand in for.

Odone & Rosasco, Variable Selection & Sparsity, sections 6.1 and 6.2. All subsets of more than a few
variables cannot be fitted, so that one is taken in at a time: that with the largest
a_j = (r'X^j)^2 / |X^j|^2. Matching pursuit (MP) then moves its coefficient alone, orthogonal matching
pursuit (OMP) fits all that are in.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from garrote import GreedyRegressor
from garrote.arrays import Floats
from garrote.datasets import make_sparse_regression
from garrote.datasets.simulation import Regression
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.murphy.methods import all_subsets, fit_subsets, residual_squares
from garrote.experiments.report import Report, StudySettings
from garrote.greedy import MatchingPursuit
from garrote.summaries import Table

_ROWS, _COLUMNS, _RELEVANT, _STEPS = 60, 20, 5, 12
_CORRELATION, _SNR = 0.5, 3.0
_SIZES_OF_BRUTE_FORCE = (4, 6, 8, 10, 12)
_NEAR = 1e-9


class Steps(NamedTuple):
    """The Lecture's iteration: what was chosen, what is left, and how far its statements are from true.

    ``chosen`` are variables, ``left`` is |r|^2 from the start on, ``rule`` the largest difference
    between |r - X^j v^j|^2 and |r|^2 - a_j over all columns and steps, ``fall`` that between what |r|^2
    falls by and a_k, ``orthogonal`` the largest |X_I' r|, of columns and a response of length 1.
    """

    chosen: list[int]
    left: Floats
    rule: float
    fall: float
    orthogonal: float


class Draw(NamedTuple):
    """One data set: both iterations as printed, how far garrote's are, and the best subsets."""

    mp: Steps
    omp: Steps
    apart: dict[str, float]
    best: Floats


def run_lecture_omp(settings: StudySettings) -> Report:
    """Run both iterations as printed, and hold the text's statements against them."""
    count = settings.count(100, quick=10)
    draws = [_draw_one(stream) for stream in settings.streams(count)]
    brute = _brute_force(settings)
    shares = {
        "MP": np.array([one.mp.left for one in draws]),
        "OMP": np.array([one.omp.left for one in draws]),
        "best subset": np.array([one.best for one in draws]),
    }
    return Report(
        f"The Lecture's matching pursuits: {_ROWS} rows, {_COLUMNS} columns, {_RELEVANT} relevant",
        (_claims(draws), _left(shares), _subsets(brute)),
        (
            f"{count} data sets, neighbouring columns correlated by {_CORRELATION}, signal-to-noise "
            f"ratio {_SNR:g}; the text prints no numbers. Both iterations are run as printed, and by "
            "GreedyRegressor",
            _approximation(shares),
            "where the text is not to be read literally: the minimiser of |Y - X M_I w|^2 over all w is "
            "not unique, as w outside of I is free, and r = Y - X w needs the one that is 0 there; "
            "T steps are made, though i runs to T - 1",
        ),
        {"draws": draws, "shares": shares, "brute": brute},
        lambda: _draw(shares),
    )


def _draw_one(stream: np.random.SeedSequence) -> Draw:
    data = make_sparse_regression(
        _ROWS, _COLUMNS, _RELEVANT, correlation=_CORRELATION, snr=_SNR, random_state=stream
    )  # fmt: skip
    X, y = _unit(data)
    mp, mp_coef = _pursue(X, y, _only_this)
    omp, omp_coef = _pursue(X, y, _all_that_are_in)
    ours = {
        "MP": _path(X, y, MatchingPursuit(_STEPS)),
        "OMP": _path(X, y, "omp"),
        "best subset": _path(X, y, "best-subset"),
    }
    apart = {
        "MP": float(np.abs(ours["MP"] - mp_coef).max()),
        "OMP": float(np.abs(ours["OMP"] - omp_coef).max()),
    }
    return Draw(mp, omp, apart, residual_squares(X, y, ours["best subset"]))


def _unit(data: Regression) -> tuple[Floats, Floats]:
    """Return centred columns and response of length 1, so that |r|^2 is the share that is left."""
    X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    return X / np.linalg.norm(X, axis=0), y / np.linalg.norm(y)


# Columns, response, coefficients, residual, index set with the newcomer last -> new coefficients
Update = Callable[[Floats, Floats, Floats, Floats, list[int]], Floats]


def _only_this(X: Floats, y: Floats, coef: Floats, residual: Floats, inside: list[int]) -> Floats:
    """Eq. 6.3: move the coefficient of the newcomer by v_k."""
    k = inside[-1]
    moved = coef.copy()
    moved[k] += residual @ X[:, k] / (X[:, k] @ X[:, k])
    return moved


def _all_that_are_in(
    X: Floats, y: Floats, coef: Floats, residual: Floats, inside: list[int]
) -> Floats:
    """Fit all variables of the index set, the others at 0."""
    fitted = np.zeros_like(coef)
    columns = sorted(set(inside))
    fitted[columns] = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
    return fitted


def _pursue(X: Floats, y: Floats, update: Update) -> tuple[Steps, Floats]:
    """Iterate as printed; return the steps, and the coefficients from the empty model on."""
    coef, residual, inside = np.zeros(X.shape[1]), y, list[int]()
    coefs, left = [coef], [float(y @ y)]
    rule = fall = orthogonal = 0.0
    for _ in range(_STEPS):
        length = np.sum(X**2, axis=0)
        a, alone = (residual @ X) ** 2 / length, residual @ X / length
        explained = np.sum((residual[:, None] - X * alone) ** 2, axis=0)
        rule = max(rule, float(np.abs(explained - (residual @ residual - a)).max()))
        inside.append(int(np.argmax(a)))
        coef = update(X, y, coef, residual, inside)
        residual = y - X @ coef
        coefs.append(coef)
        left.append(float(residual @ residual))
        fall = max(fall, abs(left[-2] - left[-1] - float(a.max())))
        orthogonal = max(orthogonal, float(np.abs(X[:, inside].T @ residual).max()))
    return Steps(inside, np.array(left), rule, fall, orthogonal), np.array(coefs)


def _path(X: Floats, y: Floats, search: Any) -> Floats:
    """Return garrote's coefficients from the empty model on."""
    model = GreedyRegressor(search, criterion=None, max_features=_STEPS, fit_intercept=False)
    return np.asarray(model.fit(X, y).path_.coefficients().toarray())


def _claims(draws: list[Draw]) -> Table:
    """Hold each statement of section 6.2 against all steps of all data sets."""
    again = [len(one.mp.chosen) - len(set(one.mp.chosen)) for one in draws]
    twice = max(len(one.omp.chosen) - len(set(one.omp.chosen)) for one in draws)
    rows = [
        (
            "|r - X^j v^j|^2 = |r|^2 - a_j: the two rules are one",
            f"to {max(max(one.mp.rule, one.omp.rule) for one in draws):.0e}",
        ),
        ("MP: |r|^2 falls by a_k", f"to {max(one.mp.fall for one in draws):.0e}"),
        (
            "OMP: the residual is orthogonal to all columns that are in",
            f"to {max(one.omp.orthogonal for one in draws):.0e}",
        ),
        ("so that OMP chooses no variable twice", f"{twice} times"),
        (
            f"MP's is not, so that MP does: of {_STEPS} steps",
            f"{np.mean(again):.1f} on average",
        ),
        *(
            (f"{name} of GreedyRegressor, largest difference", f"{apart:.0e}")
            for name, apart in (
                (name, max(one.apart[name] for one in draws)) for name in ("MP", "OMP")
            )
        ),
    ]
    return Table({"section 6.2": [row[0] for row in rows], "ours": [row[1] for row in rows]})


def _left(shares: dict[str, Floats]) -> Table:
    shown = [0, 1, 2, 3, _RELEVANT, 8, _STEPS]
    columns: dict[str, list[Any]] = {"steps, or size": shown}
    for name, values in shares.items():
        columns[name] = [f"{values[:, k].mean():.4f}" for k in shown]
    columns["OMP is the best subset"] = [
        f"{np.mean(_is_best(shares, 'OMP')[:, k]):.0%}" for k in shown
    ]
    return Table(columns, caption="mean of |r|^2 / |Y|^2")


def _is_best(shares: dict[str, Floats], name: str) -> Any:
    return shares[name] <= shares["best subset"] + _NEAR


def _approximation(shares: dict[str, Floats]) -> str:
    """Set the text's word "approximate solution" beside the exact one."""
    best = _is_best(shares, "OMP")[:, _RELEVANT].mean()
    excess = {
        name: shares[name][:, _RELEVANT].mean() / shares["best subset"][:, _RELEVANT].mean() - 1
        for name in ("MP", "OMP")
    }
    return (
        "the text: greedy methods give approximate solutions of Eq. 6.2. Ours, at the true size: OMP "
        f"has the best subset in {best:.0%} of the data sets and leaves {excess['OMP']:.0%} more than "
        f"it on average, MP after as many steps {excess['MP']:.0%} more"
    )


def _brute_force(settings: StudySettings) -> dict[int, float]:
    """Return the processor time of fitting all subsets of so many columns."""
    data = make_sparse_regression(_ROWS, _COLUMNS, _RELEVANT, random_state=settings.seed)
    X, y = _unit(data)
    seconds = {}
    for size in _SIZES_OF_BRUTE_FORCE[: 3 if settings.quick else None]:
        start = time.process_time()
        fit_subsets(X[:, :size], y, all_subsets(size))
        seconds[size] = time.process_time() - start
    return seconds


def _subsets(brute: dict[int, float]) -> Table:
    return Table(
        {
            "D": list(brute),
            "subsets": [f"{2**size:,}" for size in brute],
            "seconds": [f"{spent:.3f}" for spent in brute.values()],
        },
        caption="section 6.1: fitting all subsets has exponential complexity",
    )


def _draw(shares: dict[str, Floats]) -> Any:
    figure, axes = make_axes(width=6.4, height=4.2)
    axis = axes[0, 0]
    styles = {"MP": ("^--", LASSO), "OMP": ("o-", GARROTE), "best subset": ("s:", OTHER)}
    for name, (style, color) in styles.items():
        axis.semilogy(shares[name].mean(axis=0), style, color=color, ms=4, label=name)
    axis.axvline(_RELEVANT, color="black", lw=0.8, ls=":")
    axis.set(xlabel="steps, or size of the subset", ylabel=r"mean of $\|r\|^2 / \|Y\|^2$")
    axis.legend(frameon=False)
    return figure
