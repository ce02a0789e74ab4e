"""Codes and atoms of signals with gaps, beside plain references."""

import numpy as np
import pytest

from garrote.solvers.coding.bounded_atoms import update_bounded_atoms, within_bound
from garrote.solvers.coding.factor_moments import first_factors, improved, lower_bound
from garrote.solvers.coding.incomplete_codes import (
    lasso_codes_with_gaps,
    spike_slab_codes_with_gaps,
)
from reference_coding import bounded_atom, factor_bound, lasso_code, spike_slab_code


def problem(seed=0, n=12, count=7, width=9):
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((count, width))
    seen = rng.random((n, width)) < 0.6
    signals = (rng.standard_normal((n, count)) @ atoms + rng.standard_normal((n, width))) * seen
    return atoms, signals, seen


@pytest.mark.parametrize("price", [0.3, 2.0])
def test_lasso_codes_are_those_of_the_entries_that_were_seen(price):
    atoms, signals, seen = problem()
    atoms[3] = 0.0
    seen[5] = False
    signals[5] = 0.0
    codes = np.zeros((12, 7))
    lasso_codes_with_gaps(atoms, signals, seen, price, codes)
    for code, signal, shown in zip(codes, signals, seen, strict=True):
        expected = lasso_code(atoms[:, shown], signal[shown], price)
        np.testing.assert_allclose(code, expected, atol=1e-6)


def test_mean_field_is_exact_where_atoms_are_orthogonal_on_what_was_seen():
    rng = np.random.default_rng(0)
    atoms = np.linalg.qr(rng.standard_normal((5, 5)))[0][:3]
    atoms = np.hstack([atoms, rng.standard_normal((3, 2))])
    seen = np.tile([True] * 5 + [False] * 2, (4, 1))
    signals = np.where(seen, rng.standard_normal((4, 7)), 0.0)
    codes = np.zeros((4, 3))
    odds = np.full(3, np.log(0.3 / 0.7))
    probability, _ = spike_slab_codes_with_gaps(
        atoms, None, signals, seen, odds, np.full(3, 1 / 0.8), 1 / 0.4, codes
    )
    for i in range(4):
        expected = spike_slab_code(atoms[:, :5], signals[i, :5], 0.3, 0.8, 0.4)
        np.testing.assert_allclose(probability[i], expected[0], atol=1e-7)
        np.testing.assert_allclose(codes[i], expected[1], atol=1e-7)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 2.0])
def test_a_bounded_atom_is_the_best_one(gamma):
    rng = np.random.default_rng(1)
    seen, codes = rng.random((20, 6)) < 0.6, rng.standard_normal((20, 1))
    signals = (codes @ rng.standard_normal((1, 6)) * 2 + rng.standard_normal((20, 6))) * seen
    atoms = within_bound(rng.standard_normal((1, 6)), gamma)
    np.testing.assert_allclose(np.sum(atoms**2) + gamma * np.abs(atoms).sum(), 1.0)
    weights = rng.random(20)
    left = (signals - codes @ atoms) * seen
    before = 0.5 * weights @ np.sum(left**2, axis=1)
    gained = update_bounded_atoms(atoms, codes, left, seen, weights, gamma)
    np.testing.assert_allclose(left, (signals - codes @ atoms) * seen, atol=1e-12)
    after = 0.5 * weights @ np.sum(left**2, axis=1)
    assert gained == pytest.approx(before - after)
    square = (weights * codes[:, 0] ** 2) @ seen
    target = (weights * codes[:, 0]) @ signals / square
    np.testing.assert_allclose(atoms[0], bounded_atom(square, target, gamma), atol=1e-5)
    assert np.sum(atoms**2) + gamma * np.abs(atoms).sum() <= 1 + 1e-12


def test_the_lower_bound_is_that_of_the_definition_and_never_falls():
    _, signals, seen = problem(3, 10, 3, 6)
    weights, square = np.ones(10), float(np.sum(signals**2) / seen.sum())
    atoms = np.random.default_rng(1).standard_normal((4, 6))
    factors, bounds = first_factors(atoms, np.zeros((10, 4)), square), []
    for _ in range(60):
        factors = improved(factors, signals, seen, weights, square)
        bounds.append(lower_bound(factors, signals, seen, weights))
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[-1])
    expected = factor_bound(signals, seen, *factors)
    assert bounds[-1] == pytest.approx(expected, rel=1e-9)


def test_a_weight_is_as_good_as_repeats_of_a_signal():
    atoms, signals, seen = problem(4, 8, 3, 6)
    weights = np.array([1.0, 2, 0, 3, 1, 1, 2, 1])
    rows = np.repeat(np.arange(8), weights.astype(int))
    square = float(weights @ np.sum(signals**2, axis=1) / (weights @ seen.sum(axis=1)))
    one = first_factors(atoms[:3], np.zeros((8, 3)), square)
    many = first_factors(atoms[:3], np.zeros((len(rows), 3)), square)
    for _ in range(10):
        one = improved(one, signals, seen, weights, square)
        many = improved(many, signals[rows], seen[rows], np.ones(len(rows)), square)
    np.testing.assert_allclose(one.loadings.mean, many.loadings.mean, atol=1e-9)
    bounds = (
        lower_bound(one, signals, seen, weights),
        lower_bound(many, signals[rows], seen[rows], np.ones(len(rows))),
    )
    assert bounds[0] == pytest.approx(bounds[1])
