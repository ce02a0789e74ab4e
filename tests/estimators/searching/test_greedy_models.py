"""The greedy regressor and classifier: scikit-learn's checks, plain references, choices, bad input."""

import re

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import garrote
from garrote import GreedyClassifier, GreedyRegressor
from garrote.designs import DenseDesign
from garrote.greedy import OMP, Boosting, Forward, SingleBestReplacement
from garrote.likelihoods import Binomial, Poisson
from garrote.solvers.losses.newton import fit_newton
from pairwise import pairwise
from reference_greedy import least_squares
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@scikit_learn_checks(
    GreedyRegressor(),
    GreedyClassifier(),
    variants=[
        GreedyRegressor("splicing", criterion="cv"),
        GreedyRegressor("forward", family="poisson"),
        GreedyClassifier("forward"),
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rows(n=70, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10)) + 0.5 * rng.standard_normal((n, 1))
    X[:, 4] += 1e3
    return X, 2 * X[:, 3] - X[:, 7] + 0.3 * X[:, 0] + rng.standard_normal(n), rng


def reference(X, y, weights, offset, fixed, chosen):
    """Return coefficients and intercept of weighted least squares on some columns."""
    columns = sorted({*fixed, *chosen})
    root, left = np.sqrt(weights), y - offset
    design = np.column_stack([np.ones(len(y)), X[:, columns] - X[:, columns].mean(axis=0)])
    found = np.linalg.lstsq(root[:, None] * design, root * left, rcond=None)[0]
    coef = np.zeros(X.shape[1])
    coef[columns] = found[1:]
    return coef, found[0] - X[:, columns].mean(axis=0) @ found[1:]


def greedy_reference(X, y, weights, offset, fixed, groups, size):
    """Return the columns that forward selection takes in, groups as one."""
    labels = np.arange(X.shape[1]) if groups is None else np.asarray(groups)
    chosen = []

    def left(units):
        columns = np.flatnonzero(np.isin(labels, units))
        coef, level = reference(X, y, weights, offset, fixed, columns)
        return weights @ (y - offset - level - X @ coef) ** 2

    free = [g for g in np.unique(labels) if not set(np.flatnonzero(labels == g)) <= set(fixed)]
    for _ in range(size):
        others = [g for g in free if g not in chosen]
        chosen.append(min(others, key=lambda g: left([*chosen, g])))
    return np.flatnonzero(np.isin(labels, chosen))


FEATURES = pairwise(
    {
        "weighted": [False, True],
        "offset": [False, True],
        "storage": ["dense", "sparse", "float32", "design"],
        "covariates": [None, [1, 2]],
        "groups": [None, [0, 0, 1, 2, 2, 3, 4, 5, 5, 6]],
    }
)


@pytest.mark.parametrize("features", FEATURES, ids=lambda one: "-".join(map(str, one.values())))
def test_products_of_features_agree_with_plain_least_squares(features):
    X, y, rng = rows()
    weighted, offset, storage, covariates, groups = features.values()
    weights = rng.integers(0, 3, len(y)).astype(float) if weighted else np.ones(len(y))
    known = rng.standard_normal(len(y)) if offset else np.zeros(len(y))
    exact = X.astype(np.float32).astype(float) if storage == "float32" else X
    fixed = covariates or []
    chosen = greedy_reference(exact, y, weights, known, fixed, groups, 3)
    coef, level = reference(exact, y, weights, known, fixed, chosen)
    given = {
        "dense": X,
        "sparse": scipy.sparse.csr_array(X),
        "float32": X.astype(np.float32),
        "design": DenseDesign(np.asfortranarray(X)),
    }[storage]
    model = GreedyRegressor("forward", 3, covariates=covariates, column_groups=groups)
    model.fit(given, y, weights if weighted else None, offset=known if offset else None)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, level, atol=1e-5)
    assert model.certificate_.value < 1e-8
    assert set(model.get_support(indices=True)) == {*chosen, *fixed}


