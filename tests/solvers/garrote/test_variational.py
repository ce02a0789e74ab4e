"""The three solvers against the paper in plain NumPy, the certificate, and what a path must be."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse
from scipy.special import expit, logit

from garrote import Problem, VariationalGarrote, fit_path
from garrote.datasets import make_kappen_gomez_2
from garrote.experiments.methods import published_gammas
from garrote.experiments.variational_garrote.figures_6 import PANELS, draw_noisy
from garrote.orthogonal import orthogonal_solution
from garrote.paths import Anneal
from garrote.paths.annealed import gamma_grid, start_solver, stored_design
from garrote.priors import SpikeTerms
from garrote.solvers.control import Control
from garrote.solvers.lockstep import run_together
from garrote_certificates import assert_certified, on_all_columns, recomputed, standardized
from pairwise import by_pairs
from reference import (
    algorithm_1,
    centred,
    certificate,
    example_1,
    example_2,
    first_gamma,
    free_energy,
    implied_probability,
    implied_weights,
    iterate,
    paper_grid,
    reheat_from_the_dense_side,
    sparse_regression,
)

SOLVERS = ("coordinate", "primal", "dual")
INSTANCES = [(example, seed) for example in (example_1, example_2) for seed in range(20)]
RANK = 49  # 50 rows, less one for the mean


# --- the paper


def instance(number):
    """Return the table of an instance, and the paper's grid for it."""
    example, seed = INSTANCES[number]
    X, y = example(seed)
    return X, y, paper_grid(centred(X, y))


@cache
def oracle(number):
    """Return an instance with both branches of Algorithm 1."""
    X, y, gammas = instance(number)
    return X, y, gammas, *algorithm_1(centred(X, y), gammas)


def kept_solutions(forward, backward):
    pairs = zip(forward, backward, strict=True)
    return [f if f.free_energy <= b.free_energy else b for f, b in pairs]


def largest_difference(fits, solutions):
    return max(
        np.abs(on_all_columns(fit, len(solution.m))[0] - solution.m).max()
        for fit, solution in zip(fits, solutions, strict=False)
    )


