"""What all estimators have in common: one fit, few settings, objects that are reached through them."""

import inspect
import re

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from garrote import (
    ShrinkageClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
    estimators,
)
from garrote.estimators.registry import CONTROLS, MACHINES, SELECTORS
from garrote.inference import Gibbs, Sample
from garrote.paths import Anneal, AnnealBound, FollowPath
from garrote.priors import EffectSlab, ExpectedSize, GaussianSlab, HorseshoePrior, SingleEffects

PAIRS = [(row.load(), row.for_labels.load()) for row in SELECTORS.values() if row.for_labels]
# What only one of a pair has: numbers have a noise and signs of effects; labels have a wide slab in
# place of a flat one, whose width asks for a unit of columns, and classes.
OF_ONE = {
    "VariationalGarrote": {"noise_variance", "signs"} | {"slab_variance", "standardize"},
    "SparseRegressor": {"class_weight"},
    "SpikeSlabRegressor": {"family"},
    "SingleEffectsRegressor": {"family"},
    "GreedyRegressor": {"family"},
}
SELECTING = sorted(set(estimators.__all__) - {machine.estimator for machine in MACHINES})
every_pair = pytest.mark.parametrize(("numbers", "labels"), PAIRS)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = 2 * rng.standard_normal((80, 5)) + 1
    return X, X[:, 1] - X[:, 3] + rng.standard_normal(80)


