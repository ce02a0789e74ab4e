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


class _Weighed(NamedTuple):
    """A place with its log posterior, and the log chance of proposing its signs."""

    place: Place
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
        columns = np.array(members, dtype=np.int64)
        log_variance = float(np.log(self.variance))
        bare = Place(columns, np.zeros(len(members)), log_variance, self.shape, self.rule)
        return self._weighed(bare, *self._cross_products(columns), draws=True).place.signs

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
        begin = now = self._weighed(place, block, products)
        for _ in range(_TRIES):
            now = self._stepped(now, block, products)
        return place if now is begin else now.place

    def _weighed(
        self, place: Place, block: Floats, products: Floats, draws: bool = False
    ) -> _Weighed:
        """Return a place with its posterior; where it ``draws``, with signs that are drawn."""
        signs = place.signs.copy() if draws else place.signs
        uniforms = self.rng.random(len(products)) if draws else np.zeros(0)
        evidence, chance = _weigh_signs(
            place.rule, block, products, float(self.target.problem.yty), signs, uniforms
        )
        log_prior = self.shapes[place.shape][0]
        log_prior += float(self.target.slab.log_density(place.log_variance))
        return _Weighed(place._replace(signs=signs), evidence + log_prior, chance)

    def _stepped(self, now: _Weighed, block: Floats, products: Floats) -> _Weighed:
        """Return the place after one Metropolis step of the variance or, as often, of the shape."""
        several, place = len(self.shapes) > 1, now.place
        if self.target.variance_is_unknown and not (several and self.rng.random() < 0.5):
            step = _STEPS[self.rng.integers(len(_STEPS))] * self.rng.standard_normal()
            there = self._weighed(self._at(place, place.shape, step), block, products)
            gain = there.log_posterior - now.log_posterior
        elif several:
            other = int(self.rng.integers(len(self.shapes) - 1))
            other += other >= place.shape
            there = self._weighed(self._at(place, other, 0.0), block, products, draws=True)
            gain = there.log_posterior - there.log_chance - now.log_posterior + now.log_chance
        else:
            return now
        return there if np.log(self.rng.random()) < gain else now

    def _at(self, place: Place, shape: int, step: float) -> Place:
        """Return a place with a slab of some shape, its log variance a step away."""
        there = place.log_variance + float(step)
        return place._replace(log_variance=there, shape=shape, rule=self._rule(shape, there))


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


@sign_of.register
def _(factor: SignedFactor, j):
    return factor.sign[j]
