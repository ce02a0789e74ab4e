"""Paths of penalised fits: working sets, screening, and a check of all columns at every strength.

Columns that may matter at the next strengths join the working set: those whose gradient, if it goes on
as it did before, will be large enough; or those of the sequential strong rule (Tibshirani et al. 2012).
The working set is solved for these strengths; one product with X then gives the gradients of all columns
for all of them. Columns that violate their optimality join, until none does.
"""

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms
from garrote.results.certificates import Certificate
from garrote.results.fit import PenaltyFit
from garrote.rules import Evaluated, bounds, companions, restricted, total_cost, violation
from garrote.solvers.control import Control
from garrote.solvers.descent.optimality import certify
from garrote.solvers.lockstep import Waiting, finish
from garrote.solvers.penalised.idle_columns import let_go
from garrote.solvers.penalised.minimising import sharpness

# Working sets are not solved beyond what numbers can tell, as a share of the null model's gradient.
_LEAST = 1e-13
# How often they are solved more tightly where the certificate is too large, and to what share at most:
# below it violations are rounding, and no number of rounds would end them.
_AGAIN, _ROUNDING = 5, 1e-15
# Strengths that are solved before all columns are looked at, at most.
_FARTHEST = 8
# A column is expected in the model where its gradient comes this close to what the penalty asks for.
_MARGIN = 0.05
# Where working sets are solved to this share of the tolerance, or less exactly, sweeps are what they
# cost, and no more are made than the gap asks for. Violations may be so many times larger, at most, and
# at most this share of the strength. What a gap is expected to be is so much of what it may be.
_LOOSE, _MOST_SPARE, _MOST_OFF, _SAFE = 0.1, 30.0, 0.05, 0.7
# With more passes than this a look ahead was too far.
_MANY_PASSES = 2
# Below this share of the null model's loss a path may end soon.
_NEAR_THE_END = 0.05
# Columns that join a working set at once, at most; or twice as many as are in the model.
_FEWEST_TAKEN = 500


class FittedLoss(Protocol):
    """Coefficients of some columns, and the intercept beside them (or one for each class)."""

    coef: Floats
    intercept: Any

    @property
    def columns(self) -> Array:
        """The columns that the coefficients belong to."""

    @property
    def null(self) -> Evaluated:
        """The fit without any column."""


