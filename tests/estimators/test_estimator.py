"""VariationalGarrote among its neighbours: scikit-learn's checks, data frames, pipelines, reports."""

import doctest
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from garrote import VariationalGarrote
from garrote.estimators.given.folds import split_rows
from garrote.paths import Anneal
from garrote.priors import ExpectedSize
from reference import example_2, sparse_regression
from scikit_checks import scikit_learn_checks

HOSTILE = [
    '<script>alert("1")</script>',
    "a & b",
    "'; DROP TABLE x; --",
    "\u202egnp.exe",
    "a\nb",
    "",
]


@pytest.fixture(scope="module")
def data():
    X, y, _ = sparse_regression(n=80, d=12, seed=1)
    return X, y


@pytest.fixture(scope="module")
def fitted(data):
    return VariationalGarrote().fit(*data)


# The checks fit all sorts of data: no selection, one column, integers as y.
@pytest.mark.filterwarnings("default")
@scikit_learn_checks(
    VariationalGarrote(method=Anneal(gammas=10)),
    variants=[
        VariationalGarrote(),
        VariationalGarrote(gamma=-5.0),
        VariationalGarrote(gamma="free_energy"),
        VariationalGarrote(method="dual"),
        VariationalGarrote(method=Anneal(gammas=10, n_starts=2), random_state=0),
    ],
)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


# --- an estimator among others


def test_clone_keeps_every_setting_and_no_answer(fitted):
    model = VariationalGarrote(
        -4.0,
        method=Anneal(gammas=7),
        rule="1se",
        covariates=[1],
        signs={0: 1},
        prior_log_odds=np.ones(12),
    )
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert repr(copy) == repr(model)
    assert not hasattr(clone(fitted), "coef_")


def test_tags_say_what_the_estimator_can_do():
    tags = get_tags(VariationalGarrote())
    assert tags.estimator_type == "regressor"
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert tags.target_tags.required
    assert not tags.target_tags.multi_output
    assert tags.regressor_tags is not None
    assert tags.transformer_tags is not None


def test_the_examples_in_docstrings_are_true():
    import garrote.estimators.variational_garrote as module

    outcome = doctest.testmod(module)
    assert outcome.attempted > 3
    assert outcome.failed == 0


def test_settings_are_stored_as_given():
    given = {"method": Anneal(start=[0.5]), "covariates": ("a",), "signs": {"a": 1}}
    model = VariationalGarrote(**given)
    assert all(getattr(model, name) is value for name, value in given.items())


def test_fitting_changes_no_setting(data):
    model = VariationalGarrote(method=Anneal(gammas=[-9.0, -3.0]), covariates=[2, 0], signs={1: -1})
    before = {name: repr(value) for name, value in model.get_params().items()}
    model.fit(*data)
    assert {name: repr(value) for name, value in model.get_params().items()} == before


@pytest.mark.parametrize("act", ["predict", "summary", "get_support", "transform"])
def test_asking_before_fitting_is_an_error_that_says_so(act, data):
    model = VariationalGarrote()
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(model, act)(*([data[0]] if act in ("predict", "transform") else []))


