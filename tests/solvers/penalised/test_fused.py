"""The fused lasso: pieces of equal coefficients, along chains and over graphs, certified."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from garrote import Problem, SparseClassifier, SparseRegressor, fit_path
from garrote.experiments import StudySettings, run_study
from garrote.experiments.variational_optimization.lassos import draw_lasso
from garrote.likelihoods import Binomial, Gaussian, Poisson, log_likelihood, saturated
from garrote.likelihoods.multinomial import Multinomial
from garrote.paths import FollowPath
from garrote.paths.signals import fuse_signal
from garrote.penalties import L1, FusedLasso, Terms
from garrote.penalties.fusion import fused_rule
from garrote.proximal import Graph, fused_lasso
from garrote.solvers.control import Control
from garrote.solvers.penalised import working_set_path as penalised
from graphs import CHAIN, GRAPHS
from reference import fused_regression, sparse_regression


def problem_of(X, y, **settings):
    settings = {"standardize": False, "fit_intercept": False, **settings}
    return Problem.from_rows(X, y, scale_response=False, **settings)


def piecewise_data(n=60, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 12)) @ (np.eye(12) + 0.3)
    truth = np.repeat([1.0, 0.0, -1.0, 0.5], 3)
    return X, X @ truth + noise * rng.standard_normal(n)


def coefficients(path, k=-1):
    return path.coefficients().toarray()[k]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
def test_coefficients_are_those_of_bounded_least_squares_on_the_dual(graph, l1_ratio):
    X, y = piecewise_data()
    edges = GRAPHS[graph]
    rng = np.random.default_rng(1)
    weights, factor = rng.uniform(0.5, 2.0, len(edges)), rng.uniform(0.5, 2.0, 12)
    penalty = FusedLasso(edges, l1_ratio, weights)
    path = fit_path(problem_of(X, y), penalty, 9, terms=Terms.equal(12)._replace(factor=factor))
    assert path.certificate.max() < 1e-6
    for k in range(9):
        expected = fused_regression(X, y, edges, path.strengths[k], l1_ratio, weights, factor)
        np.testing.assert_allclose(coefficients(path, k), expected, atol=1e-9)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_largest_strength_fuses_all_and_a_smaller_one_does_not(graph, l1_ratio):
    X, y = piecewise_data()
    penalty = FusedLasso(GRAPHS[graph], l1_ratio)
    problem = problem_of(X, y)
    largest = fit_path(problem, penalty, 2).strengths[0]
    first, after = fit_path(problem, penalty, [largest * (1 + 1e-9), 0.99 * largest]).fits

    def jumps(fit):
        coef = np.zeros(12)
        coef[fit.columns] = fit.coef
        edges = GRAPHS[graph]
        return np.abs(coef[edges[:, 0]] - coef[edges[:, 1]]).max() + l1_ratio * np.abs(coef).max()

    assert jumps(first) < 1e-9
    assert jumps(after) > 1e-4


def test_a_chain_is_the_lasso_on_its_jumps():
    """Sums of the columns from j on have the jumps for coefficients, and the first one the level."""
    X, y, _ = sparse_regression(50, 80, 4, seed=3)
    sums = np.cumsum(X[:, ::-1], axis=1)[:, ::-1]
    path = fit_path(problem_of(X, y), FusedLasso(), 8)
    factor = np.append(0.0, np.ones(79))
    lasso = fit_path(
        problem_of(sums, y), L1(), path.strengths, control=Control(1e-12),
        terms=Terms.equal(80)._replace(factor=factor),
    )  # fmt: skip
    np.testing.assert_allclose(
        path.coefficients().toarray(), np.cumsum(lasso.coefficients().toarray(), axis=1), atol=1e-7
    )


def test_more_columns_than_rows_are_certified_to_nearly_all_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 300))
    truth = np.zeros(300)
    truth[40:90] = 1.0
    y = X @ truth + rng.standard_normal(60)
    for graph in (None, ("lattice", (15, 20))):
        for l1_ratio in (0.0, 0.5):
            path = fit_path(
                problem_of(X, y, fit_intercept=True), FusedLasso(graph, l1_ratio), 30, eps=1e-2,
                control=Control(1e-10),
            )  # fmt: skip
            assert path.certificate.max() < 1e-10


@pytest.mark.parametrize("graph", [None, ("lattice", (15, 20))])
def test_working_sets_that_grow_lead_to_the_same_pieces(graph, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 300))
    y = X[:, 40:90].sum(axis=1) + rng.standard_normal(60)
    penalty, problem = FusedLasso(graph, 0.5), problem_of(X, y)
    whole = fit_path(problem, penalty, 10)
    monkeypatch.setattr(fused_rule, "_ALL_COLUMNS", 0)
    monkeypatch.setattr(penalised, "_FEWEST_TAKEN", 20)
    grown = fit_path(problem, penalty, 10)
    assert grown.certificate.max() < 1e-6
    np.testing.assert_allclose(
        grown.coefficients().toarray(), whole.coefficients().toarray(), atol=1e-8
    )


@pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
@pytest.mark.parametrize("graph", [None, ("lattice", (5, 8))])
def test_the_identity_gives_the_proximal_operator(graph, l1_ratio):
    y = np.random.default_rng(0).standard_normal(40) + 1.0
    expected = fused_lasso(
        y, 0.7 * (1 - l1_ratio), 0.7 * l1_ratio, None if graph is None else Graph.lattice(5, 8)
    )
    for X in (np.eye(40), scipy.sparse.identity(40, format="csr")):
        path = fit_path(problem_of(X, y), FusedLasso(graph, l1_ratio), [0.7 / 40])
        np.testing.assert_allclose(coefficients(path), expected, atol=1e-12)
    signal = fuse_signal(y.reshape(5, 8) if graph else y, 0.7 * (1 - l1_ratio), 0.7 * l1_ratio)
    np.testing.assert_allclose(signal.values.ravel(), expected, atol=1e-12)
    assert signal.gap < 1e-12


def test_a_long_signal_needs_no_dense_columns():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.standard_normal(20), 1000) + 0.3 * rng.standard_normal(20_000)
    problem = problem_of(scipy.sparse.identity(20_000, format="csc"), y)
    path = fit_path(problem, FusedLasso(), 5)
    assert path.certificate.max() < 1e-6
    assert path.fits[0].pieces == 1


@pytest.mark.parametrize("sparsity", [0.0, 0.3])
@pytest.mark.parametrize("graph", ["chain", "lattice"])
def test_gaps_and_weights_of_a_signal_are_those_of_a_regression_with_fewer_rows(graph, sparsity):
    rng = np.random.default_rng(2)
    y = rng.standard_normal(12) * 2
    weight = rng.uniform(0.2, 3.0, 12)
    y[[2, 7, 8]] = np.nan
    known = ~np.isnan(y)
    signal = fuse_signal(y, 0.6, sparsity, GRAPHS[graph], sample_weight=weight)
    # A tiny weight stands for none, which the oracle cannot have.
    X = np.diag(np.sqrt(np.where(known, weight, 1e-9)))
    ratio = sparsity / (0.6 + sparsity)
    expected = fused_regression(
        X, X @ np.where(known, y, 0.0), GRAPHS[graph], (0.6 + sparsity) / 12, ratio
    )
    np.testing.assert_allclose(signal.values[known], expected[known], atol=1e-6)
    edges = GRAPHS[graph]

    def objective(z):
        jumps = np.abs(z[edges[:, 0]] - z[edges[:, 1]]).sum()
        misfit = weight[known] @ (y[known] - z[known]) ** 2 / 2
        return misfit + 0.6 * jumps + sparsity * np.abs(z).sum()

    assert objective(signal.values) <= objective(expected) + 1e-9
    assert signal.gap < 1e-10


def test_a_gap_in_a_chain_takes_its_neighbours_value():
    signal = fuse_signal([1.0, np.nan, np.nan, 1.0, 4.0, np.nan], 0.1)
    # Each of the two numbers 1 gives way by half of the strength, and 4 by all of it.
    np.testing.assert_allclose(signal.values, [1.05, 1.05, 1.05, 1.05, 3.9, 3.9])
    assert signal.n_pieces == 2


def test_a_signal_far_from_0_keeps_its_digits():
    y = np.random.default_rng(0).standard_normal(200)
    near, far = fuse_signal(y, 1.0).values, fuse_signal(y + 1e8, 1.0).values
    np.testing.assert_allclose(far - 1e8, near, atol=1e-6)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial(), Poisson()])
def test_gaps_bound_what_other_coefficients_could_gain(likelihood, l1_ratio, graph):
    rng = np.random.default_rng(1)
    X, _ = piecewise_data(80)
    eta = X @ np.repeat([0.3, 0.0, -0.2, 0.0], 3)
    y = {
        Gaussian(): eta + rng.standard_normal(80),
        Binomial(): (rng.random(80) < 1 / (1 + np.exp(-eta))).astype(float),
        Poisson(): rng.poisson(np.exp(0.5 * eta)).astype(float),
    }[likelihood]
    weights = rng.uniform(0.5, 2.0, 80)
    edges = GRAPHS[graph]
    problem = problem_of(X, y, likelihood=likelihood, sample_weight=weights)
    penalty = FusedLasso(edges, l1_ratio)
    path = fit_path(problem, penalty, 4, control=Control(1e-3))
    tight = fit_path(problem, penalty, path.strengths, control=Control(1e-12))

    def objective(w, alpha):
        if likelihood.least_squares:
            loss = 0.5 * (y - X @ w) ** 2
        else:
            loss = saturated(likelihood, y) - log_likelihood(likelihood, y, X @ w)
        jumps = np.abs(w[edges[:, 0]] - w[edges[:, 1]]).sum()
        charge = (1 - l1_ratio) * jumps + l1_ratio * np.abs(w).sum()
        return weights @ loss / weights.sum() + alpha * charge

    null = objective(np.zeros(12), 0.0)
    for k, fit in enumerate(path.fits):
        own = coefficients(path, k)
        reached = objective(own, fit.strength)
        assert fit.certificate["duality gap"] <= 1e-3
        rng = np.random.default_rng(k)
        others = [coefficients(tight, k)]
        for scale in (1e-1, 1e-2, 1e-3, 1e-4):
            others += [own + scale * rng.standard_normal(12) for _ in range(30)]
            others += [own + scale * rng.standard_normal() for _ in range(10)]
        least = min(objective(other, fit.strength) for other in others)
        assert least >= reached - fit.certificate["duality gap"] * null * (1 + 1e-9) - 1e-15


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
def test_a_multinomial_fit_is_confirmed_by_a_smooth_optimiser(l1_ratio):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((90, 4))
    y = np.argmax(X[:, :3] + rng.standard_normal((90, 3)), axis=1).astype(float)
    problem = problem_of(X, y, likelihood=Multinomial(3))
    path = fit_path(problem, FusedLasso(l1_ratio=l1_ratio), 5, control=Control(1e-9))
    fit = path.fits[-1]
    assert fit.certificate["duality gap"] < 1e-9

    def objective(v, smooth=1e-14):
        w = v.reshape(3, 4)
        loss = Multinomial(3).loss(y, w @ X.T).mean()
        jumps = np.sqrt(np.diff(w, axis=1) ** 2 + smooth).sum()
        sizes = np.sqrt(w**2 + smooth).sum()
        return loss + fit.strength * ((1 - l1_ratio) * jumps + l1_ratio * sizes)

    ours = np.zeros(12)
    ours[fit.columns] = fit.coef
    best = scipy.optimize.minimize(objective, 0.1 * rng.standard_normal(12), tol=1e-12)
    assert objective(ours, 0.0) <= best.fun + 1e-7


@given(seed=st.integers(0, 10_000), l1_ratio=st.sampled_from([0.0, 0.1, 0.6]))
@settings(max_examples=25, deadline=None)
def test_a_permutation_of_columns_and_nodes_changes_nothing(seed, l1_ratio):
    X, y = piecewise_data(40, seed % 7)
    order = np.random.default_rng(seed).permutation(12)
    place = np.argsort(order)
    for edges in GRAPHS.values():
        plain = fit_path(problem_of(X, y), FusedLasso(edges, l1_ratio), 4)
        moved = fit_path(problem_of(X[:, order], y), FusedLasso(place[edges], l1_ratio), 4)
        np.testing.assert_allclose(moved.strengths, plain.strengths, rtol=1e-9)
        np.testing.assert_allclose(
            moved.coefficients().toarray()[:, place], plain.coefficients().toarray(), atol=1e-8
        )


def test_several_components_have_levels_of_their_own():
    X, y = piecewise_data()
    edges = [(0, 1), (1, 2), (3, 4), (4, 5)]
    path = fit_path(problem_of(X, y), FusedLasso(edges), [1e3])
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7])
    sums = np.stack([X[:, groups == g].sum(axis=1) for g in range(8)], axis=1)
    levels = np.linalg.lstsq(sums, y, rcond=None)[0]
    np.testing.assert_allclose(coefficients(path), levels[groups], atol=1e-9)
    assert path.fits[0].pieces == 8
    assert path.certificate.max() < 1e-6


def test_a_constant_column_takes_the_value_of_its_neighbours():
    X, y = piecewise_data()
    X[:, 4] = 0.0
    coef = coefficients(fit_path(problem_of(X, y), FusedLasso(), 5))
    assert min(coef[3], coef[5]) - 1e-12 <= coef[4] <= max(coef[3], coef[5]) + 1e-12


def test_coefficients_of_the_estimator_are_constant_over_pieces_whatever_the_scales():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 30)) * rng.uniform(0.5, 2.0, 30)
    y = X[:, :10].sum(axis=1) + rng.standard_normal(100)
    model = SparseRegressor(penalty=FusedLasso(l1_ratio=0.2)).fit(X, y)
    pieces = len(np.unique(model.coef_.round(10)))
    assert pieces < 12
    assert model.certificate_["duality gap"] < 1e-6
    assert model.score(X, y) > 0.8
    assert "fused lasso" in model.selection_.method


@pytest.mark.parametrize("criterion", ["bic", "ebic"])
def test_criteria_count_pieces(criterion):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 40))
    truth = np.repeat([1.0, -1.0, 0.5, 0.0], 10)
    y = X @ truth + 0.5 * rng.standard_normal(150)
    model = SparseRegressor(penalty="fused-lasso", alpha=criterion).fit(X, y)
    found = {fit.strength: fit.pieces for fit in model.path_.fits}[model.alpha_]
    assert 4 <= found <= 12
    assert np.abs(model.coef_ - truth).max() < 0.3


def test_a_piece_takes_one_degree_of_freedom_from_the_noise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    y = X @ np.repeat([1.0, -1.0, 0.5, 0.0], 10) + 0.5 * rng.standard_normal(60)
    model = SparseRegressor(penalty="fused-lasso", alpha=0.05).fit(X, y)
    fit = model.path_.fits[-1]
    assert fit.pieces < len(fit.columns)
    residual = y - model.predict(X)
    expected = residual @ residual / (60 - fit.pieces - 1)
    assert model.selection_.noise_variance == pytest.approx(expected)
    assert model.selection_.headline.endswith(f"in {fit.pieces} pieces of equal effects")


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_have_pieces(classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    scores = np.stack([X[:, :8].sum(axis=1), X[:, 8:].sum(axis=1), np.zeros(200)])[:classes]
    labels = np.array(["a", "b", "c"])[scores.argmax(axis=0)]
    model = SparseClassifier(
        penalty=FusedLasso(l1_ratio=0.1), method=FollowPath(alphas=20), cv=3
    ).fit(X, labels)
    assert model.score(X, labels) > 0.85
    assert model.certificate_["duality gap"] < 1e-6


def test_a_factor_of_0_frees_from_the_lasso_only():
    X, y = piecewise_data()
    factor = np.ones(12)
    factor[:2] = 0.0
    model = SparseRegressor(
        penalty=FusedLasso(l1_ratio=0.5), alpha=0.3, penalty_factor=factor, fit_intercept=False
    ).fit(X, y)
    expected = fused_regression(X, y, CHAIN, 0.3, 0.5, factor=np.maximum(factor, 1e-14))
    np.testing.assert_allclose(model.coef_, expected, atol=1e-8)


def test_impossible_settings_are_refused():
    X, y, _ = sparse_regression(30, 4, 2)
    with pytest.raises(ValueError, match="no bounds"):
        SparseRegressor(penalty=FusedLasso(), bounds=(0.0, None), alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="lose its pieces"):
        SparseRegressor(penalty=FusedLasso(), refit=True, alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="30 components whose levels nothing penalises"):
        SparseRegressor(penalty=FusedLasso([(0, 1)]), family="poisson", alpha=0.1).fit(
            np.eye(31)[:20], np.arange(20)
        )
    with pytest.raises(ValueError, match="has its own"):
        fit_path(problem_of(X, y), FusedLasso(("lattice", (2, 2)), weights=np.ones(4)), 3)
    for y, message in (
        ([np.nan, np.nan], "no numbers"), ([np.inf, 1.0], "infinite at 0"), (1.0, "a signal or"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            fuse_signal(y, 1.0)
    with pytest.raises(ValueError, match="sample_weight must have"):
        fuse_signal([1.0, 2.0], 1.0, sample_weight=[1.0, -1.0])


def test_copy_numbers_are_off_over_long_stretches(shared_data):
    numbers = run_study("murphy-figure-13.16a", StudySettings(quick=True)).numbers
    for name, denoised in numbers["found"].items():
        fused, measured = denoised.fused, numbers["signals"][name]
        assert np.isfinite(fused.values).all()
        assert fused.n_pieces < len(measured) / 5
        assert fused.gap < 1e-10
    assert any(np.isnan(signal).any() for signal in numbers["signals"].values())


def test_an_image_is_denoised_better_over_its_lattice_than_by_moving_averages():
    errors = run_study("murphy-figure-13.16b-c", StudySettings(quick=True)).numbers["errors"]
    noisy, averaged, fused = errors.values()
    assert (fused < 0.5 * averaged).all()
    assert (averaged < noisy).all()


@pytest.mark.parametrize(
    "given_settings", [{}, {"l1_ratio": 0.3}, {"graph": [(0, 3), (3, 1), (1, 2)]}]
)
def test_em_by_the_precision_of_differences_ends_where_pieces_do(given_settings):
    """Murphy (2012), Eqs. 13.117-13.121: the precision is tridiagonal along a chain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 8))
    y = X @ np.repeat([1.0, -1.0], 4) + rng.standard_normal(80)
    problem = Problem.from_rows(X, y, fit_intercept=False, standardize=False, scale_response=False)
    penalty = FusedLasso(**given_settings)
    pieces = fit_path(problem, penalty, [0.2, 0.05])
    em = fit_path(problem, penalty, [0.2, 0.05], solver="em", control=Control(1e-6))
    assert em.certificate.max() < 1e-5
    np.testing.assert_allclose(
        em.coefficients().toarray(), pieces.coefficients().toarray(), atol=1e-3
    )


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_without_a_penalty_the_certificate_is_that_of_the_loss_alone(family):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 6))
    y = rng.poisson(np.exp(0.3 * X[:, 0])).astype(float)
    model = SparseRegressor(FusedLasso(), alpha=0.0, family=family).fit(X, y)
    assert model.certificate_["duality gap"] < 1e-9


