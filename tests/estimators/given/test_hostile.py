"""Numbers of any size: an answer that is finite, or one sentence that names the place and the remedy."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from garrote import Problem, VariationalGarrote
from garrote.estimators import (
    ShrinkageClassifier,
    ShrinkageRegressor,
    SingleEffectsClassifier,
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarroteClassifier,
)
from garrote.inference import EM, Enumerate, Gibbs, MeanField, Metropolis, Sample, Search
from garrote.paths import Anneal, AnnealBound, FollowPath
from garrote.paths.signals import fuse_signal
from garrote.penalties import PENALTIES, GroupLasso
from garrote.priors import EffectSlab
from garrote.priors.scale_mixture import SHRINKAGE_PRIORS
from garrote.proximal import (
    denoise_on_graph,
    group_l2,
    project_l2_ball,
    soft_threshold,
    total_variation,
    total_variation_gap,
)

N, D = 24, 6
RNG = np.random.default_rng(0)
X = RNG.uniform(-1.7, 1.7, (N, D))
Y = 2 * X[:, 1] - X[:, 4] + 0.5 * RNG.standard_normal(N)
LABELS = (Y > 0).astype(int)
FEW = 100, 20, 2
RESPONSES = {"numbers": Y, "labels": LABELS, "counts": np.round(np.exp(Y / 2))}
RESPONSES["three classes"] = np.digitize(Y, [-1, 1])


def with_cell(value):
    changed = X.copy()
    changed[3, 2] = value
    return changed


def with_column(value, shift=0.0):
    changed = X.copy()
    changed[:, 2] = value * changed[:, 2] + shift
    return changed


# By name: X, weights, what y is multiplied by, and the offset.
HOSTILE = {
    "X of 1e308": (X * 1e308, None, 1.0, None),
    "X of 1e200": (X * 1e200, None, 1.0, None),
    "X of 1e150": (X * 1e150, None, 1.0, None),
    "X of 1e-150": (X * 1e-150, None, 1.0, None),
    "X of 1e-308": (X * 1e-308, None, 1.0, None),
    "a cell of 1e300": (with_cell(1e300), None, 1.0, None),
    "a cell of 1e150": (with_cell(1e150), None, 1.0, None),
    "a column at 1e10": (with_column(1.0, 1e10), None, 1.0, None),
    "a column at 1e12": (with_column(1.0, 1e12), None, 1.0, None),
    "a column at 1e16": (with_column(1.0, 1e16), None, 1.0, None),
    "a column of 1e-300": (with_column(1e-300), None, 1.0, None),
    "weights of 1e300": (X, np.full(N, 1e300), 1.0, None),
    "one weight of 1e100": (X, np.where(np.arange(N) == 3, 1e100, 1.0), 1.0, None),
    "weights over 16 decades": (X, 10.0 ** np.linspace(-8, 8, N), 1.0, None),
    "weights of 1e-300": (X, np.full(N, 1e-300), 1.0, None),
    "an offset of 1e300": (X, None, 1.0, np.linspace(-1, 1, N) * 1e300),
    "an offset of 1e20": (X, None, 1.0, np.linspace(-1, 1, N) * 1e20),
    "an offset of 900": (X, None, 1.0, np.linspace(-1, 1, N) * 900),
    "copies of columns": (np.column_stack([X[:, :3], X[:, :3]]), None, 1.0, None),
    "one column six times": (np.column_stack([X[:, 1]] * 6), None, 1.0, None),
    "y of 1e200": (X, None, 1e200, None),
    "y of 1e150": (X, None, 1e150, None),
    "y of 1e-150": (X, None, 1e-150, None),
    "y of 1e-300": (X, None, 1e-300, None),
}
# Which are within the limits for every method of numbers.
HELD = ("X of 1e150", "X of 1e-150", "a column at 1e10", "weights over 16 decades")
HELD += ("y of 1e150", "y of 1e-150", "copies of columns")


def group_lasso():
    return GroupLasso(groups=np.arange(D) // 2)


QUICK = {
    "garrote": (VariationalGarrote(gamma=-4.0), "numbers"),
    "garrote, primal": (VariationalGarrote(gamma=-4.0, method="primal"), "numbers"),
    "lasso": (SparseRegressor(alpha="bic", method=FollowPath(alphas=8)), "numbers"),
    "fused lasso": (
        SparseRegressor("fused-lasso", alpha="bic", method=FollowPath(alphas=5)),
        "numbers",
    ),
    "sampler": (SpikeSlabRegressor(method=Sample(*FEW), random_state=0), "numbers"),
    "horseshoe": (ShrinkageRegressor("horseshoe", Gibbs(*FEW), random_state=0), "numbers"),
    "lasso of labels": (SparseClassifier(alpha="bic", method=FollowPath(alphas=8)), "labels"),
    "mean field of labels": (SpikeSlabClassifier(method="mean-field"), "labels"),
}


def everything():
    """Return every estimator with every method, prior, penalty and solver that it has."""
    models = dict(QUICK)
    for name in PENALTIES:
        penalty = group_lasso() if name == "group-lasso" else name
        if PENALTIES[name]().matches:
            continue  # numbers with noise are refused always
        models[name] = (SparseRegressor(penalty, cv=3, method=FollowPath(alphas=8)), "numbers")
    for solver in (
        "fista",
        "ista",
        "sparsa",
        "em",
        "projected_gradient",
        "homotopy",
        "least-angle",
    ):
        models[solver] = (SparseRegressor(method=solver, alpha=0.1), "numbers")
    models["dual"] = (VariationalGarrote(method=Anneal(solver="dual", gammas=8), cv=3), "numbers")
    for family, y in (("binomial", "labels"), ("poisson", "counts"), ("huber", "numbers")):
        models[family] = (SparseRegressor(family=family, cv=3, method=FollowPath(alphas=8)), y)
    models["three classes"] = (SparseClassifier(cv=3, method=FollowPath(alphas=8)), "three classes")
    for method in (Enumerate(), Metropolis(*FEW), Gibbs(*FEW), Search(100), MeanField(), EM()):
        models[method.name] = (SpikeSlabRegressor(method=method, random_state=0), "numbers")
    for prior in ("g-prior", "bic"):
        models[prior] = (SpikeSlabRegressor(prior), "numbers")
    for prior in SHRINKAGE_PRIORS:
        if prior != "group-laplace":
            models[prior] = (ShrinkageRegressor(prior, Gibbs(*FEW), random_state=0), "numbers")
    models["single effects"] = (SingleEffectsRegressor(), "numbers")
    for family, y in (("binomial", "labels"), ("poisson", "counts")):
        models[f"models of {family}"] = (SpikeSlabRegressor(family=family), y)
    for method in (Enumerate(), Sample(*FEW), Metropolis(*FEW)):
        model = SpikeSlabClassifier(method=method, random_state=0)
        models[f"labels, {method.name}"] = (model, "labels")
    shrinking = ShrinkageClassifier(method=Gibbs(*FEW), random_state=0)
    models["labels, horseshoe"] = (shrinking, "labels")
    models["labels, single-effects"] = (SingleEffectsClassifier(), "labels")
    models["garrote of labels"] = (
        VariationalGarroteClassifier(method=AnnealBound(gammas=6), cv=3),
        "labels",
    )
    return models


def answer(model, response, hostile):
    """Return the sentence of a refusal, or "" after a look at what was found; no raw warnings."""
    given, weights, factor, offset = HOSTILE[hostile]
    y = RESPONSES[response]
    if hostile == "weights over 16 decades" and response != "numbers":
        # A label that counts for 1e8 of another has log odds to which bounds creep for ever.
        weights = np.sqrt(weights)
    if factor != 1.0:
        if response != "numbers":
            return "not for labels"
        y = y * factor
    known = {}
    if offset is not None:
        if isinstance(model, VariationalGarrote):
            return "has no offsets"
        known = {"offset": np.column_stack([offset] * 3) if response == "three classes" else offset}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            model.fit(given, y, sample_weight=weights, **known)
        except ValueError as refusal:
            return str(refusal)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(np.asarray(model.predict(given, **known), dtype=float)).all()
        if hasattr(model, "predict_proba"):
            assert np.isfinite(model.predict_proba(given, **known)).all()
    return ""


def check(model, response, hostile):
    said = answer(model, response, hostile)
    assert "\n" not in said
    assert "nan" not in said.lower()
    assert not (hostile in HELD and said and response == "numbers"), said


@pytest.mark.timeout(300)
@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", QUICK)
def test_numbers_of_any_size_are_refused_in_a_sentence_or_give_a_finite_answer(name, hostile):
    check(*QUICK[name], hostile)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sorted(set(everything()) - set(QUICK)))
def test_every_method_refuses_or_gives_a_finite_answer(name):
    model, response = everything()[name]
    for hostile in HOSTILE:
        check(model, response, hostile)


# --- the sentences


FRAME = pd.DataFrame(with_cell(1e300), columns=list("abcdef"))
MODEL = VariationalGarrote(gamma=-4.0)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        (with_cell(-1e300), "X is -1e+300 at row 3, column 2"),
        (np.asfortranarray(with_cell(1e300)), "X is 1e+300 at row 3, column 2"),
        (scipy.sparse.csc_array(with_cell(1e300)), "X is 1e+300 at row 3, column 2"),
        (FRAME, "X is 1e+300 at row 3, column 'c'"),
    ],
)
def test_an_entry_beyond_the_limit_is_named_with_the_limit_and_the_remedy(given, place):
    with pytest.raises(ValueError, match=r"beyond 1e\+151 .*; rescale that column") as refusal:
        MODEL.fit(given, Y)
    assert place in str(refusal.value)
    fitted = VariationalGarrote(gamma=-4.0).fit(
        FRAME.replace(1e300, 0.0) if given is FRAME else X, Y
    )
    with pytest.raises(ValueError, match="rescale that column") as refusal:
        fitted.predict(given)
    assert place in str(refusal.value)


def refusals():
    """Return calls with one number that is too large, or too small, and what is said."""
    weights, gram = np.where(np.arange(N) == 5, 1e30, 1.0), 20.0 * np.eye(2)
    y, vector = np.where(np.arange(N) == 7, 1e200, Y), np.array([1.0, 1e200])
    beside = SparseRegressor(alpha=0.1)
    return {
        "y is 1e+200 at row 7": lambda: MODEL.fit(X, y),
        "y varies by": lambda: MODEL.fit(X, Y * 1e-200),
        "sample_weight is 1e+30 at row 5": lambda: MODEL.fit(X, Y, weights),
        "offset is 1e+200 at row 7": lambda: beside.fit(X, Y, offset=np.where(y > 1e99, y, 0.0)),
        "offset is 1e+04 at row 2": lambda: SpikeSlabClassifier().fit(
            X, LABELS, offset=np.where(np.arange(N) == 2, 1e4, 0.0)
        ),
        "X varies by 1.1e-300 in column 2": lambda: MODEL.fit(with_column(1e-300), Y),
        "ratios beyond 1e+75": lambda: SparseRegressor("fused-lasso").fit(with_column(1e90), Y),
        "X is 2e+299 at column 2": lambda: Problem.from_rows(with_cell(1e300), Y),
        "gram is 1e+305 at row 1, column 1": lambda: Problem.from_moments(
            np.diag([1.0, 1e305]), np.ones(2), 20.0, 20
        ),
        "yty is 1e+305": lambda: Problem.from_moments(gram, np.ones(2), 1e305, 20),
        "n is 1e+40": lambda: Problem.from_moments(gram, np.ones(2), 20.0, 1e40),
        "z is 1e+200 at variable 1": lambda: Problem.from_zscores(vector, np.eye(2), 100),
        "x is 1e+200 at position 1": lambda: total_variation(vector, 1.0),
        "y is 1e+200 at place 1": lambda: fuse_signal(vector, 1.0),
    }


@pytest.mark.parametrize("said", refusals())
def test_whatever_is_beyond_its_limit_is_refused_by_name(said):
    with pytest.raises(ValueError, match="rescale") as refusal:
        refusals()[said]()
    assert said in str(refusal.value)


def test_columns_of_one_name_are_refused_by_that_name():
    frame = pd.DataFrame(X, columns=list("abcdea"))
    with pytest.raises(ValueError, match="more than one column named 'a': rename them"):
        MODEL.fit(frame, Y)


# --- what holds nevertheless


COUNTS = {
    "sparse": SparseRegressor(family="poisson", alpha=0.05),
    "bic": SpikeSlabRegressor("bic", family="poisson"),
    "slab": SpikeSlabRegressor(EffectSlab(1.0), family="poisson"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", COUNTS)
def test_rows_whose_rates_no_counts_have_are_refused_by_number(name):
    model = COUNTS[name].fit(X, RESPONSES["counts"])
    ways = [{}] if name == "sparse" else [{}, {"return_std": True}]
    towards = model.coef_ / np.abs(model.coef_).max()
    for size in (3e3, 1e5, 1e100, 1e150):
        given = X[:3].copy()
        given[1] = size * towards
        for way in ways:
            with pytest.raises(
                ValueError, match=r"the rate of row 1 is predicted .* e\^300 \(1 such"
            ):
                model.predict(given, **way)
        with pytest.raises(ValueError, match="the rate of row 1"):
            model.score(given, RESPONSES["counts"][:3])
        low = model.predict(given[[0, 2]])
        np.testing.assert_allclose(low, model.predict(X[:3])[[0, 2]], rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", COUNTS)
def test_rates_up_to_the_limit_are_what_the_models_say(name):
    """Summed over models in logarithms, beside which a limit would show."""
    model = COUNTS[name].fit(X, RESPONSES["counts"])
    rows = np.outer(np.linspace(0.0, 60.0, 9), model.coef_ / np.abs(model.coef_).max())
    if name == "sparse":
        expected = rows @ model.coef_ + model.intercept_
    else:
        found = model.posterior_.law.models
        share, each = found.probability / found.probability.sum(), []
        for k, weight in enumerate(share):
            own, intercepts = rows[:, found.members[k]], found.intercepts
            away = own - intercepts.center[k]
            spread = intercepts.variance[k] + np.sum((away @ found.spread[k]) * away, axis=1)
            log_rate = intercepts.value[k] + own @ found.mean[k] + (name == "slab") * spread / 2
            each.append(np.log(weight) + log_rate)
        expected = np.logaddexp.reduce(each, axis=0)
    inside = expected <= 300.0
    assert inside.sum() >= 3
    np.testing.assert_allclose(np.log(model.predict(rows[inside])), expected[inside], rtol=1e-10)
    if name != "sparse":
        assert np.isfinite(model.predict(rows[inside], return_std=True)[1]).all()


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e150])
def test_proximal_operators_of_tiny_and_large_numbers_are_those_of_usual_ones(size):
    x = np.array([3.0, -4.0, 0.5, 0.0])
    edges = [[0, 1], [1, 2], [2, 3]]
    for operator in (
        lambda v, s: soft_threshold(v, s),
        lambda v, s: group_l2(v, s, [0, 0, 1, 1]),
        lambda v, s: project_l2_ball(v, s),
        lambda v, s: total_variation(v, s),
        lambda v, s: denoise_on_graph(v, s, edges).values,
    ):
        np.testing.assert_allclose(operator(x * size, size) / size, operator(x, 1.0), rtol=1e-12)
    assert total_variation_gap(x * size, total_variation(x * size, size), size) < 1e-12


def test_copies_of_columns_that_are_all_in_are_solved_by_the_primal_system():
    rng = np.random.default_rng(0)
    once = rng.standard_normal((60, 8))
    y = 2 * once[:, 1] - once[:, 4] + 0.5 * rng.standard_normal(60)
    twice = np.column_stack([once, once])
    primal, dual = (
        VariationalGarrote("free_energy", method=Anneal(solver, np.linspace(-30, 3, 15))).fit(
            twice, y
        )
        for solver in ("primal", "dual")
    )
    np.testing.assert_allclose(primal.predict(twice), dual.predict(twice), atol=1e-3)
    assert primal.certificate_.value <= 1e-4


def test_a_constant_column_far_from_zero_has_no_products_with_anything():
    problem = Problem.from_rows(with_column(1.0, 1e16), Y)
    assert problem.xty[2] == 0.0
    assert not problem.table.dot(np.array([2]), np.ones((1, 1))).any()
