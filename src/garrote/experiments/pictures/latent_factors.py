"""Murphy Table 13.3 and Figure 13.21: models of latent factors, each run on patches of a photograph."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA, FactorAnalysis, FastICA
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Floats
from garrote.coding import (
    DictionaryLearning,
    NonNegativeFactorization,
    Online,
    SparseMatrixFactorization,
    SparsePCA,
)
from garrote.displays.coding.atoms import mosaic
from garrote.experiments.drawing import make_axes
from garrote.experiments.pictures.photograph import photograph
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

# Method, prior of factors, of loadings, and whether these are orthogonal, as Table 13.3 has them.
_TABLE = (
    ("PCA", "Gauss", "-", "yes"),
    ("FA", "Gauss", "-", "no"),
    ("ICA", "Non-Gauss", "-", "yes"),
    ("Sparse coding", "Laplace", "-", "no"),
    ("Sparse PCA", "Gauss", "Laplace", "maybe"),
    ("Sparse MF", "Laplace", "Laplace", "no"),
)
_FIGURE = ("ICA", "Sparse coding", "PCA", "NMF", "Sparse PCA", "Sparse PCA, sparser")


class Filters(NamedTuple):
    """Loadings of length 1, one a row, and the factors of all patches."""

    loadings: Floats
    factors: Floats

    @property
    def overlap(self) -> float:
        """The largest product of two loadings: 0 if they are orthogonal."""
        gram = np.abs(self.loadings @ self.loadings.T)
        return float(np.max(gram - np.diag(np.diag(gram))))

    @property
    def spread(self) -> float:
        """Over how large a share of its pixels a loading spreads: 1 if evenly over all, on average."""
        shares = self.loadings[self.loadings.any(axis=1)] ** 2
        return float(np.mean(1.0 / np.sum(shares**2, axis=1)) / shares.shape[1])


def run_table_13_3(settings: StudySettings) -> Report:
    """Fit each model of the table, and measure what its priors say."""
    patches, side = _patches(settings)
    found = {name: _fit(name, patches, side) for name, *_ in _TABLE}
    numbers = [found[name] for name, *_ in _TABLE]
    return Report(
        "Murphy Table 13.3: models of latent factors",
        (
            Table(
                {
                    "method": [row[0] for row in _TABLE],
                    "p(z)": [row[1] for row in _TABLE],
                    "p(W)": [row[2] for row in _TABLE],
                    "W orthogonal": [row[3] for row in _TABLE],
                    "factors at 0": [f"{np.mean(one.factors == 0):.0%}" for one in numbers],
                    "loadings at 0": [f"{np.mean(one.loadings == 0):.0%}" for one in numbers],
                    "largest product": [f"{one.overlap:.2f}" for one in numbers],
                },
                caption=f"{len(patches):,} patches of {side} x {side} pixels",
            ),
        ),
        (
            "the first four columns are the text's, the others were measured; it prints no numbers",
            "ICA: its loadings are orthogonal once the patches are white, not in pixels",
        ),
        {"filters": found},
    )


def run_figure_13_21(settings: StudySettings) -> Report:
    """Learn filters of natural images by the methods of the figure."""
    patches, side = _patches(settings)
    found = {name: _fit(name, patches, side) for name in _FIGURE}
    return Report(
        "Murphy Figure 13.21: filters of natural images",
        (
            Table(
                {
                    "panel": [f"({letter})" for letter in "abcdef"],
                    "method": list(_FIGURE),
                    "share of a filter's pixels": [f"{found[n].spread:.2f}" for n in _FIGURE],
                    "factors a patch": [
                        f"{np.count_nonzero(found[n].factors, axis=1).mean():.1f}" for n in _FIGURE
                    ],
                },
                caption=f"{len(patches):,} patches of {side} x {side} pixels of length 1; a "
                "filter of equal entries has a share of 1",
            ),
        ),
        (
            "the text's patches are of other photographs, which it does not name; it prints no numbers, "
            "but says that sparse codes have about 10 factors, and that the filters of sparse coding "
            "and ICA are local, those of PCA waves over the whole patch",
            "non-negative factors are of the patches before they are centred",
        ),
        {"filters": found},
        lambda: _draw(found, side),
    )


def _patches(settings: StudySettings) -> tuple[Floats, int]:
    """Return patches of the photograph, grey, one a row."""
    grey = photograph().mean(axis=2)
    side, count = (6, 1500) if settings.quick else (12, 20_000)
    rng = np.random.default_rng(settings.seed)
    windows = np.lib.stride_tricks.sliding_window_view(grey, (side, side))
    rows = rng.integers(windows.shape[0], size=2 * count)
    columns = rng.integers(windows.shape[1], size=2 * count)
    patches = windows[rows, columns].reshape(2 * count, -1)
    # The sky is of one colour: patches without anything in them would be noise of length 1.
    return patches[patches.std(axis=1) > 5.0][:count], side


def _fit(name: str, patches: Floats, side: int) -> Filters:
    """Fit a model to patches, centred and of length 1."""
    centred = patches - patches.mean(axis=1, keepdims=True)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    count = side * side - side
    model = _model(name, count, unit)
    signals = patches / 255.0 if name == "NMF" else unit
    with warnings.catch_warnings():
        # Filters are looked at; what is left to gain changes none of them visibly.
        warnings.simplefilter("ignore", ConvergenceWarning)
        factors = model.fit_transform(signals)
    loadings = np.asarray(model.components_, float)
    length = np.linalg.norm(loadings, axis=1, keepdims=True)
    return Filters(loadings / np.where(length > 0, length, 1.0), np.asarray(factors))


def _model(name: str, count: int, unit: Floats) -> Any:
    # A code of a patch of length 1 has about ten factors at this price.
    price = 0.6 / np.sqrt(unit.shape[1])
    models: dict[str, Any] = {
        "PCA": PCA(count),
        "FA": FactorAnalysis(count, max_iter=100),
        "ICA": FastICA(count, whiten="unit-variance", random_state=0, max_iter=300, tol=1e-3),
        "Sparse coding": DictionaryLearning(
            count, Online(n_passes=10), alpha=price, random_state=0
        ),
        "NMF": NonNegativeFactorization(count, random_state=0),
        "Sparse PCA": SparsePCA(count, variance=0.95),
        "Sparse PCA, sparser": SparsePCA(count, variance=0.7),
        "Sparse MF": SparseMatrixFactorization(count, max_rounds=50, random_state=0),
    }
    return models[name]


def _draw(found: dict[str, Filters], side: int) -> Any:
    figure, axes = make_axes(2, 3, width=12, height=8)
    for name, panel in zip(found, axes.ravel(), strict=True):
        panel.imshow(
            mosaic(found[name].loadings[:100], (side, side)), cmap="gray", vmin=0.0, vmax=1.0
        )
        panel.set_title(name)
        panel.set_axis_off()
    return figure
