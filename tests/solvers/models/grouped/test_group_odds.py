"""Gains of groups that come, leave or are exchanged, read from a factor: as evidences from scratch."""

import numpy as np
import pytest

from garrote import Problem
from garrote.inference.beliefs import Beliefs
from garrote.inference.grouped.rotation import RotatedGroups
from garrote.inference.grouped.sampled import flat_target
from garrote.priors import GaussianSlab, GPrior, GroupedInclusion
from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.models.grouped.group_odds import (
    gain_of_coming,
    gain_of_leaving,
    gain_of_swap,
)
from garrote.solvers.models.grouped.group_sets import allowed_sets, as_models, count_sets
from garrote.solvers.models.grouped.group_walk import GroupWalk
from garrote.solvers.models.grouped.summed_models import Moments, weigh_models
from word_columns import make_table

NOBODY = np.zeros(0, np.int64), np.zeros(0, np.int64)


@pytest.mark.parametrize("prior", [GaussianSlab(0.5), GPrior(20.0)])
def test_gains_equal_differences_of_evidences(prior):
    X, y, groups = make_table(0)
    problem = Problem.from_rows(X, y)
    law = GroupedInclusion(groups).over(problem.usable, 8)
    groups = RotatedGroups.of(problem, law)
    beliefs = Beliefs.about(groups.problem, prior, groups.after)
    walk = GroupWalk(
        flat_target(groups.problem, beliefs), np.random.default_rng(0), None, law, NOBODY
    )

    def evidence(inside):
        models = as_models(law, np.isin(np.arange(5), list(inside))[None])
        data = Moments(groups.problem.whole_gram(), groups.problem.xty, groups.problem.yty)
        return weigh_models(walk.rule, data, models)[0]

    walk.begin([j for g in (1, 0, 3) for j in law.columns(g)])
    now, k = evidence({0, 1, 3}), len(walk.members)
    invert_root(walk.factor.root, walk.inverse, k)
    beside = walk.factor, walk.rule, walk.table
    for g in (2, 4):
        assert gain_of_coming(*beside, g, k) == pytest.approx(evidence({0, 1, 3, g}) - now)
    for g in (0, 1, 3):
        left = evidence({0, 1, 3} - {g}) - now
        assert gain_of_leaving(*beside, g, k, walk.inverse) == pytest.approx(left)
        for j in (2, 4):
            there = evidence({0, 1, 3, j} - {g}) - now
            assert gain_of_swap(*beside, g, j, k, walk.inverse) == pytest.approx(there)


def test_sets_without_parents_are_not_listed():
    law = GroupedInclusion([0, 1, 2, 2], parents={0: [1, 2]}).over(np.arange(4), 4)
    assert {tuple(map(int, row)) for row in allowed_sets(law)} == {
        (0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1),
    }  # fmt: skip
    assert count_sets(law, 100) == 5
    assert as_models(law, allowed_sets(law))[-1] == (0, 1, 2, 3)
