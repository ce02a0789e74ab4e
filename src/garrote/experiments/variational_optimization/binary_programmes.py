"""Variational Optimization, section 4: binary quadratic programmes, for which the text has no numbers.

Staines & Barber (2012), Eqs. 41-46, leave open how good a maximum is that means of independent switches
lead to. Here it stands beside all 2^20 settings, and beside fifty tabu searches of programmes of 250
switches that are drawn as Beasley (1998) draws them.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.binary import METHODS, BinaryMaximum, BinaryProgramme, maximise_binary
from garrote.binary.enumeration import best_of_all
from garrote.binary.roof_duality import roof_dual
from garrote.binary.semidefinite import semidefinite_bound
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings, spread
from garrote.summaries import Table

_SMALL, _LARGE, _STARTS = 20, 250, 50
KINDS = ("dense", "sparse", "max-cut")
# Values that differ by less than this differ by the rounding of sums.
_SAME = 1e-9


class Small(NamedTuple):
    """Programmes of 20 switches: by method, in how many the maximum was found, and both bounds.

    ``bounds`` are shares of the maximum, roof dual and semidefinite, one row a programme; ``means`` are
    those of Eq. 43 at random probabilities.
    """

    hits: dict[str, int]
    bounds: Floats
    means: Floats


class Large(NamedTuple):
    """A programme of 250 switches, by method the best of fifty starts as a share of fifty tabu searches.

    ``seconds`` are those of the processor; ``bound`` is the semidefinite one, as a share too.
    """

    found: dict[str, float]
    seconds: dict[str, float]
    bound: float


def run_binary(settings: StudySettings) -> Report:
    """Count how often each method finds the maximum, and how far values and bounds are apart."""
    count = settings.count(100, quick=8)
    streams = settings.streams(count)
    small = {kind: _small(kind, streams) for kind in KINDS}
    large = [_large(stream) for stream in streams[: max(count // 10, 2)]]
    between = sum(
        int((one.means <= 1.0).sum() + (one.bounds.min(axis=1) >= 1.0 - _SAME).sum())
        for one in small.values()
    )
    return Report(
        "Variational Optimization, section 4: binary quadratic programmes",
        (_describe_small(small, count), _describe_large(large)),
        (
            "the text states no numbers: it leaves an analysis of the algorithms to others",
            f"Eq. 44 asks {2 * count * len(KINDS)} times that a mean is below the maximum or that both "
            f"relaxations are above it: {between} times they were",
        ),
        {"small": small, "large": large},
        lambda: _draw(small),
    )


def draw_programme(kind: str, size: int, rng: np.random.Generator) -> BinaryProgramme:
    """Return a programme of normal entries, of a fifth of them, or the cut of a random graph."""
    if kind == "max-cut":
        weights = np.triu(rng.random((size, size)) < 0.4, 1) * 1.0
        weights += weights.T
        return BinaryProgramme(np.diag(weights.sum(axis=1)) - weights)
    A = np.triu(rng.standard_normal((size, size)))
    if kind == "sparse":
        A *= rng.random((size, size)) < 0.2
    return BinaryProgramme(A + A.T, rng.standard_normal(size))


def draw_beasley(rng: np.random.Generator) -> BinaryProgramme:
    """Return 250 switches, a tenth of the pairs coupled by whole numbers from -100 to 100."""
    there = rng.random((_LARGE, _LARGE)) < 0.1
    upper = np.triu(rng.integers(-100, 101, (_LARGE, _LARGE)) * there)
    return BinaryProgramme(upper + np.triu(upper, 1).T)


def _small(kind: str, streams: list[np.random.SeedSequence]) -> Small:
    hits, bounds, means = dict.fromkeys(METHODS, 0), [], []
    for stream in streams:
        rng = np.random.default_rng(stream)
        programme = draw_programme(kind, _SMALL, rng)
        most = programme.value(best_of_all(programme)[0])
        for name in METHODS:
            found = _maximise(programme, name, 0)
            hits[name] += found.value >= most - _SAME * programme.scale
        bounds.append([roof_dual(programme) / most, semidefinite_bound(programme) / most])
        means.append(programme.mean(rng.random(_SMALL)) / most)
    return Small(hits, np.array(bounds), np.array(means))


def _large(stream: np.random.SeedSequence) -> Large:
    programme = draw_beasley(np.random.default_rng(stream))
    best = _maximise(programme, "tabu", 1).value
    found, seconds = {}, {}
    for name in METHODS:
        begin = time.process_time()
        one = _maximise(programme, name, 0)
        seconds[name] = time.process_time() - begin
        found[name] = one.value / best
    return Large(found, seconds, semidefinite_bound(programme) / best)


def _maximise(programme: BinaryProgramme, method: str, seed: int) -> BinaryMaximum:
    """Search from all starts, with no bound at which it would end."""
    return maximise_binary(
        programme.A, programme.b, method=method, n_starts=_STARTS, bound="signs", random_state=seed
    )


def _describe_small(small: dict[str, Small], count: int) -> Table:
    columns = {
        "kind": list(small),
        **{name: [f"{one.hits[name]} of {count}" for one in small.values()] for name in METHODS},
        "semidefinite": [f"{one.bounds[:, 1].mean():.3f}" for one in small.values()],
        "roof": [f"{one.bounds[:, 0].mean():.3f}" for one in small.values()],
    }
    caption = (
        f"{_SMALL} switches: how often the best of {_STARTS} starts is the maximum of all; "
        "bounds over maximum"
    )
    return Table(columns, caption)


def _describe_large(large: list[Large]) -> Table:
    columns = {
        "method": list(METHODS),
        "value, least": [f"{min(one.found[name] for one in large):.4f}" for name in METHODS],
        "value": [spread(np.array([one.found[name] for one in large]), 4) for name in METHODS],
        "seconds": [f"{np.median([one.seconds[name] for one in large]):.3f}" for name in METHODS],
    }
    bound = spread(np.array([one.bound for one in large]), 3)
    caption = (
        f"{len(large)} programmes of {_LARGE} switches, over the best of {_STARTS} tabu searches; "
        f"semidefinite bound {bound}"
    )
    return Table(columns, caption)


def _draw(small: dict[str, Small]) -> Any:
    """Draw Eq. 44, programme by programme: a mean below the maximum, relaxations above it."""
    figure, axes = make_axes(1, len(small), width=10, height=3.6)
    for panel, (kind, one) in zip(axes[0], small.items(), strict=True):
        place = np.arange(len(one.means))
        panel.axhline(1.0, color=OTHER, lw=1)
        panel.plot(place, one.bounds[:, 0], "^", color=LASSO, ms=3, label="roof dual")
        panel.plot(place, one.bounds[:, 1], "v", color=GARROTE, ms=3, label="semidefinite")
        panel.plot(place, one.means, "o", color=OTHER, ms=3, label="mean (Eq. 43)")
        panel.set(title=kind, xlabel="programme")
    axes[0][0].set_ylabel("share of the maximum")
    axes[0][0].legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return figure
