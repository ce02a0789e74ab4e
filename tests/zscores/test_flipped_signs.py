"""Z-scores with the sign of the other allele: named among near copies, and never for strong effects."""

import json

import numpy as np
import pytest

from garrote import SpikeSlabRegressor, load
from garrote.report import render_report
from garrote.zscores.consistency import check_consistency
from garrote.zscores.flipped_signs import _MISMATCHES, _NEEDED, _Model, largest_effect
from garrote.zscores.mismatch import Spectrum
from garrote.zscores.summary_statistics import adjust_zscores, check_zscores
from reference_summary import (
    chain,
    cost_of_signs,
    minus_log_density,
    simple_regressions,
    with_copies,
)

N = 5000


def checked(z, ld, n=N):
    return check_consistency(check_zscores(z, ld, n))


@pytest.fixture(scope="module")
def model():
    z, ld = with_copies(np.random.default_rng(0), 300, 14, 3, effect=0.6, spread=0.3)
    z[4], z[1] = -5.0, -z[1]
    values, vectors = np.linalg.eigh(ld)
    z = adjust_zscores(z, 300)
    return _Model(Spectrum(values, vectors, z @ vectors), z, 300), z, ld


@pytest.mark.parametrize("turned", [(), (1,), (1, 4)])
def test_the_cost_of_signs_is_that_of_normal_densities(model, turned):
    found, z, ld = model
    signs = np.where(np.isin(np.arange(len(z)), turned), -1.0, 1.0)
    price = 2 * np.log(len(z))
    expected = cost_of_signs(signs * z, ld, _MISMATCHES, largest_effect(z, 300) ** 2, price)
    assert found.cost(turned) == pytest.approx(expected + (price + _NEEDED) * len(turned))


def test_gains_are_those_of_normal_densities_without_effects(model):
    found, z, ld = model

    def cost(z):
        return min(2 * minus_log_density(z, (1 - s) * ld + s * np.eye(len(z))) for s in _MISMATCHES)

    gains = found.gains((1,))
    z = np.where(np.arange(len(z)) == 1, -z, z)
    for j in (0, 2, 4):
        turned = np.where(np.arange(len(z)) == j, -z, z)
        assert gains[j] == pytest.approx(cost(z) - cost(turned), abs=1e-6)
    assert gains[1] == -np.inf
    assert np.all(gains[np.abs(z) <= 2] == -np.inf)


@pytest.mark.parametrize("copies", [3, 4, 5, 10])
@pytest.mark.parametrize("variables", [15, 60])
def test_the_majority_of_near_copies_tells_which_sign_is_flipped(copies, variables):
    z, ld = with_copies(np.random.default_rng(copies), N, variables, copies)
    assert checked(z, ld).notes == ()
    z[1] *= -1
    found = checked(z, ld)
    assert found.flipped == (1,)
    assert found.inconsistent == found.undecided == ()
    assert found.flipped_evidence[1] > 3
    assert found.expected[1] == pytest.approx(-found.z[1], rel=0.1)


@pytest.mark.parametrize("spread", [0.3, 0.05])
def test_of_two_copies_alone_both_are_named(spread, tmp_path):
    z, ld = with_copies(np.random.default_rng(1), N, 8, 2, spread=spread)
    assert checked(z, ld).notes == ()
    z[1] *= -1
    names = [f"rs{j}" for j in range(8)]
    model = SpikeSlabRegressor()
    with pytest.warns(UserWarning, match="contradict each other between .*nothing tells which"):
        model.fit_zscores(z, ld, N, names=names)
    found = model.consistency_
    assert found.flipped == found.inconsistent == ()
    ((one, other),) = found.undecided
    assert sorted((*one, *other)) == [0, 1]
    assert (found.instead(0), found.instead(1), found.instead(2)) == ((1,), (0,), ())
    assert sorted(found.table().columns["verdict"]) == [
        "sign flipped, or that of rs0",
        "sign flipped, or that of rs1",
    ]
    document = json.loads(model.selection_.to_json())
    told = {entry["name"]: entry["instead"] for entry in document["consistency"]["out_of_line"]}
    assert told == {"rs0": ["rs1"], "rs1": ["rs0"]}
    page = render_report(document)
    assert "nothing may tell which one is wrong" in page
    assert "LD contradicts the z-scores of" in page
    assert "what follows cannot be relied on" in page
    model.save(tmp_path / "model.garrote")
    assert load(tmp_path / "model.garrote").consistency_.undecided == found.undecided


