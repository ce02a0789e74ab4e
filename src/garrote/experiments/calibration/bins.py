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
from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
from garrote.experiments.columns import autoregressive
from garrote.experiments.drawing import make_axes
from garrote.experiments.genotypes import distinct_genotypes
from garrote.experiments.report import Report, StudySettings
from garrote.inference import EM, Gibbs, MeanField, Method, Metropolis, Sample, Search
from garrote.summaries import Table

_ROWS = _COLUMNS = 100
_MOST_TRUE = 10
_EFFECT = 0.5
_TABLES = 100
_BINS = 10
_LEVELS = (0.05, 0.1)
# A bin is near the diagonal within this, or within so many of its standard errors.
_NEAR, _ERRORS = 0.05, 2.0
_SAMPLER = Sample(n_steps=2000, burn_in=500)
# A step of these is cheaper or dearer than one of the informed sampler.
_METROPOLIS = Metropolis(n_steps=20_000, burn_in=2000)
_GIBBS = Gibbs(n_steps=2000, burn_in=500)
_SEARCH = Search(n_steps=300)
_SPIKE = 0.001
# Bins of fewer variables are left out of the figure.
_DRAWN = 5
_ROOT = float(np.sqrt(_COLUMNS))
DEFAULT = "Beta(1, sqrt D)"
INDEPENDENT, WALKS = "independent columns", "other walks, and search"

Draw = Callable[[np.random.Generator], Floats]
Fit = Callable[[Floats, Floats], SpikeSlabRegressor]


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


def run_calibration(settings: StudySettings) -> Report:
    """Compare priors on the inclusion probability, and methods, on three kinds of columns."""
    count = settings.count(_TABLES, quick=1)
    designs, about = designs_and_remarks()
    numbers = {
        (design, name): calibrate(draw, fit, settings, count)
        for design, draw in designs.items()
        for group in _groups(design)
        for name, fit in GROUPS[group].items()
    }
    tables = tuple(
        _tabulate(design, group, numbers) for design in designs for group in _groups(design)
    )
    return Report(
        "Are the probabilities calibrated? Stated inclusion probabilities against simulated truth",
        tables,
        (
            f"{count} tables for each kind of columns; N = D = {_ROWS}, unit noise, a number of true "
            f"variables uniform on 0 to {_MOST_TRUE}, effects N(0, {_EFFECT}^2) per standard deviation. "
            "Cells: mean probability, share of true variables, and how many variables are in the bin",
            f"off: bins whose mean and share differ by more than {_NEAR} and by more than {_ERRORS:.0f} "
            "standard errors. false at a: mean share of false variables among discoveries(fdr=a)",
            f"priors: sampled, {_SAMPLER.n_steps} states a chain. best pi: that of largest evidence, "
            "the sum over sizes k of p(y | k) Binomial(k; D, pi), where p(y | k) is the sampled "
            "probability of k under Beta(1, sqrt D) over its prior probability",
            f"all others have the prior {DEFAULT}. Two chains of {_METROPOLIS.n_steps} Metropolis "
            f"steps or {_GIBBS.n_steps} Gibbs sweeps; a search that expands {_SEARCH.n_steps} "
            f"models; EM with the Bernoulli-Gaussian model or with a spike of variance {_SPIKE}",
            *about,
        ),
        numbers,
        lambda: _draw(designs, numbers),
    )


def calibrate(draw: Draw, fit: Fit, settings: StudySettings, count: int) -> Calibration:
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


def _by(method: Method, inclusion: Any = None) -> Fit:
    def fit(X: Floats, y: Floats) -> SpikeSlabRegressor:
        model = SpikeSlabRegressor(method=method, inclusion=inclusion, random_state=0)
        return model.fit(X, y)

    return fit


def _with_best_inclusion(X: Floats, y: Floats) -> SpikeSlabRegressor:
    first = _by(_SAMPLER)(X, y)
    best = best_inclusion(first.posterior_.size_probability, 1.0, _ROOT)
    return _by(_SAMPLER, inclusion=best)(X, y)


