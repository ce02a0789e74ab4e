"""The penalised regressor and classifier as scikit-learn estimators."""

import re
import warnings
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import garrote
from garrote import SparseClassifier, SparseRegressor
from garrote.displays import PathDisplay
from garrote.likelihoods import FAMILIES, Binomial, Poisson, Probit, survival_times
from garrote.likelihoods.multinomial import Multinomial
from garrote.paths import Anneal, FollowPath
from garrote.paths.combinations import ALL_FAMILIES, is_possible, solvers
from garrote.penalties import MCP, PENALTIES, ElasticNet
from garrote.solvers.penalised import refitting
from pairwise import pairwise
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@scikit_learn_checks(
    SparseRegressor(method=FollowPath(alphas=5), cv=3),
    SparseClassifier(method=FollowPath(alphas=5), cv=3),
    variants=[
        SparseRegressor(),
        SparseClassifier(),
        SparseRegressor(family="huber", method=FollowPath(alphas=30)),
        SparseClassifier(family="probit", method=FollowPath(alphas=30)),
    ],
)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 12))
    eta = X[:, 0] - 0.7 * X[:, 3]
    return X, eta, rng


def response(data, family):
    _, eta, _ = data
    rng = np.random.default_rng(1)
    return {
        "gaussian": eta + 0.5 * rng.standard_normal(len(eta)),
        "binomial": (eta + rng.logistic(size=len(eta)) > 0).astype(float),
        "probit": (eta + rng.standard_normal(len(eta)) > 0).astype(float),
        "quantile": eta + 0.3 * rng.standard_t(1.5, len(eta)),
        "huber": eta + 0.3 * rng.standard_t(1.5, len(eta)),
        "poisson": rng.poisson(np.exp(eta)).astype(float),
        "negative-binomial": rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, len(eta))).astype(float),
        "gamma": rng.gamma(2.0, 0.5 * np.exp(eta)),
        "tweedie": rng.poisson(1.0, len(eta)) * rng.gamma(2.0, 0.5 * np.exp(eta)),
        "inverse-gaussian": rng.wald(np.exp(eta), 5.0),
        "multinomial": np.searchsorted([-0.6, 0.6], eta + 0.5 * rng.standard_normal(len(eta))),
        "cox": survival_times(rng.exponential(np.exp(-eta)), rng.random(len(eta)) < 0.8),
    }[family]


@pytest.mark.parametrize(
    ("penalty", "family"),
    [
        (name, family)
        for name, family in product(PENALTIES, ALL_FAMILIES)
        if is_possible(PENALTIES[name](), family, "coordinate")
    ],
)
def test_every_penalty_has_every_family(data, penalty, family):
    X, _, _ = data
    y = data[1] if PENALTIES[penalty]().matches else response(data, family)
    settings = {"penalty": penalty, "method": FollowPath(alphas=8), "alpha": "bic"}
    if family == "multinomial":
        model = SparseClassifier(**settings).fit(X, y)
    else:
        model = SparseRegressor(family=family, **settings).fit(X, y)
    assert model.path_.certificate.max() < 1e-6
    assert model.score(X, y) > (0.5 if family == "multinomial" else 0.05)
    found = set(model.get_support(indices=True))
    assert {0, 3} <= found or family in ("binomial", "multinomial")
    # The first alpha of an infinitely steep penalty is exact for squares only; that of a fused lasso
    # makes coefficients equal, not 0, and that of trend filtering a line.
    if penalty not in ("ridge", "none", "basis-pursuit", "fused-lasso", "trend-filter") and not (
        getattr(PENALTIES[penalty](), "singular", False) and family != "gaussian"
    ):
        assert model.path_.size[0] == 0