@pytest.mark.parametrize("solver", ["coordinate", "primal", "dual"])
def test_pickle_keeps_everything_that_is_asked_of_a_model(data, solver):
    X, y = data
    model = VariationalGarrote(method=Anneal(solver=solver, n_starts=1), random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    for mine, theirs in zip(
        model.predict(X, return_std=True), copy.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    assert str(copy.summary()) == str(model.summary())
    assert copy.selection_.to_json() == model.selection_.to_json()
    np.testing.assert_array_equal(copy.path_.free_energy, model.path_.free_energy)


def test_fitting_twice_gives_the_same_answer(data, fitted):
    again = VariationalGarrote().fit(*data)
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    np.testing.assert_array_equal(again.path_.certificate, fitted.path_.certificate)


def test_refitting_leaves_nothing_of_the_old_fit(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(12)])
    model = VariationalGarrote().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    model.set_params(gamma=-5.0).fit(X[:, :5], y)
    fresh = VariationalGarrote(gamma=-5.0).fit(X[:, :5], y)
    assert {n for n in vars(model) if n.endswith("_")} == {
        n for n in vars(fresh) if n.endswith("_")
    }
    assert model.n_features_in_ == 5
    assert model.coef_.shape == (5,)
    assert str(model.summary()) == str(fresh.summary())
    np.testing.assert_array_equal(model.predict(X[:, :5]), fresh.predict(X[:, :5]))


def test_the_truth_is_found_and_predicts(data, fitted):
    X, y = data
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2]
    assert fitted.score(X, y) > 0.7
    np.testing.assert_allclose(fitted.predict(X), X @ fitted.coef_ + fitted.intercept_)
    np.testing.assert_array_equal(fitted.transform(X), X[:, :3])


def test_attributes_agree_with_each_other(data):
    fitted = VariationalGarrote(correct=False).fit(*data)
    index = fitted.path_.index(fitted.gamma_)
    np.testing.assert_allclose(fitted.path_.coefficients().toarray()[index], fitted.coef_)
    listed = fitted.path_.inclusion_probability().toarray()[index]
    np.testing.assert_allclose(listed, fitted.inclusion_probability_, atol=1e-4)
    assert fitted.path_.intercepts[index] == pytest.approx(fitted.intercept_)
    assert fitted.path_.noise_variance[index] == pytest.approx(fitted.noise_variance_)
    assert fitted.path_.free_energy[index] == pytest.approx(fitted.posterior_.free_energy)
    assert fitted.certificate_ is fitted.selection_.certificate
    np.testing.assert_array_equal(fitted.selection_.selected, fitted.get_support())


# --- data frames


def test_pandas_columns_name_the_answer(data, fitted):
    X, y = data
    names = [f"gene {j}" for j in range(12)]
    model = VariationalGarrote().fit(pd.DataFrame(X, columns=names), pd.Series(y))
    assert model.feature_names_in_.tolist() == names
    assert model.get_feature_names_out().tolist() == names[:3]
    assert set(model.selection_.table().columns["variable"]) == set(names[:3])
    np.testing.assert_allclose(model.coef_, fitted.coef_, rtol=1e-12)


def test_polars_columns_name_the_answer(data, fitted):
    X, y = data
    names = [f"gene {j}" for j in range(12)]
    model = VariationalGarrote().fit(pl.DataFrame(X, schema=names), pl.Series(y))
    assert model.feature_names_in_.tolist() == names
    assert model.get_feature_names_out().tolist() == names[:3]
    np.testing.assert_allclose(model.coef_, fitted.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.predict(pl.DataFrame(X, schema=names)), fitted.predict(X))


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_returns_the_selected_columns_as_a_frame(data, kind, frame):
    X, y = data
    given = frame(dict(zip([f"gene {j}" for j in range(12)], X.T, strict=True)))
    selected = VariationalGarrote().set_output(transform=kind).fit(given, y).transform(given)
    assert isinstance(selected, frame)
    assert list(selected.columns) == ["gene 0", "gene 1", "gene 2"]


def test_new_frames_must_have_the_same_columns(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(12)])
    model = VariationalGarrote(gamma=-5.0).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_names_are_given_to_columns_that_have_none(fitted):
    assert fitted.selection_.names == tuple(f"x{j}" for j in range(12))


@pytest.mark.parametrize("by", ["name", "position", "negative", "mask", "text"])
def test_columns_can_be_named_in_every_way(data, by):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(12)])
    given = {
        "name": ["v5"],
        "position": [5],
        "negative": [-7],
        "mask": np.arange(12) == 5,
        "text": "v5",
    }[by]
    model = VariationalGarrote(gamma=-5.0, covariates=given).fit(frame, y)
    assert model.inclusion_probability_[5] == 1.0
    assert model.coef_[5] != 0.0
    assert np.count_nonzero(model.inclusion_probability_ == 1.0) <= 4


