"""Annealing and reheating of any solver: where it ends, what is kept, and how a path is made of it."""

from dataclasses import dataclass

import numpy as np
import pytest

from garrote.designs.scale import Scale
from garrote.results.fit import Fit
from garrote.solvers.annealing import Annealed, anneal, dense_side, one_by_one
from garrote.solvers.control import Control
from garrote.solvers.lockstep import run_together


@dataclass(frozen=True)
class Magnet:
    """A solution of a toy with hysteresis: it flips at +1 on the way up, at -1 on the way down."""

    strength: float
    up: bool

    @property
    def expected_size(self) -> float:
        return 5.0 + self.strength if self.up else 0.0

    @property
    def free_energy(self) -> float:
        return -self.strength if self.up else 0.0


def solve(strength: float, start: Magnet) -> Magnet:
    return Magnet(strength, strength > (-1.0 if start.up else 1.0))


def in_pairs(strengths, start, accept, known):
    """Solve two strengths at a time."""
    yield from ()
    for first in range(0, len(strengths), 2):
        batch = []
        for strength in strengths[first : first + 2]:
            batch.append(solve(strength, batch[-1] if batch else start))
        for place, one in enumerate(batch, start=first):
            met = len(known) > 0 and one == known[place]
            if not accept(known[place] if met else one):
                return
        start = batch[-1]


def annealed(follow, limit, control=Control()) -> Annealed:  # noqa: B008 - frozen
    (found,) = run_together([anneal(follow, GRID, limit, Magnet(-9.0, False), control)], None)
    return found


GRID = np.array([-2.0, -0.5, 0.5, 2.0, 4.0])


def test_each_solution_starts_from_the_last_and_the_better_branch_is_kept():
    seen = []
    control = Control(callback=seen.append)
    found = annealed(one_by_one(solve), 10.0, control)
    assert [one.up for one in found.forward] == [False, False, False, True, True]
    assert [one.up for one in found.backward] == [False, True, True, True, True]
    assert found.kept.tolist() == ["forward", "forward", "backward", "forward", "forward"]
    assert [one.up for one in found.solutions] == [False, False, True, True, True]
    assert found.best == Magnet(4.0, True)
    assert found.backward[-1] is found.forward[-1]
    assert found.cut is None
    assert {progress.stage for progress in seen} == {"forward", "backward"}


def test_the_forward_pass_ends_before_the_branch_that_interpolates():
    found = annealed(one_by_one(solve), 8.0)
    assert found.strengths.tolist() == [-2.0, -0.5, 0.5, 2.0]
    assert "gamma = 2" in found.cut


def test_where_the_way_back_interpolates_the_forward_solution_takes_its_place():
    found = annealed(one_by_one(solve, lambda known, denser: Magnet(100.0, True)), 10.0)
    assert found.backward == found.forward


def test_a_path_of_both_branches_keeps_what_they_share_as_one_fit():
    found = annealed(one_by_one(solve), 10.0)
    nothing = np.zeros(0)
    scale = Scale(np.zeros(3), np.ones(3), 0.0, 1.0, np.zeros(0, int), nothing, np.zeros((0, 3)))

    def as_fit(one: Magnet) -> Fit:
        return Fit.uncertified(one.strength, np.zeros(0, int), nothing, nothing, 1.0)

    path = found.path(scale, 3, as_fit)
    assert path.strengths.tolist() == GRID.tolist()
    assert path.backward[-1] is path.forward[-1] is path.fits[-1]
    assert path.fits[2] is path.backward[2]
    assert path.kept.tolist() == found.kept.tolist()
    assert path.coefficients().shape == (5, 3)


def test_from_the_dense_side_the_way_back_passes_through_what_is_too_large():
    found = annealed(one_by_one(solve), 4.8, Control(reheat="dense"))
    assert found.strengths.tolist() == [-2.0, -0.5, 0.5]
    assert [one.up for one in found.forward] == [False, False, False]
    assert [one.up for one in found.backward] == [False, True, False]
    assert found.backward[2] is found.forward[2]


def test_the_dense_side_is_the_rest_of_a_grid_and_goes_on_to_even_odds():
    assert dense_side(np.array([-4.0, -3.0, -2.0]), 1).tolist() == [-3, -2, -1.25, -0.5, 0.0]
    assert dense_side(np.array([-4.0, 1.0]), 1).tolist() == [1.0]


@pytest.mark.parametrize("limit", [2.0, 4.8, 6.0, 8.0, 10.0])
@pytest.mark.parametrize("reheat", ["cut", "dense"])
def test_strengths_solved_several_at_a_time_give_the_path_of_those_solved_one_by_one(limit, reheat):
    control = Control(reheat=reheat)
    alone, ahead = annealed(one_by_one(solve), limit, control), annealed(in_pairs, limit, control)
    assert ahead == alone


def test_a_path_whose_first_solution_is_too_large_ends_there():
    found = annealed(one_by_one(lambda strength, start: Magnet(strength, True)), 2.0)
    assert found.forward == found.backward == (Magnet(-2.0, True),)
    assert "gamma = -2" in found.cut