@pytest.mark.parametrize(
    ("penalty", "family"),
    list(product(["lasso", "mcp", "adaptive-lasso"], ["gaussian", "poisson"])),
)
def test_alpha_is_chosen_by_folds_for_every_family(data, penalty, family):
    X, _, _ = data
    y = response(data, family)
    model = SparseRegressor(penalty, family=family, method=FollowPath(alphas=15), rule="1se").fit(
        X, y
    )
    assert model.path_.coefficients().shape == (15, 12)
    assert {0, 3} <= set(model.get_support(indices=True))


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_weights_are_repeats_and_offsets_are_known_parts(data, family):
    X, _, _ = data
    y = response(data, family)
    counts = np.random.default_rng(2).integers(0, 4, len(y))
    known = 0.3 * X[:, 5]
    settings = {"alpha": 0.05, "family": family, "method": FollowPath(alphas=10)}
    weighted = SparseRegressor(**settings).fit(X, y, sample_weight=counts, offset=known)
    repeated = SparseRegressor(**settings).fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), offset=np.repeat(known, counts)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    one, two = weighted.predict(X, offset=0 * known), weighted.predict(X, offset=known)
    expected = one + known if family == "gaussian" else one * np.exp(known)
    np.testing.assert_allclose(two, expected)


def test_the_homotopy_solver_gives_the_same_answer(data):
    X, _, _ = data
    y = response(data, "gaussian")
    one = SparseRegressor(method=FollowPath(alphas=30)).fit(X, y)
    two = SparseRegressor(method=FollowPath(solver="homotopy", alphas=30)).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-9)
    refitted = [
        SparseRegressor(alpha=0.2, refit=0.5, method=solver).fit(X, y).coef_
        for solver in ("coordinate", "homotopy")
    ]
    np.testing.assert_allclose(*refitted, atol=1e-9)
    assert not np.allclose(refitted[0], SparseRegressor(alpha=0.2).fit(X, y).coef_)
    np.testing.assert_allclose(one.cv_results_["mean_error"], two.cv_results_["mean_error"])


@pytest.mark.parametrize("alpha", ["bic", "ebic", 0.1, None])
def test_alpha_is_chosen_as_asked(data, alpha):
    X, _, _ = data
    y = response(data, "gaussian")
    model = SparseRegressor(alpha=alpha, method=FollowPath(alphas=20)).fit(X, y)
    if alpha is None:
        assert model.alpha_ == model.path_.strengths[-1]
    elif not isinstance(alpha, str):
        assert model.alpha_ == alpha
    else:
        assert set(model.get_support(indices=True)) >= {0, 3}
        assert model.path_.strengths[0] > model.alpha_ > model.path_.strengths[-1]


def test_columns_without_a_penalty_are_always_in(data):
    X, _, _ = data
    y = response(data, "gaussian")
    model = SparseRegressor(alpha=10.0, penalty_factor={5: 0.0}).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), [5])
    slope = np.polyfit(X[:, 5], y, 1)[0]
    assert model.coef_[5] == pytest.approx(slope)
    labels = SparseClassifier(alpha=10.0, penalty_factor={5: 0.0}).fit(X, y > 0)
    np.testing.assert_array_equal(labels.get_support(indices=True), [5])


def test_several_classes_and_words_as_labels(data):
    X, eta, _ = data
    words = np.array(["low", "middle", "high"])[np.digitize(eta, [-0.5, 0.5])]
    model = SparseClassifier(method=FollowPath(alphas=20)).fit(X, words)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.coef_.shape == (3, 12)
    assert model.score(X, words) > 0.8
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    balanced = SparseClassifier(method=FollowPath(alphas=20), class_weight="balanced").fit(X, words)
    assert balanced.certificate_["duality gap"] < 1e-6


def test_classes_of_very_unequal_weight_are_certified(data):
    X, eta, _ = data
    classes = np.digitize(eta, [-0.5, 0.5])
    weights = {0: 1000.0, 1: 1e-4, 2: 1e-4}
    model = SparseClassifier(alpha=None, method=FollowPath(alphas=20), class_weight=weights).fit(
        X, classes
    )
    assert model.path_.certificate.max() < 1e-6
    assert model.n_iter_ < 200


def test_a_negative_weight_of_a_class_is_refused(data):
    X, eta, _ = data
    classes = np.digitize(eta, [-0.5, 0.5])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        SparseClassifier(alpha=0.1, class_weight={0: 1.0, 1: 1.0, 2: -1.0}).fit(X, classes)


