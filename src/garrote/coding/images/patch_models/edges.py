"""Kinds of patches to begin with: edges of all directions, and what is smooth."""

import numpy as np

from garrote.arrays import Floats
from garrote.coding.dictionaries import dct_dictionary

# Edges that are drawn for each direction, and how large they are beside the picture's deviation.
_DRAWN, _CONTRAST = 2000, 1.0


def first_parts(
    count: int,
    shape: tuple[int, int, int],
    variance: float,
    floor: float,
    rng: np.random.Generator,
) -> Floats:
    """Return covariances of patches: of blurred edges in all directions, and one of smooth patches.

    The level of a patch varies as that of the picture does. Colours go together.
    """
    high, wide, colours = shape
    parts = [_edges(np.pi * k / max(count - 1, 1), (high, wide), rng) for k in range(count - 1)]
    parts.append(_smooth(high, wide))
    level = np.ones((high * wide, high * wide))
    # Most of what colours have in common is light.
    together = 0.9 * np.ones((colours, colours)) + 0.1 * np.eye(colours)
    covariances = [np.kron(variance * (_CONTRAST * part + level), together) for part in parts]
    return np.array(covariances) + 2.0 * floor * np.eye(high * wide * colours)


def _edges(angle: float, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Return the second moments of edges of one direction, at any place and of any sharpness."""
    down, across = (np.arange(side) - (side - 1) / 2 for side in shape)
    distance = down[:, None] * np.cos(angle) + across * np.sin(angle)
    reach = 0.75 * max(shape)
    place = rng.uniform(-reach, reach, (_DRAWN, 1, 1))
    width = rng.uniform(0.3, 1.5, (_DRAWN, 1, 1))
    edges = np.tanh((distance - place) / width).reshape(_DRAWN, -1)
    return np.asarray(edges.T @ edges / _DRAWN)


def _smooth(high: int, wide: int) -> Floats:
    """Return a covariance of which waves have less the more often they go up and down."""
    waves = dct_dictionary((high, wide))
    often = np.add.outer(np.arange(high), np.arange(wide)).ravel()
    return np.asarray((waves.T * (high * wide / (1.0 + often) ** 3)) @ waves)
