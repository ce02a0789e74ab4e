"""The phase diagram of Donoho & Tanner: where l1 recovers sparse signals, measured beside theory."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.experiments.drawing import GARROTE, LASSO, make_axes
from garrote.experiments.murphy.methods import unscaled_problem
from garrote.experiments.report import Report, StudySettings
from garrote.experiments.sensing.threshold import halfway, weak_threshold
from garrote.paths.annealed import fit_path
from garrote.penalties import L1
from garrote.summaries import Table

_LENGTH, _REPEATS = 800, 25
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# Where attempts are made, around the line of theory.
_AWAY = np.linspace(-0.08, 0.08, 9)
# A lasso this weak has the least l1 norm among all that fit, and recovery is exact or it is not.
_ALPHA, _RECOVERED = 1e-9, 1e-3


class Attempts(NamedTuple):
    """Signals measured with one share of measurements: k / M of each, whether recovered, largest gap."""

    share: float
    level: Floats
    recovered: Floats
    gap: float


def run_phase_diagram(settings: StudySettings) -> Report:
    """Recover signals of many sizes from few and many random measurements."""
    length = 200 if settings.quick else _LENGTH
    shares = (0.3, 0.6) if settings.quick else _SHARES
    repeats = settings.count(_REPEATS, quick=4)
    streams = settings.streams(len(shares))
    found = [
        _attempt(np.random.default_rng(stream), length, share, repeats)
        for share, stream in zip(shares, streams, strict=True)
    ]
    lines = [halfway(one.level, one.recovered) for one in found]
    theory = [weak_threshold(share) for share in shares]
    off = [line - known for (line, _), known in zip(lines, theory, strict=True)]
    return Report(
        f"Phase diagram of l1: half of all signals of {length} entries recovered",
        (
            Table(
                {
                    "M / N": list(shares),
                    "k / M in theory": [f"{known:.4f}" for known in theory],
                    "measured": [f"{line:.4f} ± {error:.4f}" for line, error in lines],
                    "difference": [f"{each:+.4f}" for each in off],
                    "largest gap": [f"{one.gap:.0e}" for one in found],
                },
                caption=(
                    f"N = {length}, {repeats} signals at each of {len(_AWAY)} sizes a row; matrix and "
                    "entries Gaussian"
                ),
            ),
        ),
        (
            "theory, for N without end: Donoho, Maleki & Montanari (2009), PNAS 106, 18914-18919; "
            "Donoho & Tanner (2009), Phil. Trans. R. Soc. A 367, 4273-4293",
            f"recovered: relative error below {_RECOVERED:g} of the lasso at alpha = {_ALPHA:g}",
            f"the largest difference is {max(map(abs, off)):.3f}",
        ),
        {"shares": shares, "theory": theory, "lines": lines, "attempts": found},
        lambda: _draw(found, lines),
    )  # fmt: skip


def _attempt(rng: np.random.Generator, length: int, share: float, repeats: int) -> Attempts:
    rows = round(share * length)
    sizes = np.unique(np.round((weak_threshold(share) + _AWAY) * rows).astype(int).clip(1, rows))
    level: list[float] = []
    recovered, gaps = [], []
    for size in np.repeat(sizes, repeats):
        X = np.asfortranarray(rng.standard_normal((rows, length)) / np.sqrt(rows))
        truth = np.zeros(length)
        inside: Array = rng.choice(length, size, replace=False)
        truth[inside] = rng.standard_normal(size)
        path = fit_path(unscaled_problem(X, X @ truth), L1(), np.array([_ALPHA]), solver="homotopy")
        coef = path.coefficients().toarray()[-1]
        level.append(size / rows)
        recovered.append(np.linalg.norm(coef - truth) < _RECOVERED * np.linalg.norm(truth))
        gaps.append(path.fits[-1].certificate["duality gap"])
    return Attempts(share, np.array(level), np.array(recovered, dtype=np.float64), max(gaps))


def _draw(found: list[Attempts], lines: list[tuple[float, float]]) -> Any:
    figure, axes = make_axes(width=5.5, height=4.5)
    axis = axes[0, 0]
    shares = np.linspace(0.01, 1.0, 200)
    axis.plot(shares, [weak_threshold(share) for share in shares], color=LASSO, label="theory")
    measured = [one.share for one in found]
    axis.errorbar(
        measured, [line for line, _ in lines], [2 * error for _, error in lines],
        fmt="o", ms=4, color=GARROTE, label="half recovered, ± 2 standard errors",
    )  # fmt: skip
    axis.set(
        xlabel="measurements, M / N",
        ylabel="entries not 0, k / M",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    axis.legend(frameon=False)
    return figure
