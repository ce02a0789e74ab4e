"""VG Figures 8 and 10: finding and measuring active variables as rows are added."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from garrote.arrays import Array, Floats
from garrote.datasets.simulation import Regression
from garrote.displays.palette import PURPLE
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, RIDGE, make_axes
from garrote.experiments.genotypes import distinct_genotypes, entropy
from garrote.experiments.methods import paired_coefficients, tune_garrote, tune_lasso, tune_ridge
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

_COLUMNS, _QUICK_COLUMNS = 500, 100
# The text had 1522 of its genotypes left to draw 500 from.
_CANDIDATES_A_COLUMN = 1522 / 500
_LEAST_ENTROPY, _MOST_CORRELATED = 0.9, 0.9
_SHARES = (0.10, 0.25)
_PUBLISHED_INSTANCES = 20
_PUBLISHED_TRANSITIONS = {0.10: 0.35, 0.25: 0.60}
_FRACTIONS = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 1.0)
_QUICK_FRACTIONS = (0.25, 0.45, 0.75)
_GENOTYPE_FRACTIONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6)
_QUICK_GENOTYPE_FRACTIONS = (0.4, 1.0)
# An instance counts as recovered where ||dv||_1 is below this share of ||w||_1.
_RECOVERED = 0.01
# Transitions that are as near as this in p/n, or errors as near as this in standard errors, agree.
_NEAR, _ERRORS = 0.05, 2.0
_NON_CONVEX, _CONVEX = ("VG", "PMF", "PMF-ANNEAL"), ("lasso", "ridge")

_METHODS: dict[str, Callable[[Regression, Regression], Floats]] = {
    # Over the paper's gammas: with 25% active the default grid ends before the densest that are needed.
    "VG": lambda train, validation: tune_garrote(train, validation).coef,
    "PMF": partial(paired_coefficients, way="random"),
    "PMF-ANNEAL": partial(paired_coefficients, way="PMF-ANNEAL"),
    "lasso": lambda train, validation: tune_lasso(train, validation).coef,
    "ridge": lambda train, validation: tune_ridge(train, validation).coef,
}
_STYLES = {
    "VG": (GARROTE, "o-"),
    "PMF": (OTHER, "s--"),
    "PMF-ANNEAL": (PURPLE, "d-."),
    "lasso": (LASSO, "^--"),
    "ridge": (RIDGE, "v:"),
}

# (share, fraction) -> method -> instances x (area, error, recovered or not)
Numbers = dict[tuple[float, float], dict[str, Floats]]
# rows, columns, how many of them are active, and chance -> X, and which are active
Columns = Callable[[int, int, int, np.random.Generator], tuple[Floats, Array]]


def run_figure_8(settings: StudySettings) -> Report:
    """Independent Gaussian columns."""
    fractions = _QUICK_FRACTIONS if settings.quick else _FRACTIONS
    numbers, count = _run(settings, fractions, _independent)
    return Report(
        f"VG Figure 8: {_size(settings)} uncorrelated variables, more and more rows",
        (_transitions(numbers), *_tabulate(numbers)),
        (
            *compare_transitions(numbers),
            _compare_below(numbers),
            _protocol(settings, count),
            "the paper prints no numbers but where the transition to almost perfect recovery lies; "
            "here: the p/n, interpolated, above which more than half of the instances have an error "
            f"||dv||_1 below {_RECOVERED:.0%} of ||w||_1",
        ),
        numbers,
        lambda: _draw(numbers),
    )


def run_figure_10(settings: StudySettings) -> Report:
    """Genotypes, which their neighbours resemble."""
    fractions = _QUICK_GENOTYPE_FRACTIONS if settings.quick else _GENOTYPE_FRACTIONS
    genotypes = informative_genotypes()

    def columns(
        rows: int, size: int, active: int, rng: np.random.Generator
    ) -> tuple[Floats, Array]:
        return _stretch_of_genotypes(genotypes, (rows, size), active, rng)

    numbers, count = _run(settings, fractions, columns)
    return Report(
        f"VG Figure 10: {_size(settings)} genotypes, more and more rows",
        (*_tabulate(numbers),),
        (
            *_compare_errors(numbers),
            _protocol(settings, count),
            "the paper's 928 x 2399 genotypes are not public. Ours are those of 1814 mice of a "
            f"heterogeneous stock: of {genotypes.shape[1]:,} distinct columns with an entropy at least "
            f"{_LEAST_ENTROPY} (natural logarithm), a random stretch of "
            f"{_candidates(_size(settings))} neighbours (of the paper's 1522 for 500) gives the active "
            f"variables, no two of them correlated by more than {_MOST_CORRELATED}, and the others",
        ),
        numbers,
        lambda: _draw(numbers),
    )


def informative_genotypes() -> Array:
    """Return the distinct columns of the mice whose entropy is not too small."""
    distinct = distinct_genotypes()
    return distinct[:, entropy(distinct) >= _LEAST_ENTROPY]


def area_under_curve(estimate: Floats, active: Array) -> float:
    """Return how often an active variable has a larger |estimate| than another one; ties count half."""
    ranks = rankdata(np.abs(estimate))
    k = np.count_nonzero(active)
    return float((ranks[active].sum() - k * (k + 1) / 2) / (k * (len(active) - k)))


def _run(
    settings: StudySettings, fractions: Sequence[float], columns: Columns
) -> tuple[Numbers, int]:
    count = settings.count(_PUBLISHED_INSTANCES, quick=1)
    numbers: Numbers = {}
    for share in _SHARES:
        for fraction in fractions:
            runs = [
                _run_one(stream, _size(settings), share, fraction, columns)
                for stream in settings.streams(count)
            ]
            numbers[share, fraction] = {
                method: np.array([run[method] for run in runs]) for method in _METHODS
            }
    return numbers, count


def _size(settings: StudySettings) -> int:
    return _QUICK_COLUMNS if settings.quick else _COLUMNS


def _run_one(
    stream: np.random.SeedSequence, size: int, share: float, fraction: float, columns: Columns
) -> dict[str, tuple[float, float, bool]]:
    rng = np.random.default_rng(stream)
    rows = round(fraction * size)
    active = round(share * size)
    X, where = columns(rows + rows // 10, size, active, rng)
    coef = np.zeros(size)
    # Up to the same effect whatever the size, so that noise matters as little for fewer columns.
    coef[where] = np.arange(1, active + 1) * _COLUMNS / size
    data = Regression(X, X @ coef + rng.standard_normal(len(X)), coef, 1.0)
    train, validation = data.split(rows, rows // 10)
    results = {}
    for method, estimate in _METHODS.items():
        found = estimate(train, validation)
        area = area_under_curve(found, coef != 0)
        error = float(np.abs(found - coef).sum())
        results[method] = (area, error, error < _RECOVERED * coef.sum())
    return results


def _independent(
    rows: int, size: int, active: int, rng: np.random.Generator
) -> tuple[Floats, Array]:
    return rng.standard_normal((rows, size)), rng.permutation(size)[:active]


def _candidates(size: int) -> int:
    return round(_CANDIDATES_A_COLUMN * size)


def _stretch_of_genotypes(
    genotypes: Array, shape: tuple[int, int], active: int, rng: np.random.Generator
) -> tuple[Floats, Array]:
    """Return some mice's genotypes of one stretch, the active ones first."""
    rows, size = shape
    count = _candidates(size)
    begin = rng.integers(genotypes.shape[1] - count + 1)
    mice = np.sort(rng.permutation(len(genotypes))[:rows])
    candidates = genotypes[:, begin : begin + count]
    order = rng.permutation(count)
    similar = np.abs(np.corrcoef(candidates, rowvar=False))
    chosen: list[int] = []
    for j in order:
        if len(chosen) == active:
            break
        if similar[j, chosen].max(initial=0.0) <= _MOST_CORRELATED:
            chosen.append(int(j))
    others = [int(j) for j in order if int(j) not in set(chosen)][: size - active]
    block = candidates[mice][:, chosen + others].astype(np.float64)
    return block, rng.permutation(active)


