"""Annealing and reheating by coordinate sweeps, with few passes over X.

Kappen & Gomez (2014), Algorithm 1, by the sequential updates that their discussion proposes: forward
over gamma, then backward. Three things make it fast.

* Where outsiders do not matter, several gammas are solved ahead on the working set before all columns
  are checked, and the checks share one product with X. The first gamma at which an outsider wants to
  come in is where the path is taken up again.
* Where they do (near the dense end), several gammas are settled on all columns together. A gamma at
  which that fails, or to which annealing would not lead, is solved alone, outsiders being swept too.
* Where the working set alone, started from the next denser solution, settles in a solution again, so
  does the whole: reheating takes that solution over, and is solved only where it goes another way.

All solutions are certified together, by two products with X for many gammas; those that fail are
settled further.
"""

from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np

from garrote.arrays import Floats
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.solvers.annealing import INTERPOLATES, Annealed, cut_message, dense_side
from garrote.solvers.control import Control, evaluate_solutions, residuals, same_solution
from garrote.solvers.garrote.certificate import certify
from garrote.solvers.garrote.relaxation import Relaxation, State
from garrote.solvers.garrote.together import Settled, come_near, settle_together

# Gammas solved ahead of a check, or together, at most and at least: one product with X for eight of them
# costs little more than for one.
_AHEAD, _FEWEST = 16, 8
# Rounds in which annealing must come near to a solution that was found together with others.
_ROUNDS = 4
# When a certificate fails the solution is settled further, each time so much tighter ...
_TIGHTER = 0.3
# ... down to what rounding allows.
_TIGHTEST = 1e-13


def anneal_by_sweeps(
    problem: Problem, prior: SpikeTerms, gammas: Floats, control: Control
) -> Generator[Floats, Floats, Annealed[Fit]]:
    """Solve the path in both directions and certify it; yields the products with X that it needs."""
    annealer = Annealer(problem, problem.compressed(), prior, control)
    found = yield from annealer.trace(gammas)
    return (yield from annealer.certified_branches(found))


