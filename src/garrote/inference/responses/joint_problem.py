"""The data of several responses over one table: a problem each, and cross products between them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.solvers.responses.joint_evidence import JointMoments

# Tables of more columns than this have no matrix of cross products at hand.
MOST_COLUMNS = 6000


@dataclass(frozen=True)
class JointProblem:
    """Several responses, each in its own standard deviations, over the same standardised columns.

    ``problems`` has one for each, ``rows`` are those left beside means and covariates.
    """

    problems: tuple[Problem, ...]
    names: tuple[str, ...]
    rows: float

    @classmethod
    def of(cls, problems: tuple[Problem, ...], names: tuple[str, ...]) -> "JointProblem":
        """Check that there are rows for all responses."""
        first = problems[0]
        spent = first.scale.intercept_count + len(first.scale.covariates)
        rows = first.n - spent
        if rows < 2 * len(problems) + 2:
            raise ValueError(
                f"{rows:g} rows are left beside means and covariates, which is too few for the noise of "
                f"{len(problems)} responses: at least {2 * len(problems) + 2} are needed"
            )
        constant = [name for name, one in zip(names, problems, strict=True) if one.yty <= 0]
        if constant:
            raise ValueError(
                f"response {constant[0]!r} is constant, or explained by the covariates: leave it out"
            )
        if len(first.usable) > MOST_COLUMNS:
            raise ValueError(
                f"several responses take {MOST_COLUMNS:,} columns at most that may be in or out, got "
                f"{len(first.usable):,}: fit windows of columns, or one response at a time"
            )
        return cls(problems, names, float(rows))

    @property
    def first(self) -> Problem:
        """The problem of the first response: columns are the same in all."""
        return self.problems[0]

    @property
    def usable(self) -> Array:
        """The columns that may be in or out."""
        return self.first.usable

    @property
    def yty(self) -> Floats:
        """Cross products of the responses, covariates projected out."""
        rows = np.array([problem.response for problem in self.problems])
        products = (rows * self.first.weights) @ rows.T
        rank = np.linalg.matrix_rank(products, hermitian=True)
        if rank < len(rows):
            raise ValueError(
                f"the {len(rows)} responses are {rank} alone, others being combinations of these: leave "
                "those out"
            )
        return np.asarray(products)

    @property
    def moments(self) -> JointMoments:
        """The cross products of the usable columns and of the responses."""
        usable = self.usable
        xty = np.column_stack([problem.xty[usable] for problem in self.problems])
        gram = np.ascontiguousarray(self.first.known_block(usable))
        return JointMoments(gram, np.ascontiguousarray(xty), self.yty, self.rows)

    @property
    def units(self) -> Floats:
        """The standard deviations that responses are in."""
        return np.array([problem.scale.response_scale for problem in self.problems])


def as_sets(law: Any, usable: Array, count: int) -> InclusionOfGroups:
    """Return a law over columns as one over sets of them; refuse groups that are in together."""
    if isinstance(law, InclusionOfGroups):
        if not law.are_single:
            raise ValueError(
                "several responses share columns one by one, and not in groups that are in together: "
                "take a law over columns, such as TwoLevelInclusion"
            )
        return law
    assert isinstance(law, Inclusion)
    of_column = np.full(count, -1)
    of_column[usable] = np.arange(len(usable))
    nobody = (np.zeros(0, dtype=np.intp),) * len(usable)
    groups = ColumnGroups.of_numbers(np.arange(count))
    return InclusionOfGroups(law, of_column, nobody, groups, usable)
