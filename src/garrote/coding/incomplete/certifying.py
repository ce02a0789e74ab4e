"""How far sparse factors of a matrix with gaps are from where neither could be better."""

import numpy as np

from garrote.arrays import Floats
from garrote.coding.coders.lasso import lasso_gaps
from garrote.coding.incomplete.factorising import (
    Factorised,
    FactorisingMethod,
)
from garrote.coding.incomplete.mean_field import SlabLaws, off_equations
from garrote.coding.incomplete.penalised_factors import PenalisedFactors
from garrote.coding.incomplete.signals import Incomplete
from garrote.results.certificates import OPTIMALITY, Certificate, equations
from garrote.solvers.coding.bounded_atoms import update_bounded_atoms
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.coding.factor_moments import (
    Factors,
    expected_error_by_sums,
    log_odds,
    off_equations_by_sums,
)

# Passes over components by which they are measured.
_PASSES = 20


def factors_certificate(
    method: FactorisingMethod, found: Factorised, signals: Incomplete, weights: Floats
) -> Certificate:
    """Measure factors as they are stated on the entries that were seen."""
    if isinstance(method, PenalisedFactors):
        return _at_price(method, found, signals, weights)
    assert found.factors is not None
    return _of_slabs(found.factors, found.memory.sums, signals, weights)


def _at_price(
    method: PenalisedFactors, found: Factorised, signals: Incomplete, weights: Floats
) -> Certificate:
    """Return the worst code's gap, and what more updates of components would gain."""
    (values, seen), (atoms, codes) = signals, found[:2]
    assert method.alpha is not None
    gaps = lasso_gaps(atoms, values, codes, method.alpha, seen=seen)
    worst = float(gaps[weights > 0].max(initial=0.0))
    left, moved = (values - codes @ atoms) * seen, atoms.copy()
    gained = sum(
        update_bounded_atoms(moved, codes, left, seen, weights, method.gamma)
        for _ in range(_PASSES)
    )
    squares = float(weights @ np.sum(values**2, axis=1))
    share = gained / (0.5 * squares) if squares else 0.0
    said = f"duality gap {worst:.1e}, another update of atoms gains {share:.1e}"
    return Certificate(OPTIMALITY, max(worst, share), {"duality gap": worst, "atoms": share}, said)


def _of_slabs(
    factors: Factors, sums: CodeSums, signals: Incomplete, weights: Floats
) -> Certificate:
    """Return how far factors and noise are from their equations, those of codes in given signals.

    Loadings and noise have theirs from all signals that are remembered.
    """
    codes, loadings, numbers = factors
    values, seen = signals
    ones, noise = np.ones(len(numbers.slab)), 1.0 / numbers.noise
    laws = SlabLaws(loadings.mean, loadings.variance, log_odds(numbers.of_codes), ones, noise)
    of_codes = off_equations(laws, values, seen, codes.mean, codes.probability)[weights > 0]
    expected = expected_error_by_sums(sums, loadings)
    return equations(
        {
            "inclusion": float(of_codes.max(initial=0.0)),
            "weight": off_equations_by_sums(sums, numbers, loadings),
            "noise": abs(np.log(expected / numbers.noise)) if expected > 0 else 0.0,
        }
    )
