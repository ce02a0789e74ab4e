"""Paired mean field by the garrote's loops: the plain algorithm, its bound, and the audit."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from garrote import SpikeSlabRegressor, VariationalGarrote
from garrote.inference import Beliefs, MeanField
from garrote.inference.mean_field import averaged as mean_field
from garrote.inference.mean_field.paired_mean_field import anneal_paired, fit_paired, paired_path
from garrote.inference.task import Task
from garrote.paths import Anneal
from garrote.paths.annealed import fit_path
from garrote.priors import GaussianSlab
from garrote.priors.garrote import SpikeTerms
from garrote.priors.inclusion import BetaInclusion, Inclusion
from garrote.problem import Problem
from garrote.solvers.control import Control
from garrote.solvers.garrote.exploring import entry_order
from garrote.solvers.models.enumeration import enumerate_models
from reference import paired_em, paired_mean_field

TIGHT = Control(1e-8, 10_000)
GAMMAS = np.array([-9.0, -6.0, -4.0, -2.0, -1.0])


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 12))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    return Problem.from_rows(X, X[:, :3] @ [0.8, 0.4, 0.5] + rng.standard_normal(60))


@pytest.mark.parametrize("noise", [None, 0.4])
@pytest.mark.parametrize("variance", [0.1, 1.0, 20.0])
def test_solutions_are_those_of_the_plain_algorithm(problem, variance, noise):
    prior = SpikeTerms.with_slab(variance, np.zeros(12), problem.curvature, noise)
    path = fit_path(problem, prior, GAMMAS, control=Control(1e-10, 10_000))
    for fit in path.forward:
        alpha, mu, sigma = paired_mean_field(
            problem.whole_gram(), problem.xty, problem.yty, problem.n,
            np.full(12, fit.strength), variance, noise,
        )  # fmt: skip
        assert fit.certificate.value < 1e-9
        assert fit.noise_variance == pytest.approx(sigma, abs=1e-8)
        everywhere = np.zeros(12)
        everywhere[fit.columns] = fit.probability
        np.testing.assert_allclose(everywhere, alpha, atol=1e-8)
        np.testing.assert_allclose(fit.weight, mu[fit.columns], atol=1e-8)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_columns_outside_of_the_working_set_are_covered_too(sparse_rows):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 600))
    y = X[:, 0] - X[:, 7] + 0.5 * rng.standard_normal(50)
    given = X
    if sparse_rows:
        import scipy.sparse

        X = np.where(np.abs(X) > 1, X, 0.0)
        given = scipy.sparse.csc_array(X)
    problem = Problem.from_rows(given, y)
    prior = SpikeTerms.with_slab(1.0, np.zeros(600), problem.curvature)
    path = fit_path(problem, prior, np.linspace(-20, -5, 8), control=Control(1e-8, 10_000))
    dense = Problem.from_rows(X, y)
    fit = path.forward[-1]
    alpha, _, sigma = paired_mean_field(
        dense.whole_gram(),
        dense.xty,
        dense.yty,
        dense.n,
        np.full(600, fit.strength),
        1.0,
        None,
        400,
    )
    everywhere = np.zeros(600)
    everywhere[fit.columns] = fit.probability
    np.testing.assert_allclose(everywhere, alpha, atol=1e-6)
    assert fit.noise_variance == pytest.approx(sigma, abs=1e-6)


@pytest.mark.parametrize("variance", [0.3, 3.0])
def test_the_free_energy_bounds_the_evidence(problem, variance):
    noise = 0.5
    prior = SpikeTerms.with_slab(variance, np.zeros(12), problem.curvature, noise)
    path = fit_path(problem, prior, GAMMAS, control=Control(1e-8, 10_000))
    rule = GaussianSlab(variance, noise).rule(problem.n, problem.yty, 12)
    constant = -0.5 * problem.n * np.log(2 * np.pi * noise)
    for fit in path.fits:
        inclusion = Inclusion.independent(np.full(12, expit(fit.strength)), np.zeros(12))
        exact = enumerate_models(
            rule, problem.whole_gram(), problem.xty, problem.yty, inclusion.by_size,
            inclusion.log_odds,
        )  # fmt: skip
        bound = -fit.free_energy - 12 * np.logaddexp(0.0, fit.strength)
        evidence = exact.log_total + constant
        assert bound <= evidence + 1e-9
        assert bound > evidence - 3.0


def test_the_free_energy_is_stationary(problem):
    """It is least in the noise variance: the solution at a fixed noise nearby costs more."""
    prior = SpikeTerms.with_slab(1.0, np.zeros(12), problem.curvature)
    control = Control(1e-10, 10_000)
    free = fit_path(problem, prior, GAMMAS, control=control).forward[-1]
    for factor in (0.9, 1.1):
        noise = factor * free.noise_variance
        fixed = SpikeTerms.with_slab(1.0, np.zeros(12), problem.curvature, noise)
        assert fit_path(problem, fixed, GAMMAS, control=control).forward[-1].free_energy > (
            free.free_energy
        )


def test_independent_columns_have_nearly_exact_probabilities():
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((200, 12)) - 0.0)
    X = Q * np.sqrt(200)
    y = X[:, :3] @ [0.3, 0.2, 0.15] + rng.standard_normal(200)
    settings = {"inclusion": 0.2, "prior": GaussianSlab(1.0, noise_variance=1.0)}
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y)
    quick = SpikeSlabRegressor(method="mean-field", **settings).fit(X, y)
    np.testing.assert_allclose(
        quick.inclusion_probability_, exact.inclusion_probability_, atol=0.02
    )
    np.testing.assert_allclose(quick.coef_, exact.coef_, atol=0.01)
    assert quick.posterior_.audit().largest_difference < 0.02


def test_the_audit_tells_where_correlation_makes_mean_field_too_sure():
    """Each of two columns hides what the other explains: sweeps from the empty model find neither."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 8))
    X[:, 1] = -0.95 * X[:, 0] + np.sqrt(1 - 0.95**2) * X[:, 1]
    y = 0.8 * (X[:, 0] + X[:, 1]) + rng.standard_normal(100)
    exact = SpikeSlabRegressor(GaussianSlab(), "enumerate").fit(X, y)
    quick = SpikeSlabRegressor(GaussianSlab(), "mean-field").fit(X, y)
    with pytest.warns(UserWarning, match="prefer method='sample'"):
        audit = quick.posterior_.audit()
    off = np.abs(quick.inclusion_probability_ - exact.inclusion_probability_).max()
    assert off > 0.1
    assert audit.largest_difference > 0.1
    checked = np.zeros(8)
    checked[audit.columns] = audit.checked
    np.testing.assert_allclose(checked, exact.inclusion_probability_, atol=0.1)
    assert any("exact sums" in said for said in quick.selection_.warnings)


