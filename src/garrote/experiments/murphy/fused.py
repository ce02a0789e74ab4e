"""Murphy Figure 13.16: the fused lasso on an array-CGH signal, and on a noisy image."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.experiments.data import find
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings, quantiles
from garrote.paths.signals import FusedSignal, fuse_signal
from garrote.summaries import Table

# Strengths tried, in units of the noise: of the differences, and of the sizes.
_FUSIONS = np.geomspace(0.5, 20.0, 12)
_SPARSITIES = np.array([0.05, 0.2, 0.5])
_SIDE, _NOISE = 64, 1.0


class Denoised(NamedTuple):
    """A fused signal, the strength of its differences, and the noise they were measured in."""

    fused: FusedSignal
    fusion: float
    noise: float


def run_figure_13_16a(settings: StudySettings) -> Report:
    """Fuse the copy numbers of a glioblastoma, and of arrays with places that were not measured."""
    with np.load(find("cgh.npz")) as opened:
        tumour, arrays = opened["GBM_y"], opened["DiseaseArray"]
    signals = {"glioblastoma": tumour}
    signals |= {f"array {k + 1}": column for k, column in enumerate(arrays.T)}
    if settings.quick:
        signals = {name: values[:500] for name, values in signals.items()}
    found = {name: _by_bic(values) for name, values in signals.items()}
    # The text: mostly "off", and neighbours of similar value.
    fitted = [denoised.fused for denoised in found.values()]
    first = found["glioblastoma"].fused.values
    return Report(
        "Murphy Figure 13.16a: comparative genomic hybridization, fused",
        (
            Table(
                {
                    "signal": list(signals),
                    "places": [len(values) for values in signals.values()],
                    "not measured": [int(np.isnan(values).sum()) for values in signals.values()],
                    "noise": [f"{denoised.noise:.3f}" for denoised in found.values()],
                    "pieces": [fused.n_pieces for fused in fitted],
                    "share that is 0": [f"{np.mean(fused.values == 0):.2f}" for fused in fitted],
                    "gap": [f"{fused.gap:.0e}" for fused in fitted],
                },
                caption="strengths by BIC, with as many parameters as there are pieces that are not 0",
            ),
        ),
        (
            'the text: "a signal that is mostly off", whose neighbours are similar. Ours is 0 at '
            f"{np.mean(first == 0):.0%} of the places, and elsewhere constant over "
            f"{_runs(first)} stretches",
            "the figure prints neither numbers nor strengths, so only its kind can be compared",
        ),
        {"signals": signals, "found": found},
        lambda: _draw_signal(signals["glioblastoma"], first),
    )


def run_figure_13_16bc(settings: StudySettings) -> Report:
    """Fuse noisy images of a few constant regions over the lattice of their pixels."""
    count = settings.count(20, quick=2)
    side = _SIDE // 2 if settings.quick else _SIDE
    truth = _picture(side)
    errors = np.zeros((3, count))
    gaps, pieces, shown = [], [], None
    for k, stream in enumerate(settings.streams(count)):
        noisy = truth + _NOISE * np.random.default_rng(stream).standard_normal(truth.shape)
        fits = [fuse_signal(noisy, strength * _NOISE) for strength in np.geomspace(0.3, 3.0, 8)]
        best = min(fits, key=lambda fit: float(np.mean((fit.values - truth) ** 2)))
        rows = _smoothed(noisy)
        errors[:, k] = [np.mean((image - truth) ** 2) for image in (noisy, rows, best.values)]
        gaps.append(max(fit.gap for fit in fits))
        pieces.append(best.n_pieces)
        shown = shown or (noisy, best.values)
    names = ("noisy image", "best moving average", "fused lasso, 2-d lattice")
    return Report(
        f"Murphy Figure 13.16b-c: images of {side} x {side}, denoised",
        (
            Table(
                {
                    "": list(names),
                    f"mean squared error, median (10% to 90%) of {count}": [
                        quantiles(row, 3) for row in errors
                    ],
                },
                caption="strengths and widths that come nearest to the truth",
            ),
        ),
        (
            f"largest duality gap {max(gaps):.0e}; {quantiles(np.array(pieces), 0)} pieces",
            "the text shows a picture without numbers; the image is ours, of four constant regions with "
            f"noise of deviation {_NOISE:g}",
        ),
        {"errors": dict(zip(names, errors, strict=True)), "gaps": np.array(gaps)},
        lambda: _draw_images(shown, truth),
    )


def _by_bic(values: Floats) -> Denoised:
    """Return the fused signal of least BIC, its noise taken from differences of neighbours."""
    known = values[~np.isnan(values)]
    noise = float(np.median(np.abs(np.diff(known))) / (0.6745 * np.sqrt(2)))
    best, least = None, np.inf
    for fusion, sparsity in product(_FUSIONS * noise, _SPARSITIES * noise):
        fused = fuse_signal(values, fusion, sparsity)
        misfit = np.nansum((values - fused.values) ** 2) / noise**2
        score = float(misfit + np.log(len(known)) * _runs(fused.values))
        if score < least:
            best, least = Denoised(fused, float(fusion), noise), score
    assert best is not None
    return best


def _runs(values: Floats) -> int:
    """Return how many stretches of equal values there are that are not 0."""
    starts = np.append(True, np.abs(np.diff(values)) > 1e-12 * np.abs(values).max())
    return int(np.count_nonzero(starts & (values != 0)))


def _picture(side: int) -> Floats:
    """Return an image of four constant regions on an empty ground."""
    row, column = np.mgrid[:side, :side] / side
    image = np.zeros((side, side))
    image[(row > 0.1) & (row < 0.45) & (column > 0.1) & (column < 0.6)] = 2.0
    image[(row > 0.3) & (row < 0.8) & (column > 0.4) & (column < 0.55)] = -1.5
    image[(row - 0.7) ** 2 + (column - 0.78) ** 2 < 0.15**2] = 3.0
    image[(row > 0.6) & (row < 0.9) & (column > 0.1) & (column < 0.25)] = 1.0
    return image


def _smoothed(image: Floats) -> Floats:
    """Return the best moving average over squares, for comparison."""
    from scipy.ndimage import uniform_filter

    truth = _picture(len(image))
    filtered = [np.asarray(uniform_filter(image, width)) for width in (1, 3, 5, 7)]
    return min(filtered, key=lambda one: float(np.mean((one - truth) ** 2)))


def _draw_signal(values: Floats, fused: Floats) -> Any:
    figure, axes = make_axes(1, 1, width=8, height=4)
    axis = axes[0, 0]
    axis.plot(values, ".", ms=3, color=OTHER, label="measured")
    axis.plot(fused, color=GARROTE, label="fused lasso")
    axis.axhline(0, lw=0.5, color=LASSO)
    axis.set(xlabel="place on the genome", ylabel="CGH intensity (log ratio)")
    axis.legend(frameon=False)
    return figure


def _draw_images(shown: Any, truth: Array) -> Any:
    figure, axes = make_axes(1, 3, width=10, height=3.6)
    for axis, image, title in zip(
        axes[0], (*shown, truth), ("(b) noisy image", "(c) fused lasso", "truth"), strict=True
    ):
        axis.imshow(image, cmap="gray", vmin=-3, vmax=4)
        axis.set(title=title, xticks=[], yticks=[])
    return figure
