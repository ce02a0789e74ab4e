"""Binary quadratic programmes: means, free energies, bounds and maxima, against all 2^n settings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from garrote.binary import METHODS, Annealing, BinaryProgramme, Tabu, maximise_binary
from garrote.binary.branching import branch
from garrote.binary.enumeration import best_of_all
from garrote.binary.methods import Deadline
from garrote.binary.roof_duality import roof_dual
from garrote.binary.semidefinite import semidefinite_bound
from garrote.binary.steps import cool
from reference_switches import linear_relaxation, settings, values

seeds = st.integers(0, 2**32 - 1)
KINDS = ("dense", "sparse", "max-cut")


def some_case(kind, n, rng):
    """Return A and b of one kind, of which max-cut has as many edges as two in five pairs."""
    if kind == "max-cut":
        weights = np.triu(rng.random((n, n)) < 0.4, 1) * 1.0
        weights = weights + weights.T
        return np.diag(weights.sum(axis=1)) - weights, np.zeros(n)
    A = np.triu(rng.standard_normal((n, n)))
    if kind == "sparse":
        A *= rng.random((n, n)) < 0.2
    return A + A.T, rng.standard_normal(n)


def cycle(n):
    """Return the matrix whose x'Ax counts the edges of a ring that a cut runs through."""
    edges = np.roll(np.eye(n), 1, axis=1)
    return 2.0 * np.eye(n) - edges - edges.T


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_mean_and_its_slope_are_those_of_independent_switches(form):
    rng = np.random.default_rng(0)
    A, b = some_case("dense", 7, rng)
    programme, theta = BinaryProgramme(form(A), b), rng.random(7)
    x = settings(7)
    probability = np.prod(np.where(x > 0, theta, 1.0 - theta), axis=1)
    assert programme.mean(theta) == pytest.approx(probability @ values(A, b), rel=1e-12)
    steps = 1e-3 * np.eye(7)
    slopes = [(programme.mean(theta + s) - programme.mean(theta - s)) / 2e-3 for s in steps]
    np.testing.assert_allclose(programme.slope(theta), slopes, rtol=1e-9)


def test_the_free_energy_is_the_divergence_from_the_sharpened_law():
    rng = np.random.default_rng(1)
    A, b = some_case("dense", 6, rng)
    theta, beta, x = rng.random(6), 0.7, settings(6)
    q = np.prod(np.where(x > 0, theta, 1.0 - theta), axis=1)
    weight = np.exp(beta * values(A, b))
    divergence = q @ np.log(q * weight.sum() / weight)
    energy = BinaryProgramme(A, b).free_energy(theta, beta)
    assert energy + np.log(weight.sum()) == pytest.approx(divergence, rel=1e-12)


def test_cooling_minimises_the_free_energy_in_one_probability_after_the_other():
    rng = np.random.default_rng(2)
    A, b = some_case("dense", 8, rng)
    programme, theta = BinaryProgramme(A, b), rng.random(8)
    gain, order, beta = programme.slope(theta), rng.permutation(8), np.array([0.6])
    for begin in range(8):
        i = order[begin]
        assert cool(programme.couplings, order, begin, beta, theta, gain, 1.0) == begin + 1
        energies = []
        for share in np.linspace(0.0, 1.0, 101):
            other = theta.copy()
            other[i] = share
            energies.append(programme.free_energy(other, 0.6))
        assert programme.free_energy(theta, 0.6) <= min(energies) + 1e-12
        np.testing.assert_allclose(gain, programme.slope(theta), rtol=1e-9)


@given(seeds, st.integers(1, 9), st.booleans(), st.sampled_from(["float", "integer"]))
def test_every_bound_is_above_all_settings_and_every_mean_below(seed, n, sparse, kind):
    rng = np.random.default_rng(seed)
    A, b = some_case(rng.choice(KINDS), n, rng)
    if kind == "integer":
        A, b = np.rint(3 * A), np.rint(3 * b)
    programme, best = BinaryProgramme(csr_array(A) if sparse else A, b), values(A, b).max()
    x, most = best_of_all(programme)
    assert programme.value(x) == pytest.approx(best, abs=1e-12)
    assert best <= most <= best + 1e-9
    assert programme.mean(rng.random(n)) <= best + 1e-12
    assert roof_dual(programme) >= best
    assert semidefinite_bound(programme) >= best
    for bound in ("signs", "roof", "semidefinite", "branching", "enumeration", "auto"):
        found = maximise_binary(A, b, bound=bound, n_starts=2, random_state=0)
        assert found.value <= best + 1e-12
        assert found.upper_bound >= best - 1e-12
        assert found.upper_bound >= found.value - found.rounding
        assert not found.certified or found.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_roof_dual_is_the_bound_of_the_linear_programme(seed):
    rng = np.random.default_rng(seed)
    A, b = some_case(KINDS[seed % 3], 9, rng)
    assert roof_dual(BinaryProgramme(A, b)) == pytest.approx(linear_relaxation(A, b), abs=1e-7)