def test_refitting_takes_the_shrinkage_off(data):
    X, _, _ = data
    y = response(data, "gaussian")
    model = SparseRegressor(alpha=0.2, refit=True).fit(X, y)
    inside = model.get_support()
    design = np.column_stack([np.ones(len(y)), X[:, inside]])
    np.testing.assert_allclose(
        model.coef_[inside], np.linalg.lstsq(design, y, rcond=None)[0][1:], atol=1e-7
    )


@pytest.mark.parametrize("penalty", ["lasso", MCP(gamma=30.0)])
@pytest.mark.parametrize("share", [True, 0.5])
@pytest.mark.parametrize("accuracy", [1e-10, 1e-1])
def test_the_certificate_of_a_refit_is_that_of_what_it_states(
    data, penalty, share, accuracy, monkeypatch
):
    """Solved to a tenth of the null model's gradient only, a refit says so."""
    X, eta, _ = data
    y = (eta + np.random.default_rng(0).logistic(size=len(eta)) > 0).astype(float)
    monkeypatch.setattr(refitting, "_REFITTED", accuracy)
    plain = SparseClassifier(penalty, alpha=0.05).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SparseClassifier(penalty, alpha=0.05, refit=share).fit(X, y)
    refit = (model.coef_[0] - (1 - share) * plain.coef_[0]) / share
    level = brentq(lambda b: (y - expit(X @ refit + b)).sum(), -30.0, 30.0)
    Z, inside = (X - X.mean(axis=0)) / X.std(axis=0), plain.get_support()
    gradient = np.abs(Z.T @ (y - expit(X @ refit + level)))
    violated = gradient[inside].max() / np.abs(Z.T @ (y - y.mean())).max()
    assert (violated > 1e-4) == (accuracy > 1e-4)
    assert model.certificate_["violation"] == pytest.approx(
        max(violated, plain.certificate_["violation"]), rel=0.01, abs=1e-9
    )
    assert model.selection_.converged == (accuracy < 1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_refits_of_classes_are_certified(data, classes):
    X, eta, _ = data
    noisy = eta + np.random.default_rng(0).logistic(size=len(eta))
    labels = np.digitize(noisy, [0.0] if classes == 2 else [-0.5, 0.5])
    model = SparseClassifier(alpha=0.05, refit=True).fit(X, labels)
    assert model.selection_.converged
    assert 0 <= model.certificate_["duality gap"] < 1e-6


def test_models_are_saved_and_reported(data, tmp_path):
    X, _, _ = data
    words = np.where(response(data, "binomial") > 0, "yes", "no")
    for model in (
        SparseRegressor(MCP(gamma=2.0)).fit(X, response(data, "gaussian")),
        SparseClassifier().fit(X, words),
        SparseClassifier(family="probit", method=FollowPath(alphas=10)).fit(X, words),
        SparseRegressor(family="huber", method=FollowPath(alphas=10)).fit(
            X, response(data, "huber")
        ),
        SparseClassifier(method=FollowPath(alphas=10)).fit(X, np.digitize(X[:, 0], [-0.5, 0.5])),
    ):
        model.save(tmp_path / "model.garrote")
        again = garrote.load(tmp_path / "model.garrote")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert str(again.certificate_) == str(model.certificate_)
        model.selection_.report(tmp_path / "report.html")
        assert "entry" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("family", "said", "axis"),
    [
        ("gaussian", "by how much y changes", "effect on y"),
        ("binomial", "by how much the log odds of y change for", "effect on log odds of y"),
        ("poisson", "by how much the log rate of y changes", "effect on log rate of y"),
    ],
)
def test_reports_say_what_effects_are_on(data, tmp_path, family, said, axis):
    model = SparseRegressor("mcp", "bic", family=family, method=FollowPath(alphas=20)).fit(
        data[0], response(data, family)
    )
    model.selection_.report(tmp_path / "report.html")
    text = re.sub(r"</?bdi>", "", (tmp_path / "report.html").read_text())
    assert said in text
    assert "Zhang (2010), Nearly unbiased" in text
    assert "Tibshirani" not in text
    display = PathDisplay.from_estimator(model)
    assert display.ax_.get_ylabel().startswith(axis)
    assert ("effects are on the" in str(model.selection_.summary())) == (family != "gaussian")


