"""The posterior over models of a problem, from rows or from moments."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from garrote import Problem, SpikeSlabRegressor
from garrote.inference import Beliefs, Enumerate, Sample, Search, as_method, choose_method, infer
from garrote.inference.gaussian_models import refuse_long_enumeration
from garrote.likelihoods import Gaussian
from garrote.priors import GaussianSlab, GPrior, TwoHumpedSlab
from garrote.priors.inclusion import Inclusion


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = X[:, 1] - 0.5 * X[:, 4] + rng.standard_normal(60)
    return X - X.mean(axis=0), y - y.mean()


@pytest.mark.parametrize(
    ("method", "slab"),
    [
        ("enumerate", GaussianSlab()),
        ("enumerate", GPrior("hyper-g/n")),
        (Sample(500, 100), GaussianSlab()),
        (Sample(500, 100), GPrior(60.0)),
        ("mean-field", GaussianSlab()),
        ("mean-field", GaussianSlab(0.5)),
        ("enumerate", None),
        (Sample(500, 100), None),
        ("mean-field", None),
    ],
    ids=str,
)
def test_moments_say_as_much_as_rows(data, method, slab):
    X, y = data
    rows = Problem.from_rows(X, y)
    moments = Problem.from_moments(X.T @ X, X.T @ y, float(y @ y), len(y))
    one, two = (infer(p, slab, method, random_state=1) for p in (rows, moments))
    np.testing.assert_allclose(
        one.posterior.inclusion_probability, two.posterior.inclusion_probability, atol=1e-6
    )
    np.testing.assert_allclose(one.posterior.mean, two.posterior.mean, atol=1e-6)
    np.testing.assert_allclose(
        one.posterior.noise_variance, two.posterior.noise_variance, rtol=1e-4
    )
    assert one.method == two.method == as_method(method).name


@pytest.mark.parametrize(
    ("columns", "method"),
    [
        (1, "enumerate"),
        (15, "enumerate"),
        (16, "sample"),
        (20_000, "sample"),
        (20_001, "mean-field"),
    ],
)
def test_the_method_follows_the_number_of_columns(columns, method):
    assert choose_method(GaussianSlab(), Gaussian().integration, columns, 100).name == method


@pytest.mark.parametrize(
    ("columns", "method"),
    [(10, "enumerate"), (11, "sample"), (20_000, "sample"), (20_001, "mean-field")],
)
def test_models_with_signs_are_summed_up_to_fewer_columns(columns, method):
    assert choose_method(TwoHumpedSlab(), Gaussian().integration, columns, 100).name == method


def test_an_enumeration_without_end_is_refused_with_its_time():
    with pytest.raises(ValueError, match=r"40 columns would take about 61.* hours"):
        refuse_long_enumeration(40)


def test_priors_that_do_not_go_with_the_problem_are_refused(data):
    X, y = data
    problem = Problem.from_rows(X, y)
    with pytest.raises(ValueError, match="has 3 variables, but 8 columns"):
        Beliefs.about(problem, inclusion=Inclusion.beta(1.0, 1.0, np.zeros(3)))
    with pytest.raises(ValueError, match="rows are too few"):
        Beliefs.about(Problem.from_rows(X[:3], y[:3]))


def test_columns_without_content_are_never_in(data):
    X, y = data
    X = np.column_stack([X, np.ones(60)])
    for method in ("enumerate", Sample(300, 50, 1), "mean-field"):
        found = infer(Problem.from_rows(X, y), method=method, random_state=0)
        assert found.posterior.inclusion_probability[8] == 0.0
        assert found.posterior.mean[8] == 0.0


def test_progress_is_reported(data):
    X, y = data
    problem = Problem.from_rows(X, y)
    for method, stage in (("enumerate", "enumeration"), (Sample(200, 0, 1), "sampling")):
        events = []
        infer(problem, method=method, random_state=0, callback=events.append)
        assert {event.stage for event in events} == {stage}
        assert events[-1].done == events[-1].total


@pytest.mark.parametrize("method", [Enumerate(), Search(100)], ids=["enumerate", "search"])
def test_the_slab_integral_of_an_effect_without_noise_is_that_on_a_dense_grid(method):
    """What is left of y stays at its floor from some variance on: the integrand has a corner there."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + 1e-4 * rng.standard_normal(60)
    problem = Problem.from_rows(X, y)
    found = infer(problem, GaussianSlab(), method, random_state=0)
    beliefs, least = Beliefs.about(problem, GaussianSlab()), 1e-6 * problem.yty
    log_variance = np.linspace(-15.0, 60.0, 300_001)
    ridge, shape = np.exp(-log_variance), 0.5 * beliefs.n
    logs, noises = [], []
    for members in ([], [0], [1], [0, 1]):
        values, vectors = np.linalg.eigh(problem.known_block(np.array(members, dtype=int)))
        products = vectors.T @ problem.xty[members]
        left, log_det = np.full(len(ridge), problem.yty), 0.0
        for value, product in zip(values, products, strict=True):
            left = left - product**2 / (value + ridge)
            log_det = log_det + np.log(value + ridge) - np.log(ridge)
        left = np.maximum(left, least)
        prior = beliefs.inclusion.by_size[len(members)]
        logs.append(prior - shape * np.log(0.5 * left) - 0.5 * log_det)
        noises.append(0.5 * left / (shape - 1.0))
    step = log_variance[1] - log_variance[0]
    logs = np.array(logs) + beliefs.prior.log_density(log_variance) + np.log(step)
    total = np.logaddexp.reduce(logs.ravel())
    assert found.posterior.log_evidence == pytest.approx(total, abs=1e-3)
    noise = (np.exp(logs - total) * noises).sum() * problem.scale.response_scale**2
    assert found.posterior.noise_variance == pytest.approx(noise, rel=1e-3)
    assert found.certificate.parts["slab variance"] < 1e-3


