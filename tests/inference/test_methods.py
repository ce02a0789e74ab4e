"""Methods, priors and laws of inclusion are settings that scikit-learn can read and copy."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

from garrote import Problem, SpikeSlabRegressor, priors
from garrote.inference import (
    EM,
    METHODS,
    Gibbs,
    MeanField,
    Metropolis,
    Sample,
    Search,
    as_method,
    choosing,
    infer,
)
from garrote.inference.choosing import WAYS
from garrote.likelihoods import (
    FAMILIES,
    Likelihood,
    adapt_to_data,
    curvature,
    families_with_posteriors,
    gradient,
    inverse_link,
    log_likelihood,
    saturated,
    survival_times,
)
from garrote.priors import (
    BIC,
    BetaInclusion,
    EffectSlab,
    ExpectedSize,
    GaussianSlab,
    GPrior,
    HorseshoePrior,
    IndependentInclusion,
    Prior,
    RelevancePrior,
    SingleEffects,
    as_inclusion,
)
from garrote.rules import Integration
from garrote.settings import Settings

SETTINGS = [
    *[made() for made in METHODS.values()],
    *[getattr(priors, name)() for name in priors.__all__ if name.endswith("Prior") and name not in
      ("Prior", "ScaleMixturePrior")],
    BIC(), EffectSlab(), GaussianSlab(), GPrior(), SingleEffects(),
    BetaInclusion(), ExpectedSize(), IndependentInclusion(),
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda one: type(one).__name__)
def test_settings_are_copied_compared_and_pickled_by_their_values(settings):
    assert isinstance(settings, Settings)
    assert clone(settings) == settings == pickle.loads(pickle.dumps(settings))
    assert hash(clone(settings)) == hash(settings)
    assert type(settings)(**settings.get_params()) == settings


def test_settings_change_by_name_and_are_checked_again():
    slab = clone(GaussianSlab()).set_params(variance=2.0)
    assert slab == GaussianSlab(2.0)
    with pytest.raises(ValueError, match="variance of a GaussianSlab must be positive, got -1"):
        slab.set_params(variance=-1)
    with pytest.raises(ValueError, match="GaussianSlab has no setting 'width'; its settings are"):
        slab.set_params(width=1)
    with pytest.raises(AttributeError, match="cannot assign"):
        slab.variance = 1.0


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (Sample(n_steps=10), "n_steps must be an integer >= 100, got 10"),
        (Metropolis(burn_in=-1), "burn_in must be an integer >= 0, got -1"),
        (Gibbs(n_chains=0), "n_chains must be an integer >= 1, got 0"),
        (Search(n_steps=2.5), "n_steps must be an integer >= 100, got 2.5"),
        (MeanField("guess"), r"hyperparameters must be one of \('average', 'em', 'anneal'\)"),
        (MeanField(tol=0.0), "tol must be positive and finite, got 0.0"),
        (EM(spike_variance=-1.0), "spike_variance must be positive and finite, got -1.0"),
        ("guess", r"method must be one of \('auto', 'enumerate', .*got 'guess'"),
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_meant_is_refused_when_it_is_used(method, said):
    with pytest.raises(ValueError, match=said):
        as_method(method)


def test_a_name_stands_for_the_defaults():
    for name, made in METHODS.items():
        assert as_method(name) == made()
        assert as_method(made()).name == name


def made_of(family):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    eta = X[:, 1]
    y = {
        "gaussian": eta + rng.standard_normal(60),
        "binomial": (rng.random(60) < 1 / (1 + np.exp(-2 * eta))).astype(float),
        "poisson": rng.poisson(np.exp(eta)).astype(float),
        "negative-binomial": rng.negative_binomial(2, 1 / (1 + np.exp(eta))).astype(float),
        "cox": survival_times(rng.exponential(np.exp(-eta)), np.ones(60)),
    }[family]
    return Problem.from_rows(X, y, likelihood=adapt_to_data(FAMILIES[family], y))


KINDS = {"effects": SingleEffects(), "shrinkage": HorseshoePrior(), "relevance": RelevancePrior()}


@pytest.mark.parametrize(
    ("family", "kind", "method"),
    [
        (family, *way)
        for family in families_with_posteriors()
        for way in WAYS[FAMILIES[family].integration]
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_every_way_of_the_table_finds_the_effect(family, kind, method):
    short = {"n_steps": 300, "burn_in": 50} if "burn_in" in method().get_params() else {}
    found = infer(made_of(family), KINDS.get(kind), method(**short), random_state=0)
    assert found.method == method.name
    posterior = found.posterior
    signs = posterior.sign_probability
    stated = posterior.inclusion_probability if signs is None else signs
    assert stated.argmax() == 1
    assert posterior.mean.argmax() == 1


@pytest.mark.parametrize("family", families_with_posteriors())
@pytest.mark.parametrize("prior", [BIC(), GaussianSlab(), EffectSlab(), GPrior(), HorseshoePrior()])
def test_a_prior_is_found_by_any_method_or_refused_by_name(family, prior):
    problem = made_of(family)
    if problem.likelihood.integration in prior.integrations:
        assert infer(problem, prior, random_state=0).posterior.mean.argmax() == 1
    else:
        with pytest.raises(ValueError, match=f"{type(prior).__name__} is for a .*, not for a "):
            infer(problem, prior)


def test_methods_that_need_independent_coefficients_say_so():
    for family, method in (
        ("gaussian", "mean-field"),
        ("gaussian", "gibbs"),
        ("binomial", "sample"),
    ):
        with pytest.raises(ValueError, match="ties the coefficients together"):
            infer(made_of(family), BIC(), method)


def test_a_prior_of_another_package_is_a_way_of_its_kind(monkeypatch):
    class Named(Prior):
        kind = "named"

    monkeypatch.setitem(
        WAYS[Integration.CLOSED_FORM], ("named", choosing.Enumerate), lambda task, method: task
    )
    task = infer(made_of("gaussian"), Named(), names=["a", "b", "c", "d"])
    assert isinstance(task.prior, Named)
    assert task.names == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("given", "law"),
    [
        (None, BetaInclusion()),
        (0.2, IndependentInclusion(0.2)),
        ((1.0, 3.0), BetaInclusion(1.0, 3.0)),
        ("(1, 3)", BetaInclusion(1.0, 3.0)),
        (ExpectedSize(2.0), ExpectedSize(2.0)),
    ],
    ids=str,
)
def test_a_shorthand_stands_for_a_law_of_inclusion(given, law):
    assert as_inclusion(given, 6) == law
    by_law, by_name = (
        infer(made_of("poisson"), BIC(), inclusion=one).posterior.inclusion_probability
        for one in (law, given)
    )
    np.testing.assert_array_equal(by_law, by_name)


def test_single_effects_of_labels_refuse_what_they_have_not():
    for prior in (SingleEffects(variance="em"), SingleEffects(noise_variance=1.0)):
        with pytest.raises(ValueError, match=r"single effects of labels, .* have no noise"):
            infer(made_of("binomial"), prior)


def test_a_likelihood_without_posteriors_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), np.arange(30) % 2.0
    with pytest.raises(
        ValueError, match=r"one of \('gaussian', .*'negative-binomial', 'cox'\), got probit"
    ):
        infer(Problem.from_rows(X, y, likelihood="probit"))
    assert {FAMILIES[name].integration for name in families_with_posteriors()} == set(WAYS)


class _Named(NamedTuple):
    name: str = "counted"


class Counted(_Named, Likelihood):
    """Counts by a likelihood that the library does not know: all that it says of itself is here."""

    integration = Integration.LAPLACE

    def check_response(self, y):
        pass

    def link(self, mean):
        return np.log(mean)

    def variance(self, mean):
        return mean


@log_likelihood.register
def _(likelihood: Counted, y, eta):
    return y * eta - np.exp(eta)


@saturated.register
def _(likelihood: Counted, y):
    return y * np.log(np.maximum(y, 1e-300)) - y


@inverse_link.register
def _(likelihood: Counted, eta):
    return np.exp(eta)


@gradient.register
def _(likelihood: Counted, y, eta):
    return y - np.exp(eta)


@curvature.register
def _(likelihood: Counted, y, eta):
    return np.exp(eta)


def test_a_likelihood_of_ones_own_has_the_posteriors_of_fitted_models():
    problem = made_of("poisson")
    X, y = problem.table.stored.values, problem.response
    mine, known = (
        SpikeSlabRegressor("bic", method="enumerate", family=family).fit(X, y)
        for family in (Counted(), "poisson")
    )
    np.testing.assert_allclose(mine.inclusion_probability_, known.inclusion_probability_, atol=1e-9)
    for one, other in zip(
        mine.predict(X, return_std=True), known.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-3)  # rates are averaged by sums, or exactly
    with pytest.raises(
        ValueError, match=r"\('auto', 'enumerate', 'metropolis'\) for a response whose"
    ):
        SpikeSlabRegressor(method="mean-field", family=Counted()).fit(X, y)
