"""Penalties: every scalar rule against brute force, every path against an independent answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from garrote.penalties import (
    HAL,
    L1,
    MCP,
    NEG,
    SCAD,
    BestSubset,
    Bridge,
    ElasticNet,
    LogSum,
    NormalGamma,
    NormalJeffreys,
    Ridge,
    Terms,
)
from garrote.shrinkage import cost, shrink

RULES = [
    *(L1(), ElasticNet(0.5), Ridge(), BestSubset()),
    *(MCP(), MCP(0.7), MCP(np.inf), SCAD(), SCAD(1.5), LogSum(), LogSum(2.0)),
    *(Bridge(b) for b in (0.1, 0.5, 0.9, 1.0, 1.2, 1.9, 2.0)),
]
MIXTURES = [HAL(1.0, 0.3), HAL(3.0, 2.0), NEG(0.5, 0.2), NEG(2.0, 1.0), NormalGamma(0.8, 1.0)]
UNBOUNDED = [NormalJeffreys(), NormalGamma(0.3, 0.5)]


def described(penalty):
    return f"{penalty.name}-{'-'.join(str(v) for v in vars(penalty).values())}"


def scalar_objective(rule, w, z, curvature):
    charged = np.array([cost(rule, 0, v) for v in np.atleast_1d(w)])
    return 0.5 * curvature * (np.atleast_1d(w) - z) ** 2 + charged


def candidates(z, lower, upper):
    """A grid that is fine everywhere and finer near 0, within the bounds."""
    reach = abs(z) + 1e-3
    grid = np.concatenate(
        [np.linspace(-reach, reach, 801), reach * np.geomspace(1e-6, 1, 100), [0.0, z]]
    )
    return np.unique(np.clip(grid, lower, upper))


@pytest.mark.parametrize("penalty", RULES + MIXTURES, ids=described)
@settings(max_examples=40, deadline=None)
@given(
    z=st.floats(-5, 5),
    curvature=st.floats(0.05, 3.0),
    strength=st.floats(0.01, 2.0),
    factor=st.sampled_from([0.0, 0.5, 1.0]),
    bounds=st.sampled_from([(-np.inf, np.inf), (0.0, np.inf), (-0.4, 0.3), (-np.inf, 1.0), (0.2, 2.0)]),
)  # fmt: skip
def test_every_rule_minimises_its_scalar_objective(penalty, z, curvature, strength, factor, bounds):
    rule = penalty.at(strength, Terms(*(np.array([v]) for v in (factor, *bounds))))
    found = shrink(rule, 0, z, curvature)
    assert bounds[0] <= found <= bounds[1]
    own = scalar_objective(rule, found, z, curvature)[0]
    others = scalar_objective(rule, candidates(z, *bounds), z, curvature)
    assert own <= others.min() + 1e-12 * (1 + abs(own))