def test_a_g_prior_does_not_factorise():
    X = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(ValueError, match="ties the coefficients together"):
        SpikeSlabRegressor("g-prior", "mean-field").fit(X, X[:, 0])


def test_own_odds_are_used(problem):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5))
    y = rng.standard_normal(60)
    odds = np.array([0.9, 0.1, 0.1, 0.1, 0.1])
    settings = {"inclusion": odds, "prior": GaussianSlab(0.01, noise_variance=1.0)}
    model = SpikeSlabRegressor(method="mean-field", **settings).fit(X, y)
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y)
    assert logit(exact.inclusion_probability_[0]) > 0.5
    np.testing.assert_allclose(
        model.inclusion_probability_, exact.inclusion_probability_, atol=0.03
    )


def test_an_unsettled_solution_is_said_to_be_one(monkeypatch):
    X = np.random.default_rng(0).standard_normal((40, 6))
    y = X[:, 0] + np.random.default_rng(1).standard_normal(40)
    settings = {"method": "mean-field", "prior": GaussianSlab(1.0)}
    assert SpikeSlabRegressor(**settings).fit(X, y).selection_.converged
    monkeypatch.setattr(Task, "control", lambda self, *given: Control(1e-13, 1, self.callback))
    with pytest.warns(ConvergenceWarning, match="did not settle"):
        model = SpikeSlabRegressor(**settings).fit(X, y)
    assert not model.selection_.converged


