"""Annealing and reheating by coordinate sweeps, with few passes over X.

Kappen & Gomez (2014), Algorithm 1, by the sequential updates that their discussion proposes: forward
over gamma, then backward. Three things make it fast.

* Where outsiders do not matter, several gammas are solved ahead on the working set before all columns
  are checked, and the checks share one product with X. The first gamma at which an outsider wants to
  come in is where the path is taken up again.
* Where they do (near the dense end), several gammas are solved on all columns together. A gamma at
  which that fails, or to which annealing would not lead, is solved alone, outsiders being swept too.
* Where the working set alone, started from the next denser solution, converges to a solution again, so
  does the whole: reheating takes that solution over, and is solved only where it goes another way.

All solutions are certified together, by two products with X for many gammas; those that fail are
iterated further.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import numpy as np

from garrote.arrays import Floats
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.solvers.annealing import Accept, Annealed, anneal
from garrote.solvers.control import Control, evaluate_solutions, residuals, same_solution
from garrote.solvers.garrote.certificate import certify
from garrote.solvers.garrote.gamma_batches import approaches, converge_together
from garrote.solvers.garrote.relaxation import Relaxation
from garrote.solvers.garrote.sweeps import State

# Gammas solved ahead of a check, or together, at most and at least: one product with X for eight of them
# costs little more than for one.
_AHEAD, _FEWEST = 16, 8
# Gammas solved together at first on the way back, where a known solution may soon be met.
_BACK = 4
# Rounds in which annealing must come near to a solution that was found together with others.
_ROUNDS = 4
# When a certificate fails the solution is iterated further, each time so much tighter ...
_TIGHTER = 0.3
# ... down to what rounding allows.
_TIGHTEST = 1e-13

# A solution, and its residuals where there are rows.
FitAndResidual = tuple[Fit, Floats | None]


def anneal_by_sweeps(
    problem: Problem, prior: SpikeTerms, gammas: Floats, control: Control
) -> Generator[Floats, Floats, Annealed[Fit]]:
    """Solve the path in both directions and certify it; yields the products with X that it needs."""
    annealer = Annealer(problem, prior, control)
    found = yield from annealer.trace(gammas)
    return (yield from annealer.certified_branches(found))


class Annealer:
    """Solves on ``compressed`` data, moments where these are smaller; certifies on the data."""

    def __init__(
        self, data: Problem, prior: SpikeTerms, control: Control, compressed: Problem | None = None
    ):
        self.data, self.prior, self.control = data, prior, control
        self.problem = data.compressed() if compressed is None else compressed
        self.relaxation = Relaxation(self.problem, prior, control.tol, control.max_iter)
        self.working = self.relaxation.working
        # Solutions from which reheating leads back to the one before them, by the gamma of that.
        self._leads_back: dict[float, Fit] = {}

    def trace(self, gammas: Floats) -> Generator[Floats, Floats, Annealed[Fit]]:
        """Solve both directions, uncertified; where they agree the solution is one object."""
        nothing = np.zeros(0)
        noise = 1.0 / self.prior.first_precision(self.data.response_variance)
        empty = Fit.uncertified(gammas[0], np.zeros(0, np.intp), nothing, nothing, noise)
        return anneal(self.follow, gammas, self.data.most_variables, empty, self.control)

    def follow(
        self, gammas: Floats, start: Fit, accept: Accept[Fit], known: Sequence[Fit]
    ) -> Generator[Floats, Floats, None]:
        """Solve gammas in a row, several at a time; see `anneal`. Ends where a known one is met."""
        if known and self._leads_back.get(known[0].strength) is start:
            accept(known[0])
            return
        done, last, ahead, together = 0, start, _FEWEST, _BACK if known else _AHEAD
        state = self._with_outsiders(start)
        before: FitAndResidual | None = None
        while done < len(gammas):
            if state is None:
                batch = gammas[done : done + ahead]
                solved, last, state = yield from self._solve_ahead(batch, last)
                ahead = min(2 * ahead, _AHEAD) if len(solved) == len(batch) else _FEWEST
            else:
                batch = gammas[done : done + together]
                near = known[done] if known else None
                solved, last, state = yield from self._solve_together(batch, last, state, near)
                together = min(2 * together, _AHEAD) if len(solved) == len(batch) else 1
            for fit, residual in solved:
                if known and self._is_known(known[done], fit):
                    accept(known[done])
                    return
                if not accept(fit):
                    return
                if not known and before is not None and self._leads_to(fit, *before):
                    self._leads_back[before[0].strength] = fit
                done += 1
                before = fit, residual

    def _is_known(self, known: Fit, point: Fit, residual: Floats | None = None) -> bool:
        """Tell whether a point is a known solution, or on the way to it."""
        same = same_solution(known, point, self.problem, self.control.tol)
        return same or self._leads_to(point, known, residual)

    def _leads_to(self, start: Fit, known: Fit, residual: Floats | None = None) -> bool:
        """Tell whether sweeps lead to a known solution from one with the same variables selected.

        ``residual`` is that of the known one, computed where it is not given.
        """
        if not np.array_equal(start.selected, known.selected):
            return False
        if residual is None and self.problem.has_rows:
            residual = residuals(self.problem, [known])[0]
        return self.relaxation.leads_to(known, residual, start, self.control.tol)

    def _solve_ahead(
        self, gammas: Floats, start: Fit
    ) -> Generator[Floats, Floats, tuple[list[FitAndResidual], Fit, State | None]]:
        """Solve gammas on the working set and check them together.

        Returns those that stand, where to go on from, and, once outsiders matter, a full state.
        """
        coef = self.relaxation.on_working_set(start.columns, start.coef)
        precision = start.precision
        trials = []
        for gamma in gammas:
            trials.append(self.relaxation.inside(gamma, coef, precision, self.control.tol))
            coef, precision = trials[-1].coef, trials[-1].precision
        stacked = np.column_stack([trial.coef for trial in trials])
        fitted = self.working.fitted_by(stacked) if self.problem.has_rows else None
        _, gradients = yield from self.problem.evaluate(self.working.columns, stacked, fitted)
        solved: list[FitAndResidual] = []
        last = start
        for k, (trial, gradient) in enumerate(zip(trials, gradients, strict=True)):
            state = self.relaxation.spread(trial, gradient)
            last = self.relaxation.solution(state, self.control.tol)
            if self.relaxation.screening.admit(state):
                return solved, last, None
            if self.relaxation.screening.outsiders_noticed(state):
                left = residuals(self.problem, [last])[0]
                return solved, last, self.relaxation.resume(last, left, state.target)
            residual = None if fitted is None else self.problem.response - fitted[:, k]
            solved.append((last, residual))
        return solved, last, None

    def _solve_together(
        self, gammas: Floats, start: Fit, state: State, known: Fit | None
    ) -> Generator[Floats, Floats, tuple[list[FitAndResidual], Fit, State | None]]:
        """Solve gammas on all columns together, as far as each leads to the next; else the first alone.

        Returns the solutions, the last of them, and its state where outsiders still matter. Ends where
        the first is on the way to a ``known`` solution.
        """
        relaxation, tol = self.relaxation, self.control.tol
        solved: list[FitAndResidual] = []
        if known is not None and (
            yield from approaches(relaxation, state, known.strength, self._near(known), 1)
        ):
            return [(known, None)], known, state
        begin = [state._replace(gamma=float(gamma), sweeps=0) for gamma in gammas]
        found = []
        if len(gammas) > 1:
            found = yield from converge_together(relaxation, begin, chained=True)
        last = start
        for fit, after in found:
            if not (yield from self._leads_on(state, last, fit, after.residual)):
                break
            solved.append((fit, after.residual))
            last, state = fit, after
        if not solved:
            state = relaxation.everywhere(state._replace(sweeps=0), gammas[0], tol)
            last = relaxation.solution(state, tol)
            solved = [(last, state.residual)]
        return solved, last, state if relaxation.screening.outsiders_noticed(state) else None

    def _leads_on(
        self, state: State, before: Fit, fit: Fit, residual: Floats
    ) -> Generator[Floats, Floats, bool]:
        """Tell whether annealing leads from a solution, of a given state, to another."""
        if np.array_equal(before.selected, fit.selected):
            return self._leads_to(before, fit, residual)
        near = self._near(fit, residual)
        return (yield from approaches(self.relaxation, state, fit.strength, near, _ROUNDS))

    def _near(self, known: Fit, residual: Floats | None = None) -> Callable[[State], bool]:
        """Return a test of states that are on the way to a known solution."""

        def near(state: State) -> bool:
            point = self.relaxation.solution(state, self.control.tol)
            return self._is_known(known, point, residual)

        return near

    def _with_outsiders(self, point: Fit) -> State | None:
        """Return a full state where columns outside of the working set matter to a solution."""
        if self.working.contains[point.columns].all():
            return None
        state = self.relaxation.resume(point, residuals(self.problem, [point])[0])
        return state if self.relaxation.screening.outsiders_noticed(state) else None

    def certified_branches(self, found: Annealed[Fit]) -> Generator[Floats, Floats, Annealed[Fit]]:
        """Certify both directions; a solution that they share is certified once."""
        forward = yield from self.certified(list(found.forward))
        alike = [b is f for f, b in zip(found.forward, found.backward, strict=True)]
        different = [one for one, same in zip(found.backward, alike, strict=True) if not same]
        others = iter((yield from self.certified(different)))
        backward = [f if same else next(others) for f, same in zip(forward, alike, strict=True)]
        return Annealed(tuple(forward), tuple(backward), found.cut)

    def certified(self, points: list[Fit]) -> Generator[Floats, Floats, list[Fit]]:
        """Certify solutions in groups; iterate those that fail further until they pass."""
        fits: list[Fit] = []
        together = self.data.columns_together
        for first in range(0, len(points), together):
            fits += yield from self._certified_group(points[first : first + together])
        return fits

    def _certified_group(self, points: list[Fit]) -> Generator[Floats, Floats, list[Fit]]:
        fits = {k: one for k, one in enumerate(points) if one.certificate.value <= self.control.tol}
        limit = self.data.most_variables
        current = {k: one for k, one in enumerate(points) if k not in fits}
        tolerance = self.control.tol
        while current:
            squared, gradients, left = yield from evaluate_solutions(
                self.data, list(current.values())
            )
            for row, k in enumerate(list(current)):
                fits[k] = certify(self.data, self.prior, current[k], squared[row], gradients[row])
                exhausted = current[k].n_iter >= self.control.max_iter
                hopeless = tolerance < _TIGHTEST
                if fits[k].certificate.value <= self.control.tol or exhausted or hopeless:
                    del current[k]
                else:
                    point = self.solve_further(current[k], left[row], tolerance)
                    # That must not lead into the branch that interpolates.
                    if point.probability.sum() > max(limit, current[k].probability.sum()):
                        del current[k]
                    else:
                        current[k] = point
            tolerance *= _TIGHTER
        return [self._with_message(fits[k]) for k in range(len(points))]

    def _with_message(self, fit: Fit) -> Fit:
        reached, tol = fit.certificate.value, self.control.tol
        if reached <= tol:
            return replace(fit, message="converged")
        said = (
            f"not converged: certificate {reached:.1e} after {fit.n_iter} sweeps, wanted {tol:.1e}"
        )
        return replace(fit, message=said)

    def solve_further(self, point: Fit, residual: Floats, tolerance: float) -> Fit:
        """Sweep on from a solution, given its residual (unused where there are only moments)."""
        if not self.problem.has_rows:
            coef = self.relaxation.on_working_set(point.columns, point.coef)
            inside = self.relaxation.inside(point.strength, coef, point.precision, tolerance)
            state = self.relaxation.spread(inside, np.zeros(self.problem.n_features))
        else:
            state = self.relaxation.resume(point, residual)
            state = self.relaxation.everywhere(state, point.strength, tolerance)
        state = state._replace(sweeps=state.sweeps + point.n_iter)
        return self.relaxation.solution(state, tolerance)