# In the quick suite every instance has one of the solvers, in the slow one all of them.
@pytest.mark.parametrize(
    ("solver", "numbers"),
    [
        *((solver, range(k, 40, 6)) for k, solver in enumerate(SOLVERS)),
        *(pytest.param(solver, range(40), marks=pytest.mark.slow) for solver in SOLVERS),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} instances",
)
def test_solutions_are_those_of_algorithm_1(solver, numbers):
    whole_branches = 0
    for number in numbers:
        X, y, gammas, forward, backward = oracle(number)
        path = fit_path(Problem.from_rows(X, y), strengths=gammas, solver=solver)
        best = kept_solutions(forward, backward)
        # Near the cut several optima exist, and two iterations may end in different ones.
        sparse = sum(solution.m.sum() < RANK / 6 for solution in best)
        assert len(path) >= sparse
        assert sparse > 5
        assert largest_difference(path.fits[:sparse], best[:sparse]) < 2e-3, INSTANCES[number]
        coefficients = path.coefficients().toarray()[:sparse]
        expected = np.array([solution.m * solution.w for solution in best[:sparse]])
        np.testing.assert_allclose(coefficients, expected, atol=2e-3)
        whole_branches += (
            len(path) == len(forward)
            and largest_difference(path.forward, forward) < 2e-3
            and largest_difference(path.backward, backward) < 2e-3
        )
    # Among all forty, five may have branches that end in another optimum somewhere.
    assert len(numbers) - whole_branches <= max(2, len(numbers) // 8)


def test_the_oracle_solves_its_own_equations():
    for number in (0, 1, 20, 21):
        X, y, _, forward, backward = oracle(number)
        data = centred(X, y)
        for s in (*forward, *backward):
            assert max(certificate(data, s.gamma, s.m, s.w, s.beta)) < 1e-5


def test_as_many_variables_are_selected_as_in_the_papers_examples():
    # Tables 1 and 2, by their own protocol: 50 validation rows choose gamma.
    counts = {example_1: [], example_2: []}
    for number, (example, _) in enumerate(INSTANCES):
        X, y, gammas = instance(number)
        extra_X, extra_y = example(1000 + number)
        path = fit_path(Problem.from_rows(X, y), strengths=gammas)
        predicted = extra_X @ path.coefficients().toarray().T + path.intercepts
        chosen = np.argmin(np.mean((extra_y[:, None] - predicted) ** 2, axis=0))
        counts[example].append(np.sum(path.fits[chosen].probability > 0.5))
    assert np.mean(counts[example_1]) == pytest.approx(1.20, abs=0.5)
    assert np.mean(counts[example_2]) == pytest.approx(5.05, abs=0.5)


# --- stationarity


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_free_energys_gradient_vanishes_at_the_answer(solver, seed):
    X, y, _ = sparse_regression(n=60, d=15, correlation=0.5, seed=seed)
    data = standardized(X, y)
    path = fit_path(
        Problem.from_rows(X, y), strengths=np.array([-12.0, -6.0, -3.0]), solver=solver,
        control=Control(tol=1e-7),
    )  # fmt: skip
    for fit in path.fits:
        m, w = on_all_columns(fit, 15)
        listed = np.isin(np.arange(15), fit.columns)
        w = np.where(listed, w, implied_weights(data, m, w))
        beta = 1 / fit.noise_variance
        m = np.where(listed, m, implied_probability(data, fit.strength, w, beta))
        error = 1 / np.sqrt(beta * data.n * np.diag(data.chi))
        # Free coordinates: log odds of m, w in standard errors, log beta.
        answer = np.concatenate([logit(np.clip(m, 1e-12, 1 - 1e-12)), w / error, [np.log(beta)]])

        def energy(point, gamma=fit.strength, error=error):
            return free_energy(
                data, gamma, expit(point[:15]), point[15:30] * error, np.exp(point[30])
            )

        gradient = np.array(
            [(energy(answer + h) - energy(answer - h)) / 2e-4 for h in 1e-4 * np.eye(31)]
        )
        assert np.abs(gradient).max() < 1e-4


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_free_energy_is_equation_7(solver):
    X, y, _ = sparse_regression(n=50, d=120, correlation=0.5)
    data = standardized(X, y)
    path = fit_path(Problem.from_rows(X, y), solver=solver, strengths=20)
    for fit in (*path.forward, *path.backward):
        m, w = on_all_columns(fit, 120)
        listed = np.isin(np.arange(120), fit.columns)
        beta = 1 / fit.noise_variance
        w = np.where(listed, w, implied_weights(data, m, w))
        m = np.where(listed, m, implied_probability(data, fit.strength, w, beta))
        expected = free_energy(data, fit.strength, m, w, beta)
        assert fit.free_energy == pytest.approx(expected, abs=1e-3)
        assert fit.expected_size == pytest.approx(m.sum(), abs=1e-3)


# --- certificates


KINDS = {
    "dense C": np.ascontiguousarray,
    "dense F": np.asfortranarray,
    "float32": np.float32,
    "float32 F": lambda X: np.asfortranarray(X, dtype=np.float32),
    "CSC": scipy.sparse.csc_array,
    "CSC float32": lambda X: scipy.sparse.csc_array(X.astype(np.float32)),
}
SHAPES = {"tall": (120, 20), "square": (60, 60), "wide": (50, 150), "beyond the small": (60, 400)}


def rounded_regression(n, d, seed=0):
    """Half zeros, float32 numbers, some correlation: the same matrix in every storage."""
    X, y, _ = sparse_regression(n, d, correlation=0.6, seed=seed)
    X = np.where(np.abs(X) > 0.6, X, 0.0).astype(np.float32).astype(float)
    return X, 2 * X[:, 0] - 2 * X[:, 1] + X[:, 2] + 0.5 * (y - y.mean())


@by_pairs(solver=SOLVERS, kind=list(KINDS), shape=list(SHAPES))
def test_the_certificate_is_true_and_below_tol_at_every_point(solver, kind, shape):
    X, y = rounded_regression(*SHAPES[shape])
    path = fit_path(Problem.from_rows(KINDS[kind](X), y), strengths=20, solver=solver)
    assert_certified(standardized(X, y), path, 1e-4)


@by_pairs(solver=SOLVERS, kind=list(KINDS), intercept=[True, False])
def test_the_certificate_is_true_with_weights_and_without_intercept(solver, kind, intercept):
    X, y = rounded_regression(80, 30)
    weights = np.random.default_rng(0).uniform(0.5, 3.0, 80)
    weights[::5] = 0.0
    problem = Problem.from_rows(KINDS[kind](X), y + 1.0, weights, fit_intercept=intercept)
    path = fit_path(problem, strengths=20, solver=solver)
    assert_certified(standardized(X, y + 1.0, weights, intercept), path, 1e-4)


class _Unscaled(VariationalGarrote):
    """The same model, whose solvers see the columns as they are."""

    standardize = False


@pytest.mark.parametrize("changes", [{"solver": "primal"}, {"solver": "dual"}, {"n_starts": 2}])
def test_columns_of_different_scales_need_no_standardizing(changes):
    # Warnings are errors here: none may come from a matrix that is only badly scaled.
    X, y, _ = sparse_regression(40, 12)
    X = X * 10.0 ** np.linspace(-6, 6, 12)
    settings = {"gamma": -5.0, "method": Anneal(gammas=10, **changes), "random_state": 0}
    plain = VariationalGarrote(**settings).fit(X, y)
    model = _Unscaled(**settings).fit(X, y)
    np.testing.assert_allclose(
        model.inclusion_probability_, plain.inclusion_probability_, atol=1e-3
    )
    assert model.path_.certificate.max() <= 1e-4


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6, 1e-8])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_certificate_reaches_any_tolerance_that_is_asked_for(tol, shape):
    X, y = rounded_regression(*SHAPES[shape], seed=2)
    path = fit_path(Problem.from_rows(X, y), strengths=15, control=Control(tol=tol))
    assert_certified(standardized(X, y), path, tol)