GROUPS: dict[str, dict[str, Fit]] = {
    "priors": {
        "Beta(1, 1)": _by(_SAMPLER, inclusion=(1.0, 1.0)),
        DEFAULT: _by(_SAMPLER),
        "Beta(1, D)": _by(_SAMPLER, inclusion=(1.0, float(_COLUMNS))),
        "best pi": _with_best_inclusion,
    },
    WALKS: {
        "metropolis": _by(_METROPOLIS),
        "gibbs": _by(_GIBBS),
        "search": _by(_SEARCH),
    },
    "mean field and EM": {
        "mean field": _by(MeanField()),
        "mean field, em": _by(MeanField("em")),
        "mean field, anneal": _by(MeanField("anneal")),
        "EM": _by(EM()),
        "EM, spike": _by(EM(spike_variance=_SPIKE)),
    },
}


def _groups(design: str) -> list[str]:
    """Return what runs on a design: all walks aim at one posterior, so that one design is enough."""
    return [group for group in GROUPS if group != WALKS or design == INDEPENDENT]


def resembling(correlation: float) -> Draw:
    """Return a law of columns that resemble their neighbours."""
    return lambda rng: autoregressive(rng, _ROWS, _COLUMNS, correlation)


def designs_and_remarks() -> tuple[dict[str, Draw], list[str]]:
    """Return the laws of columns, and what is to be said of them."""
    designs = {INDEPENDENT: resembling(0.0), "AR(0.9)": resembling(0.9)}
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


def _tabulate(design: str, group: str, numbers: dict[tuple[str, str], Calibration]) -> Table:
    edges = np.linspace(0, 1, _BINS + 1)
    labels = [f"{low:.1f}-{high:.1f}" for low, high in pairwise(edges)]
    columns: dict[str, list[str]] = {
        "": [*labels, "off", *(f"false at {level}" for level in _LEVELS)]
    }
    for name in GROUPS[group]:
        found = numbers[design, name]
        cells = [f"{_short(p)} {_short(s)} ({n})" if n else "-" for p, s, _, n in found.bins()]
        off = str(len(found.off()) or "none")
        columns[name] = [*cells, off, *(f"{share:.3f}" for share in found.false.mean(axis=0))]
    return Table(columns, caption=f"{design}: {group}")


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


def _draw(designs: dict[str, Draw], numbers: dict[tuple[str, str], Calibration]) -> Any:
    """Draw a row a group and a column a design, the default in each."""
    size = {"width": 4 * len(designs), "height": 4.1 * len(GROUPS)}
    figure, axes = make_axes(len(GROUPS), len(designs), **size)
    for row, (group, methods) in zip(axes, GROUPS.items(), strict=True):
        names = [DEFAULT, *(name for name in methods if name != DEFAULT)]
        for one, design in zip(row, designs, strict=True):
            if group not in _groups(design):
                one.set_axis_off()
                continue
            one.plot([0, 1], [0, 1], color="black", lw=0.8)
            for k, name in enumerate(names):
                _draw_curve(one, k, name, numbers[design, name])
            one.set(title=f"{design}: {group}", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        row[0].set_ylabel("share of true variables")
        row[0].legend(frameon=False, fontsize=8)
    for one in axes[-1]:
        one.set_xlabel("stated probability")
    return figure


def _draw_curve(axis: Any, k: int, name: str, found: Calibration) -> None:
    rows = np.array(found.bins())
    p, share, error, _ = rows[rows[:, 3] >= _DRAWN].T
    bold = name == DEFAULT
    style = curve_style(k) | {"lw": 2.0 if bold else 1.0, "marker": "o", "ms": 5 if bold else 3}
    axis.plot(p, share, label=name + (" (default)" if bold else ""), **style)
    if bold:
        low, high = share - 2 * error, share + 2 * error
        axis.fill_between(p, low, high, color=style["color"], alpha=0.15, lw=0)
