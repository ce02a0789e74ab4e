"""The prostate cancer table of Stamey et al. (1989): 97 men, eight measurements, their antigen level."""

import csv
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats

# Row, column and true value of the one entry that is wrong in the file, as it is in many copies.
_WRONG = (31, 1, 3.8044377947482086)


class Prostate(NamedTuple):
    """Variables, the response lpsa, the variables' names, and which rows are for training.

    Examples
    --------
    >>> from garrote.datasets import load_prostate
    >>> X, y = load_prostate().standardised_on_training()
    >>> X.shape
    (67, 8)
    """

    X: Floats
    y: Floats
    names: tuple[str, ...]
    train: Array

    def standardised_on_training(self) -> tuple[Floats, Floats]:
        """Return the training rows: columns in standard deviations (N - 1), both centred."""
        X, y = self.X[self.train], self.y[self.train]
        return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y - y.mean()


def load_prostate(*, corrected: bool = True) -> Prostate:
    """Return the logarithm of the antigen level of 97 men before surgery, and eight measurements.

    Parameters
    ----------
    corrected : bool
        The logarithm of the weight of a prostate is 3.80 in row 32, which is a row of the test set.
        Older copies of the table have 6.11 there, and so have the printed numbers of Murphy (2012):
        ``False`` gives that table.

    Returns
    -------
    X : array of shape (97, 8)
    y : array of shape (97,)
        ``lpsa``, the logarithm of the level of prostate-specific antigen.
    names : tuple of str
    train : boolean array of shape (97,)
        The 67 rows on which the texts train.

    References
    ----------
    Stamey, T. et al. (1989). Prostate specific antigen in the diagnosis and treatment of adenocarcinoma
    of the prostate II. Journal of Urology 141, 1076-1083. Carried by pmtkdata, MIT licence.

    Examples
    --------
    >>> from garrote.datasets import load_prostate
    >>> X, y, names, train = load_prostate()
    >>> X.shape, int(train.sum())
    ((97, 8), 67)
    >>> names[:3]
    ('lcavol', 'lweight', 'age')
    """
    text = files("garrote.datasets").joinpath("prostate.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    values = np.array(rows, dtype=np.float64)
    if corrected:
        row, column, value = _WRONG
        values[row, column] = value
    return Prostate(values[:, :8], values[:, 8], tuple(header[:8]), values[:, 9] == 1)
