"""Soft and hard thresholding and the elastic net: operators that work on each coefficient by itself."""

from typing import Any

from garrote.proximal.inputs import as_floats, as_ratio, as_strength, namespace, thresholds


def soft_threshold(x: Any, strength: float, weights: Any = None) -> Any:
    """Move every coefficient towards 0 by the strength, and stop there: the l1 norm.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_j weights_j |z_j|
                = sign(x) max(|x| - strength weights, 0)

    Parameters
    ----------
    x : array
        Of any shape; NumPy, PyTorch or another of the array API.
    strength : float
        Times the step size, inside a proximal gradient method.
    weights : array, optional
        One number >= 0 for each coefficient.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eq. 13.70; S_alpha in section 6.3 of the Lecture notes.

    Examples
    --------
    >>> from garrote.proximal import soft_threshold
    >>> soft_threshold([-3.0, 0.5, 2.0], 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    x, strength = as_floats(x), as_strength(strength)
    reach = thresholds(x, strength, weights)
    # Moreau: what is left of x after its projection onto the box, the polar of the norm.
    return x - namespace(x).clip(x, -reach, reach)


def hard_threshold(x: Any, strength: float, weights: Any = None) -> Any:
    """Set coefficients of size up to sqrt(2 strength) to 0, leave the others: the number of non-zeros.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_j weights_j [z_j != 0]
                = x where |x| > sqrt(2 strength weights), else 0

    The penalty is not convex; where both are minima, 0 is taken.

    Parameters
    ----------
    x : array
        Of any shape; NumPy, PyTorch or another of the array API.
    strength : float
        The price of one coefficient that is not 0; the threshold is sqrt(2 strength).
    weights : array, optional
        One number >= 0 for each coefficient.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eq. 13.71.

    Examples
    --------
    >>> from garrote.proximal import hard_threshold
    >>> hard_threshold([-3.0, 1.9, 2.1], 2.0).tolist()
    [-3.0, 0.0, 2.1]
    """
    x, strength = as_floats(x), as_strength(strength)
    reach = (2.0 * thresholds(x, strength, weights)) ** 0.5
    xp = namespace(x)
    # NaN is not below a threshold, and stays.
    return xp.where(xp.abs(x) <= reach, xp.zeros_like(x), x)


def elastic_net(x: Any, strength: float, l1_ratio: float = 0.5, weights: Any = None) -> Any:
    """Soft thresholding followed by a division: the l1 norm and half the squared l2 norm.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2
                  + strength sum_j weights_j (l1_ratio |z_j| + (1 - l1_ratio) z_j^2 / 2)
                = soft(x, strength weights l1_ratio) / (1 + strength weights (1 - l1_ratio))

    Parameters
    ----------
    x : array
        Of any shape; NumPy, PyTorch or another of the array API.
    strength : float
    l1_ratio : float
        1 is the lasso, 0 ridge regression, as in :class:`garrote.penalties.ElasticNet`.
    weights : array, optional
        One number >= 0 for each coefficient.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Zou & Hastie (2005), J. R. Statist. Soc. B 67; Parikh & Boyd (2014), section 6.5.3.

    Examples
    --------
    >>> from garrote.proximal import elastic_net
    >>> elastic_net([-3.0, 0.5, 2.0], 2.0, l1_ratio=0.5).tolist()
    [-1.0, 0.0, 0.5]
    """
    x, strength, ratio = as_floats(x), as_strength(strength), as_ratio(l1_ratio)
    thresholded = soft_threshold(x, strength * ratio, weights)
    return thresholded / (1.0 + (1.0 - ratio) * thresholds(x, strength, weights))
