"""Sparse components at given prices, or at the highest ones that keep enough of the variance."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.coding.components.variance import (
    strongest_that_explains,
    variance_explained,
)
from garrote.solvers.coding.sparse_components import (
    Components,
    best_component,
    gained,
    improved_components,
    largest_deviation,
    leading_scores,
    side_by_side,
    without,
)
from garrote.solvers.control import Control

# While strengths are tried, steps end at so much more than the tolerance.
_LOOSER = 100.0


class Asked(NamedTuple):
    """What is to be found.

    A root of the covariance, of as many rows as components at least; how many components; their prices,
    or the share of variance that is to be kept; when to stop, and whom to tell.
    """

    root: Floats
    components: int
    alpha: Floats | None
    variance: float
    control: Control

    @property
    def small(self) -> float:
        """The change of a loading at which steps end, in the units of the columns."""
        return self.control.tol * largest_deviation(self.root)


def in_turn(asked: Asked) -> tuple[Floats, Components]:
    """Return prices, and components one after the other."""
    left, found, prices = asked.root, list[Components](), []
    for k in range(asked.components):
        if asked.alpha is None:
            before = [one.loadings for one in found]
            price, one = _one_more(asked, left, before)
        else:
            price = float(asked.alpha[k])
            one = best_component(left, price, asked.control.max_iter, asked.small)
        prices.append(price)
        found.append(one)
        left = without(left, one.scores[:, 0])
        asked.control.report("components", k + 1, asked.components)
    return np.array(prices), side_by_side(found)


def _one_more(asked: Asked, left: Floats, before: list[Floats]) -> tuple[float, Components]:
    """Return the sparsest component that adds enough to those before it, and its price."""
    already = float(variance_explained(asked.root, np.vstack(before)).sum()) if before else 0.0

    def explained(found: Components) -> float:
        return (
            float(variance_explained(asked.root, np.vstack([*before, found.loadings])).sum())
            - already
        )

    return _sparsest(asked, left, 1, explained, lambda: None)


def _sparsest(
    asked: Asked,
    root: Floats,
    count: int,
    explained: Callable[[Components], float],
    tried: Callable[[], None],
) -> tuple[float, Components]:
    """Return so many components at the highest price at which they explain enough, and the price."""

    def fit(alpha: float, start: Components | None, looser: float = _LOOSER) -> Components:
        tried()
        scores = leading_scores(root, count) if start is None else start.scores
        steps = asked.control.max_iter, looser * asked.small
        return improved_components(root, np.full(count, alpha), scores, *steps)

    price, found = strongest_that_explains(fit, explained, largest_deviation(root), asked.variance)
    last = fit(price, found, 1.0)
    # Both at the same price: the one goes on where the other ends.
    return price, last._replace(rounds=np.vstack([found.rounds, last.rounds[1:]]))


def together(asked: Asked) -> tuple[Floats, Components]:
    """Return prices, and components that were improved together, of most variance first."""
    if asked.alpha is None:
        alpha, found = _together_by_variance(asked)
    else:
        alpha, steps = asked.alpha, (asked.control.max_iter, asked.small)
        starts = leading_scores(asked.root, asked.components), in_turn(asked)[1].scores
        tried = [improved_components(asked.root, alpha, start, *steps) for start in starts]
        found = max(tried, key=lambda one: gained(one.loadings))
    order = np.argsort(-_own_variance(asked.root, found.loadings), kind="stable")
    return alpha[order], found._replace(
        scores=found.scores[:, order], loadings=found.loadings[order]
    )


def _together_by_variance(asked: Asked) -> tuple[Floats, Components]:
    """Return the highest price, of all components, that keeps enough of the variance."""
    done = 0

    def explained(found: Components) -> float:
        return float(variance_explained(asked.root, found.loadings).sum())

    def tried() -> None:
        nonlocal done
        done += 1
        asked.control.report("strengths", done, done)

    price, found = _sparsest(asked, asked.root, asked.components, explained, tried)
    return np.full(asked.components, price), found


def _own_variance(root: Floats, loadings: Floats) -> Floats:
    """Return the variance along each component alone."""
    return np.asarray([variance_explained(root, loading[None])[0] for loading in loadings])
