"""What is believed before seeing the data."""

from dataclasses import dataclass, replace

import numpy as np

from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import GaussianSlab, GPrior
from garrote.problem import Problem
from garrote.solvers.model_chain import Target


@dataclass(frozen=True)
class Beliefs:
    """The priors of one analysis, and the rows that are left to it beside means and covariates.

    ``inclusion`` runs over the columns that have content of their own.
    """

    slab: GaussianSlab | GPrior
    inclusion: Inclusion
    n: float

    @classmethod
    def about(
        cls,
        problem: Problem,
        slab: GaussianSlab | GPrior | None = None,
        inclusion: Inclusion | None = None,
    ) -> "Beliefs":
        """Take the priors given for one problem, or the default ones.

        By default the slab's variance is unknown and each variable is in with one shared probability
        ~ Beta(1, sqrt(D)).
        """
        spent = problem.scale.intercept_count + len(problem.scale.covariates)
        n = problem.n - spent
        if n <= 2:
            raise ValueError(
                f"{problem.n:g} rows are too few beside an intercept and "
                f"{len(problem.scale.covariates)} covariates: at least {spent + 3} are needed"
            )
        usable = int(np.count_nonzero(problem.curvature > 0))
        if inclusion is None:
            inclusion = Inclusion.of_few(np.zeros(usable))
        if len(inclusion.log_odds) != usable:
            raise ValueError(
                f"the prior on inclusion has {len(inclusion.log_odds)} variables, but {usable} columns "
                "have content of their own"
            )
        return cls(slab or GaussianSlab(), inclusion, n)

    def target(self, problem: Problem, slab: GaussianSlab | GPrior | None = None) -> Target:
        """Return the posterior to sample from; columns without content get a place and no odds."""
        log_odds = np.full(problem.n_features, -np.inf)
        log_odds[problem.curvature > 0] = self.inclusion.log_odds
        return Target(
            problem, slab or self.slab, replace(self.inclusion, log_odds=log_odds), self.n
        )