# --- pipelines and searches


def test_select_from_model_reads_the_inclusion_probability(data):
    X, y = data
    selector = SelectFromModel(
        VariationalGarrote(), importance_getter="inclusion_probability_", threshold=0.5
    ).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]


def test_a_pipeline_selects_then_regresses(data):
    X, y = data
    pipe = make_pipeline(StandardScaler(), VariationalGarrote(), LinearRegression()).fit(X, y)
    assert pipe[-1].coef_.shape == (3,)
    assert pipe.score(X, y) > 0.7


def test_grid_search_finds_a_sensible_gamma(data):
    X, y = data
    search = GridSearchCV(VariationalGarrote(), {"gamma": [-60.0, -6.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"gamma": -6.0}
    assert search.best_estimator_.gamma_ == -6.0


def test_cross_val_score_nests_the_choice_of_gamma(data):
    assert cross_val_score(VariationalGarrote(), *data, cv=3).min() > 0.5


def test_sample_weights_are_routed_through_a_pipeline(data):
    X, y = data
    weight = np.r_[np.ones(60), np.zeros(20)]
    expected = VariationalGarrote(gamma=-5.0).fit(X[:60], y[:60]).coef_
    pipe = make_pipeline(VariationalGarrote(gamma=-5.0))
    pipe.fit(X, y, variationalgarrote__sample_weight=weight)
    np.testing.assert_allclose(pipe[-1].coef_, expected, atol=1e-6)
    with sklearn.config_context(enable_metadata_routing=True):
        model = VariationalGarrote(gamma=-5.0).set_fit_request(sample_weight=True)
        pipe = make_pipeline(model).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(pipe[-1].coef_, expected, atol=1e-6)


def test_sample_weights_and_groups_are_routed_through_cross_validation(data):
    X, y = data
    weight, groups = np.ones(80), np.arange(80) % 8
    weight[:5] = 2.0
    with sklearn.config_context(enable_metadata_routing=True):
        model = VariationalGarrote(method=Anneal(gammas=8), cv=GroupKFold(3))
        model.set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=True)
        scores = cross_val_score(
            model, X, y, cv=GroupKFold(2), params={"sample_weight": weight, "groups": groups}
        )
        assert scores.min() > 0.5
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            cross_val_score(VariationalGarrote(), X, y, params={"sample_weight": weight})


# --- choosing gamma


def test_a_splitter_and_a_list_of_its_splits_are_the_same(data):
    X, y = data
    numbers = np.repeat(np.arange(5), 16)
    first = VariationalGarrote(cv=KFold(5)).fit(X, y)
    for cv in (list(KFold(5).split(X)), KFold(5).split(X), PredefinedSplit(numbers)):
        model = VariationalGarrote(cv=cv).fit(X, y)
        np.testing.assert_allclose(
            model.cv_results_["fold_errors"], first.cv_results_["fold_errors"], rtol=1e-10
        )
        assert model.gamma_ == first.gamma_


def test_a_number_of_folds_is_what_split_rows_makes_of_it(data, fitted):
    X, y = data
    model = VariationalGarrote(cv=split_rows(5, X, y, seed=fitted.random_state)).fit(X, y)
    np.testing.assert_allclose(
        model.cv_results_["fold_errors"], fitted.cv_results_["fold_errors"], rtol=1e-10
    )
    assert model.gamma_ == fitted.gamma_


def test_rows_outside_every_test_fold_only_train(data):
    X, y = data
    numbers = np.r_[np.full(40, -1), np.zeros(20), np.ones(20)].astype(int)
    model = VariationalGarrote(cv=PredefinedSplit(numbers)).fit(X, y)
    assert model.cv_results_["fold_errors"].shape[0] == 2
    assert model.get_support(indices=True).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("cv", "folds"),
    [
        (ShuffleSplit(1, test_size=0.3, random_state=0), 1),
        (LeaveOneOut(), 30),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 6),
        (2, 2),
    ],
    ids=["one split", "leave one out", "repeated", "two"],
)
def test_every_kind_of_splitter_is_followed(cv, folds):
    X, y, _ = sparse_regression(n=30, d=6, seed=1)
    model = VariationalGarrote(cv=cv, method=Anneal(gammas=12)).fit(X, y)
    assert model.cv_results_["fold_errors"].shape[0] == folds
    assert np.isfinite(model.cv_results_["mean_error"][: len(model.path_)]).any()
    assert {0, 1, 2} <= set(model.get_support(indices=True).tolist())


