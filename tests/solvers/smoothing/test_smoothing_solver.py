"""Lassos by smoothing: the text's own steps, its bound, its guarantee, and what goes with what."""

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import norm

from garrote import Problem, SparseRegressor, fit_path
from garrote.likelihoods import Poisson
from garrote.paths import FollowPath
from garrote.penalties import L1, MCP, ElasticNet, FusedLasso, Terms
from garrote.rules import absolute_parts
from garrote.solvers.control import Control
from garrote.solvers.smoothing.guarantee import smoothing_error, width_for
from garrote.solvers.smoothing.kinks import KINKS
from garrote.solvers.smoothing.smooth_squares import SmoothSquares
from pairwise import pairwise

NAMES = ("smoothing", "sigmoid", "root")


def text_data(D, seed=0):
    """The data of section 2.2: Eq. 19, N = 10 D, little noise."""
    rng = np.random.default_rng(seed)
    u = rng.choice([0.0, 5.0, -5.0], D, p=[0.5, 0.25, 0.25])
    u[u != 0] += rng.standard_normal(np.count_nonzero(u))
    X = rng.standard_normal((10 * D, D))
    clean = X @ u
    return X, clean + 0.1 * np.abs(clean).mean() * rng.standard_normal(10 * D)


def objective(X, y, w, size, jumps=0.0):
    """Eqs. 11 and 21."""
    charged = size * np.abs(w).sum() + jumps * np.abs(np.diff(w)).sum()
    return float(np.sum((y - X @ w) ** 2) + charged)


def by_the_text(X, y, size, rounds=2000):
    """Eq. 20: a tenth of a diagonal Newton step, the variance a tenth less from round to round."""
    A, b = X.T @ X, -2 * X.T @ y
    mu, variance = np.zeros(X.shape[1]), 0.1
    for _ in range(rounds):
        sigma = np.sqrt(variance)
        z = mu / sigma
        slope = 2 * A @ mu + b + size * (1 - 2 * norm.cdf(-z))
        bent = 2 * np.diag(A) + 2 * size * norm.pdf(z) / sigma
        new = mu - 0.1 * slope / bent
        moved, mu, variance = np.abs(new - mu).mean(), new, 0.9 * variance
        if moved < 1e-15 * np.abs(mu).mean():
            break
    return mu


def unscaled(X, y):
    return Problem.from_rows(X, y, standardize=False, fit_intercept=False, scale_response=False)