class Smooth(FittedLoss, Protocol):
    """A loss on a growing working set, whose columns are in order of their coming."""

    curvature: Floats
    # Whether it is solved by rounds that are fewer the nearer the start is.
    wants_start: bool

    @property
    def inside(self) -> Array:
        """Which columns are in it."""

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set, with coefficients of 0."""

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""


class Trial:
    """A strength that is being solved: its rule and accuracy, and how far that has come."""

    def __init__(self, strength: float, rule: Any, tolerance: float):
        self.strength, self.rule, self.tolerance = strength, rule, tolerance
        self.rounds = self.tightened = 0
        self._coef: Floats | None = None
        self._intercept: Any = None
        self.seen: Evaluated
        self.point: PenaltyFit

    def solve(self, smooth: Smooth, max_iter: int) -> Waiting:
        """Solve on the working set, and begin to look at all columns.

        The first time it starts from where the loss is, which is the solution of another strength.
        """
        if self._coef is not None:
            smooth.coef[:] = 0.0
            smooth.coef[: len(self._coef)] = self._coef
            smooth.intercept = self._intercept
        rule = restricted(self.rule, smooth.columns)
        self.rounds += 1 + smooth.solve(rule, self.tolerance, max_iter - self.rounds)
        looking = Waiting(smooth.evaluate())
        # Copies: the solver goes on with its own.
        self._coef, self._intercept = smooth.coef.copy(), np.copy(smooth.intercept)[()]
        return looking

    def start_beyond(self, smooth: Smooth, last: "Trial", earlier: "Trial") -> None:
        """Have the loss start where a path from two stronger penalties, if it were straight, would lead.

        Straight over logarithms of strengths: nearly separated classes let coefficients grow like these.
        What is 0 stays so, what would pass 0 ends there, and none goes farther than it came.
        """
        assert last._coef is not None
        assert earlier._coef is not None
        if not 0 < self.strength < last.strength < earlier.strength:
            return
        share = np.log(last.strength / self.strength) / np.log(earlier.strength / last.strength)
        share = min(float(share), 1.0)
        coef, before = np.zeros((2, len(smooth.coef)))
        coef[: len(last._coef)] = last._coef
        before[: len(earlier._coef)] = earlier._coef
        there = coef + share * (coef - before)
        there[there * coef <= 0] = 0.0
        smooth.coef[:] = np.clip(there, *bounds(self.rule, smooth.columns))
        smooth.intercept = last._intercept + share * (last._intercept - earlier._intercept)

    def certify(self, smooth: Smooth, seen: Evaluated) -> None:
        """Take note of how good the solution is, given what was seen of it."""
        assert self._coef is not None
        used = np.flatnonzero(self._coef)
        columns, coef = smooth.columns[used], self._coef[used]
        certificate = certify(self.rule, columns, coef, seen, smooth.curvature, smooth.null)
        self.seen, self.point = seen, PenaltyFit(
            self.strength, columns, coef, self._intercept, seen.loss, certificate, self.rounds
        )  # fmt: skip

    def may_tighten(self, least: float) -> bool:
        """Tell whether a tenth of the tolerance can be reached, and was not asked for too often."""
        return self.tightened < _AGAIN and 0.1 * self.tolerance >= least

    def violations(self, smooth: Smooth) -> Floats:
        """Return by how much columns violate their optimality, 0 where that is tolerable."""
        assert self._coef is not None
        coef = np.zeros(len(smooth.curvature))
        coef[smooth.columns[: len(self._coef)]] = self._coef
        off = violation(self.rule, self.seen.gradient, coef, smooth.curvature)
        return np.where(off > self.tolerance, off, 0.0)


class Progression(NamedTuple):
    """The gradient of all columns at the last strength, and how it changed on the way there."""

    strength: float
    gradient: Floats
    trend: Floats | None

    @classmethod
    def after(cls, points: Sequence[tuple[float, Evaluated]]) -> "Progression":
        """Return what the last of some points, and the one before it, tell."""
        strength, seen = points[-1]
        trend = None
        if len(points) > 1:
            (start, before), fall = points[-2], strength - points[-2][0]
            trend = (seen.gradient - before.gradient) / fall if np.isfinite(start) else None
        return cls(strength, seen.gradient, trend)

    def expected(self, strength: float) -> Floats:
        """Return the gradient at another strength, if it goes on like this."""
        if self.trend is None:
            return self.gradient
        return self.gradient + self.trend * (strength - self.strength)


def solve_path(
    smooth: Smooth,
    penalty: Penalty,
    strengths: Floats,
    terms: Terms,
    control: Control,
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve for descending strengths, each from the solution before.

    Several of them are solved before all columns are looked at, in one pass for all of them. Yields
    vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    known: list[tuple[float, Evaluated]] = [(np.inf, smooth.null)]
    remembered = 2 if penalty.convex else 1  # concave penalties have jumps, and no trend
    points: list[PenaltyFit] = []
    ahead, behind, spare = 1, list[Trial](), 1.0
    while len(points) < len(strengths):
        following = strengths[len(points) : len(points) + ahead]
        rule, off = _expected(smooth, penalty, terms, Progression.after(known), following)
        if not penalty.convex:
            let_go(smooth, off > 0)
        smooth.grow(_joining(smooth, rule, off))
        trials = [_trial(smooth, penalty, float(s), terms, control, spare) for s in following]
        passes = yield from _solve_trials(smooth, trials, control, behind)
        behind = [*behind, *trials][-2:]
        for trial in trials:
            points.append(trial.point)
            control.report("path", len(points), len(strengths))
            if explains_enough(smooth, trial.point, control):
                return points
        known = [known[-1], *((trial.strength, trial.seen) for trial in trials)][-remembered:]
        ahead = _next_ahead(smooth, penalty, ahead, passes, points[-1], control)
        spare = _spare(smooth, trials[-1])
    return points


def _trial(
    smooth: Smooth, penalty: Penalty, strength: float, terms: Terms, control: Control, spare: float
) -> Trial:
    rule = penalty.at(strength, terms)
    share = max(sharpness(rule), control.sharpness)
    if share >= _LOOSE:
        share = max(share, min(share * spare, _MOST_OFF / control.tol))
    return Trial(strength, rule, tolerance_at(smooth, strength, control, share))


def _spare(smooth: Smooth, trial: Trial) -> float:
    """Return how many times looser than by its strength a fit may be solved, given the one before it.

    To first order violations of v make a gap of v / strength times what the penalty charges, which may
    be far less than the null model's loss, by which gaps are measured.
    """
    charged = total_cost(trial.rule, trial.point.columns, trial.point.coef)
    return float(np.clip(_SAFE * smooth.null.loss / max(charged, 1e-300), 1.0, _MOST_SPARE))


def _solve_trials(
    smooth: Smooth, trials: list[Trial], control: Control, behind: Sequence[Trial]
) -> Generator[Floats, Floats, int]:
    """Solve for some strengths, the next from the ones before; return the passes over X it took.

    ``behind`` are the ones that were solved last.
    """
    looking = []
    for trial in trials:
        if smooth.wants_start and len(behind) == 2:
            trial.start_beyond(smooth, behind[1], behind[0])
        looking.append(trial.solve(smooth, control.max_iter))
        behind = [*behind, trial][-2:]
    pending, passes = trials, 0
    least = _ROUNDING * float(np.abs(smooth.null.gradient).max(initial=0.0))
    while pending:
        seen = yield from finish(looking)
        passes += 1
        unsolved, off = [], np.zeros(len(smooth.curvature))
        for trial, each in zip(pending, seen, strict=True):
            trial.certify(smooth, each)
            if trial.rounds >= control.max_iter:
                continue
            violating = trial.violations(smooth)
            if len(_joining(smooth, trial.rule, violating)):
                np.maximum(off, violating, out=off)
                unsolved.append(trial)
            elif trial.point.certificate.value > control.tol and trial.may_tighten(least):
                trial.tightened += 1
                trial.tolerance *= 0.1
                unsolved.append(trial)
        if unsolved:
            smooth.grow(_joining(smooth, unsolved[-1].rule, off))
        pending = unsolved
        looking = [trial.solve(smooth, control.max_iter) for trial in pending]
    return passes


def _next_ahead(
    smooth: Smooth, penalty: Penalty, ahead: int, passes: int, last: PenaltyFit, control: Control
) -> int:
    """Return how many strengths to solve before all columns are looked at again."""
    if not penalty.convex:
        return 1  # which optimum is found depends on the way there
    if control.stop_at is not None and last.loss < _NEAR_THE_END * smooth.null.loss:
        return 1  # the next one may be the last
    return max(1, ahead // 2) if passes > _MANY_PASSES else min(_FARTHEST, 2 * ahead)


def explains_enough(smooth: FittedLoss, point: PenaltyFit, control: Control) -> bool:
    """Tell whether a path may end here: where it has come near to the data, or is large enough."""
    if control.most is not None and len(point.columns) > control.most:
        return True
    if control.stop_at is None:
        return False
    return point.loss <= (1.0 - control.stop_at) * smooth.null.loss


def tolerance_at(smooth: Smooth, strength: float, control: Control, share: float = 1e-3) -> float:
    """Return how far a coefficient's optimality may be violated, in units of gradients.

    It is a ``share`` of the tolerance on the duality gap, of what the strength allows.
    """
    largest = float(np.abs(smooth.null.gradient).max(initial=0.0))
    return max(control.tol * share * min(strength, largest), _LEAST * largest)


def solve_at(
    smooth: Smooth, rule: Any, tolerance: float, max_iter: int
) -> Generator[Floats, Floats, tuple[Evaluated, int]]:
    """Solve for one rule, from the present coefficients; return the fit as seen, and the rounds."""
    trial = Trial(np.nan, rule, tolerance)
    while True:
        (trial.seen,) = yield from finish([trial.solve(smooth, max_iter)])
        violating = _joining(smooth, rule, trial.violations(smooth))
        if not len(violating) or trial.rounds >= max_iter:
            return trial.seen, trial.rounds
        smooth.grow(violating)


def certified(
    smooth: Smooth, rule: Any, strength: float, seen: Evaluated, rounds: int
) -> PenaltyFit:
    """Return the present coefficients as the solution at one strength, with their certificate."""
    certificate = certify(rule, *_model(smooth), seen, smooth.curvature, smooth.null)
    return solved(smooth, strength, seen.loss, certificate, rounds)


def solved(
    smooth: FittedLoss,
    strength: float,
    loss: float,
    certificate: Certificate,
    rounds: int,
) -> PenaltyFit:
    """Return the present coefficients as the solution at one strength."""
    # A copy: intercepts of several classes are an array that the solver goes on with.
    intercept = np.copy(smooth.intercept)[()]
    return PenaltyFit(float(strength), *_model(smooth), intercept, loss, certificate, rounds)


def _model(smooth: FittedLoss) -> tuple[Array, Floats]:
    used = np.flatnonzero(smooth.coef)
    return smooth.columns[used], smooth.coef[used]


def _expected(
    smooth: Smooth, penalty: Penalty, terms: Terms, last: Progression, following: Floats
) -> tuple[Any, Floats]:
    """Return by how much columns are expected to violate a coefficient of 0 at the next strengths.

    Where that is not 0, a column may be in the model there. With it comes the last strength's rule.
    """
    ends = [float(following[0]), float(following[-1])]
    if last.trend is not None:
        thresholds = [(1.0 - _MARGIN) * strength for strength in ends]
    elif np.isinf(last.strength):
        thresholds = ends
    else:  # no gradient grows faster than strengths fall, says the strong rule
        thresholds = [max(2 * strength - last.strength, 0.0) for strength in ends]
    nothing = np.zeros(len(last.gradient))
    off = nothing
    for strength, threshold in zip(ends, thresholds, strict=True):
        rule = penalty.at(threshold, terms)
        expected = violation(rule, last.expected(strength), nothing, smooth.curvature)
        off = np.maximum(off, expected)
    return rule, off


def _joining(smooth: Smooth, rule: Any, off: Floats) -> Array:
    """Return columns that join the working set: violating ones, and those that come with them."""
    columns = companions(rule, foremost(smooth, off))
    return columns[~smooth.inside[columns]]


def foremost(smooth: Smooth, off: Floats) -> Array:
    """Return columns outside of the working set that violate their optimality, most of all if many.

    From a much stronger penalty nearly all columns of a wide table do, and few of them will stay.
    """
    outside = np.flatnonzero((off > 0) & ~smooth.inside)
    most = max(_FEWEST_TAKEN, 2 * int(np.count_nonzero(smooth.coef)))
    if len(outside) > most:
        outside = outside[np.argpartition(-off[outside], most)[:most]]
    return np.sort(outside)


def everywhere(smooth: Smooth) -> Floats:
    """Return the present coefficients of all columns."""
    coef = np.zeros(len(smooth.curvature))
    coef[smooth.columns] = smooth.coef
    return coef