def test_groups_stay_together(data):
    X, y = data
    groups = np.repeat(np.arange(16), 5)
    by_groups = VariationalGarrote(cv=GroupKFold(4)).fit(X, y, groups=groups)
    by_hand = VariationalGarrote(cv=list(GroupKFold(4).split(X, y, groups))).fit(X, y)
    np.testing.assert_allclose(
        by_groups.cv_results_["fold_errors"], by_hand.cv_results_["fold_errors"], rtol=1e-10
    )
    with pytest.raises(ValueError, match="groups"):
        VariationalGarrote(cv=GroupKFold(4)).fit(X, y)


def test_fold_errors_are_those_of_fits_on_the_training_rows_alone(data):
    # Standardising outside of the folds would leak; the scale of a column that differs in the test
    # rows shows it.
    X, y = data
    X = X.copy()
    X[:16] *= 5.0
    X[:16] += 3.0
    gammas = [-30.0, -10.0, -6.0, -4.0, -3.0]
    splits = list(KFold(5).split(X))
    together = VariationalGarrote(method=Anneal(gammas=gammas), cv=splits).fit(X, y)
    for fold, (train, test) in enumerate(splits):
        for k, gamma in enumerate(gammas):
            alone = VariationalGarrote(gamma=gamma, method=Anneal(gammas=gammas), correct=False)
            alone.fit(X[train], y[train])
            error = np.mean((y[test] - alone.predict(X[test])) ** 2)
            assert together.cv_results_["fold_errors"][fold, k] == pytest.approx(error, rel=1e-2)
        null = np.mean((y[test] - y[train].mean()) ** 2)
        assert null > 0
    nulls = [np.mean((y[test] - y[train].mean()) ** 2) for train, test in splits]
    assert together.cv_results_["null_error"] == pytest.approx(np.mean(nulls))


def test_an_outlier_among_the_held_out_rows_does_not_reach_the_training_rows():
    # What is left of cross products when huge ones are subtracted is rounding.
    X, y, _ = sparse_regression(n=60, d=6, seed=1)
    X[3] *= 1e8
    gammas, splits = [-30.0, -10.0, -5.0], list(KFold(4).split(X))
    together = VariationalGarrote(method=Anneal(gammas=gammas), cv=splits).fit(X, y)
    train, test = splits[0]
    for k, gamma in enumerate(gammas):
        alone = VariationalGarrote(gamma=gamma, method=Anneal(gammas=gammas)).fit(
            X[train], y[train]
        )
        error = np.mean((y[test] - alone.predict(X[test])) ** 2)
        assert together.cv_results_["fold_errors"][0, k] == pytest.approx(error, rel=0.1)


def test_gammas_that_some_fold_does_not_reach_are_not_chosen():
    # Folds have fewer rows than the whole, so that their paths may be cut earlier.
    X, y, _ = sparse_regression(n=24, d=60, seed=2)
    model = VariationalGarrote(method=Anneal(gammas=np.linspace(-25, -1, 40)), cv=3).fit(X, y)
    errors = model.cv_results_["fold_errors"]
    assert errors.shape == (3, len(model.path_))
    assert np.isnan(errors).any(), "this instance is chosen for folds that end early"
    position = model.path_.index(model.gamma_)
    assert np.isfinite(errors[:, position]).all()


