"""How well labels of held-out rows are predicted: who is taken for whom, in which order, how surely."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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

    @classmethod
    def joined(cls, parts: "Sequence[Scores]", count: int) -> "Scores":
        """Return several as one, along the first axis; what lacks to ``count`` is like the last."""
        arrays = [np.concatenate(each) for each in zip(*parts, strict=True)]
        return cls(*(each[np.minimum(np.arange(count), len(each) - 1)] for each in arrays))

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
    return Scores(*(array[0] for array in score_many(codes, means[None], weights)))


def score_many(codes: Floats, means: Floats, weights: Floats) -> Scores:
    """Do as `score_labels` for several predictions of the same rows, along a first axis of ``means``."""
    used = weights > 0
    truth, weights = codes[used].astype(np.intp), weights[used]
    each = np.stack([1.0 - means, means], axis=1) if means.ndim == 2 else means
    each = each[:, :, used]
    guess, count = each.argmax(axis=1), each.shape[1]
    confusion = _sums(count * truth + guess, weights, count**2)
    confusion = confusion.reshape(len(each), count, count)
    if count == 2:
        auc = ranked_right(truth == 1, each[:, 1], weights)
        return Scores(confusion, auc, _calibration(each[:, 1], truth == 1, weights))
    each_auc = [ranked_right(truth == k, each[:, k], weights) for k in range(count)]
    sure = _calibration(each.max(axis=1), truth == guess, weights)
    return Scores(confusion, np.mean(each_auc, axis=0), sure)


def ranked_right(inside: Array, scores: Floats, weights: Floats) -> Floats:
    """Return areas under ROC curves: P(score of a row inside > that of one outside), ties half.

    Scores are probabilities, a row for each prediction. NaN where all are on one side.
    """
    many = scores.shape[1] > _SORTED
    rank = (_FINE * scores).astype(np.intp) if many else _dense_ranks(scores)
    out = _sums(rank[:, ~inside], weights[~inside], int(rank.max(initial=-1)) + 1)
    below = np.cumsum(out, axis=1) - out / 2
    total = weights[inside].sum() * weights[~inside].sum()
    if not total > 0:
        return np.full(len(scores), np.nan)
    return np.take_along_axis(below, rank[:, inside], axis=1) @ weights[inside] / total


def _dense_ranks(scores: Floats) -> Array:
    """Return the ranks of the numbers in each row, from 0, equal ones having the same."""
    order = np.argsort(scores, axis=1)
    ascending = np.take_along_axis(scores, order, axis=1)
    higher = np.zeros(scores.shape, np.intp)
    np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=higher[:, 1:])
    rank = np.empty_like(higher)
    np.put_along_axis(rank, order, higher, axis=1)
    return rank


def _sums(places: Array, weights: Floats, length: int) -> Floats:
    """Return the sums of weights at places below ``length``, one row for each row of places."""
    rows = np.arange(len(places))[:, None]
    spread = np.broadcast_to(weights, places.shape).ravel()
    sums = np.bincount((length * rows + places).ravel(), spread, length * len(places))
    return np.asarray(sums, np.float64).reshape(len(places), length)


def _calibration(probability: Floats, true: Array, weights: Floats) -> Floats:
    """Return weight, sum of probabilities and weight of what came true, for each bin."""
    place = np.minimum((BINS * probability).astype(np.intp), BINS - 1)
    parts = (weights, weights * probability, weights * true)
    return np.stack([_sums(place, part, BINS) for part in parts], axis=2)