def test_the_semidefinite_bound_of_a_ring_of_five_is_that_of_goemans_and_williamson():
    bound = semidefinite_bound(BinaryProgramme(cycle(5)))
    assert bound == pytest.approx(2.5 * (1.0 - np.cos(0.8 * np.pi)), rel=1e-5)  # 4.52


def test_where_all_pairs_pull_together_a_minimum_cut_proves_the_maximum():
    rng = np.random.default_rng(3)
    A = np.triu(rng.random((60, 60)) < 0.1, 1) * rng.random((60, 60))
    A += A.T
    found = maximise_binary(A, -2.0 * rng.random(60) * A.sum(axis=0), random_state=0)
    assert (found.bound, found.certified) == ("roof", True)
    assert 0 < found.x.sum() < 60


def test_bounds_of_whole_numbers_are_values_that_the_function_can_have():
    found = maximise_binary(2 * cycle(25), bound="semidefinite", random_state=0)
    assert (found.value, found.upper_bound, found.certified) == (48.0, 48.0, True)  # of 49.8


@pytest.mark.parametrize("kind", KINDS)
def test_branches_find_and_prove_the_best_of_a_million_settings_whatever_they_begin_with(kind):
    rng = np.random.default_rng(11)
    A, b = some_case(kind, 20, rng)
    programme, best = BinaryProgramme(csr_array(A), b), values(A, b).max()
    x, most = branch(programme, np.zeros(20), 1000, lambda seen: True)
    assert programme.value(x) == pytest.approx(best, rel=1e-12)
    assert best - 1e-12 <= most <= best + programme.rounding
    some, above = branch(programme, np.zeros(20), 1000, lambda seen: False)
    assert programme.value(some) <= best + 1e-12
    assert above >= best - 1e-12


@pytest.mark.parametrize("kind", ["dense", "max-cut"])
def test_forty_switches_are_proved_without_being_asked(kind):
    A, b = some_case(kind, 40, np.random.default_rng(12))
    seen = []
    found = maximise_binary(A, b, random_state=0, callback=lambda p: seen.append(p.stage))
    assert (found.bound, found.certified) == ("branching", True)
    assert "branches" in seen


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_fifty_starts_find_the_best_of_a_million_settings(kind, method):
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(4):
        A, b = some_case(kind, 20, rng)
        found = maximise_binary(A, b, method=method, bound="signs", random_state=0)
        missed += found.value < values(A, b).max() - 1e-9
    assert missed <= (method == "ascent")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_fifty_starts_find_the_best_in_95_of_100_cases(kind):
    rng = np.random.default_rng(5)
    reached = 0
    for _ in range(100):
        A, b = some_case(kind, 20, rng)
        found = maximise_binary(A, b, bound="signs", random_state=0)
        reached += found.value >= values(A, b).max() - 1e-9
    assert reached >= 95


def beasley(rng):
    """Return a matrix of 250 switches as Beasley (1998) draws them."""
    upper = np.triu(rng.integers(-100, 101, (250, 250)) * (rng.random((250, 250)) < 0.1))
    return (upper + np.triu(upper, 1).T).astype(float)


@pytest.mark.slow
def test_annealing_is_within_a_hundredth_of_fifty_tabu_searches():
    rng = np.random.default_rng(6)
    for _ in range(10):
        A = beasley(rng)
        best = maximise_binary(A, method="tabu", n_starts=50, bound="signs", random_state=0).value
        assert maximise_binary(A, bound="signs", random_state=0).value >= 0.99 * best


@pytest.mark.parametrize("method", METHODS)
def test_dense_and_sparse_programmes_have_one_answer_that_no_flip_improves(method):
    A, b = beasley(np.random.default_rng(7))[:60, :60], np.arange(60.0) - 30
    dense, sparse = (
        maximise_binary(form(A), b, method=method, n_starts=3, bound="signs", random_state=1)
        for form in (np.asarray, coo_array)
    )
    assert np.array_equal(dense.x, sparse.x)
    assert np.array_equal(dense.values, sparse.values)
    assert dense.value == max(dense.values)
    programme = BinaryProgramme(A, b)
    sign = 1.0 - 2.0 * dense.x
    assert (sign * programme.slope(dense.x) <= 0).all()
    again = maximise_binary(A, b, method=method, n_starts=5, bound="signs", random_state=1)
    assert np.array_equal(again.values[:3], dense.values)