def test_the_chosen_gamma_has_the_least_mean_error(data):
    fitted = VariationalGarrote(rule="min").fit(*data)
    results = fitted.cv_results_
    np.testing.assert_array_equal(results["gamma"], fitted.path_.strengths)
    np.testing.assert_allclose(results["mean_error"], results["fold_errors"].mean(axis=0))
    assert fitted.gamma_ == results["gamma"][np.nanargmin(results["mean_error"])]


def test_one_standard_error_chooses_the_sparsest_model_within_it(data, fitted):
    model = VariationalGarrote(rule="1se").fit(*data)
    results = model.cv_results_
    best = np.nanargmin(results["mean_error"])
    bound = results["mean_error"][best] + results["standard_error"][best]
    folds = results["fold_errors"]
    np.testing.assert_allclose(
        results["standard_error"], folds.std(axis=0, ddof=1) / np.sqrt(len(folds))
    )
    assert model.gamma_ == results["gamma"][np.flatnonzero(results["mean_error"] <= bound)[0]]
    assert model.gamma_ <= fitted.gamma_


def test_expected_size_is_a_gamma(data):
    model = VariationalGarrote(gamma=ExpectedSize(3)).fit(*data)
    assert model.gamma_ == pytest.approx(np.log(3 / 9))
    assert not hasattr(model, "cv_results_")
    np.testing.assert_allclose(
        model.coef_, VariationalGarrote(gamma=model.gamma_).fit(*data).coef_, rtol=1e-10
    )


def test_free_energy_needs_no_folds_and_finds_the_truth(data):
    model = VariationalGarrote(gamma="free_energy", cv="not looked at").fit(*data)
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    assert not hasattr(model, "cv_results_")


def test_a_given_gamma_is_used_and_on_the_path(data):
    model = VariationalGarrote(gamma=-7.3).fit(*data)
    assert model.gamma_ == -7.3
    assert -7.3 in model.path_.strengths


# --- data kept as they are


def test_read_only_and_memory_mapped_data_give_the_same_with_two_jobs(tmp_path, data):
    X, y = data
    expected = VariationalGarrote().fit(X, y)
    for order in "CF":
        stored = np.memmap(tmp_path / order, dtype=float, mode="w+", shape=X.shape, order=order)
        stored[:] = X
        stored.flush()
        before = (tmp_path / order).read_bytes()
        mapped = np.memmap(tmp_path / order, dtype=float, mode="r", shape=X.shape, order=order)
        response, weight = y.copy(), np.ones(80)
        response.flags.writeable = weight.flags.writeable = False
        model = VariationalGarrote(n_jobs=2).fit(mapped, response, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)
        np.testing.assert_allclose(model.predict(mapped), expected.predict(X), atol=1e-7)
        assert (tmp_path / order).read_bytes() == before


def test_read_only_sparse_data_give_the_same_with_two_jobs(data):
    X, y = data
    matrix = scipy.sparse.csc_array(np.where(np.abs(X) > 0.5, X, 0.0))
    expected = VariationalGarrote().fit(matrix.toarray(), y)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    model = VariationalGarrote(n_jobs=2).fit(matrix, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)


@pytest.mark.parametrize("kind", ["strided", "reversed", "big endian", "fortran"])
def test_unusual_layouts_of_x_give_the_same(data, kind):
    X, y = data
    expected = VariationalGarrote(gamma=-5.0).fit(X, y)
    given = {
        "strided": np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": X[::-1].copy()[::-1],
        "big endian": X.astype(">f8"),
        "fortran": np.asfortranarray(X),
    }[kind]
    model = VariationalGarrote(gamma=-5.0).fit(given, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)


# --- progress


def test_a_callback_hears_of_every_gamma_in_both_directions(data):
    heard = []
    model = VariationalGarrote(gamma=-5.0, method=Anneal(gammas=9), callback=heard.append).fit(
        *data
    )
    for stage in ("forward", "backward"):
        done = [progress.done for progress in heard if progress.stage == stage]
        assert done == list(range(1, len(done) + 1))
        assert len(done) >= len(model.path_) - 1
    assert all(0 < progress.done <= progress.total for progress in heard)


