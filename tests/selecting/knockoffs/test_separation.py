"""Separations exist, and are the best by their aim, as plain optimisers find."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from garrote.selecting.knockoffs.coordinates import Coordinates
from garrote.selecting.knockoffs.separation import (
    AIMS,
    separable,
    separate,
    smallest_joint_variance,
)
from knockoff_tables import covariance

KNOCKPY = json.loads((Path(__file__).parents[2] / "data" / "knockoffs_knockpy.json").read_text())


def correlations(count, seed, rows=None):
    rng = np.random.default_rng(seed)
    return np.corrcoef(
        rng.standard_normal((rows or 2 * count, count)) @ rng.random((count, count)), rowvar=False
    )


def joint(correlation, each):
    cross = correlation - np.diag(each)
    return np.block([[correlation, cross], [cross, correlation]])


def alone(correlation):
    return Coordinates.of(correlation, np.arange(len(correlation)))


def trace_of_inverse(correlation, share, groups=None):
    groups = np.arange(len(correlation)) if groups is None else groups
    whole = joint(correlation, share[groups])
    if np.linalg.eigvalsh(whole)[0] <= 0:
        return np.inf
    return np.trace(np.linalg.inv(whole))


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 0.999])
def test_the_joint_correlations_are_those_of_some_columns(aim, rho):
    coordinates = alone(covariance(rho, 30))
    found = separate(coordinates, aim)
    smallest = np.linalg.eigvalsh(joint(coordinates.correlation, found.each))[0]
    assert smallest > -1e-12
    assert smallest_joint_variance(coordinates.correlation, found.each) == pytest.approx(
        smallest, abs=1e-12
    )
    assert (found.share > 0).all()
    assert found.optimality < 1e-4


def test_equal_correlations_are_as_large_as_they_can_be():
    coordinates = alone(correlations(6, 0))
    found = separate(coordinates, "equicorrelated").share
    assert np.ptp(found) == 0
    assert found[0] == pytest.approx(min(1, 2 * np.linalg.eigvalsh(coordinates.correlation)[0]))


@pytest.mark.parametrize("seed", range(6))
def test_no_separation_has_a_larger_sum_than_the_semidefinite_one(seed):
    correlation = correlations(6, seed)
    found = separate(alone(correlation), "sdp")
    inside = {
        "type": "ineq",
        "fun": lambda s: np.linalg.eigvalsh(2 * correlation - np.diag(s)) - 1e-12,
    }
    start = np.full(6, np.linalg.eigvalsh(correlation)[0])
    other = minimize(
        lambda s: -s.sum(), start, jac=lambda s: -np.ones(6), bounds=[(0, 1)] * 6, constraints=inside,
        method="SLSQP", options={"maxiter": 500},
    )  # fmt: skip
    assert np.linalg.eigvalsh(2 * correlation - np.diag(found.share))[0] >= 0
    assert (found.share <= 1).all()
    # What that one found may be outside by a little: it is drawn back to the border.
    reach = 2 / np.linalg.eigvals(np.linalg.solve(correlation, np.diag(other.x))).real.max()
    best = min(1.0, reach) * other.x.sum()
    assert found.share.sum() >= best - 1e-5
    assert best <= found.share.sum() + 6 * found.optimality + 1e-12


def test_two_columns_have_the_separation_of_the_formula():
    for r in (0.2, 0.7, -0.9):
        found = separate(alone(np.array([[1, r], [r, 1]])), "sdp").share
        np.testing.assert_allclose(found, min(1, 2 * (1 - abs(r))), atol=3e-6)


@pytest.mark.parametrize("groups", [np.arange(6), np.array([0, 0, 1, 1, 1, 2])])
def test_no_separation_is_less_reconstructable(groups):
    coordinates = Coordinates.of(correlations(6, 3), groups)
    found = separate(coordinates, "mvr")
    count = int(groups.max()) + 1

    def objective(log_share):
        return trace_of_inverse(coordinates.correlation, np.exp(log_share), coordinates.owner)

    start = np.full(count, np.log(np.linalg.eigvalsh(coordinates.correlation)[0]))
    other = minimize(
        objective,
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 20000, "maxfev": 20000},
    )
    assert objective(np.log(found.share)) <= other.fun * (1 + 1e-8)
    np.testing.assert_allclose(found.share, np.exp(other.x), rtol=1e-3)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_knockpy_finds_no_better_separation(rho):
    correlation, peer = covariance(rho, 40), KNOCKPY["objectives"][str(rho)]
    assert separate(alone(correlation), "sdp").share.sum() > peer["sdp"] - 1e-4
    assert trace_of_inverse(correlation, separate(alone(correlation), "mvr").share) < peer[
        "mvr"
    ] * (1 + 1e-7)


def test_a_column_and_its_sum_with_others_cannot_be_separated_and_others_still_are():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)) @ (np.eye(6) + 0.3)
    X[:, 5] = X[:, 0] + X[:, 1]
    coordinates = alone(np.cov(X, rowvar=False))
    for aim in AIMS:
        found = separate(coordinates, aim)
        assert found.inseparable.tolist() == [0, 1, 5]
        assert (found.share[2:5] > 0.05).all()
        assert np.linalg.eigvalsh(joint(coordinates.correlation, found.each))[0] > -1e-12


def test_what_can_be_separated_is_separated_given_all_others():
    correlation = correlations(4, 1)
    doubled = np.zeros((5, 5))
    order = [0, 1, 2, 3, 3]
    doubled[:] = correlation[np.ix_(order, order)]
    free, given = separable(doubled, np.arange(5))
    assert free.tolist() == [0, 1, 2]
    other = correlation[:3, 3]
    np.testing.assert_allclose(given, correlation[:3, :3] - np.outer(other, other), atol=1e-12)


@pytest.mark.parametrize("aim", AIMS)
def test_groups_do_not_depend_on_how_their_columns_are_coded(aim):
    rng = np.random.default_rng(2)
    sigma, groups = correlations(6, 5), np.array([0, 0, 0, 1, 1, 2])
    turn = np.eye(6)
    turn[:3, :3] = rng.standard_normal((3, 3))
    one, other = (
        separate(Coordinates.of(c, groups), aim).share for c in (sigma, turn.T @ sigma @ turn)
    )
    np.testing.assert_allclose(one, other, rtol=1e-4)


def test_coordinates_are_uncorrelated_within_groups_and_lead_back():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 7))
    X[:, 2] = X[:, 1] - X[:, 0]  # one direction less in the first group
    X[:, 6] = 3.0
    X -= X.mean(axis=0)
    groups = np.array([0, 0, 0, 1, 2, 2, 3])
    found = Coordinates.of(X.T @ X / 50, groups)
    inside = X @ found.into
    assert found.owner.tolist() == [0, 0, 1, 2, 2]
    np.testing.assert_allclose(inside @ found.back, X, atol=1e-10)
    np.testing.assert_allclose(inside.T @ inside / 50, found.correlation, atol=1e-10)


def test_an_unknown_aim_is_refused_by_name():
    with pytest.raises(ValueError, match=r"separation must be one of .*'mvr'.*got 'best'"):
        separate(alone(np.eye(2)), "best")
