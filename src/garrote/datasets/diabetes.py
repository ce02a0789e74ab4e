"""The diabetes table of Efron et al. (2004) with all its quadratic terms: 442 patients, 64 columns."""

from itertools import combinations

import numpy as np
from sklearn.datasets import load_diabetes

from garrote.arrays import Floats

# scikit-learn calls the six blood serum measurements s1 to s6; these are the names of the source.
_MAINS = ("age", "sex", "bmi", "bp", "tc", "ldl", "hdl", "tch", "ltg", "glu")


def load_diabetes_quadratic() -> tuple[Floats, Floats, tuple[str, ...]]:
    """Return the progression of diabetes, ten measurements, their squares and their products.

    The ten measurements are taken in standard deviations from their mean; squares and products are
    those of these, so that an effect is the change of the response per standard deviation. There is
    no square of the sex, which has two values only: 10 + 9 + 45 = 64 columns.

    Returns
    -------
    X : array of shape (442, 64)
    y : array of shape (442,)
        Progression of the disease one year later.
    names : tuple of str
        ``bmi``, ``bmi^2``, ``age*bmi`` and so on.

    References
    ----------
    Efron, B., Hastie, T., Johnstone, I. and Tibshirani, R. (2004). Least angle regression. Annals of
    Statistics 32, 407-499.

    Examples
    --------
    >>> from garrote.datasets import load_diabetes_quadratic
    >>> X, y, names = load_diabetes_quadratic()
    >>> X.shape, names[2]
    ((442, 64), 'bmi')
    """
    mains, y = load_diabetes(return_X_y=True, scaled=False)
    mains = (mains - mains.mean(axis=0)) / mains.std(axis=0)
    squared = [j for j, name in enumerate(_MAINS) if name != "sex"]
    pairs = list(combinations(range(len(_MAINS)), 2))
    X = np.hstack(
        [mains, mains[:, squared] ** 2, *(mains[:, [i]] * mains[:, [j]] for i, j in pairs)]
    )
    names = (
        *_MAINS,
        *(f"{_MAINS[j]}^2" for j in squared),
        *(f"{_MAINS[i]}*{_MAINS[j]}" for i, j in pairs),
    )
    return np.ascontiguousarray(X), y, names
