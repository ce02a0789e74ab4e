"""Groups of columns that share one switch of the garrote."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import approx_fprime

import reference_shared_switches as oracle
from garrote import VariationalGarrote
from garrote.paths import Anneal
from garrote.paths.annealed import fit_path
from garrote.priors import GroupedInclusion
from garrote.priors.shared_switches import SharedSwitchTerms
from garrote.problem import Problem
from garrote.solvers.algebra.group_coordinates import GroupCoordinates
from garrote_certificates import on_all_columns, standardized

GROUPS = np.array([0, 0, 0, 1, 1, 1, 2, 3, 4, 5])
NOBODY = np.zeros(0)


def words(n=120, seed=0, reference=0, noise=1.0):
    """A word of four levels without one of them, one of three with all of them, and four numbers."""
    rng = np.random.default_rng(seed)
    first, second = np.eye(4)[rng.integers(0, 4, n)], np.eye(3)[rng.integers(0, 3, n)]
    numbers = rng.standard_normal((n, 4))
    y = first @ [0.0, 0.7, 1.2, -0.6] + 0.5 * numbers[:, 1] + noise * rng.standard_normal(n)
    return np.column_stack([np.delete(first, reference, axis=1), second, numbers]), y


def solved(X, y, groups=GROUPS, gammas=None, **terms):
    """Return the path in the columns' own coefficients, and the rows as an oracle takes them."""
    problem = Problem.from_rows(X, y)
    coordinates = GroupCoordinates.of(problem, groups)
    nothing = np.zeros(X.shape[1])
    prior = SharedSwitchTerms(nothing, nothing, groups=groups, **terms)
    gammas = np.linspace(-15.0, -1.0, 15) if gammas is None else gammas
    return coordinates.path(fit_path(coordinates.problem, prior, gammas)), standardized(X, y)


def of_groups(fit, groups=GROUPS):
    m, w = on_all_columns(fit, len(groups))
    each = oracle.members(groups)
    assert all(np.ptp(m[c]) == 0 for c in each)
    return np.array([m[c[0]] for c in each]), w


def test_solutions_are_those_of_plain_updates_and_their_free_energy_that_of_the_model():
    X, y = words()
    path, data = solved(X, y)
    for fit in path.forward:
        m, w = of_groups(fit)
        again = oracle.solve(data.X, data.y, GROUPS, fit.strength, start=(m, w))
        np.testing.assert_allclose(again[0], m, atol=2e-4)
        fitted = data.X @ (m[GROUPS] * w)
        np.testing.assert_allclose(data.X @ (again[0][GROUPS] * again[1]), fitted, atol=2e-3)
        w = np.where(m[GROUPS] > 0, w, again[1])  # groups that are not listed have no weights
        expected = oracle.free_energy(
            data.X, data.y, GROUPS, fit.strength, m, w, 1 / fit.noise_variance
        )
        assert fit.free_energy == pytest.approx(expected, abs=1e-3)
        off = oracle.violations(data.X, data.y, GROUPS, fit.strength, m, w, fit.noise_variance)
        assert max(off) <= 1e-4
        # What is stated is what is true, but that it takes coordinates one by one.
        assert fit.certificate["inclusion"] == pytest.approx(off[0], rel=0.1, abs=1e-6)
        assert fit.certificate["weight"] <= off[1] + 1e-6
    assert path.expected_size[-1] == pytest.approx(m.sum(), abs=1e-3)


def test_the_free_energy_is_stationary_in_inclusions_weights_and_noise():
    X, y = words(60, noise=2.0)
    path, data = solved(X, y, gammas=np.array([-8.0, -3.0]))
    fit = path.fits[-1]
    m, w = of_groups(fit)
    point = np.concatenate([m, w, [1 / fit.noise_variance]])

    def energy(at):
        return oracle.free_energy(data.X, data.y, GROUPS, fit.strength, at[:6], at[6:-1], at[-1])

    inner = (m > 1e-3) & (m < 1 - 1e-3)
    assert inner.any()
    slope = approx_fprime(point, energy, 1e-7)
    assert np.abs(slope[:6][inner]).max() < 0.05
    assert np.abs(slope[6:]).max() < 0.05


def test_orthogonal_groups_with_known_noise_have_the_probabilities_of_all_models():
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((40, 7)))[0]
    basis = np.linalg.qr(basis - basis.mean(axis=0))[0]
    groups = np.array([0, 0, 1, 1, 1, 2, 3])
    mixed = basis.copy()
    mixed[:, :2] = basis[:, :2] @ rng.standard_normal((2, 2))
    mixed[:, 2:5] = basis[:, 2:5] @ rng.standard_normal((3, 3))
    y = basis @ [2.0, 1.0, 0.5, 1.0, 1.5, 2.0, 0.1] + rng.standard_normal(40)
    data = standardized(mixed, y)
    variance = 1.0 / np.var(y)
    path, _ = solved(mixed, y, groups, np.array([-2.0]), noise_variance=variance)
    expected = oracle.enumerated(data.X, data.y, groups, -2.0, variance)
    np.testing.assert_allclose(of_groups(path.fits[0], groups)[0], expected, atol=1e-6)


@pytest.mark.parametrize("settings", [{"gamma": -4.0}, {}, {"gamma": "free_energy"}])
def test_it_does_not_matter_which_level_is_left_out(settings):
    fits = []
    for reference in (0, 2):
        X, y = words(reference=reference)
        model = VariationalGarrote(**settings, inclusion=GroupedInclusion(GROUPS)).fit(X, y)
        fits.append((model.gamma_, model.inclusion_probability_, *model.predict(X, True)))
    for one, two in zip(*fits, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-5)


