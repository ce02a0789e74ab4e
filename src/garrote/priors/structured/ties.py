"""What switches have to do with each other, beyond how many are in and the odds of each.

The log prior of a set s of switches has, beside its size and odds,

    sum over blocks b of rates_b[how many of b are in] + by_active[how many blocks have any in]
    + sum over links (i, j) of coupling_ij s_i s_j
    + sum over children c of log_in_c[parents in] if c is in, else log_out_c[parents in]
    + log B(a + n01, b + n00) / B(a, b) + log B(c + n11, d + n10) / B(c, d),

the last of transitions along chains, whose probabilities have Beta laws: nuv is how often v follows u,
and the first of a chain comes as after one that is out. Every law of `garrote.priors` is made of these
parts, so that one walk, one enumeration and one certificate serve them all.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import betaln

from garrote.arrays import Array, Floats

NO_NUMBERS = np.zeros(0)
NO_LINKS = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Ties:
    """Parts of a prior over so many switches; what is left out adds nothing.

    Attributes
    ----------
    count : int
        How many switches there are.
    block : array of int of shape (count,), optional
        The block of each switch, and -1 of those in none.
    rates : tuple of arrays
        For each block what the log prior has by how many of it are in, from none to all.
    by_active : array, optional
        What it has by how many blocks have any switch in.
    links : array of int of shape (E, 2)
    coupling : array of shape (E,)
    heredity : tuple of (log_in, log_out), optional
        For each switch two arrays by how many of its parents are in, which the `InclusionOfGroups`
        lists; of a switch without parents they are 0.
    before : array of int of shape (count,), optional
        The switch before each one on its chain, and -1 of the first ones.
    transitions : (a, b, c, d), optional
        The Beta laws of the probabilities to come in, and to stay in.
    words : str
        What the law is, for reports.
    """

    count: int
    block: Array | None = None
    rates: tuple[Floats, ...] = ()
    by_active: Floats | None = None
    links: Array = field(default_factory=lambda: NO_LINKS)
    coupling: Floats = field(default_factory=lambda: NO_NUMBERS)
    heredity: tuple[tuple[Floats, Floats], ...] | None = None
    before: Array | None = None
    transitions: tuple[float, float, float, float] | None = None
    words: str = ""

    def log_prior(self, inside: Any, parents: tuple[Array, ...]) -> Floats:
        """Return what the parts add to the log prior of sets, a row of truth values for each."""
        inside = np.atleast_2d(inside).astype(bool)
        logs = np.zeros(len(inside))
        if self.block is not None:
            logs += self._of_blocks(inside)
        if len(self.links):
            both = inside[:, self.links[:, 0]] & inside[:, self.links[:, 1]]
            logs += both @ self.coupling
        if self.heredity is not None:
            for child, (log_in, log_out) in enumerate(self.heredity):
                there = inside[:, parents[child]].sum(axis=1)
                logs += np.where(inside[:, child], log_in[there], log_out[there])
        if self.transitions is not None:
            logs += self._of_chains(inside)
        return logs

    def _of_blocks(self, inside: Array) -> Floats:
        logs, active = np.zeros(len(inside)), np.zeros(len(inside), dtype=np.intp)
        for b, rates in enumerate(self.rates):
            there = inside[:, self.block == b].sum(axis=1)
            logs += rates[there]
            active += there > 0
        return logs if self.by_active is None else logs + self.by_active[active]

    def _of_chains(self, inside: Array) -> Floats:
        assert self.before is not None
        assert self.transitions is not None
        was = np.where(self.before >= 0, inside[:, self.before], False)
        a, b, c, d = self.transitions
        came, never = (~was & inside).sum(axis=1), (~was & ~inside).sum(axis=1)
        stayed, left = (was & inside).sum(axis=1), (was & ~inside).sum(axis=1)
        coming = betaln(a + came, b + never) - betaln(a, b)
        return np.asarray(coming + betaln(c + stayed, d + left) - betaln(c, d))

    def fully(self) -> "Ties":
        """Return the same with every part there, those that add nothing too."""
        nobody = np.full(self.count, -1)
        return replace(
            self,
            block=nobody if self.block is None else self.block,
            by_active=np.zeros(len(self.rates) + 1) if self.by_active is None else self.by_active,
            before=nobody if self.before is None else self.before,
        )


def strong(parents: Array) -> tuple[Floats, Floats]:
    """Return the table of a child that may be in only where all its parents are."""
    log_in = np.full(len(parents) + 1, -np.inf)
    log_in[-1] = 0.0
    return log_in, np.zeros(len(parents) + 1)


def weak(parents: Array) -> tuple[Floats, Floats]:
    """Return the table of a child that may be in only where any of its parents is."""
    log_in = np.zeros(len(parents) + 1)
    log_in[0] = -np.inf if len(parents) else 0.0
    return log_in, np.zeros(len(parents) + 1)