class Annealer:
    """Solves on ``problem``, which may be moments of the ``data``; certifies on the data."""

    def __init__(self, data: Problem, problem: Problem, prior: SpikeTerms, control: Control):
        self.data = data
        self.problem = problem
        self.prior = prior
        self.control = control
        self.relaxation = Relaxation(problem, prior, control.tol, control.max_iter)
        self.working = self.relaxation.working
        # Gammas to whose solution reheating leads from the next denser one.
        self._reversible: set[float] = set()

    def trace(self, gammas: Floats) -> Generator[Floats, Floats, Annealed[Fit]]:
        """Solve both directions, uncertified; where they agree the solution is one object."""
        forward, cut = yield from self._forward(gammas)
        densest = None
        if self.control.reheat == "dense" and np.isfinite(self.data.most_variables):
            densest = yield from self._through_the_dense_side(gammas, forward)
        backward = yield from self._backward(forward, densest)
        return Annealed(tuple(forward), tuple(backward), cut)

    def _forward(self, gammas: Floats) -> Generator[Floats, Floats, tuple[list[Fit], str | None]]:
        """Anneal from sparse to dense; end before the branch that interpolates."""
        limit = self.data.most_variables
        none, nothing = np.zeros(0, np.intp), np.zeros(0)
        noise = 1.0 / self.prior.first_precision(self.data.response_variance)
        empty = Fit.uncertified(gammas[0], none, nothing, nothing, noise)
        reached, crossing = yield from self._pass(gammas, empty, len(gammas))
        if crossing is None:
            return reached, None
        # The first gamma is the empty model up to eps, however few rows there are.
        reached = reached or [crossing]
        return reached, cut_message(reached[-1].strength, limit)

    def _through_the_dense_side(
        self, gammas: Floats, forward: list[Fit]
    ) -> Generator[Floats, Floats, Fit | None]:
        """Anneal on to where solutions nearly interpolate, and back to the gamma after the last."""
        further = dense_side(gammas, len(forward))
        most = INTERPOLATES * self.data.most_variables
        up, _ = yield from self._pass(further, forward[-1], len(further), limit=most)
        if len(up) < 2:
            return up[0] if up else None
        back = further[: len(up) - 1][::-1]
        down, _ = yield from self._pass(back, up[-1], len(back), limit=np.inf)
        return down[-1]

    def _backward(
        self, forward: list[Fit], densest: Fit | None = None
    ) -> Generator[Floats, Floats, list[Fit]]:
        """Reheat: from the last solution of the forward pass back to the sparse end.

        Where the way back leads into the branch that interpolates, it goes on from the forward
        solution instead. From the ``densest`` solution it comes out of that branch: it goes on as it is,
        and forward solutions are kept in the place of those that are not admissible.
        """
        total = len(forward) - 1
        if densest is not None:
            gammas = np.array([point.strength for point in forward[::-1]])
            reached, _ = yield from self._pass(gammas, densest, total, forward[::-1], np.inf)
            limit = self.data.most_variables
            backward = [
                back if back.expected_size <= limit else known
                for back, known in zip(reached, forward[::-1], strict=False)
            ]
        else:
            backward = [forward[-1]]
        while len(backward) < len(forward):
            denser = len(forward) - len(backward)
            if backward[-1] is forward[denser] and forward[denser - 1].strength in self._reversible:
                backward.append(forward[denser - 1])
                self.control.report("backward", len(backward) - 1, total)
                continue
            left = forward[:denser][::-1]
            gammas = np.array([point.strength for point in left])
            reached, crossing = yield from self._pass(gammas, backward[-1], total, left)
            backward += reached
            if crossing is not None:
                backward.append(left[len(reached)])
        return backward[::-1]

    def _pass(
        self,
        gammas: Floats,
        start: Fit,
        total: int,
        known: list[Fit] | None = None,
        limit: float | None = None,
    ) -> Generator[Floats, Floats, tuple[list[Fit], Fit | None]]:
        """Solve the last gammas of ``total``, one from the other.

        Returns the solutions, and the one, if any, whose size passes the limit. Ends also where the
        solution ``known`` for a gamma is met.
        """
        limit = self.data.most_variables if limit is None else limit
        stage = "forward" if known is None else "backward"
        accepted: list[Fit] = []
        last, ahead, together = start, _FEWEST, _AHEAD if known is None else 4
        state = self._with_outsiders(start)
        before: tuple[Fit, Floats | None] | None = None
        while len(accepted) < len(gammas):
            if state is None:
                batch = gammas[len(accepted) : len(accepted) + ahead]
                solved, last, state = yield from self._solve_ahead(batch, last)
                ahead = min(2 * ahead, _AHEAD) if len(solved) == len(batch) else _FEWEST
            else:
                batch = gammas[len(accepted) : len(accepted) + together]
                near = None if known is None else known[len(accepted)]
                solved, last, state = yield from self._solve_together(batch, last, state, near)
                together = min(2 * together, _AHEAD) if len(solved) == len(batch) else 1
            for point, residual in solved:
                if point.expected_size > limit:
                    return accepted, point
                met = known is not None and self._is_known(known[len(accepted)], point)
                if known is None and before is not None and self._leads_back(*before, point):
                    self._reversible.add(before[0].strength)
                accepted.append(known[len(accepted)] if known is not None and met else point)
                self.control.report(stage, total - len(gammas) + len(accepted), total)
                if met:
                    return accepted, None
                before = point, residual
        return accepted, None

    def _is_known(self, known: Fit, point: Fit, residual: Floats | None = None) -> bool:
        """Tell whether a point is a known solution, or on the way to it."""
        if same_solution(known, point, self.problem, self.control.tol):
            return True
        if not _same_branch(known, point):
            return False
        if residual is None and self.problem.has_rows:
            residual = residuals(self.problem, [known])[0]
        return self.relaxation.leads_to(known, residual, point, self.control.tol)

    def _leads_back(self, before: Fit, residual: Floats | None, point: Fit) -> bool:
        """Tell whether reheating leads from a point to the one before it, whose residual is given."""
        return _same_branch(before, point) and self.relaxation.leads_to(
            before, residual, point, self.control.tol
        )

    def _solve_ahead(
        self, gammas: Floats, start: Fit
    ) -> Generator[Floats, Floats, tuple[list[tuple[Fit, Floats | None]], Fit, State | None]]:
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
        solved: list[tuple[Fit, Floats | None]] = []
        last = start
        for k, (trial, gradient) in enumerate(zip(trials, gradients, strict=True)):
            state = self.relaxation.spread(trial, gradient)
            last = self.relaxation.solution(state, self.control.tol)
            if self.relaxation.admit(state):
                return solved, last, None
            if self.relaxation.outsiders_noticed(state):
                left = residuals(self.problem, [last])[0]
                return solved, last, self.relaxation.resume(last, left, state.target)
            residual = None if fitted is None else self.problem.response - fitted[:, k]
            solved.append((last, residual))
        return solved, last, None

    def _solve_together(
        self, gammas: Floats, start: Fit, state: State, known: Fit | None
    ) -> Generator[Floats, Floats, tuple[list[tuple[Fit, Floats | None]], Fit, State | None]]:
        """Solve gammas on all columns together, as far as each leads to the next; else the first alone.

        Returns the solutions, the last of them, and its state where outsiders still matter. Ends where
        the first is on the way to a ``known`` solution.
        """
        relaxation, tol = self.relaxation, self.control.tol
        solved: list[tuple[Fit, Floats | None]] = []
        if known is not None and (
            yield from come_near(relaxation, state, known.strength, self._near(known), 1)
        ):
            return [(known, None)], known, state
        begin = [state._replace(gamma=float(gamma), sweeps=0) for gamma in gammas]
        found = []
        if len(gammas) > 1:
            found = yield from settle_together(relaxation, begin, chained=True)
        last = start
        for one in found:
            if not (yield from self._leads_on(state, last, one)):
                break
            solved.append((one.fit, one.state.residual))
            last, state = one.fit, one.state
        if not solved:
            state = relaxation.everywhere(state._replace(sweeps=0), gammas[0], tol)
            last = relaxation.solution(state, tol)
            solved = [(last, state.residual)]
        return solved, last, state if relaxation.outsiders_noticed(state) else None

    def _leads_on(
        self, state: State, before: Fit, point: Settled
    ) -> Generator[Floats, Floats, bool]:
        """Tell whether annealing leads from a solution, of a given state, to another."""
        fit, residual = point.fit, point.state.residual
        if _same_branch(before, fit):
            return self._leads_back(fit, residual, before)
        near = self._near(fit, residual)
        return (yield from come_near(self.relaxation, state, fit.strength, near, _ROUNDS))

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
        return state if self.relaxation.outsiders_noticed(state) else None

    def certified_branches(self, found: Annealed[Fit]) -> Generator[Floats, Floats, Annealed[Fit]]:
        """Certify both directions; a solution that they share is certified once."""
        forward = yield from self.certified(list(found.forward))
        alike = [b is f for f, b in zip(found.forward, found.backward, strict=True)]
        different = [one for one, same in zip(found.backward, alike, strict=True) if not same]
        others = iter((yield from self.certified(different)))
        backward = [f if same else next(others) for f, same in zip(forward, alike, strict=True)]
        return Annealed(tuple(forward), tuple(backward), found.cut)

    def certified(self, points: list[Fit]) -> Generator[Floats, Floats, list[Fit]]:
        """Certify solutions in groups; settle those that fail further until they pass."""
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
                    # Settling on must not lead into the branch that interpolates.
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


def _same_branch(a: Fit, b: Fit) -> bool:
    return np.array_equal(a.selected, b.selected)
