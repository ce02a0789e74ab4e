"""Are inclusion probabilities calibrated? Of those of probability 0.7, seven in ten should be true."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import betaln, logsumexp
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Array, Floats
from garrote.displays.palette import curve_style
from garrote.estimators.bayesian_selector import BayesianSelector
from garrote.experiments.drawing import make_axes
from garrote.experiments.genotypes import distinct_genotypes
from garrote.experiments.report import Report, Settings
from garrote.summaries import Table

_ROWS = _COLUMNS = 100
_MOST_TRUE = 10
_EFFECT = 0.5
_TABLES = 100
_BINS = 10
_LEVELS = (0.05, 0.1)
# A bin is near the diagonal within this, or within so many of its standard errors.
_NEAR, _ERRORS = 0.05, 2.0
_SAMPLER: dict[str, Any] = {"method": "sample", "n_steps": 2000, "burn_in": 500}
_ROOT = float(np.sqrt(_COLUMNS))
DEFAULT = "Beta(1, sqrt D)"

Draw = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True)
class Calibration:
    """Stated probabilities and the truth behind them, and false shares of what was discovered.

    ``stated`` and ``true`` run over all variables of all tables; ``false`` has a row a table and a
    column a nominal false discovery rate.
    """

    stated: Floats
    true: Array
    false: Floats

    def bins(self) -> list[tuple[float, float, float, int]]:
        """Return mean probability, share of true ones, standard error and count of every bin.

        The standard error is that of the share if the probabilities are right.
        """
        place = np.minimum((self.stated * _BINS).astype(int), _BINS - 1)
        rows = []
        for k in range(_BINS):
            p, t = self.stated[place == k], self.true[place == k]
            if len(p):
                error = float(np.sqrt(np.sum(p * (1 - p)))) / len(p)
                rows.append((float(p.mean()), float(t.mean()), error, len(p)))
            else:
                rows.append((np.nan, np.nan, np.nan, 0))
        return rows

    def off(self) -> list[int]:
        """Return the bins that are not near the diagonal."""
        return [
            k
            for k, (p, share, error, count) in enumerate(self.bins())
            if count and abs(p - share) > max(_NEAR, _ERRORS * error)
        ]


def run_calibration(settings: Settings) -> Report:
    """Compare priors on the inclusion probability, and methods, on three kinds of columns."""
    count = settings.count(_TABLES, quick=3)
    designs, missing = _designs()
    numbers = {
        (design, name): calibrate(draw, fit, settings, count)
        for design, draw in designs.items()
        for name, fit in METHODS.items()
    }
    tables = tuple(_tabulate(design, numbers) for design in designs)
    return Report(
        "Are the probabilities calibrated? Stated inclusion probabilities against simulated truth",
        tables,
        (
            f"{count} tables for each kind of columns; N = D = {_ROWS}, unit noise, a number of true "
            f"variables uniform on 0 to {_MOST_TRUE}, effects N(0, {_EFFECT}^2) per standard deviation. "
            "Cells: mean probability, share of true variables, and how many variables are in the bin",
            f"off: bins whose mean and share differ by more than {_NEAR} and by more than {_ERRORS:.0f} "
            "standard errors. false at a: mean share of false variables among discoveries(fdr=a)",
            f"sampled, {_SAMPLER['n_steps']} states a chain, but for the last column. best pi: that of "
            "largest evidence, the sum over sizes k of p(y | k) Binomial(k; D, pi), where p(y | k) is "
            "the sampled probability of k under Beta(1, sqrt D) over its prior probability",
            *missing,
        ),
        numbers,
        lambda: _draw(designs, numbers),
    )


def calibrate(
    draw: Draw, fit: Callable[[Floats, Floats], BayesianSelector], settings: Settings, count: int
) -> Calibration:
    """Fit tables of known truth and collect what was stated."""
    stated, true, false = [], [], []
    for stream in settings.streams(count):
        rng = np.random.default_rng(stream)
        X = draw(rng)
        coef = np.zeros(_COLUMNS)
        size = rng.integers(0, _MOST_TRUE + 1)
        coef[rng.choice(_COLUMNS, size, replace=False)] = rng.normal(0, _EFFECT, size)
        with warnings.catch_warnings():
            # Short chains: what they miss is part of what is measured.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fit(X, X @ coef + rng.standard_normal(_ROWS))
        stated.append(model.inclusion_probability_)
        true.append(coef != 0)
        found = [model.posterior_.discoveries(level) for level in _LEVELS]
        false.append([float(np.mean(coef[f] == 0)) if len(f) else 0.0 for f in found])
    return Calibration(np.concatenate(stated), np.concatenate(true), np.array(false))


def best_inclusion(size_probability: Floats, a: float, b: float) -> float:
    """Return the inclusion probability of largest evidence, given the sizes found under Beta(a, b).

    All models of a size have one prior probability under either law, so that p(y | size) is the same.
    """
    D = len(size_probability) - 1
    k = np.arange(D + 1)
    with np.errstate(divide="ignore"):
        log_data = np.log(size_probability) - (betaln(a + k, b + D - k) - betaln(a, b))
    grid = np.geomspace(0.1 / D, 0.5, 400)
    # How many models there are of a size is in ``size_probability`` already.
    logs = [logsumexp(log_data + k * np.log(p) + (D - k) * np.log1p(-p)) for p in grid]
    return float(grid[int(np.argmax(logs))])


def _with_prior(inclusion: Any) -> Callable[[Floats, Floats], BayesianSelector]:
    def fit(X: Floats, y: Floats) -> BayesianSelector:
        return BayesianSelector(inclusion=inclusion, random_state=0, **_SAMPLER).fit(X, y)

    return fit


def _with_best_inclusion(X: Floats, y: Floats) -> BayesianSelector:
    first = _with_prior((1.0, _ROOT))(X, y)
    return _with_prior(best_inclusion(first.posterior_.size_probability, 1.0, _ROOT))(X, y)


def _by_mean_field(X: Floats, y: Floats) -> BayesianSelector:
    return BayesianSelector(method="mean-field").fit(X, y)


METHODS: dict[str, Callable[[Floats, Floats], BayesianSelector]] = {
    "Beta(1, 1)": _with_prior((1.0, 1.0)),
    DEFAULT: _with_prior(None),
    "Beta(1, D)": _with_prior((1.0, float(_COLUMNS))),
    "best pi": _with_best_inclusion,
    "mean field": _by_mean_field,
}


def resembling(correlation: float) -> Draw:
    """Return a law of columns that resemble their neighbours."""

    def draw(rng: np.random.Generator) -> Floats:
        X = rng.standard_normal((_ROWS, _COLUMNS))
        for j in range(1, _COLUMNS):
            X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
        return X

    return draw


def _designs() -> tuple[dict[str, Draw], list[str]]:
    designs = {"independent columns": resembling(0.0), "AR(0.9)": resembling(0.9)}
    try:
        genotypes = distinct_genotypes()
    except FileNotFoundError as error:
        return designs, [f"genotypes are left out: {error}"]

    def window(rng: np.random.Generator) -> Floats:
        begin = rng.integers(genotypes.shape[1] - _COLUMNS + 1)
        inside = genotypes[:, begin : begin + _COLUMNS].astype(np.float64)
        mice = rng.permutation(len(inside))[:_ROWS]
        return np.asarray((inside / inside.std(axis=0))[mice])

    designs["genotypes"] = window
    words = "genotypes: 100 neighbouring distinct columns of 100 mice, drawn anew for every table"
    return designs, [words]


def _tabulate(design: str, numbers: dict[tuple[str, str], Calibration]) -> Table:
    edges = np.linspace(0, 1, _BINS + 1)
    labels = [f"{low:.1f}-{high:.1f}" for low, high in pairwise(edges)]
    columns: dict[str, list[str]] = {
        "": [*labels, "off", *(f"false at {level}" for level in _LEVELS)]
    }
    for name in METHODS:
        found = numbers[design, name]
        cells = [f"{p:.2f} {s:.2f} ({n})" if n else "-" for p, s, _, n in found.bins()]
        off = str(len(found.off()) or "none")
        columns[name] = [*cells, off, *(f"{share:.3f}" for share in found.false.mean(axis=0))]
    return Table(columns, caption=design)


def _draw(designs: dict[str, Draw], numbers: dict[tuple[str, str], Calibration]) -> Any:
    figure, axes = make_axes(1, len(designs), width=4 * len(designs), height=4.3)
    for one, design in zip(axes[0], designs, strict=True):
        one.plot([0, 1], [0, 1], color="black", lw=0.8)
        for k, name in enumerate(METHODS):
            rows = np.array(numbers[design, name].bins())
            p, share, error, _ = rows[rows[:, 3] > 0].T
            bold = name == DEFAULT
            style = curve_style(k) | {
                "lw": 2.0 if bold else 1.0,
                "marker": "o",
                "ms": 5 if bold else 3,
            }
            one.plot(p, share, label=name + (" (default)" if bold else ""), **style)
            if bold:
                one.fill_between(
                    p, share - 2 * error, share + 2 * error, color=style["color"], alpha=0.15, lw=0
                )
        one.set(title=design, xlabel="stated probability", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes[0, 0].set_ylabel("share of true variables")
    axes[0, 0].legend(frameon=False, fontsize=8)
    return figure
