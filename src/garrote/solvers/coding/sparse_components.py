"""Principal components of few loadings: uncorrelated scores, and soft thresholds of covariances.

With A'A the covariance of the columns, 1/2 |A - U W|^2 + sum of alpha_k |w_k|_1 is minimised over U of
orthonormal columns and W of any. Given U, the best w_k is A'u_k moved by alpha_k towards 0; what is then
left to maximise is convex in U, so that the best U for its tangent, the polar factor of A W', never
loses (Journee, Nesterov, Richtarik & Sepulchre 2010).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.proximal.thresholds import soft_threshold
from garrote.solvers.descent.extrapolation import Extrapolation


class Components(NamedTuple):
    """U, W, how many steps found them, and whether these have become small.

    ``rounds`` have, for each step, the squares of W, what W pays, and how many components are not empty.
    """

    scores: Floats
    loadings: Floats
    steps: int
    settled: bool
    rounds: Floats

    def after(self, earlier: Floats) -> Floats:
        """Return the rounds of these components beside earlier ones, after the rounds of those."""
        return np.vstack([earlier, self.rounds + (earlier[-1] if len(earlier) else 0.0)])


def improved_components(
    root: Floats, alpha: Floats, start: Floats, max_steps: int, small: float
) -> Components:
    """Return components that are improved together from given scores on, in steps that never lose.

    Parameters
    ----------
    root : array of shape (r, D)
        A, or what earlier components leave of it.
    alpha : array of shape (m,)
    start : array of shape (r, m)
        Orthonormal scores.
    max_steps : int
    small : float
        A step that changes no loading by more is the last.
    """
    jump = Extrapolation()
    scores, loadings = start, _thresholds(start, root, alpha)
    rounds = [_round(loadings, alpha)]
    for made in range(max_steps):
        image = polar_factor(root @ loadings.T)
        ahead = _thresholds(image, root, alpha)
        if np.abs(ahead - loadings).max() <= small:
            rounds.append(_round(ahead, alpha))
            return Components(image, ahead, made + 1, True, np.array(rounds))
        point = jump.next(scores.ravel(), image.ravel())
        scores, loadings = image, ahead
        if jump.jumped:
            point = polar_factor(point.reshape(scores.shape))
            beyond = _thresholds(point, root, alpha)
            if gained(beyond) > gained(ahead):
                scores, loadings = point, beyond
            else:
                jump.restart()
        rounds.append(_round(loadings, alpha))
    return Components(scores, loadings, max_steps, False, np.array(rounds))


def best_component(root: Floats, alpha: float, max_steps: int, small: float) -> Components:
    """Return the better single component of two starts: most variance, and the longest column.

    The second one finds a component wherever there is any.
    """
    starts = leading_scores(root, 1), longest_column(root)
    price = np.array([alpha])
    found = [improved_components(root, price, start, max_steps, small) for start in starts]
    return max(found, key=lambda one: gained(one.loadings))


def side_by_side(found: Sequence[Components]) -> Components:
    """Return components that were found one by one as one."""
    scores, loadings, steps, settled, _ = zip(*found, strict=True)
    rounds = np.zeros((0, 3))
    for one in found:
        rounds = one.after(rounds)
    return Components(np.hstack(scores), np.vstack(loadings), max(steps), all(settled), rounds)


def gained(loadings: Floats) -> float:
    """Return by how much the objective of components is below that of none, scores being the best."""
    return 0.5 * float(np.vdot(loadings, loadings))


def largest_deviation(root: Floats) -> float:
    """Return the price from which on no column has a part: the deviation of the one that varies most."""
    return float(np.linalg.norm(root, axis=0).max())


def leading_scores(root: Floats, count: int) -> Floats:
    """Return the left singular vectors of the largest singular values, in columns; signs by rule."""
    vectors = np.linalg.svd(root, full_matrices=False)[0][:, :count]
    return np.asarray(vectors * _sign(vectors))


def longest_column(root: Floats) -> Floats:
    """Return the column of most variance as scores, of length 1."""
    length = np.linalg.norm(root, axis=0)
    column = root[:, int(length.argmax())]
    column = column / length.max() if length.max() > 0 else np.eye(len(root))[0]
    return np.asarray(column[:, None])


def without(root: Floats, scores: Floats) -> Floats:
    """Return what is left of all columns beside some scores, of length 1."""
    return np.asarray(root - np.outer(scores, scores @ root))


def polar_factor(ahead: Floats) -> Floats:
    """Return the orthonormal columns that resemble given ones most."""
    left, _, right = np.linalg.svd(ahead, full_matrices=False)
    return np.asarray(left @ right)


def _thresholds(scores: Floats, root: Floats, alpha: Floats) -> Floats:
    covariances = scores.T @ root
    prices = np.repeat(alpha[:, None], covariances.shape[1], axis=1)
    return np.asarray(soft_threshold(covariances, 1.0, prices))


def _round(loadings: Floats, alpha: Floats) -> tuple[float, float, float]:
    sizes = np.abs(loadings).sum(axis=1)
    return float(np.vdot(loadings, loadings)), float(alpha @ sizes), float(np.count_nonzero(sizes))


def _sign(vectors: Floats) -> Floats:
    """Return the sign of the largest entry of each column."""
    return np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
