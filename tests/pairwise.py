"""Covering arrays: few combinations among which every pair of values of two factors occurs.

Most mistakes in a product of features show with two of them together. The full product of five factors
grows as the product of their sizes, a pairwise covering about as that of the two largest.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import pytest

Pair = tuple[tuple[str, int], tuple[str, int]]


def pairwise(
    factors: Mapping[str, Sequence[Any]], possible: Callable[..., bool] = lambda **_: True
) -> list[dict[str, Any]]:
    """Return combinations with every pair of values that some possible combination holds.

    Parameters
    ----------
    factors : mapping of str to sequence
        The values of each factor.
    possible : callable, optional
        Told a whole combination as keywords, whether it may be chosen.

    The choice is greedy, in the order of the full product, and the same each time.
    """
    names = list(factors)
    candidates = []
    for places in product(*(range(len(values)) for values in factors.values())):
        chosen = dict(zip(names, places, strict=True))
        combination = {name: factors[name][place] for name, place in chosen.items()}
        if possible(**combination):
            candidates.append((combination, set(combinations(chosen.items(), 2))))
    uncovered: set[Pair] = set().union(*(pairs for _, pairs in candidates))
    rows = []
    while uncovered:
        combination, pairs = max(candidates, key=lambda candidate: len(candidate[1] & uncovered))
        rows.append(combination)
        uncovered -= pairs
    return rows


def by_pairs(**factors: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrise a test with combinations of values of its arguments that hold every pair."""
    rows = [tuple(row.values()) for row in pairwise(factors)]
    return pytest.mark.parametrize(
        tuple(factors), rows, ids=[", ".join(map(_described, row)) for row in rows]
    )


def _described(value: Any) -> str:
    plain = value is None or isinstance(value, str | int | float | tuple)
    return str(value) if plain else str(getattr(value, "name", type(value).__name__))
