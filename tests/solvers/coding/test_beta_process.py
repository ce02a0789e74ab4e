"""The beta process's Gibbs sampler: each block against enumeration, all of it by a joint test."""

import numpy as np
import pytest
import scipy.sparse

from garrote.solvers.coding.beta_process import Beliefs, State, next_codes, next_state
from garrote.solvers.coding.beta_process_draws import Laws, draw_atoms, draw_lengths
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.diagnostics import diagnose_draws
from reference_coding import beta_process_truth, spike_slab_code


@pytest.mark.parametrize("hidden", [(), (1,), (0, 3, 4)], ids=["whole", "a gap", "gaps"])
def test_codes_are_drawn_as_often_as_the_sum_over_all_sets_of_atoms_says(hidden):
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((4, 6))
    signal = 0.8 * atoms[0] - 0.6 * atoms[2] + 0.4 * rng.standard_normal(6)
    seen = np.ones(6, dtype=bool)
    seen[list(hidden)] = False
    laws = Laws(atoms, np.full(4, np.log(0.3 / 0.7)), 1.0 / 0.7, 1.0 / 0.5)
    expected, mean = spike_slab_code(atoms[:, seen], signal[seen], 0.3, 0.7, 0.5)
    n = 4000
    codes = next_codes(
        laws, np.tile(signal * seen, (n, 1)), np.tile(seen, (n, 1)),
        scipy.sparse.csr_array((n, 4)), rng, rounds=40,
    ).toarray()  # fmt: skip
    error = np.sqrt(expected * (1 - expected) / n)
    assert np.abs((codes != 0).mean(axis=0) - expected).max() < 4 * error.max()
    assert np.all(np.abs(codes.mean(axis=0) - mean) < 4 * codes.std(axis=0) / np.sqrt(n) + 1e-12)


def test_atoms_are_drawn_from_their_law_given_codes_entry_by_entry():
    rng = np.random.default_rng(0)
    seen, codes = rng.random((30, 3)) < 0.6, rng.standard_normal((30, 1))
    signals = (codes @ np.array([[1.0, -2.0, 0.5]]) + rng.standard_normal((30, 3))) * seen
    drawn = np.empty((3000, 3))
    for k in range(len(drawn)):
        atoms = rng.standard_normal((1, 3))
        left = (signals - codes @ atoms) * seen
        draw_atoms(atoms, scipy.sparse.csc_array(codes), left, seen, 2.0, rng)
        drawn[k] = atoms[0]
    np.testing.assert_allclose(left, (signals - codes @ atoms) * seen, atol=1e-12)
    precision = 3.0 + 2.0 * seen.T @ codes[:, 0] ** 2
    mean = 2.0 * codes[:, 0] @ signals / precision
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 4 / np.sqrt(3000 * precision))
    np.testing.assert_allclose(drawn.var(axis=0) * precision, 1.0, atol=0.12)


def test_lengths_are_drawn_from_their_law_and_change_no_product():
    rng = np.random.default_rng(0)
    atom, codes = np.array([0.5, -1.0, 0.25]), np.array([1.0, -0.4])
    atoms = np.tile(atom, (20_000, 1))
    counts, squares = np.full(20_000, 2), np.full(20_000, np.sum(codes**2))
    factor = draw_lengths(atoms, counts, squares, 1.5, rng)
    np.testing.assert_allclose(atoms, factor[:, None] * atom)
    # The law of log c by quadrature: Gaussian atom and codes, times c^3 c^-2 for the change of units.
    u = np.linspace(-6, 6, 4001)
    c = np.exp(u)
    log = u - 1.5 * np.sum(atom**2) * c**2 - 0.75 * np.sum(codes**2) / c**2
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean, deviation = weight @ u, np.sqrt(weight @ u**2 - (weight @ u) ** 2)
    assert abs(np.log(factor).mean() - mean) < 4 * deviation / np.sqrt(20_000)
    assert np.log(factor).std() == pytest.approx(deviation, rel=0.03)