@pytest.mark.parametrize("correlation", [0.9, 0.99, 0.999])
def test_strongly_correlated_columns_are_certified_too(correlation):
    X, y, _ = sparse_regression(100, 40, correlation=correlation, size=4)
    path = fit_path(Problem.from_rows(X, y))
    assert_certified(standardized(X, y), path, 1e-4)


def common_factor(n, d, correlation, noise, seed):
    """Columns that all correlate with each other, and four true variables."""
    rng = np.random.default_rng(seed)
    own, common = rng.standard_normal((n, d)), rng.standard_normal((n, 1))
    X = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * common
    return X, X[:, :4] @ [1.0, -1.0, 2.0, 3.0] + noise * rng.standard_normal(n)


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_many_negligible_columns_that_pull_together_are_not_neglected(noise, seed):
    # Each is below every threshold, but through a common factor their sum is felt by all others.
    X, y = common_factor(150, 600, 0.9, noise, seed)
    path = fit_path(Problem.from_rows(X, y))
    assert_certified(standardized(X, y), path, 1e-4)


def test_a_limit_on_sweeps_is_kept_and_the_certificate_says_what_was_reached():
    X, y, _ = sparse_regression(100, 40, correlation=0.99, size=4)
    path = fit_path(Problem.from_rows(X, y), control=Control(tol=1e-10, max_iter=2))
    data = standardized(X, y)
    assert path.certificate.max() > 1e-10
    for fit in path.fits:
        assert fit.certificate.value == pytest.approx(max(recomputed(data, fit)), rel=1e-2)


# --- the path


@pytest.mark.parametrize("seed", [4, 5, 8])
def test_backward_pass_never_enters_the_branch_that_interpolates(seed):
    # With few rows and many columns the way back from the dense end once fell into it.
    data = make_kappen_gomez_2(40, 5000, 0.5, 0.0, random_state=seed)
    problem = Problem.from_rows(np.asfortranarray(data.X), data.y)
    path = fit_path(problem)
    assert max(fit.expected_size for fit in path.backward) <= problem.most_variables
    assert min(fit.noise_variance for fit in path.backward) > 1e-3


def test_backward_pass_keeps_lower_free_energy():
    differed = 0
    for seed in range(5):
        X, y = example_2(seed)
        path = fit_path(Problem.from_rows(X, y))
        for kept, side, f, b in zip(path.fits, path.kept, path.forward, path.backward, strict=True):
            assert kept.free_energy == min(f.free_energy, b.free_energy)
            assert kept is (b if side == "backward" else f)
            differed += side == "backward"
    assert differed > 0, "hysteresis is expected in these instances"


