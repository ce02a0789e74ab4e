"""Solvers know penalties by the functions of `garrote.rules` alone."""

import ast
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import garrote
from garrote.penalties import GroupLasso, Terms
from garrote.penalties.groups.group_rule import GroupRule
from garrote.rules import Structure, restricted, structure, total_cost

SOLVERS = Path(garrote.__file__).parent / "solvers"
# The rooms whose loops are for any penalty.
ROOMS = ["algebra", "classical", "descent", "losses", "penalised"]


def imported(path):
    """Return the names that a module imports from penalties and priors, and modules without names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith(
            ("garrote.penalties", "garrote.priors")
        ):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("garrote."))


@pytest.mark.parametrize("room", ROOMS)
def test_no_solver_imports_a_rule_or_a_module_for_its_side_effect(room):
    names = {name for path in (SOLVERS / room).glob("*.py") for name in imported(path)}
    assert {name for name in names if name.endswith("Rule") or "." in name} == set()


class OtherGroups(NamedTuple):
    """The arrays of a rule of groups, by another class."""

    group: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    weight: np.ndarray
    threshold: np.ndarray
    flat: bool


def test_a_structure_is_what_a_rule_says_of_itself():
    rule = GroupLasso([0, 0, 1]).at(1.0, Terms.equal(3))
    assert structure(rule) is Structure.GROUPS
    assert structure(OtherGroups(*rule)) is Structure.SEPARATE
    structure.register(OtherGroups)(lambda rule: Structure.GROUPS)
    assert structure(OtherGroups(*rule)) is Structure.GROUPS


def test_the_rule_of_some_columns_charges_what_the_whole_rule_charges_for_them():
    rule = GroupLasso([0, 1, 0, 1, 2], l1_ratio=0.3).at(0.7, Terms.equal(5))
    columns, coef = np.array([1, 3, 4]), np.array([0.5, -2.0, 1.5])
    some = restricted(rule, columns)
    assert isinstance(some, GroupRule)
    assert total_cost(some, np.arange(3), coef) == pytest.approx(total_cost(rule, columns, coef))
