"""How well labels of held-out rows are predicted: who is taken for whom, in which order, how surely."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from garrote.arrays import Array, Floats
from garrote.results.selections.held_out import LabelScores

# Bins of equal width for predicted probabilities.
BINS = 10
# Beyond so many rows probabilities are not sorted: those closer than 1 / _FINE count as equal.
_SORTED, _FINE = 20_000, 65_536


class Scores(NamedTuple):
    """The arrays of `LabelScores`, with leading axes for what was stacked: strengths, then folds."""

    confusion: Floats
    auc: Floats
    calibration: Floats

    @classmethod
    def stacked(cls, parts: "Sequence[Scores]") -> "Scores":
        """Return several as one, along a new first axis."""
        return cls(*(np.stack(arrays) for arrays in zip(*parts, strict=True)))

    def at(self, position: int, classes: tuple[str, ...]) -> LabelScores:
        """Return those of one strength, of scores by fold and strength."""
        return LabelScores(classes, *(array[:, position] for array in self))


def together(parts: Sequence[Scores | None]) -> Scores | None:
    """Return the scores of all strengths as one, NaN where a path did not reach one; None of numbers."""
    known = next((part for part in parts if part is not None), None)
    if known is None:
        return None
    nothing = Scores(*(np.full_like(array, np.nan) for array in known))
    return Scores.stacked([nothing if part is None else part for part in parts])


def has_labels(likelihood: Any) -> bool:
    """Tell whether a likelihood is of labels; responses are positions of their classes then."""
    try:
        likelihood.of_classes(likelihood.outputs if likelihood.several else 2)
    except ValueError:
        return False
    return True


def score_labels(codes: Floats, means: Floats, weights: Floats) -> Scores:
    """Return how well the labels of some rows are predicted.

    Parameters
    ----------
    codes : array of shape (n,)
        Positions of the rows' classes.
    means : array of shape (n,) or (C, n)
        Probabilities of the second of two classes, or of every class.
    weights : array of shape (n,)
        Rows of weight 0 do not count.
    """
    used = weights > 0
    truth, weights = codes[used].astype(np.intp), weights[used]
    each = np.stack([1.0 - means, means])[:, used] if means.ndim == 1 else means[:, used]
    guess = each.argmax(axis=0)
    confusion = np.zeros((len(each), len(each)))
    np.add.at(confusion, (truth, guess), weights)
    if len(each) == 2:
        auc = ranked_right(truth == 1, each[1], weights)
        return Scores(confusion, np.asarray(auc), _calibration(each[1], truth == 1, weights))
    each_auc = [ranked_right(truth == k, each[k], weights) for k in range(len(each))]
    sure = _calibration(each.max(axis=0), truth == guess, weights)
    return Scores(confusion, np.asarray(np.mean(each_auc)), sure)


def ranked_right(inside: Array, score: Floats, weights: Floats) -> float:
    """Return the area under the ROC curve: P(score of a row inside > that of one outside), ties half.

    Scores are probabilities. NaN where all rows are on one side.
    """
    many = len(score) > _SORTED
    rank = (_FINE * score).astype(np.intp) if many else rankdata(score, method="dense") - 1
    most = int(rank.max(initial=-1)) + 1
    out = np.bincount(rank[~inside], weights[~inside], most)
    below = np.cumsum(out) - out / 2
    total = weights[inside].sum() * out.sum()
    return float(weights[inside] @ below[rank[inside]] / total) if total > 0 else float("nan")


def _calibration(probability: Floats, true: Array, weights: Floats) -> Floats:
    """Return weight, sum of probabilities and weight of what came true, for each bin."""
    place = np.minimum((BINS * probability).astype(np.intp), BINS - 1)
    parts = (weights, weights * probability, weights * true)
    return np.stack([np.bincount(place, part, BINS) for part in parts], axis=1)