def _protocol(settings: StudySettings, count: int) -> str:
    return (
        f"instances: {count} (paper: {_PUBLISHED_INSTANCES}); p rows for training and p/10 for "
        "validation, which PMF takes together; unit noise, coefficients from "
        f"{_COLUMNS / _size(settings):g} in even steps to the number of active variables among "
        f"{_COLUMNS}. "
        "Area under the curve of true against false positives as |v| is "
        "thresholded; ||dv||_1 is the summed error of the coefficients. PMF: priors by EM from random "
        "inclusion probabilities; PMF-ANNEAL: pi annealed and reheated in place of its M step"
    )


def _tabulate(numbers: Numbers) -> list[Table]:
    tables = []
    for share in _SHARES:
        rows = {fraction: one for (s, fraction), one in numbers.items() if s == share}
        columns: dict[str, list[str]] = {"p/n": [f"{fraction:.2f}" for fraction in rows]}
        for method in _METHODS:
            means = [one[method].mean(axis=0) for one in rows.values()]
            columns[method] = [f"{area:.3f} {error:7.0f}" for area, error, _ in means]
        caption = f"{share:.0%} of the variables active: area under the curve, and ||dv||_1"
        tables.append(Table(columns, caption=caption))
    return tables


def transition(numbers: Numbers, share: float, method: str) -> float:
    """Return the p/n above which half of the instances are recovered, or NaN."""
    pairs = [(f, np.mean(one[method][:, 2])) for (s, f), one in numbers.items() if s == share]
    fractions, recovered = np.array(pairs).T
    missed = np.flatnonzero(recovered <= 0.5)
    last = int(missed[-1]) if len(missed) else 0
    if not len(missed) or last + 1 == len(fractions):
        return np.nan if len(missed) else float(fractions[0])
    return float(np.interp(0.5, recovered[last : last + 2], fractions[last : last + 2]))