@pytest.mark.parametrize("D", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_the_objective_is_that_of_coordinates_and_of_the_texts_steps(D):
    X, y = text_data(D)
    size, n = 30.0 * D, len(y)

    def of(solver, tol):
        path = fit_path(unscaled(X, y), L1(), [size / (2 * n)], solver=solver, control=Control(tol))
        return objective(X, y, path.coefficients().toarray()[0], size)

    best = of("coordinate", 1e-14)
    for name in NAMES:
        assert abs(of(name, 1e-14) / best - 1) <= 1e-13
    assert abs(objective(X, y, by_the_text(X, y, size), size) / best - 1) <= 1e-12


def test_a_fused_lasso_of_section_2_4_reaches_the_optimum():
    X, y = text_data(40)
    n, sizes = len(y), (40.0, 16.0)
    penalty = FusedLasso("chain", l1_ratio=sizes[0] / sum(sizes))
    best, *others = (
        fit_path(
            unscaled(X, y), penalty, [sum(sizes) / (2 * n)], solver=name, control=Control(1e-13)
        )
        for name in ("coordinate", *NAMES)
    )
    least = objective(X, y, best.coefficients().toarray()[0], *sizes)
    for path in others:
        assert abs(objective(X, y, path.coefficients().toarray()[0], *sizes) / least - 1) <= 1e-12
        assert path.certificate[0] <= 1e-13


def smoothed(X, y, penalty, strength, kink):
    """The smoothed objective of columns as they are."""
    n, D = X.shape
    parts = absolute_parts(penalty.at(strength, Terms.equal(D)))
    lengths = np.sqrt((parts.combinations**2).sum(axis=1))
    return SmoothSquares(X.T @ X / n, X.T @ y / n, parts, lengths, KINKS[kink])


PENALTIES = {"lasso": L1(), "net": ElasticNet(0.4), "fused": FusedLasso("chain", l1_ratio=0.3)}


@pytest.mark.parametrize("kink", ["gaussian", "sigmoid", "root"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_slopes_and_curvatures_are_finite_differences(penalty, kink):
    rng = np.random.default_rng(0)
    X, y, w = rng.standard_normal((30, 6)), rng.standard_normal(30), 0.3 * rng.standard_normal(6)
    made, width, h = smoothed(X, y, PENALTIES[penalty], 0.7, kink), 0.2, 1e-5

    def value(w):
        sizes, widths = made.parts.combinations @ w, width * made.lengths
        curve = made.kink.value(sizes, widths) + made.kink.value(-sizes, widths)
        return (
            0.5 * np.mean((y - X @ w) ** 2)
            + made.parts.weight @ curve
            + 0.5 * made.parts.ridge @ w**2
        )

    steps = h * np.eye(6)
    slopes = [(value(w + e) - value(w - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(made.gradient(w, width), slopes, atol=1e-8)
    hessian = np.array(
        [(made.gradient(w + e, width) - made.gradient(w - e, width)) / (2 * h) for e in steps]
    )
    np.testing.assert_allclose(
        made._solve(w, width, slopes), np.linalg.solve(hessian, slopes), rtol=1e-6
    )


def test_the_gaussian_curve_of_a_difference_is_equation_22():
    made = smoothed(np.eye(2), np.zeros(2), FusedLasso("chain"), 1.0, "gaussian")
    sigma, (one, two) = 0.3, (0.5, 0.1)
    printed = (two - one) * (1 - 2 * norm.cdf((one - two) / (np.sqrt(2) * sigma)))
    printed += 2 * sigma / np.sqrt(np.pi) * np.exp(-((two - one) ** 2) / (4 * sigma**2))
    (width,) = sigma * made.lengths
    (size,) = made.parts.combinations @ np.array([one, two])
    assert made.kink.value(size, width) + made.kink.value(-size, width) == pytest.approx(printed)


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_no_smoothed_optimum_is_farther_from_the_best_than_the_guarantee(count):
    rng = np.random.default_rng(count)
    for _ in range(count):
        n, D = int(rng.integers(5, 40)), int(rng.integers(2, 20))
        X, y = rng.standard_normal((n, D)) @ np.diag(rng.lognormal(size=D)), rng.standard_normal(n)
        penalty = PENALTIES[rng.choice(list(PENALTIES))]
        strength, width = rng.lognormal() * 0.1, 10.0 ** rng.uniform(-3, 0)
        kink = str(rng.choice(["gaussian", "sigmoid", "root"]))
        made = smoothed(X, y, penalty, strength, kink)
        mu, _ = made.minimise(np.zeros(D), width, 200)
        best = fit_path(unscaled(X, y), penalty, [strength], control=Control(1e-12))
        w = best.coefficients().toarray()[0]
        above = made._value(mu) - made._value(w)
        assert -1e-9 <= above <= made.error(width)
        # The least of the bound itself is above that of the objective, by no more than that either.
        sizes, widths = made.parts.combinations @ mu, width * made.lengths
        curve = made.kink.value(sizes, widths) + made.kink.value(-sizes, widths)
        added = made.parts.weight @ (curve - np.abs(sizes))
        if kink == "gaussian":
            added += 0.5 * width**2 * (np.trace(made.gram) + made.parts.ridge.sum())
        assert -1e-9 <= above + added <= made.error(width) + 1e-12


def test_the_derived_width_gives_the_error_that_was_asked_for():
    A, size, D, error = 20.0, 5.0, 20, 10.0
    trace, linear = A * D, 2 * size * D / np.sqrt(2 * np.pi)
    width = width_for(trace, linear, error)
    assert smoothing_error(trace, linear, width) == pytest.approx(error)
    root = np.sqrt(size**2 * D**2 / (2 * np.pi) + error * trace) - size * D / np.sqrt(2 * np.pi)
    assert width == pytest.approx(root / trace)
    # Eq. 18 as printed divides by the root of the trace.
    assert smoothing_error(trace, linear, root / np.sqrt(trace)) > 20 * error
    assert width_for(0.0, 2.0, 1.0) == 0.5
    assert width_for(0.0, 0.0, 1.0) == np.inf
    with pytest.raises(ValueError, match="error must be a number above 0, got 0"):
        width_for(1.0, 1.0, 0.0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 30))
    X[:, 1:] += 0.7 * X[:, :-1]
    X[np.abs(X) < 0.3] = 0.0
    X[:, 7] = 2.0  # a column without content
    return X.astype(np.float32).astype(float), 2 * X[:, 0] - X[:, 3] + rng.standard_normal(50)


SETTINGS = {
    "method": NAMES,
    "weights": [False, True],
    "offset": [False, True],
    "factors": [None, {0: 0.0, 5: 2.0}],
    "bounds": [None, "out"],
    "storage": [np.asarray, scipy.sparse.csc_array, np.float32],
    "penalty": [L1(), ElasticNet(0.3), FusedLasso("chain", l1_ratio=0.5), FusedLasso("chain")],
    "intercept": [True, False],
    "rows": [50, 20],
}


@pytest.mark.parametrize("row", pairwise(SETTINGS), ids=str)
def test_settings_in_pairs_have_the_optimum_of_the_coordinate_solver(row, data):
    X, y = data[0][: row["rows"]], data[1][: row["rows"]]
    rng = np.random.default_rng(1)
    given = {
        "sample_weight": rng.integers(0, 3, len(y)) * 1.0 if row["weights"] else None,
        "offset": rng.standard_normal(len(y)) if row["offset"] else None,
    }
    fused, out = isinstance(row["penalty"], FusedLasso), ({2: 0.0}, {2: 0.0})
    settings = {
        "penalty": row["penalty"],
        "alpha": 0.08,
        "bounds": out if row["bounds"] and not fused else None,
        "fit_intercept": row["intercept"],
        "penalty_factor": row["factors"] if not (fused and row["penalty"].l1_ratio == 0) else None,
    }
    way = FollowPath(row["method"], alphas=[0.5, 0.2], tol=1e-9)
    stored = X.astype(np.float32) if row["storage"] is np.float32 else row["storage"](X)
    smooth = SparseRegressor(**settings, method=way).fit(stored, y, **given)
    other = SparseRegressor(**settings, method=FollowPath(tol=1e-11)).fit(X, y, **given)
    np.testing.assert_allclose(X @ smooth.coef_, X @ other.coef_, atol=1e-4)
    assert smooth.path_.certificate.max() <= 1e-9
    if settings["bounds"]:
        assert smooth.coef_[2] == 0.0


def test_folds_choose_as_they_do_by_coordinates(data):
    X, y = data
    usual = SparseRegressor(method=FollowPath(alphas=8)).fit(X, y)
    smooth = SparseRegressor(method=FollowPath("smoothing", alphas=8)).fit(X, y)
    assert smooth.alpha_ == pytest.approx(usual.alpha_)
    np.testing.assert_allclose(smooth.coef_, usual.coef_, atol=2e-3)


def test_moments_alone_are_enough(data):
    X, y = data
    problem = Problem.from_rows(X, y, scale_response=False)
    one, two = (
        fit_path(given, L1(), [0.2], solver="smoothing")
        for given in (problem, problem.compressed())
    )
    np.testing.assert_allclose(
        one.coefficients().toarray(), two.coefficients().toarray(), atol=1e-8
    )


def test_the_certificate_tells_what_smoothing_adds(data):
    X, y = data
    path = fit_path(Problem.from_rows(X, y), L1(), 5, eps=0.05, solver="smoothing")
    for fit in path.fits[1:]:
        assert fit.certificate["smoothing"] > 0
        assert "smoothing adds" in str(fit.certificate)
        assert fit.certificate.value == fit.certificate["duality gap"]


def test_what_smoothing_cannot_do_is_refused_with_what_can(data):
    X, y = data
    with pytest.raises(ValueError, match="'smoothing' has no bounds on coefficients"):
        SparseRegressor("lasso", 0.1, method="smoothing", bounds=(0.0, None)).fit(X, y)
    with pytest.raises(ValueError, match=r"'smoothing' cannot fit penalty 'MCP'.*'coordinate'"):
        SparseRegressor(MCP(), 0.1, method="smoothing").fit(X, y)
    counts = Problem.from_rows(X, np.ones(50), likelihood=Poisson())
    with pytest.raises(ValueError, match=r"'root' cannot fit .*poisson"):
        fit_path(counts, L1(), solver="root")
    with pytest.raises(TypeError, match="MinimaxRule is no sum of absolute values"):
        absolute_parts(MCP().at(1.0, Terms.equal(3)))
