"""VG Figure 9: correlations of genotypes, high among neighbours and absent at a distance."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, OTHER, make_axes
from garrote.experiments.genotypes import distinct_genotypes, entropy
from garrote.experiments.report import Report, StudySettings
from garrote.experiments.variational_garrote.figures_8_10 import informative_genotypes
from garrote.summaries import Table

_SHOWN, _QUICK_SHOWN = 1522, 400
_LEAST_ENTROPY = 0.9
_LAGS = (1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 1000)
# The text's raw table, what its filter removes, and what is left.
_PUBLISHED = {"samples": 928, "predictors": 2399, "removed": 877, "left": 1522}


def run_figure_9(settings: StudySettings) -> Report:
    """Show the correlations of a stretch of genotypes, as many as the text has left."""
    every, informative = distinct_genotypes(), informative_genotypes()
    size = _QUICK_SHOWN if settings.quick else _SHOWN
    rng = np.random.default_rng(settings.seed)
    begin = int(rng.integers(informative.shape[1] - size + 1))
    stretch = informative[:, begin : begin + size].astype(np.float64)
    correlation = np.asarray(np.corrcoef(stretch, rowvar=False))
    by_lag = {lag: np.abs(np.diag(correlation, lag)) for lag in _LAGS if lag < size}
    chance = float(np.sqrt(2 / (np.pi * len(stretch))))
    ours = {
        "samples": every.shape[0],
        "predictors": every.shape[1],
        "removed": every.shape[1] - informative.shape[1],
        "left": informative.shape[1],
    }
    near, far = (float(by_lag[lag].mean()) for lag in (min(by_lag), max(by_lag)))
    return Report(
        f"VG Figure 9: correlations of {size} genotypes",
        (_beside(ours), _tabulate(by_lag)),
        (
            "the text: nearby SNPs are highly correlated, in blocks, and distant ones do not "
            f"depend on each other; ours: mean |r| is {near:.2f} for next neighbours and {far:.2f} for "
            f"those {max(by_lag)} apart; independent columns would have {chance:.2f}",
            "the paper's genotypes are not public. Ours are of mice of a heterogeneous stock, bred from "
            "eight strains: their blocks are long, and families make distant positions somewhat alike",
            f"columns with an entropy below {_LEAST_ENTROPY} (natural logarithm) are removed, as in the "
            "text; columns that repeat others were removed before",
        ),
        {"correlation": correlation, "by_lag": by_lag, "counts": ours,
         "entropy": entropy(informative)},
        lambda: _draw(correlation, by_lag, chance),
    )  # fmt: skip


def _beside(ours: dict[str, int]) -> Table:
    return Table(
        {
            "": list(ours),
            "paper": [f"{count:,}" for count in _PUBLISHED.values()],
            "ours": [f"{count:,}" for count in ours.values()],
        }
    )


def _tabulate(by_lag: dict[int, Floats]) -> Table:
    return Table(
        {
            "positions apart": list(by_lag),
            "mean |r|": [f"{values.mean():.3f}" for values in by_lag.values()],
            "share with |r| > 0.9": [f"{(values > 0.9).mean():.1%}" for values in by_lag.values()],
        },
        caption="of the columns that are shown",
    )


def _draw(correlation: Floats, by_lag: dict[int, Floats], chance: float) -> Any:
    figure, axes = make_axes(1, 2, width=10.5, height=4.6)
    left, right = axes[0]
    image = left.imshow(
        np.abs(correlation), vmin=0, vmax=1, cmap="viridis", interpolation="nearest"
    )
    figure.colorbar(image, ax=left, label="|r|")
    left.set(title="correlations", xlabel="position", ylabel="position")
    lags = np.array(list(by_lag))
    right.semilogx(lags, [values.mean() for values in by_lag.values()], "o-", color=GARROTE, ms=4)
    right.axhline(chance, color=OTHER, ls=":", label="independent columns")
    right.set(title="mean |r|", xlabel="positions apart", ylim=(0, 1))
    right.legend(frameon=False)
    return figure