def _transitions(numbers: Numbers) -> Table:
    columns: dict[str, list[str]] = {
        "active": [f"{share:.0%}" for share in _SHARES],
        "paper: VG, PMF": [f"about {_PUBLISHED_TRANSITIONS[share]:.2f}" for share in _SHARES],
    }
    for method in _METHODS:
        places = [transition(numbers, share, method) for share in _SHARES]
        columns[f"ours: {method}"] = ["none" if np.isnan(p) else f"{p:.2f}" for p in places]
    return Table(columns, caption="where recovery becomes almost perfect, as p/n")


def compare_transitions(numbers: Numbers) -> list[str]:
    """Set the text's statements on the transitions of Figure 8 beside ours."""
    places = {m: [transition(numbers, share, m) for share in _SHARES] for m in _METHODS}
    parts = [
        f"{method}'s " + " and ".join(map(_beside, places[method], _PUBLISHED_TRANSITIONS.values()))
        for method in _NON_CONVEX
    ]
    up = {m: places[m][1] > places[m][0] for m in _NON_CONVEX}
    none = {m: bool(np.isnan(places[m]).all()) for m in _CONVEX}
    values = " and ".join(f"{place:.2f}" for place in _PUBLISHED_TRANSITIONS.values())
    return [
        f"transitions beside the paper's {values}: {'; '.join(parts)}",
        f"paper: the transition of VG and PMF moves up as more variables are active; ours: {_which(up)}",
        f"paper: convex methods, which shrink, have no transition; ours: {_which(none)}",
    ]


def _beside(place: float, published: float) -> str:
    """Compare a transition with the published one, in words."""
    if np.isnan(place):
        return "is absent"
    if abs(place - published) <= _NEAR:
        return f"agrees ({place:.2f})"
    return f"comes {'before' if place < published else 'after'} ({place:.2f})"