@pytest.mark.parametrize("gamma", ["cv", -5.0])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_callback_may_interrupt(data, gamma, n_jobs):
    def stop(progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    model = VariationalGarrote(gamma=gamma, callback=stop, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    with pytest.raises(NotFittedError):
        model.predict(data[0])
    model.set_params(callback=None).fit(*data)
    assert model.get_support(indices=True).tolist() == [0, 1, 2]


# --- several optima


def test_random_starts_keep_every_distinct_optimum_with_its_free_energy():
    X, y, _ = sparse_regression(n=40, d=30, size=6, correlation=0.9, seed=3)
    model = VariationalGarrote(gamma=-4.0, method=Anneal(n_starts=30), random_state=0).fit(X, y)
    optima = model.posterior_.optima
    assert len(optima) > 1, "this instance is chosen for its several optima"
    energies = [fit.free_energy for fit in optima]
    assert energies == sorted(energies)
    assert model.posterior_.free_energy == energies[0]
    for fit in optima:
        assert fit.strength == -4.0
        assert fit.certificate.value <= Anneal.of(model.method).tol
    dense = np.zeros((len(optima), 30))
    for row, fit in zip(dense, optima, strict=True):
        row[fit.columns] = fit.probability
    apart = np.abs(dense[:, None] - dense[None]).max(axis=2)[np.triu_indices(len(optima), 1)]
    assert apart.min() > 1e-3
    assert f"{len(optima)} distinct optima" in str(model.summary())


def test_more_starts_never_raise_the_free_energy():
    X, y, _ = sparse_regression(n=40, d=30, size=6, correlation=0.9, seed=4)
    energies = [
        VariationalGarrote(gamma=-4.0, method=Anneal(n_starts=count), random_state=0)
        .fit(X, y)
        .posterior_.free_energy
        for count in (0, 5, 20)
    ]
    assert energies[0] >= energies[1] >= energies[2]


def test_random_state_fixes_the_starts():
    X, y, _ = sparse_regression(n=40, d=30, size=6, correlation=0.9, seed=3)
    settings = {"gamma": -4.0, "method": Anneal(n_starts=10)}
    one, two = (VariationalGarrote(**settings, random_state=7).fit(X, y) for _ in range(2))
    assert [fit.free_energy for fit in one.posterior_.optima] == [
        fit.free_energy for fit in two.posterior_.optima
    ]


@pytest.mark.parametrize("shape", [(40, 30), (40, 120), (60, 400)])
def test_a_given_start_at_the_answer_returns_the_answer(shape):
    X, y, _ = sparse_regression(*shape, correlation=0.5)
    plain = VariationalGarrote(gamma=-9.0).fit(X, y)
    model = VariationalGarrote(gamma=-9.0, method=Anneal(start=plain.inclusion_probability_)).fit(
        X, y
    )
    assert len(model.posterior_.optima) == len(plain.posterior_.optima)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-5)


# --- what is reported


def test_the_summary_is_text_html_and_a_frame(fitted):
    summary = fitted.summary()
    text = str(summary)
    assert text.splitlines()[0] == "Variational Garrote: 3 of 12 variables selected"
    assert repr(summary) == text
    assert f"gamma = {fitted.gamma_:.4g}" in text
    assert f"{fitted.certificate_.value:.1e}" in text
    html = summary._repr_html_()
    assert html.count("<tr>") == 4
    frame = summary.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(summary.to_frame("polars"), pl.DataFrame)
    assert set(frame["variable"]) == {"x0", "x1", "x2"}
    assert (frame["lower 95%"] < frame["effect"]).all()
    assert (frame["effect"] < frame["upper 95%"]).all()


def test_a_frame_by_an_absent_library_names_the_command(fitted):
    with pytest.raises(ImportError, match="pip install not_a_library"):
        fitted.summary().to_frame("not_a_library")


def test_hostile_names_are_escaped_everywhere_in_html(data):
    X, y = data
    # The true variables, their duplicates (named in the notes) and a constant carry hostile names.
    given = np.column_stack([X[:, :3], X[:, :3], np.ones(80)])
    names = [*HOSTILE, "<b>constant</b>"]
    model = VariationalGarrote(gamma=-8.0).fit(pd.DataFrame(given, columns=names), y)
    for page in (model.summary()._repr_html_(), model.selection_._repr_html_()):
        assert "<script" not in page
        assert "a & b" not in page
        assert "<b>" not in page
    assert "&lt;script&gt;" in model.summary()._repr_html_()
    parsed = json.loads(model.selection_.to_json())
    assert {row["name"] for row in parsed["variables"]} <= set(names)
    assert str(model.summary())


def test_an_array_can_be_given_names(data):
    X, y = data
    names = [f"v{j}" for j in range(12)]
    model = VariationalGarrote(gamma=-5.0, covariates=["v4"])
    model.fit(X, y, feature_names=names)
    assert model.selection_.names == tuple(names)
    assert model.selection_.always_in == ("v4",)
    assert not hasattr(model, "feature_names_in_")
    model.predict(X)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "1 names for 12 columns"),
        (["a"] * 12, "repeats 'a'"),
    ],
)
def test_wrong_names_are_refused(data, names, said):
    with pytest.raises(ValueError, match=said):
        VariationalGarrote(gamma=-5.0).fit(*data, feature_names=names)


