"""A quadratic plus norms of groups of coefficients, on a working set.

Sweeps over groups find out which are 0. On the others Newton's method finishes, as long as their number
is moderate: norms are smooth there. Beyond that sweeps go on, on the rows themselves where products of
columns would be more than those, and every few sweeps the sequence is extrapolated (Anderson 1965;
Bertrand & Massias 2021).
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.designs.dense import DenseColumns
from garrote.designs.gram import GramColumns
from garrote.rules import Residual, RuleOfGroups, total_cost
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.penalised.group_steps import sweep_groups

# Sweeps between two extrapolations.
_SWEEPS = 5
# Groups that violate their optimality by less than this share of what is tolerable stay as they are. If
# more were moved, a sweep would take longer; if fewer, it would take more of them.
_MOVED = 0.3
# Coefficients up to which a linear system is solved for all of them.
_LARGEST = 1000
# Sweeps before the first such system, which takes as long as dozens of them; often few are enough.
_FIRST_NEWTON = 3
# Sizes that differ by less than this share are the same.
_TIED = 1e-9
_NOTHING = np.zeros(0)


class GroupQuadratic:
    """The cross products of a working set, its coefficients and the gradient there (downhill)."""

    def __init__(self, rule: RuleOfGroups, gram: Floats, gradient: Floats, coef: Floats):
        self.rule, self.gram, self.gradient, self.coef = rule, gram, gradient, coef
        self.design, self.residual = GramColumns(gram), Residual(gradient, np.zeros(1), _NOTHING)
        self._pause, self._again = 1, _FIRST_NEWTON

    def blocks(self, groups: Sequence[Array]) -> tuple[Floats, Array]:
        """Return the cross products within groups, row by row, and where each group's begin."""
        parts = [self.gram[np.ix_(members, members)].ravel() for members in groups]
        return np.concatenate(parts), np.cumsum([0, *(len(part) for part in parts[:-1])])

    def finish(self, made: int) -> None:
        """Make a Newton step, unless those have been of no use."""
        if made >= self._again and not newton(self):
            self._pause *= 2
            self._again = made + self._pause

    def move(self, ahead: Floats) -> bool:
        """Set the coefficients, provided that the objective does not rise."""
        change = ahead - self.coef
        moved = self.gram @ change
        if not change @ (self.gradient - 0.5 * moved) + _saved(self.rule, self.coef, ahead) >= 0:
            return False
        self.coef[:] = ahead
        self.gradient -= moved
        return True


class GroupRows:
    """The columns of a working set, its coefficients and the weighted residual of the rows."""

    def __init__(self, rule: RuleOfGroups, block: WorkingBlock, residual: Floats, coef: Floats):
        self.rule, self.block, self.coef = rule, block, coef
        self.weights = block.problem.weights / block.problem.n
        self.design = DenseColumns(block.values)
        self.residual = Residual(self.weights * residual, np.zeros(1), self.weights)

    def blocks(self, groups: Sequence[Array]) -> tuple[Floats, Array]:
        """Return the cross products within groups, row by row, and where each group's begin."""
        return self.block.cross_products(groups)

    def finish(self, made: int) -> None:
        """There is no Newton step: too many coefficients."""

    def guess(self, ahead: Floats, moved: Floats) -> None:
        """Start from a guess at the solution, if that is better; ``moved`` is what it does to rows."""
        self.move(ahead, moved)

    def move(self, ahead: Floats, moved: Floats | None = None) -> bool:
        """Set the coefficients, provided that the objective does not rise."""
        if moved is None:
            change = ahead - self.coef
            used = np.flatnonzero(change)
            moved = self.block.dot(used, change[used])
        gain = moved @ self.residual.values - 0.5 * float(self.weights @ moved**2)
        if not gain + _saved(self.rule, self.coef, ahead) >= 0:
            return False
        self.coef[:] = ahead
        self.residual.values[:] -= self.weights * moved
        return True


def _saved(rule: RuleOfGroups, coef: Floats, ahead: Floats) -> float:
    everything = np.arange(len(coef))
    return total_cost(rule, everything, coef) - total_cost(rule, everything, ahead)


def suit_rows(shape: tuple[int, int]) -> bool:
    """Tell whether a block of columns has too many of them for their cross products."""
    return shape[1] > max(_LARGEST, shape[0])