def test_every_penalty_names_its_source():
    sources = {name: make().reference for name, make in PENALTIES.items()}
    assert all(re.search(r"\((19|20)\d\d\), ", source) for source in sources.values())
    assert sources["lasso"] == sources["l1"] != sources["elastic-net"] != sources["ridge"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"penalty": "garrote"}, "penalty must be one of"),
        ({"penalty": 3}, "penalty must be one of"),
        ({"alpha": "aic"}, "alpha must be a number, None or one of"),
        ({"alpha": -1.0}, "alpha must be a number >= 0"),
        (
            {"method": FollowPath(alphas=[0.1, -1.0])},
            "alphas must be a positive integer or an array",
        ),
        ({"method": FollowPath(alphas=0)}, "alphas must be at least 1"),
        ({"penalty_factor": 0.0}, "nothing is penalised"),
        ({"penalty_factor": {0: -1.0}}, "penalty_factor must be >= 0"),
        ({"bounds": (0.1, None)}, "bounds must contain 0"),
        ({"bounds": 0.1}, r"bounds must be a pair \(lower, upper\)"),
        ({"bounds": (0, 1, 2)}, r"bounds must be a pair \(lower, upper\)"),
        ({"family": "weibull"}, "family must be one of"),
        ({"family": 3}, r"family must be one of .* or an object of garrote.likelihoods"),
        ({"family": Multinomial(3)}, "has several outputs a row: SparseClassifier takes classes"),
        ({"family": "huber", "method": "homotopy"}, "with a huber response"),
        ({"family": "poisson"}, "needs counts"),
        ({"family": "binomial"}, "needs labels 0 and 1"),
        ({"method": "newton"}, r"method must be one of .*'fista'.* or garrote.paths.FollowPath"),
        ({"method": FollowPath("newton")}, "solver must be one of"),
        ({"method": FollowPath(tol=0.0)}, "tol must be positive"),
        ({"method": FollowPath(max_iter=0)}, "max_iter must be an integer >= 1"),
        ({"method": FollowPath(eps=1.0)}, "eps must be between 0 and 1"),
        ({"method": Anneal()}, "method must be one of"),
        ({"refit": 2.0}, "refit must be True"),
        ({"rule": "max"}, "rule must be"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(data, settings, said):
    with pytest.raises(ValueError, match=said):
        SparseRegressor(**settings).fit(data[0], response(data, "gaussian"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_named_or_given_as_an_object(data, family):
    X, y = data[0], response(data, family)
    one, two = (
        SparseRegressor(family=given, alpha=0.1, method=FollowPath(alphas=3)).fit(X, y)
        for given in (family, FAMILIES[family])
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_classifiers_take_likelihoods_of_labels(data):
    X, y, three = data[0], response(data, "binomial"), response(data, "multinomial")
    for families, labels in (
        (("binomial", "multinomial", Binomial()), y),
        (("probit", Probit()), y),
        (("binomial", "multinomial", Binomial(), Multinomial(3)), three),
    ):
        found = [
            SparseClassifier(family=f, alpha=0.1, method=FollowPath(alphas=3)).fit(X, labels)
            for f in families
        ]
        for model in found[1:]:
            np.testing.assert_array_equal(model.coef_, found[0].coef_)
            np.testing.assert_array_equal(model.predict_proba(X), found[0].predict_proba(X))
    for family, labels, said in (
        (Poisson(), y, "family='poisson' is of numbers, not of labels of 2 classes"),
        (
            Multinomial(4),
            three,
            r"Multinomial\(4\) is for y of 4 classes, more than 2, but y has 3",
        ),
        ("logistic", y, "family must be one of"),
    ):
        with pytest.raises(ValueError, match=said):
            SparseClassifier(family=family).fit(X, labels)


def test_impossible_combinations_say_what_is_possible(data):
    X, _, _ = data
    said = r"cannot fit penalty 'lasso' with a poisson .*'coordinate'.*'fista'.*; or family 'gauss"
    with pytest.raises(ValueError, match=said):
        SparseRegressor(method="homotopy", family="poisson").fit(X, response(data, "poisson"))
    said = "solver 'coordinate'.*; or penalty 'lasso' or 'l1' or 'elastic-net' or 'adaptive-lasso'$"
    with pytest.raises(ValueError, match=said):
        SparseRegressor("scad", method="least-angle").fit(X, response(data, "gaussian"))
    with pytest.raises(ValueError, match=r"'elastic net' \(corrected=True\) with a multinomial"):
        SparseClassifier(ElasticNet(corrected=True)).fit(X, np.arange(120) % 3)
    with pytest.raises(ValueError, match="one class only"):
        SparseClassifier().fit(X, np.zeros(120))


def test_given_alphas_may_come_in_any_order(data):
    X, _, _ = data
    y = response(data, "gaussian")
    one = SparseRegressor(alpha=None, method=FollowPath(alphas=[0.01, 1.0, 0.1])).fit(X, y)
    np.testing.assert_array_equal(one.path_.strengths, [1.0, 0.1, 0.01])


def test_no_penalty_at_all_with_more_columns_than_rows_interpolates(data):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), rng.standard_normal(20)
    model = SparseRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_a_class_with_one_member_is_fitted_where_it_can_be(data):
    X, eta, _ = data
    rare = np.zeros(120)
    rare[7] = 1
    three = np.where(rare > 0, "rare", np.where(eta > 0, "high", "low"))
    for labels in (rare, three):
        model = SparseClassifier(alpha="bic").fit(X, labels)
        assert model.certificate_["duality gap"] < 1e-6


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("names", [("common", "rare"), ("high", "low", "rare")])
def test_a_fold_that_trains_without_a_class_is_refused(data, names):
    X, eta, _ = data
    labels = np.array(names)[np.digitize(eta, [0.0]) if len(names) == 3 else np.zeros(120, int)]
    labels[7] = "rare"
    said = r"trains without class 'rare' \(1 of 120 rows\): choose alpha by 'bic', or leave"
    with pytest.raises(ValueError, match=said):
        SparseClassifier().fit(X, labels)
    labels[[8, 9]] = "rare"
    assert (
        SparseClassifier(method=FollowPath(alphas=10)).fit(X, labels).certificate_["duality gap"]
        < 1e-6
    )


def test_a_fold_that_trains_on_zeros_is_refused(data):
    X, _, _ = data
    counts = np.zeros(120)
    counts[:5] = 3
    with pytest.raises(
        ValueError, match="fold 0 of cv has too little to train on: every count in y is 0"
    ):
        SparseRegressor(family="poisson", cv=KFold(5)).fit(X, counts)
    model = SparseRegressor(family="poisson", alpha="bic").fit(X, counts)
    assert model.certificate_["duality gap"] < 1e-6


@pytest.mark.parametrize("penalty", ["mcp", "scad"])
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_that_a_flat_penalty_separates_have_no_finite_optimum(data, penalty, classes):
    X, _, _ = data
    labels = np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])
    model = SparseClassifier(penalty, None)
    with pytest.warns(ConvergenceWarning, match="match.* without error .* no finite optimum"):
        model.fit(X, labels)
    assert model.get_support(indices=True).tolist() == [0]
    assert model.score(X, labels) == 1
    assert not model.selection_.converged
    assert "99.9 % of the deviance" in model.path_.cut
    assert model.path_.certificate.max() < 1e-6
    assert len(model.path_) < 100


def test_without_a_penalty_separable_classes_have_no_finite_optimum(data):
    X, _, _ = data
    for settings in ({"penalty": "none"}, {"alpha": 0.0}, {"alpha": 0.1, "refit": True}):
        with pytest.warns(ConvergenceWarning, match="no finite optimum"):
            SparseClassifier(**settings).fit(X, X[:, 0] > 0)


def test_separable_classes_have_a_lasso(data):
    X, _, _ = data
    model = SparseClassifier(alpha=None).fit(X, X[:, 0] > 0)
    assert model.path_.certificate.max() < 1e-6
    assert model.score(X, X[:, 0] > 0) == 1


@pytest.mark.parametrize("family", ["binomial", "poisson"])
@pytest.mark.parametrize("penalty", ["l1", "mcp", "none", "ridge"])
def test_likelihoods_without_a_maximum_are_refused(penalty, family):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), rng.integers(0, 2, 20)
    with pytest.raises(ValueError, match="50 columns fit any response of 20 rows: maximum likel"):
        SparseRegressor(penalty, 0.0, family=family).fit(X, y)


