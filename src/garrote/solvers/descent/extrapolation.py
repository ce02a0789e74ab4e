"""Where a sequence of small steps is going: Anderson's extrapolation of a fixed-point iteration.

EM and its kin creep: each round leaves a nearly constant share of the error. From the last few rounds
one can tell the linear map behind that and jump to its fixed point (Anderson 1965; Walker & Ni 2011).
"""

import numpy as np

from garrote.arrays import Floats

# Plain rounds before the first jump, so that the iteration is near to what it creeps towards.
_PATIENCE = 8
# Rounds that a jump looks back on.
_MEMORY = 5


class Extrapolation:
    """Remembers points and their images; proposes the next point.

    A jump after which the iteration moves more than before has failed: plain rounds follow, twice as
    many each time, so that what converges by itself does so here as well.

    Parameters
    ----------
    patience : int
        Plain rounds before the first jump.
    measured : int, optional
        Compare rounds by so many leading numbers of a point; by default by all.
    memory : int
        Rounds that a jump looks back on.
    """

    def __init__(
        self, patience: int = _PATIENCE, measured: int | None = None, memory: int = _MEMORY
    ) -> None:
        self.patience, self.measured, self.memory = patience, slice(measured), memory
        self.points: list[Floats] = []
        self.changes: list[Floats] = []
        self.waited, self.jumped = 0, False

    def next(self, point: Floats, image: Floats) -> Floats:
        """Return where to go on from a point whose image is known: the image, or beyond it."""
        change, some = image - point, self.measured
        if self.jumped and np.linalg.norm(change[some]) > np.linalg.norm(self.changes[-1][some]):
            self.restart()
        self.points = [*self.points[-self.memory :], point]
        self.changes = [*self.changes[-self.memory :], change]
        self.waited += 1
        self.jumped = self.waited > self.patience
        if not self.jumped:
            return image
        steps = np.diff(self.points, axis=0).T
        differences = np.diff(self.changes, axis=0).T
        shares, *_ = np.linalg.lstsq(differences[some], change[some], rcond=1e-10)
        return np.asarray(image - (steps + differences) @ shares)

    def restart(self) -> None:
        """Forget what is past, as it tells nothing of what is to come: other variables are in."""
        if self.jumped:
            self.patience *= 2
        self.points, self.changes = [], []
        self.waited, self.jumped = 0, False
