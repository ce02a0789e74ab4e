"""What is believed before seeing the data of one problem."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.priors.base import Slab
from garrote.priors.inclusion import BetaInclusion, Inclusion, InclusionLaw
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.solvers.models.model_chain import Target

# Fewer rows than this are worth a word.
_FEW_ROWS = 10


@dataclass(frozen=True)
class Beliefs:
    """The priors of one analysis in the units of its problem, and the rows that are left to it.

    ``prior`` is one of `garrote.priors`, ``inclusion`` runs over the columns that have content of their
    own (an `Inclusion`), or over groups of them (an `InclusionOfGroups`). ``n`` are the rows, by their
    weights, less those ``spent`` on means and covariates.
    """

    prior: Any
    inclusion: Any
    n: float
    spent: float = 0.0

    @classmethod
    def about(
        cls,
        problem: Problem,
        prior: Any = None,
        inclusion: InclusionLaw | Inclusion | None = None,
    ) -> "Beliefs":
        """Take the priors given for one problem, or the default ones.

        By default the slab's variance is unknown and each variable is in with one shared probability
        ~ Beta(1, sqrt(D)).
        """
        spent = problem.scale.intercept_count + len(problem.scale.covariates)
        made = (inclusion or BetaInclusion()).over(problem.usable, problem.n_features)
        if isinstance(made, Inclusion) and len(made.log_odds) != len(problem.usable):
            raise ValueError(
                f"the prior on inclusion has {len(made.log_odds)} variables, but "
                f"{len(problem.usable)} columns have content of their own"
            )
        prior = (prior or GaussianSlab()).in_unit(problem.scale.response_scale)
        return cls(prior, made, rows_left(problem), float(spent))

    def target(self, problem: Problem, slab: Slab | None = None) -> Target:
        """Return the posterior to sample from; columns without content get a place and no odds."""
        log_odds = np.full(problem.n_features, -np.inf)
        log_odds[problem.curvature > 0] = self.inclusion.log_odds
        everywhere = replace(self.inclusion, log_odds=log_odds)
        return Target(problem, slab or self.prior, everywhere, self.n, self.spent)

    def rule(self, problem: Problem, most: int, slab: Slab | None = None) -> Any:
        """Return the marginal likelihood of models of at most so many variables, as a rule."""
        return (slab or self.prior).rule(self.n, problem.yty, most, self.spent)

    def offsets(self, problem: Problem) -> Floats:
        """Return the variables' own log odds for all columns, 0 for those without content."""
        offsets = np.zeros(problem.n_features)
        offsets[problem.usable] = self.inclusion.log_odds
        return offsets

    def doubts(self, size_probability: Floats | None) -> tuple[str, ...]:
        """Say where the priors decide more than the data, or do not hold what they promise."""
        said: tuple[str, ...] = ()
        if self.n < _FEW_ROWS:
            said = (
                f"{self.n:g} rows are left beside means and covariates: that is few, and the prior "
                "decides much of what is stated",
            )
        return (*said, *self.prior.doubts(self.n, size_probability))


def rows_left(problem: Problem) -> float:
    """Return the rows, by their weights, less those spent on means; raise where too few are left."""
    spent = problem.scale.intercept_count + len(problem.scale.covariates)
    if problem.counted - spent <= 2:
        what = "events" if problem.likelihood.of_times else "rows"
        raise ValueError(
            f"{problem.counted:g} {what} are too few beside an intercept and "
            f"{len(problem.scale.covariates)} covariates: at least {spent + 3} are needed"
        )
    return problem.counted - spent