def _beliefs(problem, a=1.0, b=3.0, **slab):
    return Beliefs.about(problem, GaussianSlab(**slab), Inclusion.beta(a, b, np.zeros(12)))


@pytest.mark.parametrize("noise", [None, 0.4])
def test_em_finds_what_the_plain_algorithm_finds(problem, noise):
    known = None if noise is None else noise * problem.scale.response_scale**2
    found = fit_paired(problem, _beliefs(problem, noise_variance=known), control=TIGHT)
    alpha, mu, sigma, variance, pi = paired_em(
        problem.whole_gram(), problem.xty, problem.yty, problem.n, 1.0, 3.0, noise=noise
    )
    assert found.converged
    assert found.at.variance == pytest.approx(variance, rel=1e-3)
    assert expit(found.at.log_odds) == pytest.approx(pi, rel=1e-3)
    assert found.fit.noise_variance == pytest.approx(sigma, rel=1e-3)
    everywhere = np.zeros(12)
    everywhere[found.fit.columns] = found.fit.probability
    np.testing.assert_allclose(everywhere, alpha, atol=1e-3)
    np.testing.assert_allclose(found.fit.weight, mu[found.fit.columns], atol=1e-3)


def test_no_em_step_lowers_the_objective(problem):
    rng = np.random.default_rng(0)
    for _ in range(5):
        found = fit_paired(problem, _beliefs(problem), start=rng.uniform(size=12), control=TIGHT)
        assert len(found.trace) > 3
        assert np.diff(found.trace).min() > -1e-9
        assert found.trace[-1] > found.trace[0] + 1e-3


def test_em_leaves_given_hyperparameters_alone(problem):
    beliefs = Beliefs.about(
        problem,
        GaussianSlab(0.7, 0.5 * problem.scale.response_scale**2),
        Inclusion.independent(np.full(12, 0.2), np.zeros(12)),
    )
    found = fit_paired(problem, beliefs)
    assert found.at.variance == 0.7
    assert found.at.log_odds == 0.0
    assert found.fit.noise_variance == pytest.approx(0.5)
    assert len(found.trace) == 1


def test_the_learned_odds_expect_what_was_found_beside_own_offsets(problem):
    offsets = np.linspace(-1, 1, 12)
    beliefs = Beliefs.about(problem, GaussianSlab(1.0), Inclusion.beta(1.0, 3.0, offsets))
    found = fit_paired(problem, beliefs, control=TIGHT)
    gamma = found.at.log_odds
    expected = expit(gamma + offsets).sum() + 4 * expit(gamma) - 1
    assert expected == pytest.approx(found.fit.expected_size, abs=1e-2)


def test_from_rows_moments_and_many_columns_em_is_the_same():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 300))
    y = X[:, 0] - X[:, 7] + 0.5 * rng.standard_normal(60)
    X, y = X - X.mean(axis=0), y - y.mean()
    rows = Problem.from_rows(X, y, fit_intercept=False)
    moments = Problem.from_moments(X.T @ X, X.T @ y, y @ y, 60)
    found = [
        fit_paired(given, Beliefs.about(given, None, BetaInclusion()), control=TIGHT)
        for given in (rows, moments)
    ]
    assert found[0].fit.columns[found[0].fit.probability > 0.5].tolist() == [0, 7]
    # Moments count one row less for the mean.
    assert found[0].at.variance == pytest.approx(found[1].at.variance, rel=1e-3)
    assert found[0].at.log_odds == pytest.approx(found[1].at.log_odds, abs=1e-3)


