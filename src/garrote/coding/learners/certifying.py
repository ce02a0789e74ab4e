"""How good a dictionary is: its codes of signals, and what another update of its atoms would gain."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.coding.coders import CodingMethod
from garrote.coding.codes import encoded
from garrote.coding.learners.base import summed
from garrote.results.certificates import OPTIMALITY, Certificate
from garrote.solvers.coding.atom_updates import update_atoms
from garrote.solvers.coding.dealing import TOGETHER, dense_rows

# Passes over the atoms by which it is measured.
_PASSES = 20


def learned_certificate(
    coder: CodingMethod,
    atoms: Floats,
    signals: Any,
    weights: Floats,
    n_jobs: int | None,
    of: int,
    positive: bool = False,
) -> Certificate:
    """Code signals afresh, and say how far codes and atoms are from where neither could be better.

    ``of`` is how many signals there were; ``positive`` says that atoms are not negative.
    """
    codes = encoded(coder, atoms, signals, n_jobs)
    inner, outer, squares = np.zeros((len(atoms), len(atoms))), np.zeros(atoms.shape), 0.0
    for start in range(0, signals.shape[0], TOGETHER):
        rows = slice(start, start + TOGETHER)
        block = dense_rows(signals, rows)
        seen = summed(codes.values[rows], coder.price, atoms, block, weights[rows])
        inner, outer, squares = inner + seen.inner, outer + seen.outer, squares + seen.sums[2]
    gained = update_atoms(atoms.copy(), inner, outer, _PASSES, positive=positive)
    share = gained / (0.5 * squares) if squares else 0.0
    (part, worst), *_ = codes.certificate.parts.items()
    said = f"{part} {worst:.1e}, another update of atoms gains {share:.1e}"
    if signals.shape[0] < of:
        said += f", on {signals.shape[0]:,} of {of:,} signals"
    return Certificate(OPTIMALITY, max(worst, share), {part: worst, "atoms": share}, said)
