"""Non-negative factors: every coordinate of the codes, then of the atoms, given all others, in turn."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import svds

from garrote.arrays import Floats
from garrote.coding.atoms import random_atoms, replace_unused, second_moments
from garrote.coding.learners.base import Learned, Memory, Task
from garrote.coding.learners.online import Online
from garrote.coding.record import LearningRecord
from garrote.coding.signals import squared_errors, squared_norms
from garrote.solvers.coding.atom_updates import update_atoms
from garrote.solvers.coding.dealing import deal
from garrote.solvers.coding.factor_codes import improve_codes

# Sweeps over the codes, and passes over the atoms, in a round at most; one that does less than this
# share of the first ends them. What a round costs most are products with the signals.
_SWEEPS, _PASSES, _SHARE = 8, 8, 0.02
# With no more columns than this their second moments are formed.
_FEW_COLUMNS = 500


def factorise(task: Task, max_rounds: int, tol: float) -> Learned:
    """Learn non-negative atoms; ``task.coder`` says what codes cost."""
    signals, weights, atoms = _whole(task.signals), task.weights, task.atoms.copy()
    squares, price = float(weights @ squared_norms(signals)), task.coder.price
    codes = np.zeros((signals.shape[0], len(atoms)))
    rounds, before, replaced = [], np.inf, 0
    while True:
        gram = atoms @ atoms.T
        sweep = partial(_swept, gram, price)
        parts = deal(signals @ atoms.T, sweep, task.n_jobs, beside=(codes,))
        codes = np.concatenate(parts)
        weighted = codes * weights[:, None]
        inner, outer = weighted.T @ codes, np.asarray((signals.T @ weighted).T)
        error = squares - 2.0 * float(np.vdot(outer, atoms)) + float(np.vdot(inner, gram))
        cost = price * float(weighted.sum())
        total, size = float(weights.sum()), float(weights @ np.count_nonzero(codes, axis=1))
        objective = (0.5 * max(error, 0.0) + cost) / total
        rounds.append((objective, max(error, 0.0) / squares if squares else 0.0, size / total, 0))
        task.report(len(rounds), max_rounds + 1)
        settled = before - objective <= tol * objective and not replaced
        if settled or len(rounds) > max_rounds:
            # As many batches as `Online` has, so that `partial_fit` goes on from there.
            memory = Memory(inner, outer, max(1, len(codes) // Online().batch_size))
            return Learned(atoms, LearningRecord.of(rounds, True), settled, memory)
        before, used = objective, np.diag(inner) > 0
        if not used.all():
            left = squared_errors(signals, codes, atoms) * (weights > 0)
            replaced = len(replace_unused(atoms, used, task.coder, signals, left, positive=True))
            rounds[-1] = (*rounds[-1][:3], replaced)
        # Without a price lengths mean nothing: atoms are free, and made of length 1 after.
        longest = 1.0 if price else np.inf
        update_atoms(atoms, inner, np.ascontiguousarray(outer), _PASSES, _SHARE, True, longest)
        if not price:
            length = np.linalg.norm(atoms, axis=1)
            length[length == 0] = 1.0
            atoms /= length[:, None]
            codes *= length


def _whole(signals: Any) -> Any:
    """Return all signals in double precision, sparse where they are."""
    if scipy.sparse.issparse(signals):
        return scipy.sparse.csr_array(signals, dtype=np.float64)
    return np.asarray(signals, dtype=np.float64)


def _swept(gram: Floats, price: float, products: Floats, codes: Floats) -> Floats:
    """Return better codes of some signals."""
    improved = codes.copy()
    improve_codes(improved, products, gram, price, _SWEEPS, _SHARE)
    return improved


def first_parts(count: int, signals: Any, weights: Floats, rng: np.random.Generator) -> Floats:
    """Return of each singular vector the part of one sign that is longer; random parts beyond these.

    In the manner of Boutsidis & Gallopoulos (2008), SVD based initialization. Pattern Recognition 41,
    1350-1362.
    """
    vectors = _singular_vectors(count, signals, weights)
    above, below = np.maximum(vectors, 0.0), np.maximum(-vectors, 0.0)
    longer = np.linalg.norm(above, axis=1) >= np.linalg.norm(below, axis=1)
    parts = np.where(longer[:, None], above, below)
    random = np.abs(random_atoms(count - len(parts), signals, weights, rng))
    parts = np.concatenate([parts, random])
    return np.asarray(parts / np.linalg.norm(parts, axis=1, keepdims=True))


def _singular_vectors(count: int, signals: Any, weights: Floats) -> Floats:
    """Return the leading right singular vectors of weighted signals, one a row."""
    rows, width = signals.shape
    if width <= _FEW_COLUMNS:
        return np.asarray(np.linalg.eigh(second_moments(signals, weights))[1].T[::-1][:count])
    root = np.sqrt(weights)[:, None]
    scaled = signals.multiply(root).tocsr() if scipy.sparse.issparse(signals) else signals * root
    if count < min(rows, width) // 2:
        found = svds(scaled.astype(np.float64), count, v0=np.ones(min(rows, width)))[2]
        return np.asarray(found[::-1])
    dense = scaled.toarray() if scipy.sparse.issparse(scaled) else scaled
    return np.asarray(np.linalg.svd(dense, full_matrices=False)[2][:count])