def test_annealing_pi_shows_hysteresis_and_keeps_the_best_bound():
    """Two groups of columns that explain y equally well: which one is met first depends on the way."""
    rng = np.random.default_rng(7)
    Z = rng.standard_normal((80, 3))
    X = np.column_stack(
        [Z.sum(axis=1) + 0.3 * rng.standard_normal(80), Z, rng.standard_normal((80, 6))]
    )
    y = Z @ [1.0, 1.0, 1.0] + 0.3 * rng.standard_normal(80)
    problem = Problem.from_rows(X, y)
    whole = anneal_paired(problem, control=TIGHT)
    path = paired_path(problem, whole)
    assert path.hysteresis is not None
    objectives = [one.objective for one in (*whole.forward, *whole.backward)]
    assert whole.best.objective == max(objectives)
    middle = len(path) // 2
    up, down = path.forward[middle], path.backward[middle]
    assert up.columns[up.probability > 0.5].tolist() == [0]
    assert down.columns[down.probability > 0.5].tolist() == [1, 2, 3]
    alone = fit_paired(problem, start=np.eye(10)[0], control=TIGHT)
    assert whole.best.objective > alone.objective
    model = SpikeSlabRegressor(method=MeanField("anneal")).fit(X, y)
    assert model.path_.hysteresis is not None
    assert set(model.get_support(indices=True)) >= {1, 2, 3}
    assert "annealed and reheated" in model.selection_.rule
    assert not hasattr(model.set_params(method=MeanField("em")).fit(X, y), "path_")


@pytest.mark.parametrize("hyperparameters", ["average", "em", "anneal"])
def test_orthogonal_columns_have_nearly_exact_probabilities_however_priors_are_set(hyperparameters):
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((200, 12)))
    X = Q * np.sqrt(200)
    y = X[:, :3] @ [0.3, 0.2, 0.15] + rng.standard_normal(200)
    settings = {"inclusion": 0.2, "prior": GaussianSlab(1.0, noise_variance=1.0)}
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y)
    quick = SpikeSlabRegressor(method=MeanField(hyperparameters), **settings)
    quick.fit(X, y)
    np.testing.assert_allclose(
        quick.inclusion_probability_, exact.inclusion_probability_, atol=0.02
    )
    assert len(quick.posterior_.optima) == 1


def test_ways_to_hyperparameters_are_refused_that_mean_field_does_not_know():
    X = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(ValueError, match="hyperparameters must be one of"):
        SpikeSlabRegressor(method=MeanField("guess")).fit(X, X[:, 0])


