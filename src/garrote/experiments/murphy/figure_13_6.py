"""Murphy Figure 13.6: the error of polynomials, by the lasso's lambda and by degree."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.drawing import GARROTE, LASSO, make_axes
from garrote.experiments.murphy.methods import fit_lasso
from garrote.experiments.report import Report, StudySettings, quantiles
from garrote.summaries import Table

_ROWS, _DEGREE = 21, 14
# A parabola on 0..20 with noise of variance 4: the data of the author's other figures on polynomials.
_LINEAR, _SQUARE, _NOISE = -1.5, 1.0 / 9.0, 2.0
_LAMBDAS = np.logspace(2, -6, 41)


class Errors(NamedTuple):
    """Mean squared errors: by lambda and by degree, on training rows and on new ones (2 x K)."""

    by_lambda: Floats
    by_degree: Floats


def run_figure_13_6(settings: StudySettings) -> Report:
    """Fit polynomials to many data sets of one law."""
    count = settings.count(100, quick=20)
    draws = [_errors(np.random.default_rng(stream)) for stream in settings.streams(count)]
    lasso = np.array([draw.by_lambda for draw in draws])
    degree = np.array([draw.by_degree for draw in draws])
    best = {
        "lasso, best lambda": lasso[:, 1].min(axis=1),
        "best degree": degree[:, 1].min(axis=1),
        "degree 2 (the truth)": degree[:, 1, 1],
        f"degree {_DEGREE}": degree[:, 1, -1],
    }
    ratio = best["lasso, best lambda"] / best["best degree"]
    return Report(
        f"Murphy Figure 13.6: lasso on a polynomial of degree {_DEGREE}, and polynomials by degree",
        (
            Table(
                {
                    "": list(best),
                    "test MSE, first draw": [f"{values[0]:.2f}" for values in best.values()],
                    f"median (10% to 90%) of {count} draws": [
                        quantiles(values, 2) for values in best.values()
                    ],
                },
            ),
            Table(
                {
                    "": ["train falls as lambda does", "train falls as the degree rises",
                         "test has its least inside, by lambda", "and by degree"],
                    "paper": ["yes"] * 4,
                    "ours, share of draws": [
                        f"{share:.2f}"
                        for share in (
                            np.mean([(np.diff(one[0]) <= 1e-9).all() for one in lasso]),
                            np.mean([(np.diff(one[0]) <= 1e-9).all() for one in degree]),
                            np.mean([0 < one[1].argmin() < len(_LAMBDAS) - 1 for one in lasso]),
                            np.mean([0 < one[1].argmin() < _DEGREE - 1 for one in degree]),
                        )
                    ],
                },
                caption="the shapes that the text shows",
            ),
        ),
        (
            "the text: lasso gives similar results to the subset selection method; the least error of "
            f"the lasso, as a share of the best degree's: {quantiles(ratio, 2)}",
            f"{_ROWS} rows on 0..20, y = {_LINEAR} x + x^2 / 9 + noise of variance {_NOISE**2:.0f}; the "
            "chapter prints neither the data's law nor any number, so only shapes can be compared",
        ),
        {"lasso": lasso, "degree": degree, "best": best, "lambdas": _LAMBDAS},
        lambda: _draw(draws[0]),
    )  # fmt: skip


def _errors(rng: np.random.Generator) -> Errors:
    places, new = np.linspace(0, 20, _ROWS), np.linspace(0, 20, 201)
    truth, target = (_LINEAR * x + _SQUARE * x**2 for x in (places, new))
    y, unseen = (values + _NOISE * rng.standard_normal(len(values)) for values in (truth, target))
    X, test = (np.vander(x / 10 - 1, _DEGREE + 1, increasing=True)[:, 1:] for x in (places, new))
    centre, scale, mean = X.mean(axis=0), X.std(axis=0), y.mean()
    X, test = (X - centre) / scale, (test - centre) / scale
    lasso = fit_lasso(X, y - mean, _LAMBDAS)
    by_degree = np.zeros((_DEGREE, _DEGREE))
    for degree in range(1, _DEGREE + 1):
        solution = np.linalg.lstsq(X[:, :degree], y - mean, rcond=None)[0]
        by_degree[degree - 1, :degree] = solution
    return Errors(*(
        np.array([np.mean((response - mean - coef @ rows.T) ** 2, axis=1)
                  for rows, response in ((X, y), (test, unseen))])
        for coef in (lasso, by_degree)
    ))  # fmt: skip


def _draw(errors: Errors) -> Any:
    figure, axes = make_axes(1, 2, width=9.5, height=4)
    left, right = axes[0]
    for axis, x, values in (
        (left, _LAMBDAS, errors.by_lambda),
        (right, np.arange(1, _DEGREE + 1), errors.by_degree),
    ):
        axis.plot(x, values[0], "s-", ms=3, color=GARROTE, label="train")
        axis.plot(x, values[1], "o--", ms=3, color=LASSO, label="test")
        axis.set(ylabel="mean squared error", ylim=(0, min(40.0, 1.1 * values.max())))
        axis.legend(frameon=False)
    left.set(xscale="log", xlabel=r"$\lambda$, falling to the right", title="(a) lasso, degree 14")
    left.invert_xaxis()
    right.set(xlabel="degree", title="(b) polynomials by degree")
    return figure
