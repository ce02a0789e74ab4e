"""What a way to a posterior is given, and what it hands back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from garrote.inference.beliefs import Beliefs
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.path import Path
from garrote.results.posterior import Posterior
from garrote.solvers.control import Control, Progress
from garrote.summaries import Shown


@dataclass(frozen=True)
class Task:
    """One analysis: the data, what is believed of them, and how to go about it."""

    problem: Problem
    beliefs: Beliefs
    names: tuple[str, ...]
    n_jobs: int | None = None
    seed: Any = None
    callback: Callable[[Progress], None] | None = None

    @property
    def prior(self) -> Any:
        """The prior of coefficients, in the units of the problem."""
        return self.beliefs.prior

    @property
    def usable(self) -> int:
        """How many columns may be in or out."""
        return len(self.problem.usable)

    def control(self, tol: float = 1e-4, max_iter: int = 10_000) -> Control:
        """Return when to stop, with whom to tell."""
        return Control(tol, max_iter, self.callback)

    def reporter(self, stage: str) -> Callable[[int, int], None] | None:
        """Return what tells the callback how much of a stage is done."""
        callback = self.callback
        if callback is None:
            return None
        return lambda done, total: callback(Progress(stage, done, total))


@dataclass(frozen=True, repr=False)
class Inferred(Shown):
    """A posterior, its certificate, the method that was used and how, in words.

    ``notes`` say what to be careful about, ``cautions`` what deserves a warning besides; ``converged``
    tells whether every solution behind it reached the tolerance asked for; ``path`` has both branches
    where a prior was annealed; ``steps`` are those of a chain, or of a search, that count.
    """

    posterior: Posterior
    certificate: Certificate
    method: str
    how: str
    converged: bool = True
    path: Path | None = None
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    steps: int = 0
