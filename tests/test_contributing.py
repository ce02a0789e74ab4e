"""The code in CONTRIBUTING.md runs as printed and does what it says."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Lasso

from every_estimator import EVERY_ESTIMATOR
from garrote import (
    GreedyClassifier,
    GreedyRegressor,
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    StabilitySelection,
    estimators,
    load,
)
from garrote.cli.main import main
from garrote.designs import DenseDesign, Design
from garrote.designs.gram import GramColumns
from garrote.estimators.registry import (
    CONTROLS,
    MACHINES,
    SELECTORS,
    Controller,
    Place,
    Selector,
)
from garrote.inference import Sample, Search, infer
from garrote.inference.choosing import WAYS
from garrote.likelihoods import FAMILIES, Binomial, Gaussian
from garrote.paths import FollowPath
from garrote.paths.annealed import SOLVERS, fit_path
from garrote.penalties import L1, PENALTIES, Ridge, Terms
from garrote.priors import PRIORS, GaussianSlab, GPrior
from garrote.problem import Problem
from garrote.rules import Integration, Residual, shrink
from garrote.solvers.classical.path import CLASSICAL_SOLVERS
from garrote.solvers.descent.sweep import sweep
from garrote.solvers.garrote.coordinate_annealing import anneal_by_sweeps
from garrote.solvers.greedy import SEARCHES

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def printed():
    """The names defined by the page's Python blocks."""
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        exec(block, names)  # the page is ours
    return names


def test_the_printed_rule_is_the_lasso(printed):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = X[:, 0] - 2 * X[:, 3] + rng.standard_normal(60)
    gram, gradient = X.T @ X, X.T @ y
    rule = printed["SoftThreshold"](np.full(8, 20.0))
    coef, target = np.zeros(8), np.zeros(8)
    residual = Residual(gradient.copy(), np.zeros(1), np.zeros(1))
    for _ in range(200):
        sweep(
            GramColumns(gram), rule, np.arange(8), coef, target, residual, np.diag(gram).copy(), 0.0
        )
    expected = Lasso(alpha=20.0 / 60, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    np.testing.assert_allclose(coef, expected, atol=1e-8)


@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_the_printed_penalty_gives_certified_paths(printed, likelihood):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 20))
    y = X[:, 0] - X[:, 3] + rng.standard_normal(100)
    y = y if likelihood.least_squares else (y > 0).astype(float)
    problem = Problem.from_rows(X, y, scale_response=False, likelihood=likelihood)
    path = fit_path(problem, printed["CappedL1"](0.3), 12)
    assert path.certificate.max() < 1e-8
    assert path.size[0] == 0 < path.size[4] < 20
    lasso = fit_path(problem, L1(), path.strengths)
    uncapped = fit_path(problem, printed["CappedL1"](1e6), path.strengths)
    np.testing.assert_allclose(
        uncapped.coefficients().toarray(), lasso.coefficients().toarray(), atol=1e-6
    )


def test_the_printed_penalty_is_searched_over_and_cloned(printed):
    capped = printed["CappedL1"]
    model = SparseRegressor(capped(0.5), alpha=0.1)
    assert model.get_params()["penalty__cap"] == 0.5
    other = clone(model).set_params(penalty__cap=2.0)
    assert (model.penalty, other.penalty) == (capped(0.5), capped(2.0))


def test_the_printed_penalty_is_known_by_its_row(printed, monkeypatch, tmp_path):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 6))
    y = X[:, 0] - X[:, 3] + rng.standard_normal(60)
    with pytest.raises(ValueError, match="penalty must be one of"):
        SparseRegressor("capped-l1").fit(X, y)
    monkeypatch.setitem(PENALTIES, "capped-l1", printed["CappedL1"])
    settings = {"alpha": 0.2, "method": FollowPath(alphas=5)}
    model = SparseRegressor("capped-l1", **settings).fit(X, y)
    same = SparseRegressor(printed["CappedL1"](), **settings).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    model.save(tmp_path / "model.garrote")
    np.testing.assert_array_equal(load(tmp_path / "model.garrote").coef_, model.coef_)
    with pytest.raises(ValueError, match=r"write penalty=CappedL1\(\) to set its cap"):
        model.set_params(penalty__cap=1e6)
    model.set_params(penalty=printed["CappedL1"](1e6)).fit(X, y)
    lasso = SparseRegressor("lasso", **settings).fit(X, y)
    np.testing.assert_allclose(model.coef_, lasso.coef_, atol=1e-6)
    with pytest.raises(ValueError, match=r"'l0'.*or penalty 'lasso'.*'capped-l1'"):
        SparseRegressor("l0", family="poisson").fit(X, np.round(np.exp(y)))


