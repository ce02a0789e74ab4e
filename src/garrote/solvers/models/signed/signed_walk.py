"""The informed walk over models and signs, with the slab's variance and shape where they are not known.

Between stretches of steps two kinds of moves are tried, given the model. The variance is scaled. Another
shape is proposed with other signs: where the slab has one hump signs mean nothing, and beside two humps
random ones would never do. They are drawn independently, by their chances in a mean field: what any set
of signs has of these goes into the acceptance. Several such steps need the model's own cross products
alone. Where they lead is then accepted by what the walk's weights make of it (Christen & Fox 2005).
"""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import exponential
from garrote.priors.evidence.humps import (
    humps_at,
    humps_of,
    log_signed_evidence,
    reshaped,
)
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
from garrote.solvers.models.factor_kinds import (
    append,
    enter,
    leave,
    log_state_evidence,
    refill,
    sign_of,
    turn,
)
from garrote.solvers.models.factor_walk import FactorWalk, Place
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.model_chain import Target
from garrote.solvers.models.signed.sign_sums import sign_fields
from garrote.solvers.models.signed.signed_scores import log_of_signs

# Standard deviations of steps of the slab's log variance, by chance: humps far apart know it well, and
# beside few effects it is known to some powers of ten.
_STEPS = (2.0, 0.7, 0.2, 0.06)
# Steps of variance and shape, twice between two stretches of the walk.
_TRIES = 2


class SignedState(FactorWalk):
    """What walks over models with signs share: their state, and moves of the slab."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        super().__init__(target, rng, rows)
        shapes: Any = target.slab.shapes()
        self.shapes = [(log, float(slab.separation)) for log, slab in shapes]
        self._shapes = np.array(self.shapes, dtype=np.float64)
        self._yty = float(target.problem.yty)
        self._like = shapes[0][1].signed_rule(target.n, self._yty)
        self.shape = 0

    def _present_rule(self) -> Any:
        return self._rule(self.shape, float(np.log(self.variance)))

    def _rule(self, shape: int, log_variance: float) -> Any:
        return reshaped(self._like, *humps_of(float(np.exp(log_variance)), self.shapes[shape][1]))

    def _empty(self, n_features: int, room: int) -> SignedFactor:
        return empty_signed_factor(n_features, room)

    def _first_signs(self, members: list[int]) -> Floats:
        """Return signs by chance."""
        columns = np.array(members, dtype=np.int64)
        signs, uniforms = np.zeros(len(members)), self.rng.random(len(members))
        block, products = self._cross_products(columns)
        _weigh_signs(self.rule, block, products, self._yty, signs, uniforms)
        return signs

    def _signs(self, members: list[int]) -> Floats:
        """Return the signs of members."""
        return np.asarray(self.factor.sign[members])

    def _coins(self, uniforms: Floats) -> Floats:
        """Return what newcomers' signs are drawn by."""
        return self.rng.random(len(uniforms))

    def _slab_of(self, states: int) -> Floats:
        return np.tile([np.log(self.variance), self.shapes[self.shape][1]], (states, 1))

    def _place(self) -> Place:
        return super()._place()._replace(shape=self.shape)

    def _take_slab(self, place: Place) -> None:
        super()._take_slab(place)
        self.shape = place.shape

    def _other_slab(self, place: Place) -> Place:
        """Return a place with another variance, shape and signs, or the same."""
        block, products = self._cross_products(place.members)
        signs = place.signs.copy()
        moved, log_variance, shape = _move_slab(
            self.rng, place.rule, self._shapes, self.target.variance_is_unknown,
            self.target.slab.law, place.log_variance, place.shape, signs, block, products, self._yty,
        )  # fmt: skip
        if not moved:
            return place
        rule = self._rule(shape, log_variance)
        return Place(place.members, signs, log_variance, shape, rule)


class SignedWalk(SignedState, InformedWalk):
    """A walk over models with signs that scores all neighbours of a model before it moves."""


@kernel
def _move_slab(
    rng, like, shapes, unknown, law, log_variance, shape, signs, block, products, yty
):  # fmt: skip
    """Make Metropolis steps of the variance or, as often, of the shape; signs change in place.

    ``like`` is a rule with the same law of the noise, ``shapes`` have their log probabilities and
    separations. Returns whether a step was taken, and the log variance and the shape.
    """
    several, moved = shapes.shape[0] > 1, False
    if not (several or unknown):
        return moved, log_variance, shape
    nothing, drawn = np.zeros(0), np.zeros(signs.shape[0])
    here = _log_slab(shapes, law, log_variance, shape)
    evidence, chance = _weigh_signs(
        _rule_at(like, shapes, log_variance, shape), block, products, yty, signs, nothing
    )
    for _ in range(_TRIES):
        further, other, uniforms = log_variance, shape, nothing
        drawn[:] = signs
        redraws = not unknown or (several and rng.random() < 0.5)
        if redraws:
            other = rng.integers(0, shapes.shape[0] - 1)
            other += other >= shape
            uniforms = rng.random(signs.shape[0])
        else:
            scale = _STEPS[rng.integers(0, len(_STEPS))]
            further += scale * rng.standard_normal()
        there = _log_slab(shapes, law, further, other)
        its_evidence, its_chance = _weigh_signs(
            _rule_at(like, shapes, further, other), block, products, yty, drawn, uniforms
        )
        gain = its_evidence + there - evidence - here
        if redraws:
            gain += chance - its_chance
        if np.log(rng.random()) < gain:
            moved, log_variance, shape, here = True, further, other, there
            evidence, chance = its_evidence, its_chance
            signs[:] = drawn
    return moved, log_variance, shape


@kernel(inline=True)
def _rule_at(like, shapes, log_variance, shape):
    ridge, lift, height = humps_at(np.exp(log_variance), shapes[shape, 1])
    return reshaped(like, ridge, lift, height)


@kernel(inline=True)
def _log_slab(shapes, law, log_variance, shape):
    """Return the log density of a slab, but for a constant."""
    return shapes[shape, 0] - law[0] * log_variance - law[1] * np.exp(-log_variance)


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


@sign_of.register
def _(factor: SignedFactor, j):
    return factor.sign[j]