def test_placed_grids_end_where_nearly_all_is_explained_and_given_ones_do_not():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 200))
    y = (X[:, 0] + X[:, 1] > 0).astype(float)
    placed = SparseClassifier(method=FollowPath(alphas=60, eps=1e-5)).fit(X, y)
    assert len(placed.path_) < 60
    assert 0.999 <= placed.path_.deviance_explained[-1] < 0.9999
    assert (placed.path_.deviance_explained[:-1] < 0.999).all()
    assert placed.cv_results_["fold_errors"].shape == (5, len(placed.path_))
    assert np.isfinite(placed.cv_results_["fold_errors"]).all()
    assert placed.selection_.path.cut == placed.path_.cut
    given = np.geomspace(placed.path_.strengths[0], 1e-5 * placed.path_.strengths[0], 60)
    whole = SparseClassifier(method=FollowPath(alphas=given), alpha=None).fit(X, y)
    assert len(whole.path_) == 60
    assert whole.path_.cut is None
    np.testing.assert_allclose(
        whole.path_.coefficients()[: len(placed.path_)].toarray(),
        placed.path_.coefficients().toarray(),
        atol=1e-6,
    )
    asked = SparseClassifier(alpha=float(given[-1]), method=FollowPath(eps=1e-5)).fit(X, y)
    assert asked.alpha_ == given[-1]


