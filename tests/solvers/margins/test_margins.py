"""Machines trained by smoothing, against plain formulas and general solvers."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

import reference_margins as plain
from garrote.solvers.margins.duality import allowed, gap
from garrote.solvers.margins.guarantee import error_bound, guaranteed_width
from garrote.solvers.margins.hard_margin import train_hard
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.narrowing import Narrowing, train
from garrote.solvers.margins.spaces import FeatureSpace, KernelSpace
from garrote.solvers.smoothing.kinks import KINKS

LOSSES = ("gaussian", "huber")


def labelled(rows=60, seed=0, gamma=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(rows) > 1, 1.0, -1.0)
    return X, y, rbf_kernel(X, gamma=gamma), rng


def widths_of(space, loss, rows):
    return np.sqrt(space.squared_rows(np.ones(rows))) if loss == "gaussian" else np.ones(rows)


def trained(space, margins, loss, **settings):
    scales = widths_of(space, loss, len(margins.cost))
    return train(space, margins, KINKS[loss], scales, Narrowing(**settings))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cost", [0.2, 5.0, 500.0])
def test_the_objective_is_the_best_by_a_general_solver_and_the_gap_covers_the_difference(
    loss, cost
):
    _, y, kernel, _ = labelled()
    margins = Margins.hinge(y, np.full(60, cost))
    found = trained(KernelSpace(kernel), margins, loss, tol=1e-6)
    best = plain.best_objective(kernel, y, margins.cost)
    objective = plain.objective(kernel, found.point.coef, found.point.intercept, margins)
    assert found.converged
    assert objective == pytest.approx(found.gap.objective, rel=1e-12)
    assert objective == pytest.approx(best, rel=2e-6)
    assert found.gap.bound <= best * (1 + 1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_and_their_kernel_make_the_same_machine(loss):
    X, y, _, rng = labelled()
    margins = Margins.hinge(y, rng.uniform(0.5, 3.0, 60))
    by_rows = trained(KernelSpace(X @ X.T), margins, loss, tol=1e-8)
    for rows in (X, scipy.sparse.csr_array(X)):
        by_columns = trained(FeatureSpace(rows), margins, loss, tol=1e-8)
        assert by_columns.gap.objective == pytest.approx(by_rows.gap.objective, rel=2e-8)
        assert by_columns.point.f == pytest.approx(by_rows.point.f, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_tube_around_numbers_has_a_gap_that_closes(loss):
    X, _, kernel, rng = labelled()
    y = X[:, 0] ** 2 + 0.2 * rng.standard_normal(60)
    margins = Margins.tube(y, 0.1, rng.uniform(0.5, 20.0, 60))
    found = trained(KernelSpace(kernel), margins, loss, tol=1e-7)
    assert found.converged
    outside = np.maximum(np.abs(y - found.point.f) - 0.1, 0.0) @ margins.cost
    assert margins.value(found.point.f) == pytest.approx(outside)
    others = KernelSpace(kernel).at(
        found.point.coef + 1e-3 * rng.standard_normal(60), found.point.intercept + 1e-3
    )
    worse = gap(KernelSpace(kernel), margins, others, found.pull)
    assert worse.objective > found.gap.objective


def test_the_smooth_objective_is_the_bound_of_the_text():
    _, y, kernel, rng = labelled()
    beta, b, sigma, cost = rng.standard_normal(60), 0.3, 0.05, 4.0
    space, margins = KernelSpace(kernel), Margins.hinge(y, np.full(60, cost))
    point = space.at(beta * y, b)
    widths = sigma * widths_of(space, "gaussian", 60)
    smooth = margins.smooth_value(point.f, KINKS["gaussian"], widths)
    ours = space.norm(point) + smooth + sigma**2 * space.trace(np.ones(60))
    assert ours == pytest.approx(plain.bound(kernel, y, cost, beta, b, sigma), rel=1e-12)


@pytest.mark.parametrize("kink", [KINKS[loss] for loss in LOSSES])
def test_pulls_are_minus_the_derivatives_of_the_smooth_loss(kink):
    rng = np.random.default_rng(1)
    f, widths, h = rng.standard_normal(20), rng.uniform(0.3, 1.0, 20), 1e-6
    for margins in (
        Margins.hinge(np.where(f > 0, 1.0, -1.0), np.full(20, 2.0)),
        Margins.tube(rng.standard_normal(20), 0.3, np.full(20, 2.0)),
    ):
        pulls = margins.pull(f, kink, widths)
        for n in range(20):
            moved = np.zeros(20)
            moved[n] = h
            above, below = (margins.smooth_value(f + s * moved, kink, widths) for s in (1, -1))
            assert pulls[n] == pytest.approx(-(above - below) / (2 * h), abs=1e-7)


def test_the_guaranteed_width_is_the_root_that_the_text_derives():
    _, y, kernel, _ = labelled()
    space, margins, ones = KernelSpace(kernel), Margins.hinge(y, np.full(60, 3.0)), np.ones(60)
    kink, scales = KINKS["gaussian"], widths_of(space, "gaussian", 60)
    for error in (1e-6, 0.1, 1e3):
        sigma = guaranteed_width(space, margins, kink, scales, error, ones)
        assert sigma == pytest.approx(plain.sigma_for(kernel, 3.0, error), rel=1e-6)
        assert error_bound(space, margins, kink, scales, sigma, ones) == pytest.approx(error)


def test_newton_s_equations_are_those_of_chapelle_as_derived():
    _, y, kernel, rng = labelled(30)
    beta, b, h, cost = 0.3 * rng.standard_normal(30), 0.2, 0.5, 4.0
    numbers, signed = np.append(b, beta), kernel * np.outer(y, y)

    def objective(numbers):  # Eq. 37
        xi = 1 - signed @ numbers[1:] - numbers[0] * y
        loss = np.where(np.abs(xi) < h, (h + xi) ** 2 / (4 * h), np.maximum(xi, 0))
        return numbers[1:] @ signed @ numbers[1:] + cost * loss.sum()

    near = np.abs(1 - signed @ beta - b * y) < h
    assert 3 < near.sum() < 20
    rows = np.column_stack([y, signed])[near]
    # Eq. 39 has 2 C where this has C / (2 h), and ones where this has y.
    hessian = cost / (2 * h) * rows.T @ rows
    hessian[1:, 1:] += 2 * signed
    e, tiny = np.eye(31), 1e-4
    for i, j in ((0, 0), (0, 4), (3, 9)):
        corners = [
            s * t * objective(numbers + tiny * (s * e[i] + t * e[j]))
            for s in (1, -1)
            for t in (1, -1)
        ]
        assert sum(corners) / (4 * tiny**2) == pytest.approx(hessian[i, j], abs=1e-4)
    space, margins = KernelSpace(kernel), Margins.hinge(y, np.full(30, cost))
    point, widths = space.at(beta * y, b), np.full(30, h)
    lines = margins.lines(point.f, KINKS["huber"], widths)
    aim = space.newton(point, lines, np.flatnonzero(near)).point
    slope = np.array([(objective(numbers + 1e-6 * d) - objective(numbers - 1e-6 * d)) for d in e])
    change = np.append(aim.intercept - b, aim.coef * y - beta)
    np.testing.assert_allclose(hessian @ change, -slope / 2e-6, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_single_width_ends_within_its_guaranteed_error(loss):
    for seed in range(10):
        _, y, kernel, _ = labelled(40, seed)
        space, margins = KernelSpace(kernel), Margins.hinge(y, np.full(40, 2.0))
        error = 0.02 * plain.best_objective(kernel, y, margins.cost)
        scales = widths_of(space, loss, 40)
        sigma = guaranteed_width(space, margins, KINKS[loss], scales, error, np.ones(40))
        found = trained(space, margins, loss, last=sigma, tol=1e-6)
        best = plain.best_objective(kernel, y, margins.cost)
        assert found.width == sigma
        assert best * (1 - 1e-9) <= found.gap.objective <= best + error


def test_a_machine_without_rows_on_the_wrong_side_is_found_where_it_is_the_best():
    X, y, _, _ = labelled()
    narrowing, ones, kink = Narrowing(), np.ones(60), KINKS["huber"]
    for side, costs in ((np.where(X[:, 0] > 0, 1.0, -1.0), (1e5, 1e9)), (y, (1e3,))):
        for cost in costs:
            margins = Margins.hinge(side, np.full(60, cost))
            found = train_hard(FeatureSpace(X), margins, kink, ones, narrowing)
            if side is y:
                assert found is None
                continue
            assert found.converged
            assert (side * found.point.f >= 1).all()
            assert np.abs(found.pull).max() < cost
            found = gap(FeatureSpace(X), margins, found.point, found.pull)
            assert found.objective == pytest.approx(found.bound, rel=1e-4)


def test_the_best_intercept_is_that_of_a_search():
    rng = np.random.default_rng(0)
    for margins in (
        Margins.hinge(rng.choice([-1.0, 1.0], 15), rng.uniform(0.1, 2.0, 15)),
        Margins.tube(rng.standard_normal(15), 0.4, rng.uniform(0.1, 2.0, 15)),
    ):
        f = rng.standard_normal(15)
        best = margins.value(f + margins.best_intercept(f))
        grid = np.linspace(-6, 6, 4001)
        assert best <= min(margins.value(f + b) for b in grid) + 1e-12


def test_allowed_pulls_are_within_bounds_and_add_up_to_nothing():
    rng = np.random.default_rng(0)
    y, cost = rng.choice([-1.0, 1.0], 30), rng.uniform(0.1, 2.0, 30)
    pull = allowed(Margins.hinge(y, cost), 3.0 * rng.standard_normal(30))
    assert ((pull * y >= 0) & (pull * y <= cost)).all()
    assert pull.sum() == pytest.approx(0.0, abs=1e-12)
    assert not allowed(Margins.hinge(np.ones(3), np.ones(3)), np.ones(3)).any()


def test_many_rows_begin_with_a_part_and_end_at_the_same_objective():
    X, y, _, _ = labelled(1200, 3)
    space, margins = KernelSpace(rbf_kernel(X, gamma=0.5)), Margins.hinge(y, np.full(1200, 2.0))
    whole = trained(space, margins, "huber", tol=1e-6)
    other = trained(space, margins, "gaussian", tol=1e-6)
    assert whole.converged
    assert other.converged
    assert whole.gap.objective == pytest.approx(other.gap.objective, rel=2e-6)