def test_codes_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    signals = rng.standard_normal((3000, 5))
    laws = Laws(rng.standard_normal((6, 5)), np.zeros(6), 1.0, 4.0)
    start = scipy.sparse.csr_array((3000, 6))
    seen = rng.random(signals.shape) < 0.9
    one, two = (
        next_codes(laws, signals * seen, seen, start, np.random.default_rng(1), jobs)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.toarray(), two.toarray())


@pytest.mark.parametrize("rounds", [3000, pytest.param(60_000, marks=pytest.mark.slow)])
def test_signals_and_parameters_drawn_in_turn_have_the_laws_of_the_prior(rounds):
    """Geweke (2004): were a conditional law wrong, these would drift away from the prior."""
    rng = np.random.default_rng(0)
    n, count, width = 5, 3, 2
    beliefs = Beliefs(1.5, 2.0, slab=(4.0, 3.0), noise=(5.0, 2.0))
    seen = rng.random((n, width)) < 0.7
    seen[0] = True

    def facts(atoms, codes, share, slab, noise):
        size, length = np.sum(codes != 0), np.sum(atoms**2)
        return [size, size**2, length, np.sum(np.abs(codes)), np.log(slab), np.log(noise), share]

    prior = []
    for _ in range(20_000):
        drawn = beta_process_truth(n, count, width, beliefs, rng)
        prior.append(facts(*drawn[:2], drawn[2].mean(), *drawn[3:]))
    prior = np.array(prior)
    atoms, codes, share, slab, noise = beta_process_truth(n, count, width, beliefs, rng)
    laws = Laws(atoms, np.log(share) - np.log1p(-share), slab, noise)
    state, found = State(laws, scipy.sparse.csr_array(codes)), []
    for _ in range(rounds):
        whole = state.codes @ state.laws.atoms
        signals = whole + rng.standard_normal((n, width)) / np.sqrt(state.laws.noise)
        state = next_state(state, signals * seen, seen, beliefs, rng)
        share = np.mean(1 / (1 + np.exp(-state.laws.log_odds)))
        laws = state.laws
        found.append(facts(laws.atoms, state.codes.toarray(), share, laws.slab, laws.noise))
    found = np.array(found)
    error = diagnose_draws(found[None]).error * found.std(axis=0)
    error = np.hypot(error, prior.std(axis=0) / np.sqrt(len(prior)))
    assert np.abs((found.mean(axis=0) - prior.mean(axis=0)) / error).max() < 4


@pytest.mark.parametrize("missing", [(0.0, 0.0), (0.3, 0.3), (0.3, 0.0), (0.0, 0.3)])
def test_sums_over_codes_stand_for_signals_when_atoms_are_drawn(missing):
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((50, 4)) * (rng.random((50, 4)) < 0.5)
    gaps = np.repeat(missing, [30, 20])[:, None]
    seen = rng.random((50, 6)) >= gaps
    signals, atoms = rng.standard_normal((50, 6)) * seen, rng.standard_normal((4, 6))
    drawn = []
    for first in (0, 30):
        some, own = slice(first, None), atoms.copy()
        sums = CodeSums.of(
            scipy.sparse.csr_array(codes[:first]), signals[:first], seen[:first], np.ones(first)
        )
        left = (signals[some] - codes[some] @ own) * seen[some]
        by_atom = scipy.sparse.csc_array(codes[some])
        kept = sums if first else None
        draw_atoms(own, by_atom, left, seen[some], 2.0, np.random.default_rng(1), kept)
        drawn.append(own)
        np.testing.assert_allclose(
            left, (signals[some] - codes[some] @ own) * seen[some], atol=1e-12
        )
    np.testing.assert_allclose(drawn[0], drawn[1], atol=1e-12)
    whole = np.sum(((signals[:30] - codes[:30] @ own) * seen[:30]) ** 2)
    assert sums.left(own) == pytest.approx(whole)