def few_rows(seed):
    """Return a table with correlated columns of both signs and more of them than rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((24, 32))
    for j in range(1, 32):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    X *= rng.choice([-1.0, 1.0], 32)
    return X, X[:, [3, 11, 20, 28]] @ [1.0, -1.0, 1.0, 1.0] + 0.05 * rng.standard_normal(24)


@pytest.mark.parametrize("seed", range(6))
def test_reheating_from_the_dense_side_is_that_of_plain_sweeps(seed):
    X, y = few_rows(seed)
    problem = Problem.from_rows(X, y)
    gammas = np.linspace(-20.0, -0.5, 14)
    path = fit_path(problem, strengths=gammas, control=Control(1e-7, reheat="dense"))
    assert_certified(standardized(X, y), path, 1e-7)
    limit = problem.most_variables
    expected = reheat_from_the_dense_side(centred(X, y), [*gammas, 0.0], limit)
    compared = 0
    for fit, forward in zip(path.backward, path.forward, strict=True):
        assert fit.expected_size <= limit
        m = expected.get(fit.strength)
        if m is None:
            assert fit is forward
        else:
            compared += 1
            assert np.abs(on_all_columns(fit, 32)[0] - m).max() < 1e-4
    assert compared > 2


@pytest.mark.parametrize("number", [3, 5])
def test_reheating_from_the_dense_side_finds_better_solutions(number):
    """Two instances of the paper's Figure 6c, in which annealing alone is stuck."""
    panel = PANELS["c"]
    data = draw_noisy(panel, 1e-6, np.random.SeedSequence(0).spawn(8)[number])
    train, _ = data.split(*panel.rows)
    problem = Problem.from_rows(train.X, train.y)
    errors, strengths = {}, {}
    for reheat in ("cut", "dense"):
        gammas = published_gammas(problem)
        path = fit_path(problem, strengths=gammas, control=Control(reheat=reheat))
        assert max(fit.certificate.value for fit in (*path.forward, *path.backward)) <= 1e-4
        assert max(fit.expected_size for fit in path.fits) <= problem.most_variables
        errors[reheat] = np.abs(path.coefficients().toarray() - data.coef).sum(axis=1).min()
        strengths[reheat] = path.strengths
    assert np.array_equal(strengths["cut"], strengths["dense"])
    assert errors["cut"] > 5.0
    assert errors["dense"] < 0.1


def test_the_estimator_reheats_from_the_dense_side_and_refuses_other_words():
    X, y = few_rows(0)
    gammas = np.linspace(-20.0, -0.5, 14)
    model = VariationalGarrote("free_energy", method=Anneal(gammas=gammas, reheat="dense")).fit(
        X, y
    )
    path = fit_path(Problem.from_rows(X, y), strengths=gammas, control=Control(reheat="dense"))
    assert np.allclose(
        model.path_.coefficients().toarray(), path.coefficients().toarray(), atol=1e-6
    )
    with pytest.raises(ValueError, match="reheat must be 'cut' or 'dense', got 'sparse'"):
        VariationalGarrote(method=Anneal(reheat="sparse")).fit(X, y)


def test_without_a_cut_the_dense_side_changes_nothing():
    X, y, _ = sparse_regression(n=60, d=20, seed=1)
    problem = Problem.from_rows(X, y)
    paths = [fit_path(problem, control=Control(reheat=reheat)) for reheat in ("cut", "dense")]
    assert np.array_equal(*(path.coefficients().toarray() for path in paths))


def test_hysteresis_is_where_both_branches_differ():
    X, y = example_2(0)
    path = fit_path(Problem.from_rows(X, y))
    low, high = path.hysteresis
    apart = [
        f.strength
        for f, b in zip(path.forward, path.backward, strict=True)
        if abs(f.free_energy - b.free_energy) > 1e-2
    ]
    assert low <= min(apart)
    assert high >= max(apart)