def test_groups_of_one_column_are_todays_answer_bit_for_bit():
    X, y = words()
    model = VariationalGarrote().fit(X, y)
    alone = VariationalGarrote(inclusion=GroupedInclusion(None)).fit(X, y)
    for name in ("coef_", "inclusion_probability_", "intercept_", "gamma_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(alone, name))
    assert alone.groups_.are_single
    assert model.groups_ is None


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_parallel_solvers_find_the_same_and_so_do_other_starts(solver):
    X, y = words()
    law = GroupedInclusion(GROUPS)
    model = VariationalGarrote(-4.0, inclusion=law).fit(X, y)
    method = Anneal(solver=solver, n_starts=2)
    other = VariationalGarrote(-4.0, inclusion=law, method=method, random_state=0).fit(X, y)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-4)
    assert len(other.posterior_.optima.reached[0].split(", ")) >= 3


def test_a_wide_table_keeps_groups_whole():
    X, y = words(80)
    more = np.random.default_rng(5).standard_normal((80, 400))
    groups = np.append(GROUPS, 6 + np.arange(400))
    path, data = solved(np.column_stack([X, more]), y, groups, np.linspace(-14.0, -6.0, 5))
    for fit in path.fits:
        m, w = of_groups(fit, groups)
        listed = np.flatnonzero(m > 0)
        here = np.isin(groups, listed)
        off = oracle.violations(
            data.X[:, here], data.y, groups[here], fit.strength, m[listed], w[here],
            fit.noise_variance,
        )  # fmt: skip
        assert max(off) <= 2e-4


PAIRS = {
    "weights are repeats": {},
    "sparse": {"store": scipy.sparse.csr_array},
    "float32": {"store": lambda X: X.astype(np.float32)},
    "covariates": {"covariates": [7]},
    "a level of a group as covariate": {"covariates": [3]},
    "known noise": {"noise_variance": 1.0},
    "odds": {"prior_log_odds": np.repeat([1.0, -1.0, 0.5], [3, 3, 4])},
    "signs of numbers": {"signs": {7: 1, 8: -1}, "correct": False},
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_holds_of_columns_holds_of_groups(name):
    settings = dict(PAIRS[name])
    store = settings.pop("store", np.asarray)
    X, y = words()
    weights = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
    offset = 0.3 * X[:, 9]
    law = GroupedInclusion(GROUPS)
    model = VariationalGarrote(-3.0, inclusion=law, **settings)
    model.fit(store(X), y, sample_weight=weights, offset=offset)
    row = np.repeat(np.arange(len(y)), weights.astype(int))
    again = VariationalGarrote(-3.0, inclusion=law, **settings).fit(X[row], (y - offset)[row])
    loose = 1e-3 if name == "float32" else 2e-4
    np.testing.assert_allclose(
        model.inclusion_probability_, again.inclusion_probability_, atol=loose
    )
    nothing = np.zeros(len(y))
    np.testing.assert_allclose(model.predict(X, offset=nothing), again.predict(X), atol=5 * loose)
    assert model.certificate_.value <= 1e-4
    free = np.setdiff1d(np.arange(3, 6), settings.get("covariates", NOBODY))
    assert np.ptp(model.inclusion_probability_[free]) == 0


def test_a_level_without_rows_is_in_where_its_variable_is():
    X, y = words()
    X = np.column_stack([X, np.zeros(len(y))])
    model = VariationalGarrote(-4.0, inclusion=GroupedInclusion(np.append(GROUPS, 0))).fit(X, y)
    assert model.inclusion_probability_[10] == model.inclusion_probability_[0] > 0.9
    assert model.coef_[10] == 0


def test_draws_have_groups_in_together_and_spread_as_predictions_do():
    X, y = words(80, noise=1.5)
    model = VariationalGarrote(-5.0, inclusion=GroupedInclusion(GROUPS)).fit(X, y)
    draws = model.posterior_.sample(4000, random_state=0)
    inside = draws != 0
    assert (inside[:, 0] == inside[:, 1]).all()
    assert inside[:, 0].mean() == pytest.approx(model.inclusion_probability_[0], abs=0.03)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_, atol=0.05)


def test_moments_are_enough():
    X, y = words()
    law = GroupedInclusion(GROUPS)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    rows = VariationalGarrote(-4.0, inclusion=law).fit(X, y)
    corr = np.corrcoef(X.T)
    t = X.T @ y / len(y)
    z = t * np.sqrt((len(y) - 2) / (1 - t**2))
    scores = VariationalGarrote(-4.0, inclusion=law).fit_zscores(z, corr, len(y))
    np.testing.assert_allclose(
        scores.inclusion_probability_, rows.inclusion_probability_, atol=2e-2
    )


REFUSED = {
    "signs keeps column 'x1' to one sign": {"signs": {1: 1}},
    "prior_log_odds differ within group '1'": {"prior_log_odds": {4: 1.0}},
    "gamma is the log odds": {"inclusion": GroupedInclusion(GROUPS, law=0.2)},
    "switches are independent": {"inclusion": GroupedInclusion(GROUPS, parents={"2": "1"})},
    "inclusion must be a garrote.priors.GroupedInclusion": {"inclusion": 0.5},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_groups_cannot_have_is_refused(said):
    X, y = words(40)
    settings = {"inclusion": GroupedInclusion(GROUPS)} | REFUSED[said]
    with pytest.raises(ValueError, match=said):
        VariationalGarrote(**settings).fit(X, y)