def test_sizes_tolerances_and_criteria_choose_on_one_path():
    X, y, _ = rows()
    for size in (0, 1, 4):
        model = GreedyRegressor("forward", size).fit(X, y)
        assert model.n_features_ == size == np.count_nonzero(model.coef_)
    model = GreedyRegressor("forward", tol=0.3).fit(X, y)
    explained = model.path_.deviance_explained
    assert explained[-1] >= 0.7 > explained[-2]
    sizes = {c: GreedyRegressor(criterion=c).fit(X, y).n_features_ for c in ("aic", "bic", "ebic")}
    assert sizes["aic"] >= sizes["bic"] >= sizes["ebic"] >= 1
    by_folds = GreedyRegressor(criterion="cv").fit(X, y)
    careful = GreedyRegressor(criterion="cv", rule="1se").fit(X, y)
    assert careful.n_features_ <= by_folds.n_features_
    np.testing.assert_array_equal(by_folds.cv_results_["size"], by_folds.path_.strengths)


def test_folds_are_searched_anew():
    _, y, rng = rows()
    noise = rng.standard_normal((70, 60))
    model = GreedyRegressor("forward", criterion="cv", max_features=20).fit(noise, y)
    # Of noise alone no model predicts better than none; chosen outside of the folds many would.
    assert model.n_features_ <= 2


def test_labels_and_counts_are_most_likely_fits_to_what_was_chosen():
    X, y, rng = rows(n=200)
    labels = np.where(y + rng.logistic(size=200) > 0, "b", "a")
    for search in ("omp", Forward(10), "splicing"):
        model = GreedyClassifier(search, 2, covariates=[5]).fit(X, labels)
        inside = model.get_support(indices=True)
        assert set(inside) == {3, 5, 7}
        expected = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
        expected.fit(X[:, inside] - X[:, inside].mean(axis=0), labels)
        np.testing.assert_allclose(model.coef_[0, inside], expected.coef_[0], atol=1e-4)
    assert model.selection_.always_in == ("x5",)
    counts = rng.poisson(np.exp(0.3 * X[:, 3] + 0.2 * X[:, 7]))
    model = GreedyRegressor("forward", 2, family="poisson").fit(X, counts)
    inside = model.get_support(indices=True)
    expected = fit_newton(Poisson(), X[:, inside], counts.astype(float))
    np.testing.assert_allclose(model.coef_[inside], expected.coef, atol=1e-6)


def test_forward_selection_of_labels_is_that_of_all_fits():
    X, _, rng = rows(n=120)
    X = X[:, :6]
    labels = (X[:, 3] - X[:, 2] + rng.logistic(size=120) > 0).astype(float)
    path = GreedyClassifier(Forward(6), max_features=3).fit(X, labels).path_
    chosen = []
    for fit in path.fits[1:4]:
        others = [j for j in range(6) if j not in chosen]
        found = {j: fit_newton(Binomial(), X[:, [*chosen, j]], labels).deviance for j in others}
        chosen.append(min(found, key=found.get))
        assert sorted(chosen) == fit.columns.tolist()
        assert 2 * fit.loss * 120 == pytest.approx(min(found.values()), rel=1e-9)


def test_groups_of_labels_come_in_together():
    X, y, rng = rows(n=200)
    labels = y + rng.logistic(size=200) > 0
    groups = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    for search in ("omp", "forward", "splicing"):
        model = GreedyClassifier(search, 2, column_groups=groups).fit(X, labels)
        np.testing.assert_array_equal(model.get_support(indices=True), [2, 3, 6, 7])


def test_separated_classes_end_the_path():
    X, _, _ = rows()
    labels = X[:, 3] > np.median(X[:, 3])
    with pytest.warns(
        ConvergenceWarning, match="ends at size 0: with more the response is separated"
    ):
        model = GreedyClassifier(n_features=3).fit(X, labels)
    assert "separated" in model.path_.cut
    assert model.n_features_ == 0


def test_z_scores_of_the_same_rows_give_the_same_models():
    X, y, _ = rows()
    X = X - X.mean(axis=0)
    standard, response = X / X.std(axis=0), (y - y.mean()) / y.std()
    correlation = standard.T @ response / len(y)
    z = correlation * np.sqrt((len(y) - 2) / (1 - correlation**2))
    model = GreedyRegressor("forward", 3).fit_zscores(
        z, standard.T @ standard / len(y), len(y), mismatch=0
    )
    rows_model = GreedyRegressor("forward", 3).fit(standard, response)
    np.testing.assert_array_equal(
        model.get_support(indices=True), rows_model.get_support(indices=True)
    )