def test_the_forward_pass_is_cut_before_the_degenerate_branch():
    X, y = example_2(0)
    data = centred(X, y)
    gammas = paper_grid(data)
    path = fit_path(Problem.from_rows(X, y), strengths=gammas)
    assert len(path) < len(gammas)
    assert f"{path.strengths[-1]:.4g}" in path.cut
    assert f"{RANK / 2:.4g} variables" in path.cut
    assert path.expected_size.max() <= RANK / 2
    # What lies beyond: a model that interpolates and whose free energy wins every comparison.
    degenerate = iterate(data, gammas[-1], np.full(100, 0.5))
    assert degenerate.m.sum() > RANK / 2
    assert 1 / degenerate.beta < 1e-3 * data.variance


def test_the_path_begins_at_the_empty_model_and_leaves_it():
    for example, seed in [(example_1, 1), (example_2, 1)]:
        X, y = example(seed)
        problem = Problem.from_rows(X, y)
        path = fit_path(problem, eps=1e-3)
        assert path.strengths[0] == pytest.approx(first_gamma(centred(X, y)))
        assert path.fits[0].probability.max() == pytest.approx(1e-3, rel=0.1)
        assert path.expected_size[-1] > 1
        assert (np.diff(path.strengths) > 0).all()
        grid = gamma_grid(problem, SpikeTerms(np.zeros(100), np.zeros(100)), 50)
        steps = np.diff(np.sqrt(-grid))  # even in the z at which variables come in
        np.testing.assert_allclose(steps, steps[0], rtol=1e-8)


def test_noiseless_data_find_the_truth_with_noise_at_its_floor():
    X, _, truth = sparse_regression(n=40, d=100, size=3)
    y = X @ truth + 5.0
    path = fit_path(Problem.from_rows(X, y))
    assert path.noise_variance.min() == pytest.approx(1e-10 * y.var(), rel=1e-3)
    last = path.coefficients().toarray()[-1]
    np.testing.assert_allclose(last, truth, atol=1e-4)
    assert path.intercepts[-1] == pytest.approx(5.0, abs=1e-3)
    assert path.certificate.max() <= 1e-4
    # All that is left to the others is their prior probability.
    others = 97 * expit(path.strengths[-1])
    assert path.expected_size[-1] == pytest.approx(3 + others, abs=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_an_orthogonal_design_has_the_closed_solution(solver, seed):
    rng = np.random.default_rng(seed)
    n, d = 120, 16
    raw = rng.standard_normal((n, d))
    X = np.linalg.qr(raw - raw.mean(axis=0))[0] * np.sqrt(n)
    y = X @ (rng.choice([0, 0, 0.3, 1.0], size=d) * rng.standard_normal(d))
    y = y + rng.standard_normal(n)
    y = (y - y.mean()) / y.std()
    gammas = np.linspace(-60, -0.5, 40)
    path = fit_path(
        Problem.from_rows(X, y), strengths=gammas, solver=solver, control=Control(tol=1e-6)
    )
    assert len(path) == 40
    b = X.T @ y / n
    sides = {"sparse": path.forward, "dense": path.backward}
    # Where the last solution is unique the backward pass starts on the dense branch.
    ends = [orthogonal_solution(b, 1.0, gammas[-1], n, side).noise_variance for side in sides]
    assert ends[0] == pytest.approx(ends[1], rel=1e-8)
    for side, fits in sides.items():
        for fit in fits:
            expected = orthogonal_solution(b, 1.0, fit.strength, n, side)
            m, _ = on_all_columns(fit, d)
            np.testing.assert_allclose(m, expected.probability, atol=1e-3)
            assert fit.noise_variance == pytest.approx(expected.noise_variance, rel=1e-3)


# --- other ways to the same answer


@pytest.mark.parametrize("solver", ["coordinate", "primal"])
@pytest.mark.parametrize("shape", [(120, 20), (50, 100)])
def test_moments_give_the_path_of_the_rows(solver, shape):
    X, y, _ = sparse_regression(*shape, correlation=0.5)
    rows = fit_path(Problem.from_rows(X, y), solver=solver, strengths=30)
    centred_X, centred_y = X - X.mean(axis=0), y - y.mean()
    problem = Problem.from_moments(
        centred_X.T @ centred_X, centred_X.T @ centred_y, centred_y @ centred_y, len(y)
    )
    moments = fit_path(problem, strengths=rows.strengths, solver=solver)
    assert len(moments) == len(rows)
    np.testing.assert_allclose(
        moments.coefficients().toarray(), rows.coefficients().toarray(), atol=1e-3
    )
    np.testing.assert_allclose(moments.noise_variance, rows.noise_variance, rtol=1e-3)
    np.testing.assert_allclose(moments.free_energy, rows.free_energy, atol=1e-3)
    assert_certified(standardized(X, y), moments, 1.1e-4)


def test_moments_have_no_dual_and_say_so():
    with pytest.raises(ValueError, match="needs rows"):
        fit_path(Problem.from_moments(np.eye(3), np.ones(3) / 2, 1.0, 20), solver="dual")


@pytest.mark.parametrize("kind", ["dense F", "dense C", "CSC"])
def test_a_working_set_finds_what_all_columns_together_find(kind):
    X, y, _ = sparse_regression(n=150, d=2000, size=5, correlation=0.5)
    gammas = np.array([-60.0, -30.0, -18.0, -14.0, -12.0, -10.0, -9.0, -8.0])
    path = fit_path(Problem.from_rows(KINDS[kind](X), y), strengths=gammas)
    centred_X, centred_y = X - X.mean(axis=0), y - y.mean()
    together = fit_path(
        Problem.from_moments(
            centred_X.T @ centred_X, centred_X.T @ centred_y, centred_y @ centred_y, 150
        ),
        strengths=gammas,
    )
    assert len(path) == len(together) == len(gammas)
    assert path.expected_size[-1] > 5
    np.testing.assert_allclose(
        path.coefficients().toarray(), together.coefficients().toarray(), atol=1e-3
    )
    np.testing.assert_allclose(path.free_energy, together.free_energy, atol=1e-2)


def test_a_wide_path_is_certified_over_all_columns_at_every_point():
    X, y, _ = sparse_regression(n=150, d=2000, size=5, correlation=0.5)
    path = fit_path(Problem.from_rows(X, y))
    assert_certified(standardized(X, y), path, 1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(60, 30), (60, 400)])