def test_names_beside_those_of_a_data_frame_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="names of its own"):
        VariationalGarrote(gamma=-5.0).fit(pd.DataFrame(X).add_prefix("c"), y, feature_names="abc")


def test_line_breaks_in_names_do_not_break_the_table(data):
    X, y = data
    names = ["a\nb", "c\td", "e\r\nf", *[f"v{j}" for j in range(9)]]
    model = VariationalGarrote(gamma=-5.0).fit(pd.DataFrame(X, columns=names), y)
    table = model.selection_.table()
    assert len(str(table).splitlines()) == 1 + len(table)


def test_very_long_names_do_not_blow_up_the_table(data):
    X, y = data
    names = [f"{j}" + "x" * 5000 for j in range(12)]
    model = VariationalGarrote(gamma=-5.0).fit(pd.DataFrame(X, columns=names), y)
    assert max(map(len, str(model.summary()).splitlines())) < 500


def test_the_table_ranks_by_evidence_and_can_list_all_variables(fitted):
    few, all_of_them = fitted.selection_.table(), fitted.selection_.table(all_variables=True)
    assert len(few) == 3
    assert len(all_of_them) == 12
    assert all_of_them.columns["selected"] == [True] * 3 + [False] * 9
    probability = np.array(all_of_them.columns["probability"])
    assert (np.diff(probability) <= 1e-6).all()
    assert str(fitted.selection_)
    assert fitted.selection_._repr_html_()


@pytest.mark.parametrize("kind", ["plain", "empty", "constant", "covariates", "callable"])
def test_json_is_valid_and_has_no_nan(data, kind):
    X, y = data
    X = X.copy()
    settings = {"gamma": -5.0}
    if kind == "empty":
        settings["gamma"] = -1e5
    if kind == "constant":
        X[:, 4] = 1.0
    if kind == "covariates":
        settings["covariates"] = [4, 5]
    if kind == "callable":
        settings.update(callback=lambda _: None, prior_log_odds=np.zeros(12), signs={0: 1})
    model = VariationalGarrote(**settings).fit(X, y)

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    parsed = json.loads(model.selection_.to_json(), parse_constant=refuse)
    chosen = [row["name"] for row in parsed["variables"] if row["selected"]]
    assert set(chosen) == {f"x{j}" for j in model.get_support(indices=True)}
    assert parsed["n_selected"] == len(chosen) - len(parsed["always_in"])
    assert parsed["unlisted"]["count"] == 12 - len(parsed["variables"])
    assert parsed["certificate"]["value"] == model.certificate_.value
    assert parsed["provenance"]["n_rows"] == 80
    assert parsed["provenance"]["settings"]["gamma"] == settings["gamma"]
    assert parsed["constant"] == (["x4"] if kind == "constant" else [])