@pytest.mark.parametrize("prior", [{"prior": "g-prior"}, {"prior": "bic"}])
def test_a_search_finds_columns_that_depend_on_those_of_a_model(prior):
    """No model has a copy beside its original, or a sum beside both parts: they are exchanged."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    X[:, 1], X[:, 4] = X[:, 0], X[:, 2] + X[:, 3]
    y = X[:, 0] + X[:, 2] - 0.5 * X[:, 3] + rng.standard_normal(300)
    searched, exact = (
        SpikeSlabRegressor(method=method, random_state=0, **prior).fit(X, y)
        for method in ("search", "enumerate")
    )
    np.testing.assert_allclose(
        searched.inclusion_probability_, exact.inclusion_probability_, atol=1e-6
    )


@pytest.mark.parametrize(("part", "noise"), [(5e-5, 0.0), (1e-4, 2e-5), (1.0, 2e-5)])
def test_exchanged_columns_have_the_weights_that_their_own_fits_have(part, noise):
    """A column that nearly depends on others explains nearly as much: how much less is counted."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = X[:, 0] + X[:, 1] - 0.5 * X[:, 2] + rng.standard_normal(300)
    X[:, 4] = X[:, 1] + part * X[:, 2] + noise * X[:, 4]
    model = SpikeSlabRegressor("bic", "search", inclusion=0.5, random_state=0).fit(X, y)
    found = model.posterior_.law.models
    probability = dict(zip(map(tuple, found.members), found.probability, strict=True))

    def left(*members):
        centered = X[:, members] - X[:, members].mean(axis=0)
        return np.linalg.lstsq(centered, y - y.mean())[1][0]

    for other in [(0, 1, 4), (0, 2, 4)]:
        ratio = probability[other] / probability[0, 1, 2]
        assert np.log(ratio) == pytest.approx(-150 * np.log(left(*other) / left(0, 1, 2)), abs=1e-3)


@pytest.mark.parametrize(
    "settings",
    [
        {"prior": GaussianSlab()},
        {"prior": GaussianSlab(noise_variance=1.2)},
        {"prior": GaussianSlab(), "prior_log_odds": {3: 2.0}, "covariates": [11]},
    ],
    ids=str,
)
def test_a_short_search_has_the_odds_of_the_models_that_it_found(settings):
    """With an unknown slab variance they are summed over variances at which other models were found."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12)) + rng.standard_normal((60, 1))
    y = 0.3 * X[:, :6].sum(axis=1) + rng.standard_normal(60)
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y)
    search = SpikeSlabRegressor(method=Search(n_steps=100), random_state=0, **settings)
    with pytest.warns(ConvergenceWarning, match="missed by one search"):
        search.fit(X, y)
    every, found = (_log_probabilities(model.posterior_.law.models) for model in (exact, search))
    both = [model for model in found if model in every][:30]
    assert len(both) == 30
    off = np.array([found[model] - every[model] for model in both])
    assert np.ptp(off) < 1e-3
    # They are renormalised over what was found, whose evidence is the lesser one.
    missing = exact.posterior_.log_evidence - search.posterior_.log_evidence
    np.testing.assert_allclose(off, missing, atol=1e-3)
    assert search.certificate_["log probability"] < 1e-6


def _log_probabilities(models):
    listed = zip(models.members[: models.listed], models.probability, strict=False)
    return {tuple(members.tolist()): np.log(probability) for members, probability in listed}


def test_a_search_that_ends_early_says_so():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 30)) + rng.standard_normal((60, 1))
    y = 0.3 * X[:, :15].sum(axis=1) + rng.standard_normal(60)
    with pytest.warns(ConvergenceWarning, match=r"search has not found enough.*raise n_steps"):
        model = SpikeSlabRegressor(method=Search(n_steps=100), random_state=0).fit(X, y)
    assert not model.selection_.converged