def test_the_diagonal_counts_like_b_and_scale_does_not_matter():
    A, b = some_case("dense", 12, np.random.default_rng(8))
    moved = A - np.diag(np.diag(A))
    one = maximise_binary(A, b, random_state=0)
    other = maximise_binary(moved, b + np.diag(A), random_state=0)
    assert np.array_equal(one.x, other.x)
    assert one.value == pytest.approx(other.value, rel=1e-12)
    for factor in (1e90, 1e-90):
        scaled = maximise_binary(factor * A, factor * b, bound="semidefinite", random_state=0)
        assert np.array_equal(scaled.x, one.x)
        assert scaled.upper_bound >= scaled.value


def test_one_switch_and_nothing_at_all_are_programmes():
    assert maximise_binary([[2.0]], [-3.0]).x.tolist() == [0]
    assert maximise_binary([[2.0]], [-1.0]).x.tolist() == [1]
    for bound in ("auto", "roof", "semidefinite", "signs"):
        nothing = maximise_binary(np.zeros((30, 30)), bound=bound)
        assert (nothing.value, nothing.upper_bound, nothing.certified) == (0.0, 0.0, True)


def test_a_search_tells_how_far_it_is_and_ends_when_it_is_told_to():
    A = beasley(np.random.default_rng(9))
    seen = []
    found = maximise_binary(A, n_starts=3, random_state=0, callback=seen.append)
    assert [(p.stage, p.done, p.total) for p in seen] == [("starts", k, 3) for k in (1, 2, 3)]
    assert len(repr(found)) < 400
    assert "certified" in found._repr_html_()
    ended = maximise_binary(A, method=Tabu(n_steps=10**7), max_seconds=0.05, random_state=0)
    assert len(ended.values) == 1
    assert ended.value > 0

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        maximise_binary(A, callback=interrupt)


def test_a_long_search_returns_to_python_between_its_steps():
    A = beasley(np.random.default_rng(10))
    programme, rng = BinaryProgramme(A), np.random.default_rng(0)
    over = Deadline(1e-9)
    for method in (Tabu(n_steps=10**9 // 250), Annealing(n_sweeps=10**6)):
        assert set(method.find(programme, rng, over)) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("A", "b", "settings", "message"),
    [
        (
            [[0, 1], [2, 0]],
            None,
            {},
            r"entry \(0, 1\) is 1 and \(1, 0\) is 2: give \(A \+ A.T\) / 2",
        ),
        (csr_array([[0, 1], [2, 0]]), None, {}, r"A must be symmetric, but entry"),
        ([[0, np.nan], [np.nan, 0]], None, {}, r"finite, but entry \(0, 1\) is nan"),
        (csr_array([[0, 0], [0, np.inf]]), None, {}, r"finite, but entry \(1, 1\) is inf"),
        ([[0, 1, 2], [1, 0, 2]], None, {}, r"A must be square.*got shape \(2, 3\)"),
        ([1, 2], None, {}, r"A must be square"),
        (np.zeros((0, 0)), None, {}, "A is empty"),
        ([["a"]], None, {}, "A must hold real numbers"),
        ([[1j]], None, {}, "A must hold real numbers"),
        ([[1e120]], None, {}, "1e\\+120"),
        ([[1]], [1, 2], {}, r"b must hold 1 real numbers.*\(2,\)"),
        ([[1]], [np.nan], {}, "b must be finite, but entry 0 is nan"),
        ([[1]], None, {"method": "genetic"}, "method must be one of.*'annealing'"),
        ([[1]], None, {"bound": "best"}, "bound must be one of"),
        ([[1]], None, {"n_starts": 0}, "n_starts must be an integer >= 1"),
        ([[1]], None, {"max_seconds": 0}, "max_seconds must be positive"),
        (np.eye(26), None, {"bound": "enumeration"}, "takes 25 switches at most, got 26"),
        (csr_array((2001, 2001)), None, {"bound": "semidefinite"}, "takes 2000 switches at most"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(A, b, settings, message):
    with pytest.raises(ValueError, match=message):
        maximise_binary(A, b, **settings)


def test_settings_and_vectors_are_checked():
    programme = BinaryProgramme(np.eye(2))
    with pytest.raises(ValueError, match="x must hold zeros and ones"):
        programme.value([0.5, 1])
    with pytest.raises(ValueError, match="theta must hold probabilities"):
        programme.mean([0.5, 1.5])
    with pytest.raises(ValueError, match="theta must have 2 entries"):
        programme.mean([0.5])
    with pytest.raises(ValueError, match="n_sweeps must be an integer >= 1"):
        Annealing(n_sweeps=0)
    with pytest.raises(ValueError, match="tenure must be an integer >= 0"):
        Tabu(tenure=-1)
