"""The fused lasso's operator: total variation, then soft thresholding."""

from typing import Any

from garrote.arrays import Array
from garrote.proximal.chain import total_variation
from garrote.proximal.graph_variation import graph_total_variation
from garrote.proximal.inputs import as_strength
from garrote.proximal.thresholds import soft_threshold


def fused_lasso(
    x: Any, fusion: float, sparsity: float, edges: Any = None, weights: Any = None
) -> Array:
    """Make neighbours equal and small coefficients 0: the fused lasso with X = I.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2
                  + fusion sum_{(i, j)} weights_ij |z_i - z_j| + sparsity ||z||_1
                = soft(the total variation operator, sparsity)

    The text's Eqs. 13.115 and 13.116 have the squared distance without its half: their lambda are twice
    these strengths.

    Parameters
    ----------
    x : array
        A NumPy vector.
    fusion : float
        Strength of the total variation.
    sparsity : float
        Strength of the l1 norm.
    edges : array of int, shape (n_edges, 2), or Graph, optional
        Who is whose neighbour; by default a chain, in the order of ``x``.
    weights : array, optional
        One number >= 0 for each edge, or for each pair of neighbours of the chain.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References ---------- Murphy (2012), Eqs. 13.115-13.116; Friedman, Hastie, Höfling & Tibshirani
    (2007), Ann. Appl. Statist. 1, Proposition 1.

    Examples
    --------
    >>> from garrote.proximal import fused_lasso
    >>> fused_lasso([0.5, -0.5, 0.6, 6.0, 5.0], 1.0, 0.5).round(3).tolist()
    [0.0, 0.0, 0.1, 4.5, 4.5]
    """
    sparsity = as_strength(sparsity, "sparsity")
    if edges is None:
        pieces = total_variation(x, as_strength(fusion, "fusion"), weights)
    else:
        pieces = graph_total_variation(x, as_strength(fusion, "fusion"), edges, weights)
    thresholded: Array = soft_threshold(pieces, sparsity)
    return thresholded
