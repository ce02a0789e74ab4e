"""What predictions of rows that were held out are worth: of labels, and by their density."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.files.json_values import number, numbers
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class LabelScores(Shown):
    """How well labels of held-out rows are predicted, fold by fold.

    Attributes
    ----------
    classes : tuple of C str
    confusion : array of shape (folds, C, C)
        Weight of the held-out rows, by their class and by the most probable class.
    auc : array of shape (folds,)
        The probability that a row of a class gets a higher probability of it than a row of another one;
        of several classes, the mean over them. NaN where a fold holds out rows of one class only.
    calibration : array of shape (folds, bins, 3)
        By predicted probability, in bins of equal width from 0 to 1: the weight of the rows, the sum of
        their probabilities, and the weight of those for which it came true. Of two classes it is the
        probability of the second one, of several that of the most probable one.
    """

    classes: tuple[str, ...]
    confusion: Floats
    auc: Floats
    calibration: Floats

    @property
    def accuracy(self) -> Floats:
        """The share of held-out rows whose class is predicted, in each fold."""
        right = np.trace(self.confusion, axis1=1, axis2=2)
        return np.asarray(right / self.confusion.sum(axis=(1, 2)))

    @property
    def commonest(self) -> float:
        """The share of the commonest class: the accuracy of always naming that one."""
        by_class = self.confusion.sum(axis=(0, 2))
        return float(by_class.max() / by_class.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "classes": list(self.classes),
            "accuracy": numbers(self.accuracy),
            "commonest": number(self.commonest),
            "auc": numbers(self.auc),
            "confusion": numbers(self.confusion),
            "calibration": numbers(self.calibration),
        }


@dataclass(frozen=True, repr=False)
class PredictiveDensity(Shown):
    """Log predictive densities of held-out rows, under several models, on the same folds.

    Attributes
    ----------
    models : tuple of M str
        The method itself first, then those it is compared with.
    density : array of shape (M, n)
        log p(y | the other folds) of each row held out; of labels and counts, a log probability.
    fold : array of int of shape (n,)
        The fold that held out each of them.
    weights : array of shape (n,)
    errors : array of shape (M,)
        Mean squared errors, or deviances.
    """

    models: tuple[str, ...]
    density: Floats
    fold: Array
    weights: Floats
    errors: Floats

    @property
    def mean(self) -> Floats:
        """The mean log density of a row, under each model."""
        return np.asarray(np.average(self.density, axis=1, weights=self.weights))

    @property
    def by_fold(self) -> Floats:
        """The mean log density of a row in each fold (models x folds)."""
        folds = [self.fold == k for k in np.unique(self.fold)]
        means = [
            np.average(self.density[:, rows], axis=1, weights=self.weights[rows]) for rows in folds
        ]
        return np.array(means).T

    def advantage(self, other: int, of: int = 0) -> tuple[float, float]:
        """Return by how much a row is denser under a model than under another, and its error.

        The error is the standard error of a mean over rows (Vehtari, Gelman & Gabry 2017): rows, not
        folds, are what there are many of.
        """
        gain, share = self.density[of] - self.density[other], self.weights / self.weights.sum()
        mean = float(share @ gain)
        rows = int(np.count_nonzero(share))
        spread = float(share @ (gain - mean) ** 2) * rows / max(rows - 1, 1)
        return mean, float(np.sqrt(spread * (share**2).sum()))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values: what each model reaches, and the method's advantage over it."""
        rivals = [self.advantage(k) for k in range(len(self.models))]
        return {
            "models": list(self.models),
            "mean": numbers(self.mean),
            "by_fold": numbers(self.by_fold),
            "errors": numbers(self.errors),
            "advantage": [number(mean) for mean, _ in rivals],
            "advantage_error": [number(error) for _, error in rivals],
        }