@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_the_printed_solver_finds_what_coordinates_find(printed, likelihood, monkeypatch):
    rng = np.random.default_rng(5)
    X, weights = rng.standard_normal((80, 12)), rng.integers(0, 3, 80).astype(float)
    y = X[:, 0] - X[:, 3] + rng.standard_normal(80)
    y = y if likelihood.least_squares else (y > 0).astype(float)
    settings = {"family": likelihood, "alpha": 0.05, "bounds": (None, 0.4)}
    monkeypatch.setitem(CLASSICAL_SOLVERS, "heavy_ball", printed["HeavyBall"])
    own = SparseRegressor(method=FollowPath("heavy_ball", tol=1e-9), **settings).fit(X, y, weights)
    same = SparseRegressor(method=FollowPath(tol=1e-9), **settings).fit(X, y, weights)
    assert own.certificate_["duality gap"] < 1e-9
    assert own.n_iter_ > 5
    np.testing.assert_allclose(own.coef_, same.coef_, atol=1e-5)
    with pytest.raises(ValueError, match=r"'heavy_ball' cannot fit penalty 'MCP'.*change one"):
        SparseRegressor("mcp", method="heavy_ball").fit(X, y)


def test_a_solver_of_the_garrote_is_one_row(monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((60, 5))
    problem = Problem.from_rows(X, X[:, 1] + rng.standard_normal(60))
    calls = []

    def counted(*given):
        calls.append(given)
        return anneal_by_sweeps(*given)

    monkeypatch.setitem(SOLVERS, "counted", counted)
    own, same = (fit_path(problem, strengths=8, solver=s) for s in ("counted", "coordinate"))
    np.testing.assert_array_equal(own.coefficients().toarray(), same.coefficients().toarray())
    assert len(calls) == 1


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-0.2, 0.5)])
def test_the_printed_penalty_minimises_its_scalar_objective(printed, bounds):
    rule = printed["CappedL1"](0.4).at(1.0, Terms(*(np.array([v]) for v in (1.0, *bounds))))
    for curvature in (0.5, 1.0, 3.0):
        for z in np.linspace(-2.5, 2.5, 41):
            w = np.append(np.clip(np.linspace(-3, 3, 2001), *bounds), shrink(rule, 0, z, curvature))
            objective = 0.5 * curvature * (w - z) ** 2 + np.minimum(np.abs(w), 0.4)
            assert objective[-1] <= objective.min() + 1e-12


def test_the_printed_prior_is_zellners_with_as_many_rows(printed):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    problem = Problem.from_rows(X, X[:, 1] + rng.standard_normal(60))
    for method in ("enumerate", Sample(200, 50)):
        own, same = (
            infer(problem, prior, method, random_state=0).posterior
            for prior in (printed["UnitInformation"](), GPrior(60.0))
        )
        np.testing.assert_array_equal(own.inclusion_probability, same.inclusion_probability)
        np.testing.assert_array_equal(own.mean, same.mean)


@pytest.mark.parametrize("method", ["enumerate", Sample(200, 50), Search(100)], ids=str)
def test_the_printed_prior_stands_in_an_estimator(printed, method):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 5))
    y = X[:, 2] + rng.standard_normal(50)
    own, same = (
        SpikeSlabRegressor(prior, method, random_state=0).fit(X, y)
        for prior in (printed["UnitInformation"](), GPrior(50.0))
    )
    np.testing.assert_array_equal(own.inclusion_probability_, same.inclusion_probability_)
    np.testing.assert_array_equal(own.coef_, same.coef_)
    np.testing.assert_array_equal(own.predict(X, return_std=True), same.predict(X, return_std=True))
    assert clone(own).prior == printed["UnitInformation"]()


