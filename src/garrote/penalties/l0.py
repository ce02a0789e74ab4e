"""The number of variables, for any number of columns: hard thresholding, a fast heuristic."""

from dataclasses import dataclass

from garrote.penalties.subset import Priced


@dataclass(frozen=True)
class L0(Priced):
    """1 for each coefficient that is not 0, by hard thresholding (Murphy 2012, Eq. 13.71).

    The strength is the price of a variable. Fits are local optima: with ``solver="coordinate"`` (for a
    Gaussian response) no single variable would better go, come or move. With "ista", "fista" or
    "sparsa", for any response, they are fixed points of proximal steps (iterative hard thresholding,
    Blumensath & Davies 2008), which is weaker: where columns are correlated, variables come in at lower
    prices only. `BestSubset` finds the best of all, for few columns.

    Examples
    --------
    >>> from garrote.penalties import L0, thresholding
    >>> [float(w) for w in thresholding(L0(), [-3.0, 1.9, 2.1], strength=2.0)]
    [-3.0, 0.0, 2.1]
    """

    name = "l0"
    reference = (
        "Blumensath & Davies (2008), Iterative thresholding for sparse approximations. J. Fourier Anal. "
        "Appl. 14, 629-654"
    )
