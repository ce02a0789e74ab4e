"""One coordinate loop for every design and every rule; each rule minimises its scalar objective."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, xlogy

from contracts import (
    FAST_STORES,
    GramDesign,
    Plain,
    View,
    assert_near,
    sample_matrix,
    sweep_once,
)
from garrote.priors import SpikeRule, SpikeTerms
from garrote.rules import moments, shrink
from garrote.solvers.descent.sweep import sweep

PLAIN_VIEW = View(True, True, "some zero")
VIEWS = [
    View(c, s, w) for c in (True, False) for s in (True, False) for w in ("equal", "some zero")
]


class SoftThreshold(NamedTuple):
    """Minimise curvature (w - z)^2 / 2 + threshold_j |w|: the lasso, for this test alone."""

    threshold: np.ndarray


@shrink.register
def _(rule: SoftThreshold, j, z, curvature):
    size = abs(z) - rule.threshold[j] / curvature
    return np.sign(z) * size if size > 0 else 0.0


def spike(count, gamma=-2.0, precision=1.5, signs=None):
    offsets = np.linspace(-0.5, 0.5, count)
    signs = np.zeros(count) if signs is None else np.asarray(signs, dtype=float)
    return SpikeTerms(offsets, signs).rule(gamma, precision)


RULES = {
    "l1": lambda count: SoftThreshold(np.linspace(0.5, 4.0, count)),
    "spike": spike,
    "spike with signs": lambda count: spike(count, signs=np.arange(count) % 3 - 1),
}
rules = pytest.mark.parametrize("make_rule", RULES.values(), ids=RULES)


def plain_sweep(Z, weights, curvature, rule, coef, row):
    """The loop of the design document, in plain Python."""
    coef, row = coef.copy(), row.copy()
    for j in np.flatnonzero(curvature > 0):
        z = coef[j] + Z[:, j] @ (weights * row) / curvature[j]
        new = shrink(rule, j, z, curvature[j])
        row -= (new - coef[j]) * Z[:, j]
        coef[j] = new
    return coef


# --- the same coefficients everywhere


@rules
@pytest.mark.parametrize("store", FAST_STORES.values(), ids=FAST_STORES)
@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_one_sweep_gives_the_coefficients_of_a_plain_loop(make_rule, store, view):
    X = sample_matrix()
    plain, design = Plain(X, view), view.of(store(X))
    rng = np.random.default_rng(4)
    row = 2 * plain.Z[:, 4] - plain.Z[:, 8] + rng.standard_normal(41)
    if view.center:
        row -= np.average(row, weights=plain.weights)
    start = np.where(plain.curvature > 0, 0.1 * rng.standard_normal(13), 0.0)
    rule = make_rule(13)
    expected = plain_sweep(plain.Z, plain.weights, plain.curvature, rule, start, row)
    actual, _ = sweep_once(design.columns(), rule, start, row, plain.weights, design.curvature)
    assert_near(actual, expected)
    assert np.count_nonzero(expected) > 3


@rules
def test_one_sweep_on_the_gram_matrix_gives_the_coefficients_of_a_plain_loop(make_rule):
    plain = Plain(sample_matrix(), PLAIN_VIEW)
    rng = np.random.default_rng(4)
    row = 2 * plain.Z[:, 4] - plain.Z[:, 8] + rng.standard_normal(41)
    start = np.where(plain.curvature > 0, 0.1 * rng.standard_normal(13), 0.0)
    rule = make_rule(13)
    expected = plain_sweep(plain.Z, plain.weights, plain.curvature, rule, start, row)
    gram = GramDesign(plain.Z.T @ (plain.weights[:, None] * plain.Z))
    gradient = plain.Z.T @ (plain.weights * row)
    actual, _ = sweep_once(
        gram.columns(), rule, start, None, None, plain.curvature, gradient=gradient
    )
    assert_near(actual, expected)


def test_sweeps_of_the_l1_rule_converge_to_the_lasso():
    from sklearn.linear_model import Lasso

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 15))
    y = X[:, 0] - X[:, 3] + 0.5 * rng.standard_normal(60)
    X, y = X - X.mean(axis=0), y - y.mean()
    gram, xty = X.T @ X, X.T @ y
    coef, rule = np.zeros(15), SoftThreshold(np.full(15, 0.1 * 60))
    for _ in range(200):
        coef, _ = sweep_once(
            GramDesign(gram).columns(), rule, coef, None, None, np.diag(gram),
            gradient=xty - gram @ coef,
        )  # fmt: skip
    expected = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, y).coef_
    np.testing.assert_allclose(coef, expected, atol=1e-9)


def test_only_the_given_columns_move_and_in_their_order():
    plain = Plain(sample_matrix(), PLAIN_VIEW)
    gram = plain.Z.T @ (plain.weights[:, None] * plain.Z)
    gradient = plain.Z.T @ (plain.weights * np.random.default_rng(0).standard_normal(41))
    rule = SoftThreshold(np.full(13, 0.01))

    def go(order):
        return sweep_once(
            GramDesign(gram).columns(), rule, np.zeros(13), None, None, plain.curvature,
            order=order, gradient=gradient,
        )[0]  # fmt: skip

    assert np.flatnonzero(go([4, 10])).tolist() == [4, 10]
    assert not np.allclose(go([8, 9]), go([9, 8]))


def test_columns_without_curvature_are_passed_over():
    gram = np.diag([1.0, 0.0, 2.0])
    coef, _ = sweep_once(
        GramDesign(gram).columns(), SoftThreshold(np.zeros(3)), np.zeros(3), None, None,
        np.diag(gram), gradient=np.array([1.0, 5.0, 1.0]),
    )  # fmt: skip
    np.testing.assert_allclose(coef, [1.0, 0.0, 0.5])


def test_a_class_without_a_rule_is_refused_by_name():
    class Unregistered(NamedTuple):
        nothing: float

    with pytest.raises(TypeError, match="Unregistered"):
        shrink(Unregistered(0.0), 0, 1.0, 1.0)
    with pytest.raises(TypeError, match="Unregistered"):
        moments(Unregistered(0.0), 0, 1.0, 1.0)


def test_the_sweep_is_a_compiled_kernel_that_frees_the_interpreter():
    assert sweep.targetoptions["nogil"]
    assert sweep.targetoptions["nopython"]


# --- what one coefficient minimises


@given(
    st.floats(-20, 20),
    st.floats(0.01, 100),
    st.floats(0, 50),
)
def test_the_l1_rule_minimises_its_scalar_objective(z, curvature, threshold):
    chosen = shrink(SoftThreshold(np.array([threshold])), 0, z, curvature)
    grid = np.append(np.linspace(-25, 25, 20_001), 0.0)

    def objective(w):
        return curvature * (w - z) ** 2 / 2 + threshold * np.abs(w)

    assert objective(chosen) <= objective(grid).min() + 1e-9 * (1 + objective(0.0))


def spike_objective(m, w, z, curvature, log_odds, precision):
    """Eq. 7 as a function of one variable's m and w, up to a constant.

    The residual without this variable is z in units of the column: with v = m w the misfit is
    curvature ((v - z)^2 + m (1 - m) w^2).
    """
    misfit = curvature * ((m * w - z) ** 2 + m * (1 - m) * w**2)
    return precision / 2 * misfit - log_odds * m + xlogy(m, m) + xlogy(1 - m, 1 - m)


@given(
    st.floats(-5, 5),
    st.floats(0.05, 30),
    st.floats(-15, 5),
    st.floats(0.05, 20),
    st.sampled_from([-1, 0, 1]),
)
def test_the_spike_rule_minimises_the_free_energy_of_one_variable(
    z, curvature, log_odds, precision, sign
):
    rule = SpikeRule(np.array([log_odds]), np.array([float(sign)]), np.array([precision]))
    m, w, variance = moments(rule, 0, z, curvature)
    arguments = (z, curvature, log_odds, precision)
    found = spike_objective(m, w, *arguments)
    grid_m = expit(np.linspace(-40, 40, 401))[:, None]
    grid_w = np.linspace(-6, 6, 601)[None, :]
    allowed = grid_w * sign >= 0
    best = np.where(allowed, spike_objective(grid_m, grid_w, *arguments), np.inf).min()
    assert found <= best + 1e-9 * (1 + abs(best))
    assert shrink(rule, 0, z, curvature) == pytest.approx(m * w)
    assert variance == pytest.approx(m * (1 - m) * w**2)
    assert w * sign >= 0


@given(st.floats(-50, 50), st.floats(1e-3, 1e3), st.floats(-700, 700), st.floats(1e-6, 1e12))
def test_the_spike_rule_stays_finite_for_extreme_arguments(z, curvature, log_odds, precision):
    rule = SpikeRule(np.array([log_odds]), np.zeros(1), np.array([precision]))
    with np.errstate(over="ignore"):
        m, w, variance = moments(rule, 0, z, curvature)
    assert 0 <= m <= 1
    assert w == z
    assert np.isfinite(variance)


def test_bodies_of_generic_functions_have_names_of_their_own():
    """Compiled code from the disk cache is linked by name: equal names would be one function."""
    import garrote.estimators  # noqa: F401 - registers all rules
    from garrote.priors import evidence
    from garrote.rules import add_column, column_dot, inclusion, noise_share

    generics = [shrink, moments, inclusion, noise_share, column_dot, add_column]
    generics += [evidence.log_evidence, evidence.noise_mean, evidence.slab_moments]
    bodies = [(kind, body) for g in generics for kind, body in g.registry.items()]
    names = [body.__qualname__ for kind, body in bodies if kind.__module__.startswith("garrote.")]
    assert len(names) > 20
    assert len(names) == len(set(names))
    assert "_" not in names


def test_a_rule_gives_the_same_in_python_and_in_a_kernel():
    z, curvature = 0.8, 3.0
    rule = spike(1)
    gram = GramDesign(np.array([[curvature]]))
    coef, target = sweep_once(
        gram.columns(), rule, np.zeros(1), None, None, np.array([curvature]),
        gradient=np.array([curvature * z]),
    )  # fmt: skip
    assert target[0] == pytest.approx(z)
    assert coef[0] == pytest.approx(shrink(rule, 0, z, curvature), rel=1e-14)