def test_solvers_in_lockstep_find_what_each_finds_alone(solver, shape):
    X, y, _ = sparse_regression(*shape)
    stored = Problem.from_rows(X, y).design.stored
    weights = np.ones((4, 60))
    for fold in range(3):
        weights[fold + 1, fold::3] = 0.0
    problems = [Problem.from_rows(stored, y, w) for w in weights]
    prior = SpikeTerms(np.zeros(shape[1]), np.zeros(shape[1]))
    gammas = gamma_grid(problems[0], prior, 6)
    control = Control()

    def begin(problem):
        return start_solver(problem, prior, gammas, control, solver)

    together = run_together([begin(problem) for problem in problems], stored)
    for problem, mine in zip(problems, together, strict=True):
        (theirs,) = run_together([begin(problem)], stored_design(problem))
        assert len(mine) == len(theirs)
        np.testing.assert_allclose(
            mine.coefficients().toarray(), theirs.coefficients().toarray(), atol=1e-6
        )


# --- known noise, offsets, signs


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(80, 20), (60, 400)])
def test_known_noise_is_kept_and_the_other_equations_hold(solver, shape):
    X, y, _ = sparse_regression(*shape, correlation=0.5)
    model = VariationalGarrote(
        gamma=-6.0, method=Anneal(solver=solver, gammas=12), noise_variance=1.7
    ).fit(X, y)
    assert model.noise_variance_ == pytest.approx(1.7)
    np.testing.assert_allclose(model.path_.noise_variance, 1.7)
    assert_certified(standardized(X, y), model.path_, 1e-4, known_noise=True)
    # Intervals use it as it is: nothing is spent on estimating it.
    assert model.posterior_.noise_variance == pytest.approx(1.7)


def test_known_noise_that_is_the_estimate_changes_nothing():
    X, y, _ = sparse_regression(80, 20)
    plain = VariationalGarrote(gamma=-6.0, correct=False).fit(X, y)
    known = VariationalGarrote(gamma=-6.0, noise_variance=plain.noise_variance_, correct=False)
    known.fit(X, y)
    np.testing.assert_allclose(known.coef_, plain.coef_, atol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(80, 20), (60, 400)])
