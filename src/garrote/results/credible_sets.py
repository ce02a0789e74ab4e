"""Which variables could stand in for which: sets of which one has the effect.

Two laws make credible sets. A sum of single effects has one for each effect: its most probable
variables, until their probabilities sum to the coverage. Every other posterior is a mixture of
components in which variables are in or out independently of each other (a model; a solution of mean
field; the columns that a draw uses). There variables substitute for each other that are alike and
seldom in together: |correlation| at least ``min_purity``, and P(j and k) <= P(j) P(k). From the most
probable variable on, those join that substitute for all before and add most to the probability that at
least one is in, until that reaches the coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.files.json_values import number, numbers
from garrote.summaries import Shown, Table, listing

# Of larger sets, the purity is that of so many of the most probable variables.
MOST_COMPARED = 100
# What the next variable has to add to the probability of a set at least.
_LEAST_GAIN = 1e-6
# Coverages are reached up to rounding.
ROUNDING = 1e-9
# So many variables of a set are named in a sentence.
_MOST_NAMED = 20
# Copies of a column are as probable as it is up to rounding: they stand in order.
_DIGITS = 9


@dataclass(frozen=True, repr=False)
class CredibleSet:
    """Variables of which at least one has an effect, with a probability of at least the coverage.

    Attributes
    ----------
    variables : array of int
        Columns, the most probable first; a group of columns that are in together is one variable, by
        its first column.
    names : tuple of str
        Those of the columns, or labels of groups.
    probability : array
        Of each variable: to be the one with this effect or, for posteriors over models, to be in.
    coverage : float
        The probability of the set: that the effect is of one of them, or that one of them is in.
    purity : float
        The smallest absolute correlation between two of them; 1 for a single variable.
    mean_correlation, median_correlation : float
        The mean and the median of these.
    log_bayes_factor : float
        Of the effect, against none; NaN where the method does not state it.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SpikeSlabRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 8))
    >>> X[:, 5] = X[:, 2]
    >>> y = X[:, 2] + rng.standard_normal(100)
    >>> model = SpikeSlabRegressor().fit(X, y, feature_names=list("abcdefgh"))
    >>> print(model.posterior_.credible_sets(0.95)[0])
    one of c, f (probability 1.00, purity 1.00)
    """

    variables: Array
    names: tuple[str, ...]
    probability: Floats
    coverage: float
    purity: float
    mean_correlation: float
    median_correlation: float
    log_bayes_factor: float = float("nan")

    def __len__(self) -> int:
        return len(self.variables)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "variables": list(self.names),
            "positions": [int(j) for j in self.variables],
            "probability": numbers(self.probability),
            "coverage": number(self.coverage),
            "purity": number(self.purity),
            "mean_correlation": number(self.mean_correlation),
            "median_correlation": number(self.median_correlation),
            "log_bayes_factor": number(self.log_bayes_factor),
        }

    def __str__(self) -> str:
        listed = listing(self.names, str, _MOST_NAMED)
        start = f"one of {listed}" if len(self) > 1 else listed
        return f"{start} (probability {self.coverage:.2f}, purity {self.purity:.2f})"

    def __repr__(self) -> str:
        return f"<CredibleSet: {self}>"

    def _repr_html_(self) -> str:
        shown = {"variable": [*self.names], "probability": self.probability.tolist()}
        said = f"probability {self.coverage:.2f}, purity {self.purity:.2f}"
        return Table(shown, f"Credible set: {said}")._repr_html_()


@dataclass(frozen=True, repr=False)
class Likeness(Shown):
    """Correlations among the variables that may be in a credible set."""

    columns: Array
    correlation: Floats

    def of(self, variables: Array) -> Floats:
        """Return the absolute correlations between pairs of those variables that are compared."""
        place = {int(j): k for k, j in enumerate(self.columns)}
        known = [place[int(j)] for j in variables if int(j) in place][:MOST_COMPARED]
        pairs = np.triu_indices(len(known), 1)
        return np.abs(self.correlation[np.ix_(known, known)][pairs])


@dataclass(frozen=True, repr=False)
class Inclusions(Shown):
    """A mixture of laws in which variables are in or out independently of each other.

    ``inside`` (C x K) has the probability of each column in each component (0 or 1 for models),
    ``weight`` those of the components. The last ``drawn`` components are draws that stand for many more.
    """

    columns: Array
    weight: Floats
    inside: Array
    drawn: int = 0

    @property
    def probability(self) -> Floats:
        """The probability of each column in each component, as numbers."""
        return self.inside.astype(np.float64)

    def doubt(self, outside: Floats) -> float:
        """Return how far the probability of a set may be off, components being ``outside`` of it or not.

        Two standard errors of what draws tell of it, as if two more had been outside and two not.
        """
        drawn = self.weight[len(self.weight) - self.drawn :]
        mass = float(drawn.sum())
        if not mass:
            return 0.0
        spread = float(np.sqrt((drawn**2).sum())) / mass
        missed = float(drawn @ outside[len(outside) - self.drawn :]) / mass
        missed = (missed / spread**2 + 2.0) / (1.0 / spread**2 + 4.0)
        return 2.0 * mass * spread * float(np.sqrt(missed * (1.0 - missed)))


@dataclass(frozen=True, repr=False)
class Substitutes(Shown):
    """What credible sets are made of: correlations and, but for single effects, models."""

    likeness: Likeness
    inclusions: Inclusions | None = None


def pooled_substitutes(parts: Sequence[Substitutes | None]) -> Substitutes | None:
    """Return what sets of an equal mixture of posteriors are made of; None where one has no models.

    Correlations are means over the posteriors that know them.
    """
    known = [
        (p.likeness, p.inclusions) for p in parts if p is not None and p.inclusions is not None
    ]
    if not known or len(known) < len(parts):
        return None
    columns = np.unique(np.concatenate([inclusions.columns for _, inclusions in known]))
    total, pairs = np.zeros((2, len(columns), len(columns)))
    best, drawn = [], []
    for likeness, inclusions in known:
        place = np.searchsorted(columns, inclusions.columns)
        own = np.searchsorted(likeness.columns, inclusions.columns)
        total[np.ix_(place, place)] += likeness.correlation[np.ix_(own, own)]
        pairs[np.ix_(place, place)] += 1.0
        inside = np.zeros((len(inclusions.weight), len(columns)), dtype=inclusions.inside.dtype)
        inside[:, place] = inclusions.inside
        listed = len(inside) - inclusions.drawn
        weight = inclusions.weight / len(known)
        best.append((weight[:listed], inside[:listed]))
        drawn.append((weight[listed:], inside[listed:]))
    both = [*best, *drawn]
    mixed = Inclusions(
        columns,
        np.concatenate([weight for weight, _ in both]),
        np.concatenate([inside for _, inside in both]),
        sum(len(weight) for weight, _ in drawn),
    )
    return Substitutes(Likeness(columns, total / np.maximum(pairs, 1.0)), mixed)


def most_probable(probability: Floats, reach: float) -> Array:
    """Return the most probable places, in order, until their probabilities sum to ``reach``.

    Only those are sorted that may be needed: all that have less than an even part of what may be left
    out are left out together.
    """
    spare = max(float(probability.sum()) - reach, 0.0) / max(1, len(probability))
    some = np.flatnonzero(probability >= spare)
    order = some[np.argsort(-probability[some], kind="stable")]
    size = int(np.searchsorted(np.cumsum(probability[order]), reach)) + 1
    return np.asarray(order[:size], dtype=np.intp)


def sets_of_models(
    inclusions: Inclusions,
    likeness: Likeness,
    names: Sequence[str],
    coverage: float,
    min_purity: float,
) -> tuple[CredibleSet, ...]:
    """Return sets of variables that substitute for each other, from the most probable variable on."""
    w, m = inclusions.weight, inclusions.probability
    p = w @ m
    replace = _substitutes(inclusions, likeness, min_purity)
    free = np.ones(len(p), dtype=bool)
    found = []
    rank = np.round(p, _DIGITS)
    for seed in np.argsort(-rank, kind="stable"):
        if not free[seed]:
            continue
        members, outside, allowed = [int(seed)], 1.0 - m[:, seed], free & replace[seed]
        covered = float(p[seed])
        while covered - inclusions.doubt(outside) < coverage - ROUNDING:
            gain = np.where(allowed, (w * outside) @ m, 0.0)
            best = int(np.argmax(gain))
            if gain[best] < _LEAST_GAIN:
                break
            members.append(best)
            covered += float(gain[best])
            outside = outside * (1.0 - m[:, best])
            allowed &= replace[best]
        if covered - inclusions.doubt(outside) >= coverage - ROUNDING:
            free[members] = False
            order = sorted(members, key=lambda k: (-rank[k], k))
            found.append(
                describe_set(
                    inclusions.columns[order], p[order], min(covered, 1.0), likeness, names
                )
            )
    return tuple(found)


def _substitutes(inclusions: Inclusions, likeness: Likeness, min_purity: float) -> Array:
    """Tell which columns are alike and no more often in together than by chance."""
    w, m = inclusions.weight, inclusions.probability
    p = w @ m
    together = (m.T * w) @ m
    place = np.searchsorted(likeness.columns, inclusions.columns)
    alike = np.abs(likeness.correlation[np.ix_(place, place)]) >= min_purity
    apart = alike & (together <= np.outer(p, p) + ROUNDING)
    np.fill_diagonal(apart, False)
    return apart


def describe_set(
    variables: Array,
    probability: Floats,
    coverage: float,
    likeness: Likeness,
    names: Sequence[str],
    log_bayes_factor: float = float("nan"),
) -> CredibleSet:
    """Return a set of variables, their names and how alike they are."""
    size = likeness.of(variables)
    if not len(size):
        # One variable is as pure as can be; of several that were never compared nothing is known.
        size = np.array([1.0 if len(variables) == 1 else 0.0])
    return CredibleSet(
        variables=variables,
        names=tuple(names[j] for j in variables),
        probability=probability,
        coverage=coverage,
        purity=float(size.min()),
        mean_correlation=float(size.mean()),
        median_correlation=float(np.median(size)),
        log_bayes_factor=log_bayes_factor,
    )