def test_settings_that_are_numpy_scalars_reach_the_json(data):
    model = VariationalGarrote(
        gamma=np.float64(-5.0), method=Anneal(gammas=np.int64(9), n_starts=np.int64(0))
    )
    parsed = json.loads(model.fit(*data).selection_.to_json())
    assert parsed["provenance"]["settings"]["gamma"] == -5.0


# --- uncertainty


def test_predicted_deviations_are_those_of_least_squares_on_a_sure_support(data):
    X, y = data
    model = VariationalGarrote(gamma=-9.0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    assert model.inclusion_probability_[:3].min() > 0.999
    assert np.delete(model.inclusion_probability_, [0, 1, 2]).max() < 0.01
    design = np.column_stack([np.ones(80), X[:, :3]])
    coef, squared = np.linalg.lstsq(design, y, rcond=None)[:2]
    noise = squared[0] / (80 - 4)
    inverse = np.linalg.inv(design.T @ design)
    expected = np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", design, inverse, design)))
    mean, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, design @ coef, atol=2e-2)
    np.testing.assert_allclose(deviation, expected, rtol=5e-3)
    errors = np.sqrt(noise * np.diag(inverse))[1:]
    np.testing.assert_allclose(model.selection_.standard_error[:3], errors, rtol=5e-3)


def test_predicted_deviations_include_the_intercept_and_do_not_depend_on_a_shift(data):
    X, y = data
    plain = VariationalGarrote(gamma=-9.0).fit(X, y)
    shifted = VariationalGarrote(gamma=-9.0).fit(X + 50.0, y - 7.0)
    np.testing.assert_allclose(
        shifted.predict(X + 50.0, return_std=True)[1],
        plain.predict(X, return_std=True)[1],
        rtol=1e-6,
    )


def test_sparse_rows_get_the_same_predictions_and_deviations(data, fitted):
    X, _ = data
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array):
        mean, deviation = fitted.predict(kind(X), return_std=True)
        np.testing.assert_allclose(mean, fitted.predict(X))
        np.testing.assert_allclose(deviation, fitted.predict(X, return_std=True)[1])


def test_the_posterior_draws_coefficients_that_agree_with_its_mean(fitted):
    draws = fitted.posterior_.sample(4000, random_state=0)
    assert draws.shape == (4000, 12)
    spread = draws.std(axis=0).max()
    np.testing.assert_allclose(draws.mean(axis=0), fitted.coef_, atol=5 * spread / np.sqrt(4000))
    np.testing.assert_array_equal(draws, fitted.posterior_.sample(4000, random_state=0))


def test_covariates_are_always_in_the_model(data):
    X, y = data
    model = VariationalGarrote(gamma=-1e4, covariates=[5, 6]).fit(X, y)
    assert model.get_support(indices=True).tolist() == [5, 6]
    expected = LinearRegression().fit(X[:, 5:7], y)
    np.testing.assert_allclose(model.coef_[[5, 6]], expected.coef_, atol=1e-10)
    assert model.intercept_ == pytest.approx(expected.intercept_)


def test_a_wide_problem_predicts_what_its_path_says():
    X, y = example_2(3)
    model = VariationalGarrote(correct=False).fit(X, y)
    position = model.path_.index(model.gamma_)
    coef = model.path_.coefficients()[[position]].toarray()[0]
    np.testing.assert_allclose(model.predict(X), X @ coef + model.path_.intercepts[position])


def test_nothing_is_printed_and_nothing_is_warned(data, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VariationalGarrote().fit(*data)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
