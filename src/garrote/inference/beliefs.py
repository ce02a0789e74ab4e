"""What is believed before seeing the data."""

from dataclasses import dataclass, replace

import numpy as np

from garrote.arrays import Floats
from garrote.priors.inclusion import Inclusion
from garrote.priors.single_effects import SingleEffects
from garrote.priors.slab import BIC, GaussianSlab, GPrior, Slab, largest_fitted
from garrote.problem import Problem
from garrote.solvers.models.model_chain import Target

# Models that fill this share of what BIC allows on average are crowded.
_CROWDED = 0.5
# Fewer rows than this are worth a word.
_FEW_ROWS = 10


@dataclass(frozen=True)
class Beliefs:
    """The priors of one analysis, and the rows that are left to it beside means and covariates.

    ``inclusion`` runs over the columns that have content of their own. ``effects``, where they are
    given, ask for a sum of single effects in place of the slab.
    """

    slab: Slab
    inclusion: Inclusion
    n: float
    effects: SingleEffects | None = None

    @classmethod
    def about(
        cls,
        problem: Problem,
        slab: Slab | None = None,
        inclusion: Inclusion | None = None,
        effects: SingleEffects | None = None,
    ) -> "Beliefs":
        """Take the priors given for one problem, or the default ones.

        By default the slab's variance is unknown and each variable is in with one shared probability
        ~ Beta(1, sqrt(D)).
        """
        n = rows_left(problem)
        usable = int(np.count_nonzero(problem.curvature > 0))
        if inclusion is None:
            inclusion = Inclusion.of_few(np.zeros(usable))
        if len(inclusion.log_odds) != usable:
            raise ValueError(
                f"the prior on inclusion has {len(inclusion.log_odds)} variables, but {usable} columns "
                "have content of their own"
            )
        if isinstance(slab, BIC | GPrior):  # whose penalty, or scale of g, counts all rows
            slab = replace(slab, spent=float(problem.n - n))
        if isinstance(slab, GaussianSlab):
            slab = slab.rescaled(problem.scale.response_scale)
        return cls(slab or GaussianSlab(), inclusion, n, effects)

    def target(self, problem: Problem, slab: Slab | None = None) -> Target:
        """Return the posterior to sample from; columns without content get a place and no odds."""
        log_odds = np.full(problem.n_features, -np.inf)
        log_odds[problem.curvature > 0] = self.inclusion.log_odds
        return Target(
            problem, slab or self.slab, replace(self.inclusion, log_odds=log_odds), self.n
        )

    def doubts(self, size_probability: Floats | None) -> tuple[str, ...]:
        """Say where the priors decide more than the data, or do not hold what they promise."""
        said = []
        if self.n < _FEW_ROWS:
            said.append(
                f"{self.n:g} rows are left beside means and covariates: that is few, and the prior "
                "decides much of what is stated"
            )
        most = largest_fitted(self.n)
        if isinstance(self.slab, BIC) and size_probability is not None:
            size = float(size_probability @ np.arange(len(size_probability)))
            if size > _CROWDED * most:
                said.append(
                    f"models have {size:.1f} variables on average, of at most {int(most)}: BIC supposes "
                    "many more rows than variables, and prefers to interpolate; a smaller inclusion or "
                    "expected_size or, for a Gaussian response, prior='spike-slab' does not"
                )
        return tuple(said)


def rows_left(problem: Problem) -> float:
    """Return the rows, by their weights, less those spent on means; raise where too few are left."""
    spent = problem.scale.intercept_count + len(problem.scale.covariates)
    if problem.n - spent <= 2:
        raise ValueError(
            f"{problem.n:g} rows are too few beside an intercept and "
            f"{len(problem.scale.covariates)} covariates: at least {spent + 3} are needed"
        )
    return problem.n - spent
