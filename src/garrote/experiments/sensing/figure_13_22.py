"""Murphy Figure 13.22: the model of compressed sensing, drawn from and turned around.

The figure is a graph without numbers: z is sparse at a level lambda, x = W z, y = R x + noise of
variance sigma^2. Here all of it is drawn, and x found again from y by every way of recovery.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.coding import Adapted, CompressedSensing, SpikeSlabRecovery
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, RIDGE, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

_LENGTH, _ENTRIES, _NOISE = 256, 12, 0.05
_MEASUREMENTS = (32, 48, 64, 96, 128)
_MEAN_FIELD = SpikeSlabRecovery(method="mean-field")
_NO_PRIOR = "least norm, no sparsity"
_WAYS: dict[str, dict[str, Any]] = {
    "lasso": {"recovery": "lasso"},
    "matching pursuit": {"recovery": "omp"},
    "spike and slab": {"recovery": _MEAN_FIELD},
    "relevance": {"recovery": "relevance"},
    "spike and slab, adapted rows": {"recovery": _MEAN_FIELD, "sensing": Adapted(0.5, 0.1)},
    "spike and slab, wrong basis": {"recovery": _MEAN_FIELD, "basis": "identity"},
}


class Recovered(NamedTuple):
    """A signal as it is and as it was recovered, and its deviations where they are stated."""

    truth: Floats
    signal: Floats
    deviation: Floats | None

    @property
    def error(self) -> float:
        """The relative error."""
        return float(np.linalg.norm(self.signal - self.truth) / np.linalg.norm(self.truth))

    @property
    def covered(self) -> float:
        """The share of entries within two deviations; NaN where none are stated."""
        if self.deviation is None:
            return float("nan")
        return float(np.mean(np.abs(self.signal - self.truth) <= 2.0 * self.deviation))


def run_figure_13_22(settings: StudySettings) -> Report:
    """Draw signals from the model of the figure, measure them, and recover them."""
    count = settings.count(5, quick=1)
    sizes = (48, 96) if settings.quick else _MEASUREMENTS
    found = {
        (name, size): [_recover(name, size, stream) for stream in settings.streams(count)]
        for name in (*_WAYS, _NO_PRIOR)
        for size in sizes
    }
    names = [*_WAYS, _NO_PRIOR]
    errors = {
        str(size): [f"{np.median([one.error for one in found[name, size]]):.3f}" for name in names]
        for size in sizes
    }
    covered = [np.mean([one.covered for size in sizes for one in found[n, size]]) for n in names]
    told = ["-" if np.isnan(share) else f"{share:.0%}" for share in covered]
    return Report(
        "Murphy Figure 13.22: the model of compressed sensing, and the way back",
        (
            Table(
                {
                    "in the figure": ["lambda -> z", "z, W -> x", "x, R, sigma^2 -> y"],
                    "in the text": ["sparse prior", "x = W z", "y = R x + noise, M much below D"],
                    "here": [
                        f"{_ENTRIES} of {_LENGTH} entries not 0, ± uniform on (1, 3)",
                        "cosines, orthonormal",
                        f"Gaussian rows of length sqrt(D / M), sigma {_NOISE}",
                    ],
                },
                caption="the graph, and what was drawn from it",
            ),
            Table(
                {"error at M =": names, **errors, "within 2 deviations": told},
                caption=f"D = {_LENGTH}, medians of {count} signals; sigma is known to every method",
            ),
        ),
        (
            "the text: x can be recovered from far fewer measurements than entries, in the right basis; "
            "adapting rows does better than random ones; it prints no numbers",
            "the wrong basis: the same measurements, the signal taken to be sparse itself",
        ),
        {"recovered": found},
        lambda: _draw(found, sizes),
    )  # fmt: skip


def _recover(name: str, size: int, stream: np.random.SeedSequence) -> Recovered:
    rng = np.random.default_rng(stream)
    coef = np.zeros(_LENGTH)
    places = rng.choice(_LENGTH, _ENTRIES, replace=False)
    coef[places] = rng.choice([-1.0, 1.0], _ENTRIES) * rng.uniform(1.0, 3.0, _ENTRIES)
    scanner = CompressedSensing(
        _LENGTH, size, noise_deviation=_NOISE, random_state=int(rng.integers(2**31))
    )
    truth = np.asarray(scanner.basis_operator @ coef)
    scanner.set_params(**_WAYS.get(name, {}))

    def measure(rows: Floats) -> Floats:
        return np.asarray(rows @ truth + _NOISE * rng.standard_normal(len(rows)))

    y = scanner.measure(measure)
    if name == _NO_PRIOR:
        rows = scanner.sensing_operator.matmat(np.eye(_LENGTH))
        return Recovered(truth, np.linalg.lstsq(rows, y, rcond=None)[0], None)
    return Recovered(truth, scanner.recover(y), scanner.deviation_)


def _draw(found: dict[tuple[str, int], list[Recovered]], sizes: tuple[int, ...]) -> Any:
    figure, axes = make_axes(1, 2, width=11, height=4)
    left, right = axes[0]
    one = found["spike and slab", sizes[len(sizes) // 2]][0]
    places = np.arange(_LENGTH)
    left.plot(places, one.truth, lw=2.5, color=OTHER, alpha=0.6, label="x")
    left.plot(places, one.signal, lw=0.8, color=GARROTE, label="recovered, ± 2 deviations")
    if one.deviation is not None:
        low, high = one.signal - 2 * one.deviation, one.signal + 2 * one.deviation
        left.fill_between(places, low, high, color=GARROTE, alpha=0.3)
    left.set(xlabel="entry", title=f"{sizes[len(sizes) // 2]} measurements of {_LENGTH} entries")
    left.legend(frameon=False, fontsize="small")
    styles = {_NO_PRIOR: (OTHER, "--"), "lasso": (LASSO, "-"), "relevance": (RIDGE, "-")}
    for name in (*_WAYS, _NO_PRIOR):
        color, line = styles.get(name, (GARROTE, "-:"[name.endswith("rows")]))
        if name.endswith(("basis", "pursuit")):
            continue
        medians = [np.median([each.error for each in found[name, size]]) for size in sizes]
        right.semilogy(sizes, medians, line, color=color, label=name)
    right.set(xlabel="measurements M", ylabel="relative error, median")
    right.legend(frameon=False, fontsize="small")
    return figure