def test_weak_correlations_with_many_others_tell_which_of_two_copies_it_is():
    for seed in range(3):
        z, ld = with_copies(np.random.default_rng(seed), N, 150, 2)
        z[1] *= -1
        assert checked(z, ld).flipped == (1,)


def test_two_against_two_copies_are_undecided():
    z, ld = with_copies(np.random.default_rng(3), N, 12, 4)
    z[:2] *= -1
    found = checked(z, ld)
    assert found.flipped == ()
    assert sorted(map(sorted, found.undecided[0])) == [[0, 1], [2, 3]]
    assert len(found.undecided) == 1


def test_signs_in_several_blocks_are_all_named():
    rng = np.random.default_rng(5)
    X = np.repeat(rng.standard_normal((N, 5)), 4, axis=1) + 0.1 * rng.standard_normal((N, 20))
    y = X[:, 0] - 0.5 * X[:, 5] + 0.5 * X[:, 10] + rng.standard_normal(N)
    z, ld = simple_regressions(X, y), np.corrcoef(X.T)
    assert checked(z, ld).notes == ()
    z[[1, 6, 11]] *= -1
    found = checked(z, ld)
    assert sorted(found.flipped) == [1, 6, 11]
    assert found.inconsistent == found.undecided == ()


@pytest.mark.parametrize(
    ("effect", "correlation", "n"),
    [(1.0, 0.8, 500), (3.0, 0.8, 1000), (3.0, 0.9, 1000), (1.0, 0.9, 5000), (3.0, 0.95, 1000)],
)
@pytest.mark.parametrize("linked", [True, False])
def test_strong_effects_of_opposite_signs_are_no_flipped_signs(effect, correlation, n, linked):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = chain(rng, n, 40, correlation if linked else 0.0)
        if not linked:
            X[:, 8] = correlation * X[:, 7] + np.sqrt(1 - correlation**2) * X[:, 8]
        y = effect * (X[:, 7] - X[:, 8]) + rng.standard_normal(n)
        z = simple_regressions(X, y)
        assert z[7] * z[8] < 0
        found = checked(z, np.corrcoef(X.T), n)
        assert found.flipped == found.undecided == ()


def test_near_copies_among_genotypes_with_ld_of_half_of_the_samples(shared_data):
    """Of two regions each: all signs right, and one of them flipped among two to four copies."""
    with np.load(shared_data / "N3finemapping.npz", allow_pickle=False) as file:
        X = file["X"]
    X = X[:, np.sort(np.unique(X, axis=1, return_index=True)[1])]
    ld = np.corrcoef(X.T)
    named = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        copies = 2 + seed % 3
        block = next(
            np.r_[j, near[: copies - 1]]
            for j in rng.permutation(len(ld))
            if X[:, j].std() > 0.4 and len(near := _near(ld, j)) >= copies - 1
        )
        kept = list(block)
        for k in rng.permutation(len(ld)):
            if len(kept) < 40 and np.abs(ld[k, kept]).max() < 0.3 and X[:, k].std() > 0.2:
                kept.append(k)
        x = (X[:, kept] - X[:, kept].mean(axis=0)) / X[:, kept].std(axis=0)
        y = 0.4 * x[:, 0] + rng.standard_normal(len(x))
        half = np.corrcoef(x[rng.permutation(len(x))[: len(x) // 2]].T)
        z = simple_regressions(x, y)
        right = checked(z, half, len(x))
        assert right.flipped == right.undecided == ()
        z[0] *= -1
        found = checked(z, half, len(x))
        assert set(found.flipped) <= {0}
        named += 0 in found.out_of_line
    assert named == 6


def _near(ld, j):
    close = (np.abs(ld[j]) > 0.95) & (np.abs(ld[j]) < 0.9999)
    return np.flatnonzero(close)
