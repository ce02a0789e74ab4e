"""The informed walk over models and signs, with the slab's variance and shape where they are not known.

Between stretches of steps two kinds of moves are tried, given the model. The variance is scaled. Another
shape is proposed with other signs: where the slab has one hump signs mean nothing, and beside two humps
random ones would never do. They are drawn independently, by their chances in a mean field: what any set
of signs has of these goes into the acceptance. Several such steps need the model's own cross products
alone. Where they lead is then accepted by what the walk's weights make of it (Christen & Fox 2005).
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import exponential
from garrote.priors.evidence.humps import humps_of, log_signed_evidence, reshaped
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import log_determinant
from garrote.solvers.algebra.signed_factor import (
    SignedFactor,
    add_signed,
    empty_signed_factor,
    fill_signed,
    remove_signed,
    turn_sign,
)
from garrote.solvers.models.factor_walk import (
    FactorWalk,
    append,
    enter,
    leave,
    log_state_evidence,
    refill,
    turn,
)
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.model_chain import Target
from garrote.solvers.models.signed.sign_sums import sign_fields
from garrote.solvers.models.signed.signed_scores import log_of_signs

# Standard deviations of steps of the slab's log variance, by chance: humps far apart know it well, and
# beside few effects it is known to some powers of ten.
_STEPS = (2.0, 0.7, 0.2, 0.06)
# Steps of variance and shape between two stretches of the walk.
_TRIES = 6


class _State(NamedTuple):
    """A slab beside the present model: its rule, signs, log posterior and log chance of the signs."""

    log_variance: float
    shape: int
    rule: Any
    signs: Floats
    log_posterior: float
    log_chance: float


class SignedState(FactorWalk):
    """What walks over models with signs share: their state, and moves of the slab."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        super().__init__(target, rng, rows)
        shapes: Any = target.slab.shapes()
        self.shapes = [(log, float(slab.separation)) for log, slab in shapes]
        self._like = shapes[0][1].signed_rule(target.n, target.problem.yty)
        self.shape = 0

    def _present_rule(self) -> Any:
        return self._rule(self.shape, float(np.log(self.variance)))

    def _rule(self, shape: int, log_variance: float) -> Any:
        return reshaped(self._like, *humps_of(float(np.exp(log_variance)), self.shapes[shape][1]))

    def _empty(self, n_features: int, room: int) -> SignedFactor:
        return empty_signed_factor(n_features, room)

    def _first_signs(self, members: list[int]) -> Floats:
        """Return signs by chance."""
        products = self._cross_products(members)
        return self._state(self.shape, float(np.log(self.variance)), *products).signs

    def _signs(self, members: list[int]) -> Floats:
        """Return the signs of members."""
        return np.asarray(self.factor.sign[members])

    def _coins(self, uniforms: Floats) -> Floats:
        """Return what newcomers' signs are drawn by."""
        return self.rng.random(len(uniforms))

    def _slab_of(self, states: int) -> Floats:
        return np.tile([np.log(self.variance), self.shapes[self.shape][1]], (states, 1))

    def _state(
        self,
        shape: int,
        log_variance: float,
        block: Floats,
        products: Floats,
        signs: Floats | None = None,
    ) -> _State:
        """Return a slab beside the present model, with signs that are given or drawn."""
        rule = self._rule(shape, log_variance)
        uniforms = self.rng.random(len(products)) if signs is None else np.zeros(0)
        signs = np.zeros(len(products)) if signs is None else signs.copy()
        evidence, chance = _weigh_signs(
            rule, block, products, float(self.target.problem.yty), signs, uniforms
        )
        log_prior = self.shapes[shape][0] + float(self.target.slab.log_density(log_variance))
        return _State(log_variance, shape, rule, signs, evidence + log_prior, chance)

    def _move_variance(self) -> None:
        """Draw another variance and another shape, given the model.

        Some steps are made on the posterior given the model; where they lead is then accepted by what
        the walk's weights make of it, as in `FactorWalk`.
        """
        members = self.members
        block, products = self._cross_products(members)
        begin = now = self._state(
            self.shape, float(np.log(self.variance)), block, products, self.factor.sign[members]
        )
        for _ in range(_TRIES):
            now = self._stepped(now, block, products)
        if now is begin:
            return
        self._fill(self._spare, now.rule, members, now.signs)
        weight = self.log_weight(self.rule, self.factor)
        if np.log(self.rng.random()) < self.log_weight(now.rule, self._spare) - weight:
            self._take_spare()
            self.rule, self.shape = now.rule, now.shape
            self.variance = float(np.exp(now.log_variance))

    def _stepped(self, now: _State, block: Floats, products: Floats) -> _State:
        """Return the state after one Metropolis step of the variance or, as often, of the shape."""
        several = len(self.shapes) > 1
        if self.target.variance_is_unknown and not (several and self.rng.random() < 0.5):
            step = _STEPS[self.rng.integers(len(_STEPS))] * self.rng.standard_normal()
            there = self._state(now.shape, now.log_variance + step, block, products, now.signs)
            gain = there.log_posterior - now.log_posterior
        elif several:
            other = int(self.rng.integers(len(self.shapes) - 1))
            other += other >= now.shape
            there = self._state(other, now.log_variance, block, products)
            gain = there.log_posterior - there.log_chance - now.log_posterior + now.log_chance
        else:
            return now
        return there if np.log(self.rng.random()) < gain else now