@pytest.fixture(scope="module")
def rivals():
    """Columns 0 and 1 are nearly one, and so are 2 and 3: several optima."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 10))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(60)
    X[:, 3] = X[:, 2] + 0.1 * rng.standard_normal(60)
    return X, X[:, 0] + X[:, 2] + rng.standard_normal(60)


def test_optima_are_listed_with_weights_and_the_way_to_them(rivals):
    model = SpikeSlabRegressor(GaussianSlab(1.0), "mean-field", inclusion=0.2).fit(*rivals)
    posterior = model.posterior_
    table = posterior.local_optima().columns
    assert len(posterior.optima) >= 2
    energies = np.array(table["free energy"])
    assert (np.diff(energies) > 0).all()
    assert (np.diff(table["weight"]) < 0).all()
    assert sum(table["weight"]) == pytest.approx(1.0)
    ways = ", ".join(table["reached"]).split(", ")
    assert {"annealed", "reheated", "entry order", "reversed order", "start 1"} <= set(ways)
    assert len(ways) == len(set(ways))
    assert all(fit.certificate.value < 1e-4 for fit in posterior.optima)
    assert posterior.start_dependence > 0.5
    assert any("distinct optima" in said for said in model.selection_.warnings)


def test_the_posterior_is_the_mixture_of_the_optima(rivals):
    settings = {"inclusion": 0.2, "prior": GaussianSlab(1.0)}
    posterior = SpikeSlabRegressor(method="mean-field", **settings).fit(*rivals).posterior_
    mixed = np.zeros(10)
    for weight, fit in zip(posterior.optima.weights, posterior.optima, strict=True):
        mixed[fit.columns] += weight * fit.probability
    np.testing.assert_allclose(posterior.inclusion_probability, mixed, atol=1e-8)
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(*rivals)
    best = np.zeros(10)
    best[posterior.optima[0].columns] = posterior.optima[0].probability
    truth = exact.inclusion_probability_
    assert np.abs(mixed - truth).max() < np.abs(best - truth).max()


def test_the_order_of_updates_is_an_order_and_starts_are_restored_to_their_columns(problem):
    """A permuted, restricted problem has the solutions of the whole, in its own order."""
    order = np.random.default_rng(0).permutation(12)
    prior = SpikeTerms.with_slab(1.0, np.zeros(12), problem.curvature)
    small = fit_path(problem.among(order), prior.among(order), GAMMAS, control=TIGHT).fits[-1]
    whole = fit_path(problem, prior, GAMMAS, control=TIGHT).fits[-1]
    assert small.free_energy == pytest.approx(whole.free_energy, abs=1e-8)
    left, right = np.zeros(12), np.zeros(12)
    left[order[small.columns]], right[whole.columns] = small.probability, whole.probability
    np.testing.assert_allclose(left, right, atol=1e-8)
    path = fit_path(problem, prior, GAMMAS)
    ranked = entry_order(problem, path.forward)
    entered = [
        next((f.strength for f in path.forward if j in f.columns[f.probability > 0.5]), np.inf)
        for j in ranked
    ]
    assert entered == sorted(entered)
    assert sorted(ranked) == list(range(12))


def test_the_garrote_lists_its_optima_too(rivals):
    model = VariationalGarrote(gamma=-3.0, method=Anneal(n_starts=8), random_state=0).fit(*rivals)
    table = model.posterior_.local_optima().columns
    assert len(table["weight"]) == len(model.posterior_.optima) >= 2
    assert sum(table["weight"]) == pytest.approx(1.0)
    assert any("start" in way for way in table["reached"])
    assert any("annealed" in way for way in table["reached"])


def test_starts_with_copies_of_a_column_all_in_are_settled():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    X[:, 5] = X[:, 4]
    problem = Problem.from_rows(X, X[:, 4] + 0.5 * rng.standard_normal(40))
    found = fit_paired(problem, start=np.ones(6), control=TIGHT)
    assert found.converged
    assert found.fit.certificate.value < 1e-7


def test_hysteresis_in_pi_is_drawn(rivals):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from garrote.displays import HysteresisDisplay

    model = SpikeSlabRegressor(method=MeanField("anneal")).fit(*rivals)
    display = HysteresisDisplay.from_estimator(model)
    low, high = model.path_.hysteresis
    assert display.ranges_[0][0] <= low
    assert display.ranges_[-1][1] >= high
    assert display.strengths[display.chosen] == model.posterior_.optima[0].strength
    assert set(display.sizes) == {"forward", "backward"}


def test_slab_variances_without_weight_are_left_out_and_not_missed(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    y = X[:, :8] @ rng.normal(0, 3, 8) + rng.standard_normal(200)
    visited = []
    plain = mean_field.fit_path

    def counted(problem, prior, *rest, **options):
        visited.append(prior.ridge)
        return plain(problem, prior, *rest, **options)

    monkeypatch.setattr(mean_field, "fit_path", counted)
    model = SpikeSlabRegressor(GaussianSlab(), "mean-field").fit(X, y)
    some = len(visited)
    monkeypatch.setattr(mean_field, "_NEGLIGIBLE", np.inf)
    whole = SpikeSlabRegressor(GaussianSlab(), "mean-field").fit(X, y)
    assert some < len(visited) - some == 21
    np.testing.assert_allclose(
        model.inclusion_probability_, whole.inclusion_probability_, atol=1e-4
    )
