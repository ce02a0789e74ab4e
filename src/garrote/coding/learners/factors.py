"""Non-negative factors: every coordinate of the codes, then of the atoms, given all others, in turn."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from scipy.linalg import eigh
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
# share of the first ends them. Products with the signals cost more the longer these are, and sweeps are
# as many as take half of that (Gillis & Glineur 2012).
_SWEEPS, _PASSES, _SHARE = 8, 8, 0.02
# How far atoms go beyond where a round has brought them: at first, and by which factors that grows where
# it lowers the objective and shrinks where it would not.
_FIRST_STEP, _LONGER, _SHORTER = 0.5, 1.05, 1.5
# With no more columns than this their second moments are formed.
_FEW_COLUMNS = 500
# Once no more than this share of the squares is left, rounding of these decides what lowers it.
_NOTHING_LEFT = 1e-10


def factorise(task: Task, max_rounds: int, tol: float) -> Learned:
    """Learn non-negative atoms; ``task.coder`` says what codes cost.

    Atoms go on beyond where a round has brought them, in the same direction, as long as that lowers the
    objective; where it would not, the round counts for nothing and begins from where they were (Ang &
    Gillis 2019).
    """
    signals, weights, price = _whole(task.signals), task.weights, task.coder.price
    squares, total = float(weights @ squared_norms(signals)), float(weights.sum())
    atoms, codes = task.atoms.copy(), np.zeros((signals.shape[0], len(task.atoms)))
    sweeps = int(np.clip(round(1 + 0.5 * atoms.shape[1] / len(atoms)), 1, _SWEEPS))
    safe, beyond, ahead = (atoms, codes), False, _FIRST_STEP
    rounds, before, replaced = [], np.inf, 0
    while True:
        gram = atoms @ atoms.T
        sweep = partial(_swept, gram, price, sweeps)
        codes = np.concatenate(deal(signals @ atoms.T, sweep, task.n_jobs, beside=(codes,)))
        weighted = codes * weights[:, None]
        inner, outer = weighted.T @ codes, np.asarray((signals.T @ weighted).T)
        error = squares - 2.0 * float(np.vdot(outer, atoms)) + float(np.vdot(inner, gram))
        size = float(weights @ np.count_nonzero(codes, axis=1))
        objective = (0.5 * max(error, 0.0) + price * float(weighted.sum())) / total
        if beyond and objective > before:
            (atoms, codes), beyond, ahead = safe, False, ahead / _SHORTER
            continue
        rounds.append((objective, max(error, 0.0) / squares if squares else 0.0, size / total, 0))
        task.report(len(rounds), max_rounds + 1)
        settled = before - objective <= tol * objective and not replaced
        settled = settled or error <= _NOTHING_LEFT * squares
        if settled or len(rounds) > max_rounds:
            # As many batches as `Online` has, so that `partial_fit` goes on from there.
            memory = Memory(inner, outer, max(1, len(codes) // Online().batch_size))
            return Learned(atoms, LearningRecord.of(rounds, True), settled, memory)
        before, used, replaced = objective, np.diag(inner) > 0, 0
        atoms = atoms.copy()
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
            codes = codes * length
        last, safe, beyond = safe[0], (atoms, codes), not replaced
        if beyond:
            atoms = _further(atoms, last, ahead, bool(price))
            ahead = min(ahead * _LONGER, 1.0)


def _further(atoms: Floats, last: Floats, step: float, bounded: bool) -> Floats:
    """Return atoms moved on from where they were last, not negative and as long as they may be."""
    moved = np.maximum(atoms + step * (atoms - last), 0.0)
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    length = np.maximum(length, 1.0) if bounded else length
    return np.asarray(np.where(length > 0, moved / np.where(length > 0, length, 1.0), atoms))


def _whole(signals: Any) -> Any:
    """Return all signals in double precision, sparse where they are."""
    if scipy.sparse.issparse(signals):
        return scipy.sparse.csr_array(signals, dtype=np.float64)
    return np.asarray(signals, dtype=np.float64)


def _swept(gram: Floats, price: float, sweeps: int, products: Floats, codes: Floats) -> Floats:
    """Return better codes of some signals."""
    improved = codes.copy()
    improve_codes(improved, products, gram, price, sweeps, _SHARE)
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
    if count > len(parts):
        random = np.abs(random_atoms(count - len(parts), signals, weights, rng))
        parts = np.concatenate([parts, random])
    return np.asarray(parts / np.linalg.norm(parts, axis=1, keepdims=True))


def _singular_vectors(count: int, signals: Any, weights: Floats) -> Floats:
    """Return the leading right singular vectors of weighted signals, one a row."""
    rows, width = signals.shape
    if width <= _FEW_COLUMNS:
        wanted = (max(0, width - count), width - 1)
        moments = second_moments(signals, weights)
        return np.asarray(eigh(moments, subset_by_index=wanted)[1].T[::-1])
    root = np.sqrt(weights)[:, None]
    scaled = signals.multiply(root).tocsr() if scipy.sparse.issparse(signals) else signals * root
    if count < min(rows, width) // 2:
        found = svds(scaled.astype(np.float64), count, v0=np.ones(min(rows, width)))[2]
        return np.asarray(found[::-1])
    dense = scaled.toarray() if scipy.sparse.issparse(scaled) else scaled
    return np.asarray(np.linalg.svd(dense, full_matrices=False)[2][:count])