def test_the_printed_prior_is_known_by_its_row_and_refused_where_it_means_nothing(
    printed, monkeypatch, tmp_path
):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 5))
    y = X[:, 2] + rng.standard_normal(50)
    with pytest.raises(ValueError, match="prior must be one of"):
        SpikeSlabRegressor("unit-information").fit(X, y)
    monkeypatch.setitem(PRIORS, "unit-information", printed["UnitInformation"])
    model = SpikeSlabRegressor("unit-information", "enumerate").fit(X, y)
    same = SpikeSlabRegressor(GPrior(50.0), "enumerate").fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    model.save(tmp_path / "model.garrote")
    np.testing.assert_array_equal(load(tmp_path / "model.garrote").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="UnitInformation"):
        SpikeSlabClassifier(printed["UnitInformation"]()).fit(X, y > 0)
    with pytest.raises(ValueError, match="'mean-field' needs prior='spike-slab'"):
        SpikeSlabRegressor(printed["UnitInformation"](), "mean-field").fit(X, y)
    with pytest.raises(ValueError, match="prior must be one of"):
        SingleEffectsRegressor(printed["UnitInformation"]()).fit(X, y)


SHAPES = pytest.mark.parametrize("shape", [(80, 400), (120, 15)], ids=["N < D", "N >= D"])


def integers(shape):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, size=shape).astype(np.int8)
    return counts, 0.5 * counts[:, 3] - 0.5 * counts[:, 7] + 0.2 * rng.standard_normal(shape[0])


@SHAPES
def test_the_printed_design_gives_the_dense_path(printed, shape):
    counts, y = integers(shape)
    own = fit_path(Problem.from_rows(printed["IntegerDesign"](counts, 0.5), y), strengths=12)
    dense = fit_path(Problem.from_rows(0.5 * counts, y), strengths=12)
    np.testing.assert_allclose(
        own.coefficients().toarray(), dense.coefficients().toarray(), atol=1e-4
    )


def test_no_estimator_is_left_out_of_those_that_take_the_printed_design():
    assert {type(model).__name__ for model in EVERY_ESTIMATOR} == set(estimators.__all__) - {
        place.estimator
        # which have kernels of rows, or no coefficients of their own
        for place in (*MACHINES, CONTROLS["knockoffs"].place)
    }