def test_models_are_saved_reported_and_measured(tmp_path):
    X, y, _ = rows()
    model = GreedyRegressor(Boosting(0.2, 50), criterion="cv", stability=5).fit(X, y)
    model.validate(X, y)
    model.save(tmp_path / "model.garrote")
    same = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert same.search == Boosting(0.2, 50)
    model.selection_.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "steps of the search" in page
    assert "It is no probability" in page


def test_duplicated_and_constant_columns_are_taken_once_or_never():
    X, y, _ = rows()
    X = np.column_stack([X, X[:, 3], np.full(len(y), 2.0)])
    model = GreedyRegressor("splicing", 3).fit(X, y)
    assert model.get_support()[[3, 10]].sum() == 1
    assert not model.get_support()[11]
    assert model.selection_.interchangeable
    assert model.certificate_.value < 1e-9


def test_more_variables_than_the_rank_are_told_of():
    X, y, _ = rows(n=8)
    with pytest.warns(ConvergenceWarning, match="9 variables were asked for, and 7 are all"):
        model = GreedyRegressor("forward", 9).fit(X, y)
    assert model.n_features_ == 7
    doubled = np.column_stack([X[:, :3], X[:, :3]])
    with pytest.warns(ConvergenceWarning, match="5 variables were asked for, and 3 are all"):
        GreedyRegressor("omp", 5).fit(doubled, y)


def test_a_constant_response_has_the_empty_model():
    X, _, _ = rows()
    with pytest.warns(UserWarning, match="y is constant"):
        model = GreedyRegressor().fit(X, np.ones(len(X)))
    assert not model.coef_.any()
    assert model.intercept_ == 1.0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GreedyRegressor("stepwise"), "search must be one of ('omp', "),
        (GreedyRegressor(n_features=11), "n_features must be at most the 10 columns of X, got 11"),
        (GreedyRegressor(n_features=-1), "n_features must be an integer >= 0, got -1"),
        (GreedyRegressor(tol=1.0), "tol is the share of the null model's error"),
        (GreedyRegressor(criterion="mdl"), "criterion must be None or one of ('aic', 'bic', "),
        (GreedyRegressor(rule="best"), "rule must be 'min' or '1se', got 'best'"),
        (GreedyRegressor(family="huber"), "family must be one of ('gaussian', "),
        (GreedyRegressor("foba", family="poisson"), "search='foba' is for numbers; labels and counts"),
        (GreedyClassifier("backward"), "search='backward' is for numbers; labels and counts are"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_meant_are_refused(model, message):
    X, y, _ = rows()
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(X, (y > 0).astype(int))


def test_settings_of_searches_are_checked_when_they_are_made():
    with pytest.raises(ValueError, match="learning_rate must be above 0 and at most 1, got 2"):
        Boosting(2)
    with pytest.raises(ValueError, match="price must be a number >= 0 or None, got -1"):
        SingleBestReplacement(-1)
    with pytest.raises(ValueError, match=re.escape("write search=Boosting() to set its n_steps")):
        GreedyRegressor("boosting").set_params(search__n_steps=3)


def test_backward_selection_of_wide_tables_is_refused():
    X, y, _ = rows(n=8)
    with pytest.raises(
        ValueError, match="begins with all columns, but 10 of them fit any response"
    ):
        GreedyRegressor("backward").fit(X, y)


def test_one_row_of_the_path_a_size():
    X, y, _ = rows()
    path = GreedyRegressor(OMP(), criterion=None).fit(X, y).path_
    np.testing.assert_array_equal(path.strengths, np.arange(len(path)))
    np.testing.assert_array_equal(path.size, np.arange(len(path)))
    left = least_squares(X - X.mean(axis=0), y - y.mean(), range(10))[1]
    assert 2 * path.fits[-1].loss * len(y) == pytest.approx(left, rel=1e-9)


@pytest.mark.parametrize("search", ["omp", "forward", "splicing"])
def test_a_perfect_predictor_of_labels_is_not_passed_over_in_silence(search):
    X, _, _ = rows()
    found = GreedyClassifier(search).fit(X, X[:, 3] > np.median(X[:, 3])).selection_
    assert not found.selected.any()
    assert any("the response is separated" in text for text in found.warnings)