def solve_groups(state: GroupQuadratic | GroupRows, tolerance: float, max_rounds: int) -> int:
    """Sweep over groups until none violates its optimality; return the sweeps it took."""
    rule, sizes = state.rule, np.diff(state.rule.starts)
    if not len(sizes):
        return 0
    ends = zip(rule.starts[:-1], rule.starts[1:], strict=True)
    blocks, places = state.blocks([rule.order[first:last] for first, last in ends])

    def sweep(groups: Array) -> float:
        return float(
            sweep_groups(
                state.design,
                rule,
                groups,
                blocks,
                places,
                state.coef,
                state.residual,
                _MOVED * tolerance,
            )
        )

    everything, whole = np.arange(len(sizes)), True
    seen: list[Floats] = []
    for made in range(max_rounds):
        state.finish(made)
        lively = np.flatnonzero(np.bincount(rule.group[state.coef != 0.0], minlength=1))
        whole = whole or 2 * len(lively) > len(everything)
        if sweep(everything if whole else lively) <= tolerance:
            if whole:
                return made
            whole = True  # look at the others as well
            continue
        whole = False
        seen.append(state.coef.copy())
        if len(seen) > _SWEEPS:
            _extrapolate(state, seen)
            seen.clear()
    return max_rounds


def _extrapolate(state: GroupQuadratic | GroupRows, seen: list[Floats]) -> None:
    """Go where the sequence of coefficients leads to, if the objective is lower there."""
    steps = np.diff(seen, axis=0)
    products = steps @ steps.T
    products[np.diag_indices_from(products)] += 1e-12 * np.trace(products)
    try:
        shares = np.linalg.solve(products, np.ones(len(products)))
    except np.linalg.LinAlgError:
        return
    total = shares.sum()
    if np.isfinite(total) and total != 0.0:
        ahead = (shares / total) @ np.array(seen[1:])
        ahead[state.coef == 0.0] = 0.0
        state.move(ahead)


def newton(state: GroupQuadratic) -> bool:
    """Solve for the groups that are not 0, their norms being smooth there; tell whether that helped."""
    used = np.flatnonzero(state.coef)
    if not len(used):
        return True
    system_of = _system_of_sizes if state.rule.flat else _system_of_lengths
    if len(used) > _LARGEST:
        return False
    try:
        step = system_of(state, used)
    except LinAlgError:
        return False
    kinked = (state.rule.threshold[used] > 0) | state.rule.flat
    for share in (1.0, 0.5, 0.25):
        ahead = state.coef.copy()
        ahead[used] += share * step
        ahead[used[kinked & (ahead[used] * state.coef[used] < 0)]] = 0.0
        if state.move(ahead):
            return share == 1.0
    return False


def _system_of_lengths(state: GroupQuadratic, used: Array) -> Floats:
    """Return the Newton step where norms are lengths."""
    rule, coef = state.rule, state.coef[used]
    owner = rule.group[used]
    length = rule.norms(state.coef)[owner]
    along, across = coef / length, rule.weight[owner] / length
    system = state.gram[np.ix_(used, used)]
    system -= np.where(owner[:, None] == owner, np.outer(across * along, along), 0.0)
    system[np.diag_indices_from(system)] += across
    right = state.gradient[used] - rule.threshold[used] * np.sign(coef)
    return _solve_system(system, right - rule.weight[owner] * along)


def _system_of_sizes(state: GroupQuadratic, used: Array) -> Floats:
    """Return the Newton step where norms are the largest sizes: those of one group move together."""
    rule, coef = state.rule, state.coef[used]
    owner = rule.group[used]
    tied = np.abs(coef) >= rule.norms(state.coef)[owner] * (1 - _TIED)
    tied &= rule.weight[owner] > 0
    # A parameter for every coefficient that is free, and one for each group's largest size.
    leaders, free = np.unique(owner[tied]), int(np.count_nonzero(~tied))
    parameter = np.zeros(len(used), np.intp)
    parameter[~tied] = np.arange(free)
    parameter[tied] = free + np.searchsorted(leaders, owner[tied])
    spread = np.zeros((len(used), free + len(leaders)))
    spread[np.arange(len(used)), parameter] = np.where(tied, np.sign(coef), 1.0)
    right = spread.T @ (state.gradient[used] - rule.threshold[used] * np.sign(coef))
    right[free:] -= rule.weight[leaders]
    return spread @ _solve_system(spread.T @ state.gram[np.ix_(used, used)] @ spread, right)


def _solve_system(system: Floats, right: Floats) -> Floats:
    return np.asarray(cho_solve(cho_factor(system, check_finite=False), right))
