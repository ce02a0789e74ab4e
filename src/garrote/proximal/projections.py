"""Projections onto a box and onto the balls of the l2 and l-infinity norms."""

from typing import Any

import numpy as np

from garrote.proximal.inputs import as_floats, as_strength, like, namespace, unit_of


def project_box(x: Any, lower: Any, upper: Any) -> Any:
    """Return the nearest point between two bounds.

    ::

        argmin_z ||z - x|| such that lower_j <= z_j <= upper_j

    Parameters
    ----------
    x : array
        Of any shape; NumPy, PyTorch or another of the array API.
    lower, upper : float or array
        Numbers, or arrays that broadcast to ``x``; infinite where there is no bound.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eq. 13.73.

    Examples
    --------
    >>> from garrote.proximal import project_box
    >>> project_box([-3.0, 0.5, 2.0], 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    x = as_floats(x)
    lower, upper = like(x, lower), like(x, upper)
    xp = namespace(x)
    if not bool(xp.all(lower <= upper)):
        raise ValueError(
            "lower must not exceed upper, and neither may be missing; swap them where it does"
        )
    # Each with its own test: array libraries differ in what they take for bounds of clip.
    below = xp.where(x < lower, lower, x)
    return xp.where(below > upper, upper, below)


def project_l2_ball(x: Any, radius: float = 1.0) -> Any:
    """Return the nearest point of Euclidean length at most ``radius``.

    ::

        x min(1, radius / ||x||_2)

    Parameters
    ----------
    x : array
        Of any shape; the norm is that of all numbers. NumPy, PyTorch or another of the array API.
    radius : float

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eq. 13.74, with any radius.

    Examples
    --------
    >>> from garrote.proximal import project_l2_ball
    >>> project_l2_ball([3.0, 4.0], 2.5).tolist()
    [1.5, 2.0]
    """
    x, radius = as_floats(x), as_strength(radius, "radius")
    length = _length(x)
    return x * 1.0 if length <= radius else x * (radius / length)


def project_linf_ball(x: Any, radius: float = 1.0) -> Any:
    """Return the nearest point whose coordinates are at most ``radius`` in size.

    ::

        sign(x) min(|x|, radius)

    Parameters
    ----------
    x : array
        Of any shape; NumPy, PyTorch or another of the array API.
    radius : float

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Parikh & Boyd (2014), section 6.5.1: what soft thresholding leaves away.

    Examples
    --------
    >>> from garrote.proximal import project_linf_ball
    >>> project_linf_ball([-3.0, 0.5, 2.0], 1.0).tolist()
    [-1.0, 0.5, 1.0]
    """
    x, radius = as_floats(x), as_strength(radius, "radius")
    return namespace(x).clip(x, -radius, radius)


def _length(x: Any) -> float:
    """Return the Euclidean length of all numbers."""
    if namespace(x) is np:
        # In float64, lest the squares of float32 overflow.
        unit = unit_of(x)
        return unit * float(np.linalg.norm(x.astype(np.float64, copy=False).ravel() / unit))
    return float(namespace(x).linalg.vector_norm(x))