def test_bic_does_not_choose_a_model_that_interpolates():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 300))
    y = 2 * X[:, 0] + rng.standard_normal(40)
    model = SparseRegressor(alpha="bic", method=FollowPath(eps=1e-4)).fit(X, y)
    assert 0 in model.get_support(indices=True)
    assert model.get_support().sum() <= 20


# What the manual says these reach.
_ACCURACY = {"subgradient": 1e-2, ("fused-lasso", "em"): 1e-4}


COMBINATIONS = {"penalty": list(PENALTIES), "family": list(ALL_FAMILIES), "solver": list(solvers())}


def possible(penalty, family, solver):
    return is_possible(PENALTIES[penalty](), family, solver)


def combined(penalty, family, solver):
    tol = _ACCURACY.get((penalty, solver), _ACCURACY.get(solver, 1e-6))
    settings = {"penalty": penalty, "alpha": 0.3, "method": FollowPath(solver, 2, tol=tol)}
    if family == "multinomial":
        return SparseClassifier(**settings)
    return SparseRegressor(family=family, **settings)


def assert_fits(data, penalty, family, solver):
    y = data[1] if PENALTIES[penalty]().matches else response(data, family)
    model = combined(penalty, family, solver).fit(data[0], y)
    assert model.path_.certificate.max() <= model.method.tol or solver == "least-angle"


def test_what_the_table_of_combinations_rules_out_is_refused(data):
    some = {family: response(data, family) for family in ALL_FAMILIES}
    for chosen in product(*COMBINATIONS.values()):
        if not possible(*chosen):
            with pytest.raises(ValueError, match="cannot fit penalty"):
                combined(*chosen).fit(data[0], some[chosen[1]])


def test_the_table_of_combinations_is_what_fits_do(data):
    for row in pairwise(COMBINATIONS, possible):
        assert_fits(data, **row)


@pytest.mark.slow
def test_the_whole_table_of_combinations_is_what_fits_do(data):
    for chosen in filter(lambda chosen: possible(*chosen), product(*COMBINATIONS.values())):
        assert_fits(data, *chosen)
