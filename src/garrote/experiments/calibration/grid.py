"""Calibration over laws of data: sizes of effects, how many, how strong, and how columns correlate."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Array, Floats
from garrote.displays.palette import curve_style
from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
from garrote.experiments.columns import autoregressive
from garrote.experiments.drawing import make_axes
from garrote.experiments.genotypes import distinct_genotypes
from garrote.experiments.report import Report, StudySettings
from garrote.priors import GaussianSlab, TwoHumpedSlab
from garrote.summaries import Table

_TABLES = 40
# Rows and columns; a quarter of all columns is true in tables of the second shape.
_WIDE, _DENSE = (200, 500), (300, 200)
# z counts variables of a probability beyond this, as those below it are mostly of no consequence.
_COUNTED = 0.1
_NEAR, _FAR = 2.5, 4.0
# Probabilities are kept from 0 and 1 by this in the log loss, as chains are of finite length.
_EDGE = 1e-4
_SIGNAL_TO_NOISE = (0.5, 1.5, 4.0, 10.0)
_COUNTS = (3, 10, 40, 50)
# Multiplication by the third element of the field of four elements.
_TIMES = (0, 2, 3, 1)
DEFAULT = "shapes averaged"

Columns = Callable[[np.random.Generator, int, int], Floats]


def _equal(rng: np.random.Generator, count: int) -> Floats:
    return rng.choice([-1.0, 1.0], count)


def _decaying(rng: np.random.Generator, count: int) -> Floats:
    """Sizes from 1 down to a tenth, in equal ratios."""
    return _equal(rng, count) * np.geomspace(1.0, 0.1, count)


def _gaussian(rng: np.random.Generator, count: int) -> Floats:
    return rng.standard_normal(count)


def _laplace(rng: np.random.Generator, count: int) -> Floats:
    return rng.laplace(size=count)


SIZES = {"equal": _equal, "Gaussian": _gaussian, "Laplace": _laplace, "decaying": _decaying}


def _independent(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    return rng.standard_normal((rows, columns))


def _autoregressive(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    return autoregressive(rng, rows, columns, 0.9)


def _equicorrelated(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    common = rng.standard_normal((rows, 1))
    return np.sqrt(0.7) * common + np.sqrt(0.3) * _independent(rng, rows, columns)


def _genotypes(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    """Neighbouring distinct positions of mice drawn at random; what does not vary is noise."""
    stored = distinct_genotypes()
    begin = rng.integers(stored.shape[1] - columns + 1)
    mice = rng.permutation(len(stored))[:rows]
    X = stored[mice, begin : begin + columns].astype(np.float64)
    still = X.std(axis=0) == 0
    X[:, still] = rng.standard_normal((rows, int(still.sum())))
    return np.asarray(X / X.std(axis=0))


DESIGNS: dict[str, Columns] = {
    "independent": _independent,
    "AR(.9)": _autoregressive,
    "equicorrelated .7": _equicorrelated,
    "genotypes": _genotypes,
}

PRIORS: dict[str, dict[str, Any]] = {
    DEFAULT: {"prior": TwoHumpedSlab()},
    "one hump": {"prior": GaussianSlab()},
}


@dataclass(frozen=True)
class Cell:
    """One law of data: the columns, how many are true, the law of their sizes, signal over noise."""

    design: str
    count: int
    sizes: str = "none"
    ratio: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of its tables."""
        return _DENSE if self.count == _COUNTS[-1] else _WIDE

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats, Array]:
        """Return columns, response and which columns are true; the noise has variance 1."""
        rows, columns = self.shape
        X = DESIGNS[self.design](rng, rows, columns)
        true = np.zeros(columns, dtype=bool)
        signal = np.zeros(rows)
        if self.count:
            at = rng.choice(columns, self.count, replace=False)
            true[at] = True
            signal = X[:, at] @ SIZES[self.sizes](rng, self.count)
            signal *= np.sqrt(self.ratio) / signal.std()
        return X, signal + rng.standard_normal(rows), true


def make_cells(designs: list[str]) -> list[Cell]:
    """Return a cell without any true variable for each design, and 16 others.

    Of the 256 combinations of four designs, sizes, counts and ratios these 16 have every pair of values
    of any two of them once (an orthogonal array), so that no value stands with one other alone.
    """
    cells = [Cell(design, 0) for design in designs]
    for a, sizes in enumerate(SIZES):
        for b, design in enumerate(DESIGNS):
            count, ratio = _COUNTS[a ^ _TIMES[b]], _SIGNAL_TO_NOISE[a ^ b]
            cells.append(Cell(design, count, sizes, ratio))
    return [cell for cell in cells if cell.design in designs]


@dataclass(frozen=True)
class Scores:
    """What was stated of the tables of a cell: a row a table.

    ``surplus`` is the sum of truth less probability over variables that count, ``variance`` what that
    sum has if the probabilities are right.
    """

    f1: Floats
    log_loss: Floats
    surplus: Floats
    variance: Floats

    @property
    def z(self) -> float:
        """How far the number of true variables is from what was stated, in standard deviations."""
        variance = float(self.variance.sum())
        return float(self.surplus.sum()) / np.sqrt(variance) if variance > 0 else 0.0


