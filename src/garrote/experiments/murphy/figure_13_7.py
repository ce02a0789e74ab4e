"""Murphy Figure 13.7: ridge and lasso coefficients on the prostate data as their bound grows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.datasets import Prostate, load_prostate
from garrote.displays.palette import curve_style
from garrote.experiments.drawing import OTHER, make_axes
from garrote.experiments.murphy.methods import fit_lasso, fit_ridge
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

_FOLDS = 5
# From nothing in to almost least squares.
_LAMBDAS = {"ridge": np.logspace(4.5, -1.5, 61), "lasso": np.logspace(2.2, -1.5, 61)}
_FITS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "ridge": fit_ridge,
    "lasso": fit_lasso,
}
_NORMS = {"ridge": 2, "lasso": 1}


class Profile(NamedTuple):
    """Coefficients at each lambda, their norm, the validation error and the position of the 1SE rule."""

    lambdas: Floats
    coef: Floats
    bound: Floats
    error: Floats
    deviation: Floats
    chosen: int


def run_figure_13_7(settings: StudySettings) -> Report:
    """Follow both paths, and choose on each by 5-fold cross-validation with the 1SE rule."""
    data = load_prostate()
    profiles = {name: _profile(data, name, settings.seed) for name in _FITS}
    columns: dict[str, list[Any]] = {"": ["lambda", "bound", *data.names]}
    for name, profile in profiles.items():
        for label, position in (
            ("1SE", profile.chosen),
            ("least", int(np.argmin(profile.error))),
            ("weakest", len(profile.lambdas) - 1),
        ):
            values = [profile.lambdas[position], profile.bound[position], *profile.coef[position]]
            columns[f"{name}, {label}"] = [f"{value + 0.0:.3f}" for value in values]
    lasso, ridge = profiles["lasso"], profiles["ridge"]
    turned_on = np.count_nonzero(lasso.coef, axis=1)
    return Report(
        "Murphy Figure 13.7: profiles of ridge and lasso on the prostate data",
        (
            Table(
                columns,
                caption="coefficients at the 1SE rule, the least error and the weakest penalty",
            ),
        ),
        (
            "the text's claims: with ridge no coefficient is 0 at any finite lambda "
            f"({np.count_nonzero(ridge.coef == 0)} are here), with the lasso they turn on one by one "
            f"(from {turned_on[0]} to {turned_on[-1]} as the bound grows)",
            "the text says that ridge coefficients increase in magnitude as lambda decreases; "
            + _shrinking(ridge, data.names),
            "folds are drawn at random (another seed draws others): the text does not say which "
            f"{_FOLDS}",
        ),
        {"profiles": profiles},
        lambda: _draw(profiles, data.names),
    )


def _profile(data: Prostate, name: str, seed: int) -> Profile:
    fit, lambdas = _FITS[name], _LAMBDAS[name]
    X, y = data.standardised_on_training()
    coef = fit(X, y, lambdas)
    fold = np.random.default_rng(seed).permutation(np.arange(len(y)) % _FOLDS)
    squares = np.zeros((len(lambdas), len(y)))
    for k in range(_FOLDS):
        inside, outside = fold != k, fold == k
        centre, mean = X[inside].mean(axis=0), y[inside].mean()
        fitted = fit(X[inside] - centre, y[inside] - mean, lambdas) @ (X[outside] - centre).T + mean
        squares[:, outside] = (y[outside] - fitted) ** 2
    error, deviation = squares.mean(axis=1), squares.std(axis=1, ddof=1) / np.sqrt(len(y))
    best = int(np.argmin(error))
    chosen = int(np.argmax(error <= error[best] + deviation[best]))
    bound = np.linalg.norm(coef, ord=_NORMS[name], axis=1)
    return Profile(lambdas, coef, bound, error, deviation, chosen)


def _shrinking(ridge: Profile, names: tuple[str, ...]) -> str:
    """Say which coefficients do not grow all along the path."""
    falls = np.any(np.diff(np.abs(ridge.coef), axis=0) < 0, axis=0).tolist()
    which = ", ".join(name for name, fall in zip(names, falls, strict=True) if fall)
    return f"here {which} do not, all along" if which else "here all do"


def _draw(profiles: dict[str, Profile], names: tuple[str, ...]) -> Any:
    from garrote.displays.end_labels import EndLabels

    figure, axes = make_axes(1, 2, width=10, height=4.4)
    for axis, (name, profile) in zip(axes[0], profiles.items(), strict=True):
        lines = [
            axis.plot(profile.bound, one, **curve_style(k))[0]
            for k, one in enumerate(profile.coef.T)
        ]
        axis.axvline(profile.bound[profile.chosen], color=OTHER, ls=":", lw=1)
        axis.add_artist(EndLabels(axis, lines, names))
        axis.set(xlabel=rf"bound on $\|w\|_{_NORMS[name]}$", ylabel="coefficient")
        axis.set(xlim=(0, profile.bound[-1]), title=f"{name}; dotted: 1SE rule")
    return figure