@pytest.mark.parametrize("name", SELECTING)
def test_fit_is_the_same_everywhere(name):
    given = inspect.signature(getattr(estimators, name).fit).parameters
    assert list(given) == ["self", "X", "y", "sample_weight", "offset", "groups", "feature_names"]
    assert given["sample_weight"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    for keyword in ("offset", "groups", "feature_names"):
        assert given[keyword].kind is inspect.Parameter.KEYWORD_ONLY
        assert given[keyword].default is None


def test_every_method_is_a_pair():
    listed = {
        place.estimator for row in SELECTORS.values() for place in (row, row.for_labels) if place
    }
    assert listed == set(SELECTING) - {row.place.estimator for row in CONTROLS.values()}


@pytest.mark.parametrize("name", estimators.__all__)
def test_no_estimator_has_more_than_fifteen_settings(name):
    assert len(inspect.signature(getattr(estimators, name)).parameters) <= 15


@every_pair
def test_a_pair_has_the_same_settings(numbers, labels):
    one, two = (set(kind().get_params(deep=False)) for kind in (numbers, labels))
    assert one ^ two == OF_ONE.get(numbers.__name__, set())


def described(kind, setting):
    """Return what the docstring says of a setting, up to the next one."""
    _, _, rest = inspect.getdoc(kind).partition(f"\n{setting} : ")
    return re.split(r"\n(?=\S)", rest)[0]


@every_pair
def test_a_pair_has_the_same_defaults_or_says_why_not(numbers, labels):
    one, two = (inspect.signature(kind).parameters for kind in (numbers, labels))
    for name in one.keys() & two.keys() - {"family"}:  # what y is, is what they differ by
        if one[name].default != two[name].default:
            assert f"`{numbers.__name__}`" in described(labels, name), name


def test_ways_of_a_pair_have_the_same_defaults_or_say_why_not():
    one, two = Anneal().get_params(), AnnealBound().get_params()
    differing = {name for name in two if one[name] != two[name]}
    assert differing == {"gammas", "max_iter"}
    why = " ".join(inspect.getdoc(AnnealBound).partition("Parameters\n")[0].split())
    assert "`Anneal`" in why
    assert "30 gammas in place of 50, and 1000 rounds in place of 10,000" in why


@pytest.mark.parametrize("way", [Anneal, AnnealBound, FollowPath])
def test_no_setting_of_a_way_is_one_of_its_estimators(way):
    for kind in (kind for pair in PAIRS for kind in pair):
        if getattr(kind, "_method_class", None) is way:
            assert not set(way().get_params()) & set(inspect.signature(kind).parameters)


def test_settings_of_objects_are_reached_through_the_estimator(data):
    model = SpikeSlabRegressor(GaussianSlab(1.0), Sample(500), inclusion=ExpectedSize(2.0))
    known = model.get_params()
    assert (known["prior__variance"], known["method__n_steps"], known["inclusion__size"]) == (
        1,
        500,
        2,
    )
    copy = clone(model).set_params(prior__variance=2.0, method__n_steps=300, inclusion__size=1.0)
    assert copy.prior == GaussianSlab(2.0)
    assert copy.method == Sample(300)
    assert copy.inclusion == ExpectedSize(1.0)
    assert model.prior == GaussianSlab(1.0)
    search = GridSearchCV(
        SpikeSlabRegressor(GaussianSlab()), {"prior__variance": [1e-6, 1.0]}, cv=3
    )
    assert search.fit(*data).best_params_ == {"prior__variance": 1.0}


def test_an_offset_is_taken_off_numbers(data):
    X, y = data
    known = np.linspace(-5.0, 5.0, len(y))
    for model in (VariationalGarrote(-3.0), VariationalGarrote(), SpikeSlabRegressor()):
        plain = clone(model).fit(X, y)
        told = clone(model).fit(X, y + known, offset=known)
        np.testing.assert_allclose(told.coef_, plain.coef_, atol=1e-8)
        np.testing.assert_allclose(
            told.predict(X, offset=known), plain.predict(X) + known, atol=1e-7
        )
        score = told.score(X, y + known, offset=known)
        assert score == pytest.approx(plain.score(X, y), abs=1e-7)
        shown = told.selection_.predictions
        np.testing.assert_allclose(shown.observed, (y + known)[shown.rows])
        with pytest.warns(UserWarning, match="fitted with an offset"):
            told.predict(X)


# --- shrinkage of labels


@pytest.fixture(scope="module")
def labels(data):
    X, _ = data
    p = expit(0.8 * (X[:, 1] - 1) - 0.8 * (X[:, 3] - 1))
    return np.where(np.random.default_rng(1).random(80) < p, "yes", "no")


def shrunk(**settings):
    return ShrinkageClassifier(method=Gibbs(800, 200), random_state=0, **settings)


def test_effects_on_labels_are_shrunk_and_found(data, labels):
    X, _ = data
    model = shrunk().fit(X, labels)
    assert model.get_support(indices=True).tolist() == [1, 3]
    assert model.sign_probability_[[1, 3]].min() > 0.97
    assert not hasattr(model, "inclusion_probability_")
    assert model.score(X, labels) > 0.7
    assert model.certificate_.value < 0.1
    p = model.predict_proba(X)[:, 1]
    law = model.posterior_.law
    eta = X @ law.draws.T + law.intercept
    np.testing.assert_allclose(p, expit(eta).mean(axis=1), atol=1e-12)
    assert model.intercept_[0] == pytest.approx(law.intercept.mean())
    assert "Polson" in model.selection_.provenance["reference"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_of_labels_are_repeats(data, labels):
    X, _ = data
    weights = np.random.default_rng(2).integers(0, 3, len(X))
    one = shrunk().fit(X, labels, sample_weight=weights)
    two = shrunk().fit(np.repeat(X, weights, axis=0), np.repeat(labels, weights))
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)
    np.testing.assert_allclose(one.intercept_, two.intercept_, atol=1e-6)


def test_covariates_and_offsets_of_labels(data, labels):
    X, _ = data
    held = shrunk(covariates=[1]).fit(X, labels)
    assert held.sign_probability_[1] == 1.0
    assert held.coef_[0, 1] > 0.3
    known = 0.8 * (X[:, 1] - 1)
    told = shrunk().fit(X, labels, offset=known)
    assert not told.get_support()[1]
    assert told.get_support()[3]
    np.testing.assert_allclose(
        told.predict_proba(X, offset=known)[:, 1],
        shrunk().fit(X, labels).predict_proba(X)[:, 1],
        atol=0.15,
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_labels_without_anything_to_explain_them(labels, intercept):
    model = shrunk(fit_intercept=intercept).fit(np.ones((80, 2)) * [1.0, 0.0], labels)
    share = (labels == "yes").mean()
    if intercept:
        np.testing.assert_array_equal(model.coef_, 0.0)
        assert model.predict_proba(np.ones((1, 2)))[0, 1] == pytest.approx(share, abs=0.02)
    else:
        assert model.predict_proba([[1.0, 0.0]])[0, 1] == pytest.approx(share, abs=0.1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_separated_labels_have_finite_effects(data):
    X, _ = data
    model = shrunk(prior=HorseshoePrior(scale=0.5)).fit(X, X[:, 1] > 1)
    assert np.isfinite(model.coef_).all()
    assert model.sign_probability_[1] == 1.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior": HorseshoePrior(noise_variance=1.0)}, "labels have no noise"),
        ({"prior": EffectSlab()}, "prior must be one of .*'horseshoe'"),
        ({"prior": SingleEffects()}, "prior must be one of"),
        ({"method": "sample"}, r"method must be one of \('auto', 'gibbs'\)"),
    ],
)
def test_what_shrinkage_of_labels_has_not_is_refused(data, labels, settings, said):
    with pytest.raises(ValueError, match=said):
        ShrinkageClassifier(**settings).fit(data[0], labels)
