"""Murphy Figure 13.9: spikes found by the lasso, and brought to their size by least squares on them."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, make_axes
from garrote.experiments.murphy.methods import unscaled_problem
from garrote.experiments.report import Report, StudySettings, quantiles
from garrote.paths.annealed import fit_path
from garrote.penalties import L1
from garrote.solvers.control import Control
from garrote.summaries import Table

_NOISE, _SHARE = 0.01, 0.1
_METHODS = ("lasso", "debiased", "least squares")
# Debiased coefficients above this are spikes, which are 1 or -1.
_HALF = 0.5


class Sizes(NamedTuple):
    """Columns, rows and spikes."""

    columns: int
    rows: int
    spikes: int


class Recovery(NamedTuple):
    """One draw: the truth, the estimates, and how the lasso got there."""

    truth: Floats
    estimates: dict[str, Floats]
    gap: float
    rounds: int

    @property
    def chosen(self) -> int:
        """How many columns the lasso chose."""
        return int(np.count_nonzero(self.estimates["lasso"]))

    @property
    def missed(self) -> int:
        """How many spikes are not among them."""
        return int(np.count_nonzero(self.truth[self.estimates["lasso"] == 0]))

    @property
    def exact(self) -> bool:
        """Whether the debiased coefficients above one half are the spikes, with their signs."""
        found = self.estimates["debiased"]
        return bool(np.array_equal(np.sign(found) * (np.abs(found) > _HALF), self.truth))

    def error(self, method: str) -> float:
        """Return the mean squared error of an estimate."""
        return float(np.mean((self.estimates[method] - self.truth) ** 2))


def run_figure_13_9(settings: StudySettings) -> Report:
    """Draw spikes, observe few noisy mixtures of them, and estimate them in three ways."""
    sizes = Sizes(1024, 256, 30) if settings.quick else Sizes(4096, 1024, 160)
    count = settings.count(5, quick=2)
    draws = [_recover(np.random.default_rng(stream), sizes) for stream in settings.streams(count)]
    errors = {name: np.array([draw.error(name) for draw in draws]) for name in _METHODS}
    return Report(
        f"Murphy Figure 13.9: {sizes.spikes} spikes among {sizes.columns}, from {sizes.rows} rows",
        (
            Table(
                {
                    "estimate": list(_METHODS),
                    "mean squared error": [_spread(errors[name]) for name in _METHODS],
                },
                caption=f"{count} draws",
            ),
            Table(
                {
                    "draw": list(range(1, count + 1)),
                    "columns chosen": [draw.chosen for draw in draws],
                    "spikes missed": [draw.missed for draw in draws],
                    "debiased, above 1/2": [
                        "the spikes" if draw.exact else "not the spikes" for draw in draws
                    ],
                    "duality gap": [f"{draw.gap:.0e}" for draw in draws],
                    "rounds of SpaRSA": [draw.rounds for draw in draws],
                },
                caption="the lasso",
            ),
        ),
        (
            "the text: the lasso has spikes in the right places, too small; least squares on its "
            "columns is an excellent estimate; least squares on all (the one of least length) is poor",
            f"noise {_NOISE}, lambda = {_SHARE} lambda_max; rows of X orthonormal, the text says random",
        ),
        {"draws": draws},
        lambda: _draw(draws[0]),
    )


def _recover(rng: np.random.Generator, sizes: Sizes) -> Recovery:
    truth = np.zeros(sizes.columns)
    places = rng.choice(sizes.columns, sizes.spikes, replace=False)
    truth[places] = rng.choice([-1.0, 1.0], sizes.spikes)
    X = np.linalg.qr(rng.standard_normal((sizes.columns, sizes.rows)))[0].T
    y = X @ truth + _NOISE * rng.standard_normal(sizes.rows)
    alpha = _SHARE * float(np.abs(X.T @ y).max()) / sizes.rows
    path = fit_path(
        unscaled_problem(X, y), L1(), np.array([alpha]), solver="sparsa", control=Control(1e-8)
    )
    lasso = path.coefficients().toarray()[0]
    chosen = np.flatnonzero(lasso)
    debiased = np.zeros_like(lasso)
    debiased[chosen] = np.linalg.lstsq(X[:, chosen], y, rcond=None)[0]
    estimates = dict(zip(_METHODS, (lasso, debiased, X.T @ y), strict=True))  # X X' = I
    return Recovery(truth, estimates, float(path.fits[0].certificate["duality gap"]), path.n_iter)


def _spread(values: Floats) -> str:
    return f"{values[0]:.2g}" if len(values) == 1 else quantiles(values, 5)


def _draw(one: Recovery) -> Any:
    figure, axes = make_axes(4, 1, width=9, height=7)
    axes = np.ravel(axes)
    axes[0].plot(one.truth, lw=0.5, color="black")
    axes[0].set(title=f"truth, {np.count_nonzero(one.truth)} spikes")
    for axis, (name, estimate) in zip(axes[1:], one.estimates.items(), strict=True):
        axis.plot(estimate, lw=0.5, color=LASSO if name == "lasso" else GARROTE)
        axis.set(title=f"{name}: mean squared error {one.error(name):.2g}")
    for axis in axes:
        axis.set(ylim=(-1.2, 1.2))
    axes[-1].set(xlabel="coefficient")
    return figure
