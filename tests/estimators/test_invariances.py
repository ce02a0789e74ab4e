"""What must not change the answer, or must change it in a known way, on data that hypothesis draws."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from garrote import VariationalGarrote
from garrote.paths import Anneal
from reference import sparse_regression

# Where rows are few, gamma = -6 is replaced by the densest that the rows allow, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore:gamma = -6 is out of reach")

# Each example is several fits.
few_examples = settings(max_examples=20)


class Case(NamedTuple):
    """One regression, told by few numbers so that a failing example can be read."""

    n: int
    d: int
    size: int
    noise: float
    correlation: float
    seed: int

    def rows(self):
        X, y, _ = sparse_regression(*self[:3], self.seed, self.noise, self.correlation)
        return X, y


@st.composite
def regressions(draw, least=20, most=60, widest=25):
    """Draw a regression with up to four true variables among correlated ones."""
    d = draw(st.integers(1, widest))
    return Case(
        n=draw(st.integers(least, most)),
        d=d,
        size=draw(st.integers(0, min(d, 4))),
        noise=draw(st.sampled_from([0.3, 1.0])),
        correlation=draw(st.sampled_from([0.0, 0.5])),
        seed=draw(st.integers(0, 10_000)),
    )


def fit(X, y, sample_weight=None, gammas=12, **changes):
    """Fit tightly over a short path, so that answers can be compared to many digits."""
    given = {"gamma": -6.0, "method": Anneal(gammas=gammas, tol=1e-7), **changes}
    return VariationalGarrote(**given).fit(X, y, sample_weight=sample_weight)


def assert_same_model(model, other, X, y, factor=1.0, tolerance=1e-4):
    """Compare inclusion, noise and fitted values, which have the same meaning on every scale."""
    np.testing.assert_allclose(
        model.inclusion_probability_, other.inclusion_probability_, atol=tolerance
    )
    size = np.std(y) or 1.0
    np.testing.assert_allclose(
        model.coef_ * factor, other.coef_, atol=tolerance * size / X.std(axis=0).max()
    )
    assert model.noise_variance_ == pytest.approx(other.noise_variance_, rel=tolerance)
    np.testing.assert_allclose(model.path_.strengths, other.path_.strengths, rtol=1e-3 * tolerance)


# --- order and sign


@few_examples
@given(regressions(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case, random):
    X, y = case.rows()
    order = np.array(random.sample(range(len(y)), len(y)))
    one, two = fit(X, y), fit(X[order], y[order])
    assert_same_model(one, two, X, y)
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-4 * y.std())


@few_examples
@given(regressions(), st.randoms(use_true_random=False))
def test_the_order_of_columns_does_not_matter(case, random):
    X, y = case.rows()
    order = np.array(random.sample(range(X.shape[1]), X.shape[1]))
    one, two = fit(X, y), fit(X[:, order], y)
    np.testing.assert_allclose(one.path_.free_energy[0], two.path_.free_energy[0], rtol=1e-6)
    energy, other = one.posterior_.free_energy, two.posterior_.free_energy
    if abs(energy - other) < 1e-6 * abs(energy):  # otherwise two optima, both certified
        np.testing.assert_allclose(
            one.inclusion_probability_[order], two.inclusion_probability_, atol=1e-4
        )
        np.testing.assert_allclose(one.coef_[order], two.coef_, atol=1e-4)
    assert max(one.certificate_.value, two.certificate_.value) <= 1e-7


@few_examples
@given(regressions(), st.integers(0, 2**25 - 1))
def test_flipping_the_sign_of_columns_flips_their_coefficients(case, bits):
    X, y = case.rows()
    signs = np.array([1.0 if bits >> j & 1 else -1.0 for j in range(X.shape[1])])
    assert_same_model(fit(X * signs, y), fit(X, y), X, y, factor=signs)


@few_examples
@given(regressions())
def test_flipping_the_sign_of_the_response_flips_all_coefficients(case):
    X, y = case.rows()
    assert_same_model(fit(X, -y), fit(X, y), X, y, factor=-1.0)


# --- weights


@few_examples
@given(regressions(), st.data())
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_are_repeats(sparse, case, draw):
    X, y = case.rows()
    repeats = np.array(draw.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    repeats[:6] += 1
    convert = scipy.sparse.csc_array if sparse else np.asarray
    one = fit(convert(X), y, sample_weight=repeats.astype(float))
    two = fit(convert(np.repeat(X, repeats, axis=0)), np.repeat(y, repeats))
    assert_same_model(one, two, X, y)
    assert one.intercept_ == pytest.approx(two.intercept_, abs=1e-4)
    for mine, theirs in zip(
        one.predict(X, return_std=True), two.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(one.selection_.lower, two.selection_.lower, atol=1e-4)


@settings(max_examples=10)
@given(regressions(least=30), st.data())
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_are_repeats_also_in_every_fold(sparse, case, draw):
    X, y = case.rows()
    repeats = np.array(draw.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    repeats[::3] += 1
    owner = np.repeat(np.arange(len(y)), repeats)
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    repeated = [
        (np.flatnonzero(np.isin(owner, train)), np.flatnonzero(np.isin(owner, test)))
        for train, test in splits
    ]
    convert = scipy.sparse.csc_array if sparse else np.asarray
    one = fit(convert(X), y, sample_weight=repeats.astype(float), gamma="cv", cv=splits)
    two = fit(convert(X[owner]), y[owner], gamma="cv", cv=repeated)
    np.testing.assert_allclose(one.path_.strengths, two.path_.strengths, rtol=1e-8)
    # Folds are solved to 1e-2 only.
    np.testing.assert_allclose(
        one.cv_results_["fold_errors"], two.cv_results_["fold_errors"], rtol=2e-2, equal_nan=True
    )
    assert one.cv_results_["null_error"] == pytest.approx(two.cv_results_["null_error"])
    if one.gamma_ == pytest.approx(two.gamma_):
        assert_same_model(one, two, X, y)


@few_examples
@given(regressions(), st.data())
def test_a_row_of_weight_zero_is_a_row_less(case, draw):
    X, y = case.rows()
    kept = np.array(draw.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    kept[:8] = True
    one, two = fit(X, y, sample_weight=kept.astype(float)), fit(X[kept], y[kept])
    assert_same_model(one, two, X, y)
    assert one.intercept_ == pytest.approx(two.intercept_, abs=1e-4)


@few_examples
@given(regressions(), st.integers(2, 5))
def test_equal_weights_are_copies_of_everything(case, copies):
    X, y = case.rows()
    one = fit(X, y, sample_weight=np.full(len(y), float(copies)))
    two = fit(np.tile(X, (copies, 1)), np.tile(y, copies))
    assert_same_model(one, two, X, y)
    plain, ones = fit(X, y), fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(plain.coef_, ones.coef_)


# --- scale and shift


@few_examples
@given(regressions(), st.data())
def test_scaling_columns_divides_their_coefficients(case, draw):
    X, y = case.rows()
    powers = st.lists(st.floats(-4, 4), min_size=X.shape[1], max_size=X.shape[1])
    scales = 10.0 ** np.array(draw.draw(powers))
    one = fit(X * scales, y)
    assert_same_model(one, fit(X, y), X, y, factor=scales)


@few_examples
@given(regressions(), st.floats(-100, 100))
def test_scaling_the_response_multiplies_the_coefficients(case, power):
    X, y = case.rows()
    scale = 10.0**power
    one, two = fit(X, y * scale), fit(X, y)
    np.testing.assert_allclose(one.coef_ / scale, two.coef_, atol=1e-4 * y.std())
    np.testing.assert_allclose(one.inclusion_probability_, two.inclusion_probability_, atol=1e-4)
    assert one.noise_variance_ / scale**2 == pytest.approx(two.noise_variance_, rel=1e-4)
    np.testing.assert_allclose(
        one.selection_.standard_error / scale, two.selection_.standard_error, rtol=1e-4, atol=1e-12
    )


@few_examples
@given(regressions(), st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
@pytest.mark.parametrize("sparse", [False, True])
def test_shifting_x_and_y_moves_only_the_intercept(sparse, case, of_x, of_y):
    X, y = case.rows()
    moved = X + of_x
    one = fit(scipy.sparse.csc_array(moved) if sparse else moved, y + of_y)
    two = fit(X, y)
    assert_same_model(one, two, X, y)
    expected = two.intercept_ + of_y - of_x * two.coef_.sum()
    assert one.intercept_ == pytest.approx(expected, abs=1e-3 * (1 + abs(of_x)))


# --- storage and precision


@few_examples
@given(regressions(), st.floats(0, 1.5))
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_and_dense_give_the_same(intercept, weighted, case, threshold):
    X, y = case.rows()
    X = np.where(np.abs(X) > threshold, X, 0.0)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    if weighted:
        weights[:5] = 1.0
    one = fit(X, y + 3.0, weights, fit_intercept=intercept)
    two = fit(scipy.sparse.csc_array(X), y + 3.0, weights, fit_intercept=intercept)
    if not X.any():
        return
    assert_same_model(one, two, X, y)
    assert one.intercept_ == pytest.approx(two.intercept_, abs=1e-4)


@few_examples
@given(regressions())
def test_float32_is_near_float64(case):
    X, y = case.rows()
    one, two = fit(X.astype(np.float32), y), fit(X, y)
    assert_same_model(one, two, X, y, tolerance=1e-3)
    assert one.coef_.dtype == np.float64


@settings(max_examples=8)
@given(regressions(least=30, widest=15))
def test_the_number_of_jobs_does_not_change_the_result(case):
    X, y = case.rows()
    one = fit(X, y, gamma="cv", n_jobs=1)
    for jobs in (2, 3, -1):
        other = fit(X, y, gamma="cv", n_jobs=jobs)
        assert other.gamma_ == one.gamma_
        np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-9)
        np.testing.assert_allclose(
            other.cv_results_["fold_errors"], one.cv_results_["fold_errors"], rtol=1e-6
        )


@pytest.mark.parametrize("shape", [(60, 300), (80, 20)])
def test_the_number_of_jobs_does_not_change_wide_results_and_random_starts(shape):
    X, y, _ = sparse_regression(*shape, correlation=0.5)
    one, two = (
        VariationalGarrote(n_jobs=jobs, method=Anneal(gammas=12, n_starts=3), random_state=0).fit(
            X, y
        )
        for jobs in (1, 2)
    )
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-8)
    np.testing.assert_allclose(
        [f.free_energy for f in one.posterior_.optima],
        [f.free_energy for f in two.posterior_.optima],
        atol=1e-6,
    )


# --- covariates


@few_examples
@given(regressions(least=30), st.integers(1, 3))
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
def test_covariates_are_residualised_by_hand(intercept, sparse, case, count):
    X, y = case.rows()
    rng = np.random.default_rng([count, 1])
    C = rng.standard_normal((len(y), count)) + 2.0
    y = y + C @ rng.standard_normal(count)
    X = X + 0.3 * C[:, :1]
    together = np.hstack([C, X])
    given_x = scipy.sparse.csc_array(together) if sparse else together
    model = fit(given_x, y, covariates=range(count), fit_intercept=intercept, correct=False)
    first = LinearRegression(fit_intercept=intercept)
    rest_X, rest_y = X - first.fit(C, X).predict(C).reshape(X.shape), y - first.fit(C, y).predict(C)
    by_hand = fit(rest_X, rest_y, gammas=model.path_.strengths, fit_intercept=False, correct=False)
    np.testing.assert_allclose(model.coef_[count:], by_hand.coef_, atol=1e-4)
    np.testing.assert_allclose(
        model.inclusion_probability_[count:], by_hand.inclusion_probability_, atol=1e-4
    )
    assert model.noise_variance_ == pytest.approx(by_hand.noise_variance_, rel=1e-4)
    left = y - X @ model.coef_[count:]
    expected = LinearRegression(fit_intercept=intercept).fit(C, left)
    np.testing.assert_allclose(model.coef_[:count], expected.coef_, atol=1e-6)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-6)


@few_examples
@given(regressions(least=30), st.floats(0.5, 3.0))
def test_covariates_with_weights_are_residualised_by_hand(case, spread):
    X, y = case.rows()
    rng = np.random.default_rng([0, 1])
    weights = rng.uniform(0, spread, len(y))
    weights[3::7] = 0.0
    C = rng.standard_normal((len(y), 2))
    y = y + C[:, 0]
    model = fit(np.hstack([X, C]), y, weights, covariates=[-2, -1], correct=False)
    first = LinearRegression()
    rest_X = X - first.fit(C, X, sample_weight=weights).predict(C).reshape(X.shape)
    rest_y = y - first.fit(C, y, sample_weight=weights).predict(C)
    given = {"gammas": model.path_.strengths, "fit_intercept": False, "correct": False}
    by_hand = fit(rest_X, rest_y, weights, **given)
    np.testing.assert_allclose(model.coef_[:-2], by_hand.coef_, atol=1e-4)


@few_examples
@given(regressions(least=30), st.floats(-10, 10, allow_subnormal=False))
def test_a_constant_covariate_changes_nothing(case, value):
    X, y = case.rows()
    with_constant = np.hstack([X, np.full((len(y), 1), value)])
    plain = fit(X, y)
    model = fit(with_constant, y, covariates=[X.shape[1]], gammas=plain.path_.strengths)
    np.testing.assert_allclose(model.coef_[:-1], plain.coef_, atol=1e-5)
    assert model.coef_[-1] == 0.0
    assert model.intercept_ == pytest.approx(plain.intercept_, abs=1e-5)


# --- answers are certified whatever the data


class AwkwardCase(NamedTuple):
    """Rows of any shape, with ties, heavy tails, duplicates, constants and any noise."""

    n: int
    d: int
    size: int
    noise: float
    kind: str
    repeated: bool
    constant: bool
    seed: int

    def rows(self):
        rng, shape = np.random.default_rng(self.seed), (self.n, self.d)
        X = {
            "normal": lambda: rng.standard_normal(shape),
            "counts": lambda: rng.poisson(1.0, shape).astype(float),
            "tails": lambda: rng.standard_t(2, shape),
            "binary": lambda: rng.integers(0, 2, shape).astype(float),
        }[self.kind]()
        if self.repeated and self.d > 3:
            X[:, 1] = X[:, 0]
            X[:, 2] = X[:, 0] + X[:, 3]
        if self.constant:
            X[:, -1] = 1.0
        effects = rng.choice([-2.0, 0.5, 1.0], min(self.size, self.d))
        return X, X[:, : len(effects)] @ effects + self.noise * rng.standard_normal(self.n)


awkward_regressions = st.builds(
    AwkwardCase,
    n=st.integers(4, 50),
    d=st.integers(1, 60),
    size=st.integers(0, 4),
    noise=st.sampled_from([0.0, 0.1, 1.0]),
    kind=st.sampled_from(["normal", "counts", "tails", "binary"]),
    repeated=st.booleans(),
    constant=st.booleans(),
    seed=st.integers(0, 10_000),
)


@given(awkward_regressions)
@pytest.mark.filterwarnings("ignore:y is constant")
def test_every_fit_of_awkward_data_is_finite_and_certified(case):
    X, y = case.rows()
    model = VariationalGarrote(gamma="free_energy", method=Anneal(gammas=15)).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.path_.free_energy).all()
    assert model.path_.certificate.max() <= 1e-4
    assert (model.inclusion_probability_ >= 0).all()
    assert (model.inclusion_probability_ <= 1).all()
    assert np.isfinite(model.predict(X, return_std=True)).all()