def test_offsets_to_gamma_are_in_the_equations(solver, shape):
    X, y, _ = sparse_regression(*shape, correlation=0.5)
    offsets = np.random.default_rng(0).normal(scale=2.0, size=shape[1])
    model = VariationalGarrote(
        gamma="free_energy", method=Anneal(solver=solver, gammas=8), prior_log_odds=offsets
    )
    model.fit(X, y)
    assert_certified(standardized(X, y), model.path_, 1e-4, offsets)


def test_the_same_offset_everywhere_is_another_gamma():
    X, y, _ = sparse_regression(80, 20)
    plain = VariationalGarrote(gamma=-6.0).fit(X, y)
    moved = VariationalGarrote(gamma=-9.0, prior_log_odds=3.0).fit(X, y)
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-3)


def test_offsets_exclude_and_include():
    X, y, _ = sparse_regression(80, 20)
    model = VariationalGarrote(gamma=-6.0, prior_log_odds={0: -500.0, 7: 500.0}).fit(X, y)
    assert model.inclusion_probability_[0] < 1e-6
    assert model.inclusion_probability_[7] > 1 - 1e-6


@pytest.mark.parametrize("shape", [(80, 20), (60, 400)])
def test_signs_are_kept_and_cost_nothing_where_they_hold_anyway(shape):
    X, y, truth = sparse_regression(*shape, size=4)
    plain = VariationalGarrote(gamma=-9.0, correct=False).fit(X, y)
    right = VariationalGarrote(gamma=-9.0, signs=np.sign(plain.coef_)).fit(X, y)
    np.testing.assert_allclose(right.coef_, plain.coef_, atol=1e-3)
    up = VariationalGarrote(gamma=-9.0, signs=1).fit(X, y)
    assert (up.coef_ >= 0).all()
    assert (up.coef_[truth > 0] > 0.5).all()
    assert (up.inclusion_probability_[truth < 0] < 0.5).all()
    down = VariationalGarrote(gamma=-9.0, signs=-1).fit(X, y)
    assert (down.coef_ <= 0).all()
    assert up.path_.certificate.max() <= 1e-4


def test_a_forbidden_sign_is_as_good_as_a_column_less():
    X, y, _ = sparse_regression(100, 10, size=3)
    model = VariationalGarrote(gamma=-6.0, signs={1: 1}).fit(X, y)  # the truth is negative
    without = VariationalGarrote(gamma=-6.0, correct=False).fit(np.delete(X, 1, axis=1), y)
    assert model.coef_[1] == 0.0
    # With w = 0 the column keeps its prior probability, and does nothing.
    assert model.inclusion_probability_[1] == pytest.approx(expit(-6.0), rel=1e-6)
    np.testing.assert_allclose(np.delete(model.coef_, 1), without.coef_, atol=1e-4)


# --- order


@pytest.mark.parametrize("number", [0, 3, 20, 24, 30])
def test_the_annealed_path_does_not_depend_on_the_order_of_columns(number):
    X, y, gammas, forward, backward = oracle(number)
    best = kept_solutions(forward, backward)
    sparse = sum(solution.m.sum() < RANK / 6 for solution in best)
    order = np.random.default_rng(number).permutation(100)
    path = fit_path(Problem.from_rows(X, y), strengths=gammas)
    permuted = fit_path(Problem.from_rows(X[:, order], y), strengths=gammas)
    np.testing.assert_allclose(
        permuted.coefficients().toarray()[:sparse],
        path.coefficients().toarray()[:sparse][:, order],
        atol=2e-3,
    )


def test_the_order_of_given_gammas_does_not_matter():
    X, y, _ = sparse_regression(80, 20)
    problem = Problem.from_rows(X, y)
    one = fit_path(problem, strengths=np.array([-20.0, -9.0, -5.0]))
    two = fit_path(problem, strengths=np.array([-5.0, -20.0, -9.0]))
    np.testing.assert_array_equal(one.strengths, two.strengths)
    np.testing.assert_array_equal(one.coefficients().toarray(), two.coefficients().toarray())