@pytest.mark.parametrize("shape", [(60, 90), (60, 12)], ids=["N < D", "N >= D"])
@pytest.mark.parametrize("model", EVERY_ESTIMATOR, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*rows")
def test_estimators_take_the_printed_design(printed, shape, model):
    counts, y = integers(shape)
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    if is_classifier(model):
        y = np.where(y > np.median(y), "high", "low")
    own, dense = clone(model), clone(model)
    design = printed["IntegerDesign"](counts, 0.5)
    own.fit(design, y, weights)
    dense.fit(0.5 * counts, y, weights)
    assert np.abs(dense.coef_).max() > 0.01
    np.testing.assert_allclose(own.coef_, dense.coef_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(own.intercept_, dense.intercept_, rtol=1e-10, atol=1e-10)
    assert own.get_support(indices=True).tolist() == dense.get_support(indices=True).tolist()
    new, rows = printed["IntegerDesign"](counts[:9], 0.5), 0.5 * counts[:9]
    if is_classifier(model):
        assert own.predict(new).tolist() == own.predict(rows).tolist()
        np.testing.assert_allclose(own.predict_proba(new), dense.predict_proba(rows), atol=1e-10)
    else:
        np.testing.assert_allclose(own.predict(new), dense.predict(rows), rtol=1e-10, atol=1e-10)
    if hasattr(own, "posterior_") and not is_classifier(model):
        spreads = [own.predict(given, return_std=True)[1] for given in (new, rows)]
        np.testing.assert_allclose(*spreads)
    np.testing.assert_allclose(own.transform(new).some_rows(np.arange(9)), own.transform(rows))
    with pytest.raises(ValueError, match=f"X has 4 features, but .* expecting {shape[1]} features"):
        own.predict(printed["IntegerDesign"](counts[:9, :4], 0.5))
    with pytest.raises(ValueError, match=f"X has {shape[0]} rows and y 5"):
        clone(model).fit(design, y[:5])


def test_what_the_printed_design_leaves_to_defaults_is_right(printed):
    rng = np.random.default_rng(4)
    values = rng.integers(-3, 4, (30, 7))
    values[:, 2], values[:, 5] = 4, values[:, 5] + 10**7
    weights = rng.integers(0, 3, 30).astype(float)
    own, dense = printed["IntegerDesign"](values, 0.5), DenseDesign(0.5 * values)
    mean, deviation = own.moments(weights)
    np.testing.assert_allclose(mean, np.average(0.5 * values, axis=0, weights=weights), rtol=1e-14)
    np.testing.assert_allclose(deviation, dense.moments(weights).deviation, rtol=1e-10, atol=1e-12)
    few, scale = np.array([4, 1, 5]), np.linspace(1, 2, 7)
    sides = rng.standard_normal((30, 2))
    for name, given in [
        ("gram", (few, np.arange(7), mean, scale, weights)),
        ("some_rows", ([3, 1],)),
        ("tdot_from", (2, sides)),
    ]:
        np.testing.assert_allclose(
            getattr(own, name)(*given), getattr(dense, name)(*given), rtol=1e-12, atol=1e-12
        )
    np.testing.assert_array_equal(own.pick(few).tdot(sides.T), dense.pick(few).tdot(sides.T))
    assert own.cross_products() is None
    assert own.columns(mean, scale, weights) is None


def test_an_object_with_the_methods_of_a_design_is_one():
    """A class that inherits nothing and has them all."""
    counts, y = integers((120, 15))
    inner = DenseDesign(0.5 * counts)

    class Stranger:
        def __getattr__(self, name):
            if name in vars(Design) or name in vars(inner):
                return getattr(inner, name)
            raise AttributeError(name)

    model = SparseRegressor(alpha=0.05).fit(Stranger(), y)
    np.testing.assert_allclose(model.coef_, SparseRegressor(alpha=0.05).fit(0.5 * counts, y).coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_printed_likelihood_gives_certified_paths(printed, fit_intercept):
    rng = np.random.default_rng(3)
    X, offset = rng.standard_normal((100, 8)), 0.3 * rng.standard_normal(100)
    weights = rng.integers(0, 3, 100).astype(float)
    settings = {"fit_intercept": fit_intercept, "alpha": 0.03, "method": FollowPath(tol=1e-9)}
    model = SparseRegressor(family=printed["Share"](), **settings)
    shares = expit(X[:, 0] - X[:, 3] + offset + 0.5 * rng.standard_normal(100))
    model.fit(X, shares, weights, offset=offset)
    assert model.certificate_["duality gap"] < 1e-9
    assert model.selection_.effect_scale == "log odds"
    assert 0.3 < model.score(X, shares, weights, offset=offset) < 1
    labels = (shares > 0.5).astype(float)
    model.fit(X, labels, weights, offset=offset)
    binomial = SparseRegressor(family="binomial", **settings)
    binomial.fit(X, labels, weights, offset=offset)
    np.testing.assert_allclose(model.coef_, binomial.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="needs y between 0 and 1"):
        model.fit(X, 2 + shares)


def test_the_printed_likelihood_is_known_by_its_row(printed, monkeypatch, tmp_path):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 5))
    shares = expit(X[:, 0] - X[:, 3] + 0.5 * rng.standard_normal(60))
    with pytest.raises(ValueError, match="family must be one of"):
        SparseRegressor(family="share", alpha=0.03).fit(X, shares)
    monkeypatch.setitem(FAMILIES, "share", printed["Share"]())
    model = SparseRegressor(family="share", alpha=0.03).fit(X, shares)
    same = SparseRegressor(family=printed["Share"](), alpha=0.03).fit(X, shares)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    model.save(tmp_path / "model.garrote")
    np.testing.assert_array_equal(load(tmp_path / "model.garrote").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="gaussian"):
        SpikeSlabRegressor(family="share").fit(X, shares)


def test_the_printed_estimator_is_one_of_the_pairs(printed):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = X[:, 1] + rng.standard_normal(60)
    model = clone(printed["EveryModel"](variance=2.0)).fit(X, y)
    same = SpikeSlabRegressor(GaussianSlab(2.0), "enumerate").fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.selection_.method == "EveryModel"
    assert model.get_params() == {"variance": 2.0, "fit_intercept": True}
    np.testing.assert_array_equal(
        model.predict(X, return_std=True), same.predict(X, return_std=True)
    )


def test_an_estimator_is_known_by_its_row(printed, monkeypatch, tmp_path, capsys):
    home = ModuleType("every_model")
    home.EveryModel = printed["EveryModel"]
    monkeypatch.setitem(sys.modules, "every_model", home)
    row = Selector("Every model", "sums over all", "every_model", "EveryModel", "this page")
    monkeypatch.setitem(SELECTORS, "every-model", row)
    try:
        importlib.reload(estimators)
        assert estimators.EveryModel is home.EveryModel
        X = np.random.default_rng(0).standard_normal((40, 3))
        model = estimators.EveryModel().fit(X, X[:, 0])
        model.save(tmp_path / "model.garrote")
        loaded = load(tmp_path / "model.garrote")
        assert type(loaded) is home.EveryModel
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert main(["methods"]) == 0
        assert "every-model: Every model. Sums over all." in capsys.readouterr().out
    finally:
        monkeypatch.undo()
        importlib.reload(estimators)
    assert "EveryModel" not in estimators.__all__


@pytest.fixture
def careful(printed, monkeypatch):
    """The printed method, with the row that the page names."""
    monkeypatch.setitem(
        WAYS[Integration.CLOSED_FORM], ("models", printed["Careful"]), printed["careful"]
    )
    return printed["Careful"]


def test_the_printed_way_to_a_posterior_agrees_with_enumeration(careful):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    problem = Problem.from_rows(X, X[:, 1] - X[:, 4] + rng.standard_normal(60))
    slab = GaussianSlab(1.0)
    exact = infer(problem, slab, "enumerate").posterior
    for most_missing, same, tolerance in ((np.inf, Search(300), 1e-3), (-1.0, Sample(), 0.05)):
        found = infer(problem, slab, careful(most_missing=most_missing), random_state=0)
        expected = infer(problem, slab, same, random_state=0)
        assert found.method == "careful"
        assert found.how == expected.how
        np.testing.assert_array_equal(found.posterior.mean, expected.posterior.mean)
        np.testing.assert_allclose(found.posterior.mean, exact.mean, atol=tolerance)


def test_the_printed_way_is_there_for_estimators_and_in_errors(careful):
    X = np.random.default_rng(1).standard_normal((50, 5))
    y = X[:, 2] + 0.5 * np.random.default_rng(2).standard_normal(50)
    model = SpikeSlabRegressor(method=careful(50, 1.0), random_state=0).fit(X, y)
    assert model.selection_.selected.tolist() == [False, False, True, False, False]
    assert model.method_ == "careful"
    with pytest.raises(ValueError, match="n_steps must be at least 1, got 0"):
        SpikeSlabRegressor(method=careful(0)).fit(X, y)
    with pytest.raises(ValueError, match=r"method must be one of .*'careful'"):
        infer(Problem.from_rows(X, y), None, "single-effects")


def screened(X, y, weights, size):
    """The columns of largest correlation with y, and the weighted least squares on these alone."""
    mean = np.average(X, axis=0, weights=weights)
    centred = (X - mean) * np.sqrt(weights)[:, None]
    response = (y - np.average(y, weights=weights)) * np.sqrt(weights)
    worth = np.abs(centred.T @ response) / np.linalg.norm(centred, axis=0)
    columns = np.sort(np.argsort(-worth)[:size])
    coef = np.zeros(X.shape[1])
    coef[columns] = np.linalg.lstsq(centred[:, columns], response, rcond=None)[0]
    return coef


def test_the_printed_search_finds_what_plain_numpy_finds(printed):
    rng = np.random.default_rng(7)
    X, weights = rng.standard_normal((60, 12)), rng.integers(0, 3, 60).astype(float)
    X[:, 5] = X[:, 0] + 0.3 * X[:, 5]
    y = 2 * X[:, 0] - X[:, 3] + 0.5 * rng.standard_normal(60)
    for size in (1, 2, 4):
        model = GreedyRegressor(printed["Screening"](), n_features=size).fit(X, y, weights)
        np.testing.assert_allclose(model.coef_, screened(X, y, weights, size), atol=1e-10)
        assert model.certificate_["normal equations"] < 1e-10
    chosen = GreedyRegressor(printed["Screening"](), criterion="cv", cv=3).fit(X, y)
    assert set(chosen.get_support(indices=True)) >= {0, 3}


def test_the_printed_search_takes_labels_groups_and_covariates(printed):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((80, 6))
    y = X[:, 1] - X[:, 4] + rng.standard_normal(80)
    search = printed["Screening"]()
    labels = GreedyClassifier(search, n_features=2).fit(X, y > 0)
    assert labels.get_support(indices=True).tolist() == [1, 4]
    assert labels.path_.size.tolist() == [0, 1, 2]
    groups = GreedyRegressor(search, n_features=1, column_groups=[0, 1, 0, 2, 1, 2]).fit(X, y)
    assert groups.get_support(indices=True).tolist() == [1, 4]
    beside = GreedyRegressor(search, n_features=1, covariates=[4]).fit(X, y)
    assert beside.get_support(indices=True).tolist() == [1, 4]


def test_the_printed_search_is_known_by_its_row(printed, monkeypatch, tmp_path):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((40, 5))
    y = X[:, 2] + 0.3 * rng.standard_normal(40)
    with pytest.raises(ValueError, match="search must be one of"):
        GreedyRegressor("screening").fit(X, y)
    monkeypatch.setitem(SEARCHES, "screening", printed["Screening"])
    model = GreedyRegressor("screening").fit(X, y)
    same = GreedyRegressor(printed["Screening"]()).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert "Fan & Lv" in model.selection_.provenance["reference"]
    model.save(tmp_path / "model.garrote")
    np.testing.assert_array_equal(load(tmp_path / "model.garrote").coef_, model.coef_)


@pytest.mark.parametrize("labels", [False, True])
def test_the_printed_control_selects_what_most_halves_select(printed, labels):
    rng = np.random.default_rng(10)
    X = rng.standard_normal((80, 8))
    y = X[:, 1] - X[:, 4] + rng.standard_normal(80)
    y = np.where(y > 0, "high", "low") if labels else y
    base = (SparseClassifier if labels else SparseRegressor)(alpha=0.12)
    model = printed["Majority"](base, n_resamples=20, random_state=3).fit(X, y)
    again = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.frequency_, again.frequency_)
    half = StabilitySelection(
        base, scheme="half", n_resamples=20, n_features="own", threshold=0.75, random_state=3
    ).fit(X, y)
    np.testing.assert_array_equal(model.frequency_, half.frequency_)
    assert model.get_support().tolist() == (model.frequency_ > 0.5).tolist()
    assert {1, 4} <= set(model.get_support(indices=True)) < set(range(8))
    refit = SparseClassifier(Ridge(), 1e-3) if labels else GreedyRegressor(criterion=None)
    refit.fit(X[:, model.get_support()], y)
    np.testing.assert_allclose(model.coef_[..., model.get_support()], refit.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="n_resamples must be an integer >= 2, got 1"):
        printed["Majority"](base, n_resamples=1).fit(X, y)


def test_a_control_is_known_by_its_row(printed, monkeypatch, tmp_path, capsys):
    home = ModuleType("majority")
    home.Majority = printed["Majority"]
    monkeypatch.setitem(sys.modules, "majority", home)
    row = Controller("Majority", "what most halves select", Place("majority", "Majority"), None)
    monkeypatch.setitem(CONTROLS, "majority", row)
    try:
        importlib.reload(estimators)
        X = np.random.default_rng(0).standard_normal((40, 3))
        model = estimators.Majority(SparseRegressor(alpha=0.1), 10).fit(X, X[:, 0])
        model.save(tmp_path / "model.garrote")
        loaded = load(tmp_path / "model.garrote")
        assert type(loaded) is home.Majority
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert main(["methods"]) == 0
        assert "majority: Majority. What most halves select." in capsys.readouterr().out
    finally:
        monkeypatch.undo()
        importlib.reload(estimators)
    assert "Majority" not in estimators.__all__