def _which(holds: dict[str, bool]) -> str:
    """Say of which methods a statement holds, and of which it does not."""
    yes, no = ([m for m, one in holds.items() if one == wanted] for wanted in (True, False))
    parts = [f"so for {', '.join(yes)}"] * bool(yes) + [f"not for {', '.join(no)}"] * bool(no)
    return "; ".join(parts)


def _compare_below(numbers: Numbers) -> str:
    """Compare the errors of PMF with those of VG below the transition, and of PMF-ANNEAL with PMF's."""
    below = [one for (s, f), one in numbers.items() if f < _PUBLISHED_TRANSITIONS[s]]
    less = [one["PMF"][:, 1].mean() < one["VG"][:, 1].mean() for one in below]
    ratios = [one["PMF-ANNEAL"][:, 1].mean() / one["PMF"][:, 1].mean() for one in numbers.values()]
    return (
        "paper: below the transition PMF, which learns from the p/10 rows for validation too, is "
        f"slightly better than VG; ours: its ||dv||_1 is less at {sum(less)} of {len(less)} settings "
        "there. Paper: no difference between PMF and PMF-ANNEAL; ours: the latter's ||dv||_1 is "
        f"{min(ratios):.2f} to {max(ratios):.2f} times the former's"
    )


def _compare_errors(numbers: Numbers) -> list[str]:
    """Set the text's statements on Figure 10 beside the largest training sets here."""
    most = max(fraction for _, fraction in numbers)
    errors = {s: {m: v[:, 1] for m, v in numbers[s, most].items()} for s in _SHARES}
    orders = []
    for share, one in errors.items():
        order = sorted(one, key=lambda method: one[method].mean())
        listed = " < ".join(f"{method} {one[method].mean():.0f}" for method in order)
        orders.append(f"{share:.0%} active: {listed}")
    claims = {
        "VG is better than PMF or comparable, and much better where 25% are active": ("VG", "PMF"),
        "PMF-ANNEAL is much better than PMF": ("PMF-ANNEAL", "PMF"),
        "VG is better than PMF-ANNEAL or comparable": ("VG", "PMF-ANNEAL"),
        "ridge can be better than the lasso where 25% are active": ("ridge", "lasso"),
    }
    return [
        f"||dv||_1 at p/n = {most:.2f}, {'; '.join(orders)}",
        *(
            f"paper: {claim}; ours, {a} less {b}: "
            + ", ".join(
                f"{s:.0%} active, {difference(one[a], one[b])}" for s, one in errors.items()
            )
            for claim, (a, b) in claims.items()
        ),
    ]


def difference(ours: Floats, theirs: Floats) -> str:
    """Describe the mean of paired differences in errors, in words where there are several."""
    less = ours - theirs
    mean = float(less.mean())
    if len(less) == 1:
        return f"{mean:.0f} (one instance)"
    error = float(np.std(less, ddof=1) / np.sqrt(len(less)))
    clear = "better" if mean < 0 else "worse"
    return f"{mean:.0f} +- {error:.0f} ({clear if abs(mean) > _ERRORS * error else 'comparable'})"


def _draw(numbers: Numbers) -> Any:
    figure, axes = make_axes(2, 2, width=9, height=6.5)
    for column, share in enumerate(_SHARES):
        rows = {fraction: one for (s, fraction), one in numbers.items() if s == share}
        fractions = list(rows)
        for method, (color, style) in _STYLES.items():
            for k in range(2):
                means = [one[method][:, k].mean() for one in rows.values()]
                axes[k, column].plot(fractions, means, style, color=color, label=method, ms=4)
        axes[0, column].set(title=f"{share:.0%} active", ylim=(0.45, 1.02))
        axes[1, column].set(xlabel="p/n", ylim=(0, None))
    axes[0, 0].set_ylabel("area under ROC")
    axes[1, 0].set_ylabel(r"$\|\delta v\|_1$")
    axes[0, 0].legend(frameon=False, fontsize=8)
    return figure