def test_the_level_of_a_signal_is_its_intercept():
    rng = np.random.default_rng(4)
    signal = np.repeat([5.0, 8.0, 6.0], 40) + rng.standard_normal(120)
    strength = {"alpha": 5 / 120, "method": FollowPath(alphas=[5 / 120])}
    model = SparseRegressor(FusedLasso(), **strength).fit(
        scipy.sparse.eye_array(120).tocsc(), signal
    )
    np.testing.assert_allclose(model.coef_, fuse_signal(signal, fusion=5.0).values, atol=1e-8)
    assert model.intercept_ == 0.0


def test_a_long_signal_with_an_intercept_and_an_l1_part_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="fit_intercept=False"):
        SparseRegressor(FusedLasso(l1_ratio=0.1), alpha=0.1).fit(
            scipy.sparse.eye_array(6000).tocsc(), np.arange(6000.0)
        )


@pytest.mark.parametrize("offset", [5.0, 1e13, 1e16])
@pytest.mark.parametrize("labels", [False, True])
def test_a_column_that_is_constant_up_to_rounding_gets_no_effect(offset, labels):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(40)
    X[:, 2] = offset + (X[:, 2] if offset > 5 else 0.0)
    model = (
        SparseClassifier("fused-lasso", 0.05) if labels else SparseRegressor("fused-lasso", 0.05)
    )
    model.fit(X, y > 0 if labels else y)
    coef, intercept = np.ravel(model.coef_), np.ravel(model.intercept_)[0]
    assert coef[2] == 0.0
    assert (coef[[1, 3]] != 0).all()
    # The others fit what they would without it, where their neighbours are each other.
    alone = clone(model).fit(np.delete(X, 2, axis=1), y > 0 if labels else y)
    np.testing.assert_allclose(np.delete(coef, 2), np.ravel(alone.coef_), atol=1e-4)
    np.testing.assert_allclose(intercept, np.ravel(alone.intercept_)[0], atol=1e-4)


def test_a_tolerance_below_rounding_splits_many_pieces_all_the_same():
    lasso = draw_lasso(np.random.default_rng(0), 500, fused=True)
    path = fit_path(
        problem_of(lasso.X, lasso.y), lasso.penalty, [lasso.strength], control=Control(1e-12)
    )
    assert path.certificate[0] <= 1e-12
