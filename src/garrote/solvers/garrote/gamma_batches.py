"""Several gammas solved together: two products with X serve all columns at all of them.

Near the dense end every column is in with a little probability, and together they matter. Outsiders
respond almost linearly to the residuals, so all are updated at once (Jacobi), at several gammas in one
round; the steps, which shrink by a nearly constant factor, are extrapolated (Anderson 1965). The working
set is solved at each gamma in between. A round's products are those of a certificate: solutions
are done when that holds.
"""

from collections.abc import Callable, Generator, Sequence

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.results.fit import Fit
from garrote.solvers.descent.extrapolation import Extrapolation
from garrote.solvers.garrote.certificate import certify
from garrote.solvers.garrote.relaxation import Relaxation
from garrote.solvers.garrote.sweeps import State

# Rounds at most. After so many, half as many of them must leave this share of a violation at most: where
# they do not, sweeps do better.
_ROUNDS = 12
_PATIENCE = 6
_LEFT = 0.7
# Rounds that an extrapolation looks back on, and how many targets for each row it measures them by.
_MEMORY = 3
_SKETCH = 4


def converge_together(
    relaxation: Relaxation, states: Sequence[State], chained: bool
) -> Generator[Floats, Floats, list[tuple[Fit, State]]]:
    """Iterate from given targets of all columns; return the solutions before the first that fails.

    Each is certified, and comes with its state. ``chained`` starts the working set of each from that of
    the one before it.
    """
    problem, tol = relaxation.problem, relaxation.tol
    current = list(states)
    # Targets are products with the residuals: a few times N of them tell how far those have moved.
    some = _SKETCH * len(problem.response)
    ways = [Extrapolation(1, some, _MEMORY) for _ in current]
    offs: list[list[float]] = [[] for _ in current]
    done: dict[int, tuple[Fit, State]] = {}
    for number in range(_ROUNDS):
        active = [k for k in range(len(current)) if k not in done]
        if not active:
            break
        _advance(relaxation, current, active, chained and number == 0)
        residuals = np.stack([current[k].residual for k in active])
        squared, gradients = yield from problem.evaluate_residuals(residuals)
        for row, k in enumerate(active):
            state, gradient = current[k], gradients[row]
            image = np.empty(problem.n_features)
            off = np.sqrt(state.precision) * _respond(
                problem.curvature, gradient, state.coef, state.target, image
            )
            if off <= tol:
                fit = certify(
                    problem, relaxation.prior, relaxation.listed(state), squared[row], gradient
                )
                if fit.certificate.value <= tol:
                    done[k] = fit, state
                    continue
            offs[k].append(off)
            if len(offs[k]) > _PATIENCE and off > _LEFT * offs[k][-1 - _PATIENCE // 2]:
                current = current[:k]
                break
            current[k] = state._replace(target=ways[k].next(state.target, image))
    first = next((k for k in range(len(current)) if k not in done), len(current))
    return [done[k] for k in range(first)]


def approaches(
    relaxation: Relaxation, state: State, gamma: float, near: Callable[[State], bool], rounds: int
) -> Generator[Floats, Floats, bool]:
    """Tell whether a few updates from a neighbouring gamma's state approach a known solution."""
    problem, current = relaxation.problem, [state._replace(gamma=gamma, sweeps=0)]
    for number in range(rounds):
        _advance(relaxation, current, [0], False)
        if near(current[0]):
            return True
        if number + 1 < rounds:
            _, (gradient,) = yield from problem.evaluate_residuals(current[0].residual[None, :])
            image = np.empty(problem.n_features)
            _respond(problem.curvature, gradient, current[0].coef, current[0].target, image)
            current[0] = current[0]._replace(target=image)
    return False


def _advance(
    relaxation: Relaxation, current: list[State], active: Sequence[int], chained: bool
) -> None:
    """Update outsiders by their targets at each gamma, then solve the working set beside them."""
    problem = relaxation.problem
    coef = np.empty((len(active), problem.n_features))
    for place, k in enumerate(active):
        coef[place] = current[k].coef
        current[k] = current[k]._replace(
            coef=coef[place], target=current[k].target.copy(), probability=np.zeros_like(coef[0])
        )
        relaxation.respond(current[k])
    relaxation.screening.admit_from([current[k] for k in active])
    shares = [relaxation.respond(current[k]) for k in active]
    for k in active:
        relaxation.neglect(current[k], relaxation.tol)
    left = problem.response - problem.table.dot(np.arange(problem.n_features), coef.T).T
    start = None
    for place, k in enumerate(active):
        state = current[k]._replace(residual=np.ascontiguousarray(left[place]))
        begin = start if chained and start is not None else state
        start = relaxation.converge_inside(state, shares[place], begin)
        current[k] = start._replace(sweeps=start.sweeps + 1)


@kernel
def _respond(curvature, gradient, coef, target, image):
    """Write the targets that the residuals imply; return the largest change, in sqrt(curvature)."""
    largest = 0.0
    for j in range(curvature.shape[0]):
        c = curvature[j]
        image[j] = gradient[j] / c + coef[j] if c > 0 else 0.0
        change = image[j] - target[j]
        largest = max(largest, change * change * c)
    return np.sqrt(largest)