def score(stated: Floats, true: Array) -> tuple[float, float, float, float]:
    """Return F1 of what is likelier in than out, log loss, surplus of truth, and its variance."""
    chosen = stated > 0.5
    both = chosen.sum() + true.sum()
    f1 = 2 * float((chosen & true).sum()) / both if both else 1.0
    p = np.clip(stated, _EDGE, 1 - _EDGE)
    loss = -float(np.sum(np.where(true, np.log(p), np.log1p(-p))))
    counted = stated > _COUNTED
    surplus = float(np.sum(true[counted] - stated[counted]))
    return f1, loss, surplus, float(np.sum(stated[counted] * (1 - stated[counted])))


def measure(cell: Cell, settings: dict[str, Any], streams: list[np.random.SeedSequence]) -> Scores:
    """Fit the tables of a cell and score what was stated."""
    rows = []
    for stream in streams:
        X, y, true = cell.draw(np.random.default_rng(stream))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what chains miss is measured
            model = SpikeSlabRegressor(**settings, random_state=0).fit(X, y)
        rows.append(score(model.inclusion_probability_, true))
    return Scores(*np.array(rows).T)


def run_calibration_grid(settings: StudySettings) -> Report:
    """Compare slabs on 20 laws of data."""
    count = settings.count(_TABLES, quick=1)
    designs, remarks = _designs_at_hand()
    cells = make_cells(designs)
    if settings.quick:
        cells = cells[:: max(1, len(cells) // 3)]
    streams = settings.streams(count)
    numbers = {
        (cell, name): measure(cell, chosen, streams)
        for cell in cells
        for name, chosen in PRIORS.items()
    }
    return Report(
        "Are the probabilities calibrated, whatever the law of the data?",
        (*(_tabulate(name, cells, numbers) for name in PRIORS), _summarise(cells, numbers)),
        (
            f"{count} tables a cell, noise of variance 1, SpikeSlabRegressor at its defaults but for "
            "the prior; mean and standard error over tables. F1 of what has a probability beyond 1/2 "
            "(1 where nothing is true and nothing found); log loss summed over variables",
            "z: sum of truth less probability over its standard deviation, for variables beyond "
            f"{_COUNTED}; negative where probabilities are too high",
            "16 of the 256 laws: every pair of values of design, sizes, count and ratio once",
            *remarks,
        ),
        numbers,
        lambda: _draw(cells, numbers),
    )


def _designs_at_hand() -> tuple[list[str], list[str]]:
    """Return the designs that can be drawn, and what is to be said of the others."""
    try:
        distinct_genotypes()
    except FileNotFoundError as error:
        return [name for name in DESIGNS if name != "genotypes"], [
            f"genotypes are left out: {error}"
        ]
    return list(DESIGNS), []


def _tabulate(name: str, cells: list[Cell], numbers: dict[tuple[Cell, str], Scores]) -> Table:
    found = [numbers[cell, name] for cell in cells]
    columns = {
        "columns": [cell.design for cell in cells],
        "N x D": ["{} x {}".format(*cell.shape) for cell in cells],
        "true": [str(cell.count) for cell in cells],
        "sizes": [cell.sizes for cell in cells],
        "ratio": [f"{cell.ratio:g}" for cell in cells],
        "F1": [_with_error(one.f1, 2) for one in found],
        "log loss": [_with_error(one.log_loss, 1) for one in found],
        "z": [f"{one.z:.1f}" for one in found],
    }
    return Table(columns, caption=name)


def _summarise(cells: list[Cell], numbers: dict[tuple[Cell, str], Scores]) -> Table:
    """Return the means over all cells, and in how many of them z is small."""
    by_prior = {name: [numbers[cell, name] for cell in cells] for name in PRIORS}
    z = {name: np.abs([one.z for one in found]) for name, found in by_prior.items()}
    return Table(
        {
            "": list(PRIORS),
            "F1": [
                f"{np.mean([one.f1.mean() for one in found]):.3f}" for found in by_prior.values()
            ],
            "log loss": [
                f"{np.mean([one.log_loss.mean() for one in found]):.2f}"
                for found in by_prior.values()
            ],
            f"|z| <= {_NEAR}": [f"{(z[name] <= _NEAR).sum()} of {len(cells)}" for name in PRIORS],
            f"|z| > {_FAR:g}": [str((z[name] > _FAR).sum()) for name in PRIORS],
            "largest |z|": [f"{z[name].max():.1f}" for name in PRIORS],
        },
        caption="all cells",
    )


def _with_error(values: Floats, digits: int) -> str:
    if len(values) < 2:
        return f"{values.mean():.{digits}f}"
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.{digits}f} ± {error:.{digits}f}"


def _draw(cells: list[Cell], numbers: dict[tuple[Cell, str], Scores]) -> Any:
    """Draw z of every cell, a row a cell."""
    figure, axes = make_axes(1, 1, width=7.0, height=0.28 * len(cells) + 1.2)
    axis = np.ravel(axes)[0]
    axis.axvspan(-_NEAR, _NEAR, color="0.9", lw=0)
    places = np.arange(len(cells))[::-1]
    for k, name in enumerate(PRIORS):
        style = curve_style(k) | {"linestyle": "none", "marker": "o"}
        axis.plot([numbers[cell, name].z for cell in cells], places, label=name, **style)
    words = [f"{c.design}, {c.count} {c.sizes}, {c.ratio:g}" for c in cells]
    axis.set_yticks(places, words)
    axis.set_xlabel("z: left of the band probabilities are too high, right of it too low")
    axis.legend(frameon=False, fontsize=8)
    return figure
