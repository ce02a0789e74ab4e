"""Labels with normal quantiles that are linear: digits in the tails, certified paths, EM."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import norm

import garrote
from garrote import Problem, SparseClassifier, SparseRegressor, fit_path
from garrote.likelihoods import Probit, conjugate, curvature, gradient, log_likelihood
from garrote.likelihoods.probit import mills
from garrote.paths import FollowPath
from garrote.penalties import HAL, L1, MCP, ElasticNet, NoPenalty, Ridge, Terms
from garrote.solvers.control import Control
from garrote.solvers.losses.latent import LatentLeastSquares
from reference import lasso_by_proximal_gradient, probit_lasso_by_em

TAILS = [-1e8, -1e4, -300.0, -40.0, -10.1, -9.9, -3.0, 0.0, 3.0, 8.0, 37.0]


def labelled(n=150, d=10, seed=0, strength=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    eta = strength * (X[:, 0] - 0.7 * X[:, 3]) + 0.3
    return X, (eta + rng.standard_normal(n) > 0).astype(float)


def problem_of(X, y, **settings):
    return Problem.from_rows(X, y, likelihood=Probit(), **settings)


def exact(t):
    """Return log Phi, its derivative and minus its second, with 60 digits."""
    with localcontext(prec=60):
        t, two_pi = (
            Decimal(t),
            2 * Decimal("3.14159265358979323846264338327950288419716939937510582"),
        )
        density = (-t * t / 2).exp() / two_pi.sqrt()
        below = abs(t)
        for k in range(1000, 0, -1):  # Laplace's continued fraction of density / upper tail
            below = abs(t) + k / below if below else Decimal(k).sqrt()
        area = density / below if t < 0 else 1 - density / below if t > 0 else Decimal("0.5")
        slope = below if t < 0 else density / area
        value = -t * t / 2 - two_pi.ln() / 2 - slope.ln() if t < 0 else area.ln()
        return float(value), float(slope), float(slope * (slope + t))


@pytest.mark.parametrize("t", TAILS)
def test_all_digits_are_kept_in_both_tails(t):
    value, slope, bend = exact(t)
    for y, eta in ((1.0, t), (0.0, -t)):
        sign = 2 * y - 1
        assert log_likelihood(Probit(), y, eta) == pytest.approx(value, rel=1e-13)
        assert gradient(Probit(), y, eta) == pytest.approx(sign * slope, rel=1e-13)
        assert curvature(Probit(), y, eta) == pytest.approx(bend, rel=1e-13)


@pytest.mark.parametrize("slope", [1e-250, 1e-20, 1e-3, 0.29, 0.31, 1.0, 30.0, 1e6])
def test_conjugates_have_the_predictor_of_their_slope(slope):
    """A point whose slope it is gives the supremum; points on both sides give less."""
    from garrote.likelihoods.probit import _where_as_steep

    t = float(_where_as_steep(np.array([slope]))[0])
    assert mills(t) == pytest.approx(slope, rel=1e-11)
    best = float(conjugate(Probit(), 1.0, slope))
    assert best == pytest.approx(log_likelihood(Probit(), 1.0, t) - slope * t, rel=1e-12)
    for other in (t - 1e-3 - 1e-5 * abs(t), t + 1e-3 + 1e-5 * abs(t)):
        assert log_likelihood(Probit(), 1.0, other) - slope * other <= best
    assert conjugate(Probit(), 0.0, -slope) == best


def test_slopes_that_no_predictor_has_cost_infinitely_much():
    np.testing.assert_array_equal(conjugate(Probit(), np.array([1.0, 0.0]), np.zeros(2)), 0.0)
    assert conjugate(Probit(), 1.0, -0.1) == np.inf
    assert conjugate(Probit(), 0.0, 0.1) == np.inf


@pytest.mark.parametrize("solver", ["coordinate", "em"])
def test_the_lasso_is_that_of_proximal_gradient_steps(solver):
    X, y = labelled()
    problem = problem_of(X, y, standardize=False)
    path = fit_path(problem, L1(), [0.05, 0.01], solver=solver)
    sign = 2 * y - 1
    for k in range(2):

        def slope(eta):
            return sign * norm.pdf(eta) / norm.cdf(sign * eta)

        b, w = lasso_by_proximal_gradient(X, slope, path.strengths[k])
        np.testing.assert_allclose(path.coefficients()[[k]].toarray()[0], w, atol=1e-8)
        assert path.intercepts[k] == pytest.approx(b, abs=1e-8)


def test_em_is_that_of_the_exercise():
    X, y = labelled(n=80, d=6)
    b, w = probit_lasso_by_em(X, y, 0.08)
    path = fit_path(problem_of(X, y, standardize=False), L1(), [0.08], solver="em")
    assert 0 < path.size[0] < 6
    np.testing.assert_allclose(path.coefficients().toarray()[0], w, atol=1e-8)
    assert path.intercepts[0] == pytest.approx(b - X.mean(axis=0) @ w, abs=1e-8)


@pytest.mark.parametrize(
    ("penalty", "d"),
    # Where a concave penalty leaves 200 columns free to separate the classes, EM creeps.
    [
        *((penalty, 10) for penalty in (L1(), ElasticNet(0.5), MCP(), HAL(1.0, 0.3))),
        *((penalty, 200) for penalty in (L1(), ElasticNet(0.5), Ridge())),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_em_and_coordinates_reach_the_same_certified_fits(penalty, d):
    X, y = labelled(n=100, d=d)
    problem = problem_of(X, y, sample_weight=np.random.default_rng(1).uniform(0.5, 2, 100))
    one = fit_path(problem, penalty, 8, eps=0.05)
    two = fit_path(problem, penalty, one.strengths, solver="em")
    assert max(one.certificate.max(), two.certificate.max()) < 1e-7
    np.testing.assert_allclose(
        one.coefficients().toarray(), two.coefficients().toarray(), atol=1e-6
    )
    np.testing.assert_allclose(one.intercepts, two.intercepts, atol=1e-6)


def test_bounds_and_factors_hold_in_the_m_step():
    X, y = labelled()
    terms = Terms(np.full(10, 1.0), np.full(10, -np.inf), np.full(10, 0.4))
    terms.factor[5] = 0.0
    problem = problem_of(X, y)
    one, two = (fit_path(problem, L1(), 8, terms=terms, solver=s) for s in ("coordinate", "em"))
    np.testing.assert_allclose(
        one.coefficients().toarray(), two.coefficients().toarray(), atol=1e-7
    )
    assert max(fit.coef.max() for fit in two.fits) == pytest.approx(0.4)
    assert all(5 in fit.columns for fit in two.fits)


def test_every_round_of_em_lowers_the_objective():
    X, y = labelled(strength=5.0)
    smooth = LatentLeastSquares(problem_of(X, y))
    smooth.grow(np.arange(10))
    rule = L1().at(1e-3, Terms.equal(10))
    smooth.coef[:] = np.random.default_rng(0).normal(0, 3, 10)
    seen = [smooth._objective(rule, smooth._eta())]
    for _ in range(30):
        smooth._expect_and_maximise(rule, 1e-12)
        seen.append(smooth._objective(rule, smooth._eta()))
    assert (np.diff(seen) < 0).all()


def test_momentum_saves_rounds_where_em_creeps(monkeypatch):
    X, y = labelled(strength=5.0)
    fast = fit_path(problem_of(X, y), L1(), [1e-2], solver="em")
    monkeypatch.setattr(LatentLeastSquares, "_start_beyond", lambda *_: None)
    plain = fit_path(problem_of(X, y), L1(), [1e-2], solver="em")
    np.testing.assert_allclose(fast.fits[0].coef, plain.fits[0].coef, atol=1e-6)
    assert fast.n_iter < 0.5 * plain.n_iter


def test_separable_labels_end_in_certified_fits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 100))
    y = (X[:, 0] > 0).astype(float)
    path = fit_path(problem_of(X, y), L1(), 30)
    assert path.certificate.max() < 1e-6
    assert path.deviance_explained[-1] > 0.9
    weak = fit_path(problem_of(X, y), L1(), [1e-7])
    assert np.isfinite(weak.fits[0].coef).all()
    assert weak.certificate.max() < 1e-6


def test_weights_are_repeats_and_rows_have_no_order():
    X, y = labelled()
    counts = np.random.default_rng(2).integers(0, 4, len(y))
    known = 0.3 * X[:, 5]
    settings = {"family": "probit", "alpha": 0.02, "method": FollowPath(alphas=10)}
    one = SparseClassifier(**settings).fit(X, y, sample_weight=counts, offset=known)
    order = np.random.default_rng(3).permutation(np.repeat(np.arange(len(y)), counts))
    two = SparseClassifier(**settings).fit(X[order], y[order], offset=known[order])
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-7)
    np.testing.assert_allclose(one.intercept_, two.intercept_, atol=1e-7)


def test_probabilities_are_normal_and_keep_small_ones():
    X, y = labelled()
    model = SparseClassifier(family="probit", method=FollowPath(alphas=20)).fit(
        X, np.where(y > 0, "yes", "no")
    )
    eta = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], norm.cdf(eta))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    far = model.predict_log_proba(100 * X)
    np.testing.assert_allclose(far[:, 1], norm.logcdf(model.decision_function(100 * X)))
    assert model.predict(X).tolist() == np.where(eta > 0, "yes", "no").tolist()
    assert model.score(X, np.where(y > 0, "yes", "no")) > 0.7
    assert model.certificate_["duality gap"] < 1e-6
    assert 0.1 < model.path_.deviance_explained[-1] < 1


def test_classifier_and_regressor_have_the_same_fit(tmp_path):
    X, y = labelled()
    one = SparseClassifier(family="probit", alpha="bic").fit(X, y)
    two = SparseRegressor(family="probit", alpha="bic").fit(X, y)
    np.testing.assert_allclose(one.coef_[0], two.coef_)
    np.testing.assert_allclose(one.predict_proba(X)[:, 1], two.predict(X))
    two.save(tmp_path / "model.garrote")
    np.testing.assert_array_equal(
        garrote.load(tmp_path / "model.garrote").predict(X), two.predict(X)
    )
    assert 0 < two.score(X, y) < 1


def test_balanced_classes_count_equally():
    X, y = labelled(n=300)
    y[np.flatnonzero(y)[20:]] = 0.0
    model = SparseClassifier(family="probit", alpha=10.0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_coefficients_are_those_of_logistic_regression_on_another_scale():
    X, y = labelled(n=2000, strength=0.5)
    fits = [
        SparseRegressor(NoPenalty(), family=family, alpha=0.0).fit(X, y).coef_
        for family in ("probit", "binomial")
    ]
    assert fits[1][0] / fits[0][0] == pytest.approx(1.65, abs=0.1)


def test_what_cannot_be_is_refused_with_what_can():
    X, y = labelled()
    with pytest.raises(ValueError, match="y has 3 classes: take family='multinomial'"):
        SparseClassifier(family="probit").fit(X, np.arange(150) % 3)
    with pytest.raises(
        ValueError, match=r"family must be one of \('binomial', 'multinomial', 'probit'\)"
    ):
        SparseClassifier(family="poisson").fit(X, y)
    with pytest.raises(
        ValueError, match=r"'em' cannot fit .* binomial .*family 'gaussian' or 'probit'"
    ):
        SparseClassifier(method="em").fit(X, y)
    with pytest.raises(ValueError, match=r"solver 'coordinate' or 'ista' .* or 'em'"):
        SparseRegressor(family="probit", method="homotopy").fit(X, y)
    with pytest.raises(ValueError, match="needs labels 0 and 1"):
        SparseRegressor(family="probit").fit(X, X[:, 0])


def test_a_loose_tolerance_is_reached_in_few_rounds_of_em():
    X, y = labelled()
    loose, tight = (
        fit_path(problem_of(X, y), L1(), [0.01], solver="em", control=Control(tol))
        for tol in (1e-2, 1e-8)
    )
    assert loose.n_iter < tight.n_iter
    assert tight.certificate.max() < 1e-8
