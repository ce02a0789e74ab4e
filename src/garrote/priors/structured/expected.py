"""The expected log prior of switches that are independent of each other: what mean fields ask of a law.

With probabilities m of the switches, E log p(s) is a polynomial of them, but for transitions of unknown
probabilities, which get a factor of their own: there it is log B(a + E n01, b + E n00) - log B(a, b) and
the same of staying, a bound. Counts of independent switches are Poisson-binomial; that without one of
them is found from the whole by dividing by its own two terms.
"""

import numpy as np
from scipy.special import betaln, digamma

from garrote.arrays import Array, Floats
from garrote.priors.grouped_inclusion import InclusionOfGroups

# Hard rules have infinite logs, of which independent switches have no mean.
_HARD = (
    "mean field has every variable in with a probability of its own, and this law rules sets out for "
    "sure: take method='sample' or 'enumerate', or a HeredityInclusion with probabilities"
)


class ExpectedPrior:
    """The expected log prior at some probabilities, kept up to date as these change one by one."""

    def __init__(self, law: InclusionOfGroups, probability: Floats):
        assert law.ties is not None
        if law.has_parents and law.ties.heredity is None:
            raise ValueError(_HARD)
        if any(np.isinf(part).any() for pair in law.ties.heredity or () for part in pair):
            raise ValueError(_HARD)
        self.ties, self.over, self.parents = law.ties.fully(), law.over_groups, law.parents
        self.m = np.array(probability, dtype=np.float64)
        count = len(self.m)
        self._near: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        for (i, j), weight in zip(self.ties.links, self.ties.coupling, strict=True):
            self._near[i].append((int(j), float(weight)))
            self._near[j].append((int(i), float(weight)))
        self._children = [[c for c in range(count) if g in self.parents[c]] for g in range(count)]
        self._block = np.asarray(self.ties.block)
        self._before = np.asarray(self.ties.before)
        self._after = np.full(count, -1)
        known = np.flatnonzero(self._before >= 0)
        self._after[self._before[known]] = known
        by_size = self.over.by_size
        self._has_size = bool(np.ptp(np.diff(by_size)) > 1e-12) if len(by_size) > 2 else False
        self._per_one = 0.0 if self._has_size or not count else float(by_size[1] - by_size[0])
        active = np.asarray(self.ties.by_active)
        self._has_active = bool(np.any(active))
        self._refresh()

    def _refresh(self) -> None:
        """Find the laws of all counts anew, which ends the drift of divisions."""
        self._size = poisson_binomial(self.m) if self._has_size else np.ones(1)
        self._counts = [
            poisson_binomial(self.m[self._block == b]) for b in range(len(self.ties.rates))
        ]
        if self.ties.transitions is not None:
            self._steps = self._expected_steps()

    def _expected_steps(self) -> Floats:
        """Return how often out follows out, in out, out in and in in."""
        was = np.where(self._before >= 0, self.m[self._before], 0.0)
        both = was * self.m
        return np.array(
            [np.sum(1 - was - self.m + both), np.sum(self.m - both), np.sum(was - both), both.sum()]
        )

    def gain(self, g: int) -> float:
        """Return the derivative of the expected log prior by one probability."""
        m, ties = self.m, self.ties
        total = float(self.over.log_odds[g]) + self._per_one
        if self._has_size:
            total += float(without(self._size, m[g]) @ np.diff(self.over.by_size))
        b = int(self._block[g])
        if b >= 0:
            others = without(self._counts[b], m[g])
            total += float(others @ np.diff(ties.rates[b]))
            if self._has_active:
                total += float(others[0]) * self._gain_of_active(b)
        for j, weight in self._near[g]:
            total += weight * m[j]
        if ties.heredity is not None:
            total += self._gain_of_heredity(g)
        if ties.transitions is not None:
            total += self._gain_of_steps(g)
        return total

    def _gain_of_active(self, b: int) -> float:
        """Return what one more block with any in adds, beside the other blocks."""
        some = np.array([1.0 - counts[0] for k, counts in enumerate(self._counts) if k != b])
        return float(poisson_binomial(some) @ np.diff(np.asarray(self.ties.by_active)))

    def _gain_of_heredity(self, g: int) -> float:
        assert self.ties.heredity is not None
        log_in, log_out = self.ties.heredity[g]
        total = float(poisson_binomial(self.m[self.parents[g]]) @ (log_in - log_out))
        for c in self._children[g]:
            log_in, log_out = self.ties.heredity[c]
            others = poisson_binomial(self.m[self.parents[c][self.parents[c] != g]])
            total += self.m[c] * float(others @ np.diff(log_in))
            total += (1.0 - self.m[c]) * float(others @ np.diff(log_out))
        return total

    def _gain_of_steps(self, g: int) -> float:
        assert self.ties.transitions is not None
        a, b, c, d = self.ties.transitions
        n00, n01, n10, n11 = self._steps
        come, never = digamma([a + n01, b + n00]) - digamma(a + n01 + b + n00)
        stay, leave = digamma([c + n11, d + n10]) - digamma(c + n11 + d + n10)
        was = self.m[self._before[g]] if self._before[g] >= 0 else 0.0
        total = (1 - was) * (come - never) + was * (stay - leave)
        if self._after[g] >= 0:
            then = self.m[self._after[g]]
            total += then * (stay - come) + (1 - then) * (leave - never)
        return float(total)

    def set(self, g: int, probability: float) -> None:
        """Change one probability."""
        old, self.m[g] = self.m[g], probability
        if old == probability:
            return
        if self._has_size:
            self._size = with_one(without(self._size, old), probability)
        b = int(self._block[g])
        if b >= 0:
            self._counts[b] = with_one(without(self._counts[b], old), probability)
        if self.ties.transitions is not None:
            change = probability - old
            was = self.m[self._before[g]] if self._before[g] >= 0 else 0.0
            then = self.m[self._after[g]] if self._after[g] >= 0 else 0.0
            more = float(self._after[g] >= 0)
            self._steps += change * np.array(
                [
                    was - 1.0 - more * (1.0 - then),
                    1.0 - was - then,
                    more * (1.0 - then) - was,
                    was + then,
                ]
            )

    def value(self) -> float:
        """Return the expected log prior, from the probabilities alone."""
        self._refresh()
        m, ties = self.m, self.ties
        total = float(self.over.log_odds @ m)
        by_size = self.over.by_size
        total += float(self._size @ by_size) if self._has_size else float(by_size[0])
        total += 0.0 if self._has_size else self._per_one * float(m.sum())
        for counts, rates in zip(self._counts, ties.rates, strict=True):
            total += float(counts @ rates)
        if self._has_active:
            some = np.array([1.0 - counts[0] for counts in self._counts])
            total += float(poisson_binomial(some) @ np.asarray(ties.by_active))
        if len(ties.links):
            total += float(np.sum(ties.coupling * m[ties.links[:, 0]] * m[ties.links[:, 1]]))
        for g, (log_in, log_out) in enumerate(ties.heredity or ()):
            there = poisson_binomial(m[self.parents[g]])
            total += m[g] * float(there @ log_in) + (1 - m[g]) * float(there @ log_out)
        if ties.transitions is not None:
            a, b, c, d = ties.transitions
            n00, n01, n10, n11 = self._steps
            total += float(betaln(a + n01, b + n00) - betaln(a, b))
            total += float(betaln(c + n11, d + n10) - betaln(c, d))
        return total


def poisson_binomial(m: Floats) -> Floats:
    """Return the law of how many of independent switches are in."""
    law = np.ones(1)
    for p in m:
        law = with_one(law, float(p))
    return law


def with_one(law: Floats, p: float) -> Floats:
    """Return the law of a count with one switch more."""
    made = np.zeros(len(law) + 1)
    made[:-1] = law * (1.0 - p)
    made[1:] += law * p
    return made


def without(law: Floats, p: float) -> Floats:
    """Return the law of a count without one of its switches.

    From the side on which errors die out.
    """
    count = len(law) - 1
    left: Array = np.zeros(count)
    if p <= 0.5:
        before = 0.0
        for k in range(count):
            before = left[k] = (law[k] - p * before) / (1.0 - p)
    else:
        after = 0.0
        for k in range(count - 1, -1, -1):
            after = left[k] = (law[k + 1] - (1.0 - p) * after) / p
    return np.maximum(left, 0.0)