class SignedWalk(SignedState, InformedWalk):
    """A walk over models with signs that scores all neighbours of a model before it moves."""


@kernel
def _weigh_signs(rule, block, products, yty, signs, uniforms):
    """Return the log evidence of a model with signs, and the log chance of proposing these.

    With ``uniforms`` signs are drawn by that chance.
    """
    k = products.shape[0]
    inner = block.copy()
    for a in range(k):
        inner[a, a] += rule.ridge
    root = np.linalg.cholesky(inner)
    log_det = 0.0
    for a in range(k):
        log_det += 2.0 * np.log(root[a, a])
    inverse = np.linalg.inv(inner)
    coef = inverse @ products
    left = max(yty - coef @ products, 0.0)
    fields = sign_fields(rule, left, coef, inverse)
    log_chance = 0.0
    for a in range(k):
        if uniforms.shape[0]:
            plus = 1.0 / (1.0 + np.exp(-2.0 * fields[a]))
            signs[a] = 1.0 if uniforms[a] < plus else -1.0
        log_chance -= np.log1p(np.exp(-2.0 * signs[a] * fields[a]))
    cross, lean = signs @ coef, signs @ (inverse @ signs)
    return log_signed_evidence(rule, k, log_det, left, cross, lean), log_chance


@enter.register
def _(factor: SignedFactor, rule, gram_row, j, coin):
    plus, minus = log_of_signs(
        rule, factor.left[0], factor.cross[0], factor.pivot[j], factor.product[j], factor.tilt[j]
    )
    sign = 1.0 if coin * (1.0 + exponential(minus - plus)) < 1.0 else -1.0
    add_signed(gram_row, j, sign, factor)


@leave.register
def _(factor: SignedFactor, j):
    remove_signed(j, factor)


@turn.register
def _(factor: SignedFactor, j, inverse):
    turn_sign(j, inverse, factor)


@refill.register
def _(factor: SignedFactor, gram, slot, lengths, xty, yty, ridge, members, signs):
    fill_signed(gram, slot, lengths, xty, yty, ridge, members, signs, factor)


@append.register
def _(factor: SignedFactor, gram_row, j, sign):
    add_signed(gram_row, j, sign, factor)


@log_state_evidence.register
def _(factor: SignedFactor, rule):
    fit = factor.left[0], factor.cross[0], factor.lean[0]
    return log_signed_evidence(rule, factor.size[0], log_determinant(factor), *fit)
