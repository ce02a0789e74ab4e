"""Do z-scores agree with LD? Each is compared with what all others imply for it.

Signs that seem to be those of the other allele are found first (`flipped`) and turned. Then, under
z ~ N(0, C), C = (1 - s) R + s I with the most likely s, a z-score given all others is normal with mean
mu_j and variance v_j, which the inverse of C tells. Effects of the other variables change nothing in
that, because they reach z_j through R. A variable's own effect b adds v_j b, so that a z-score off by
clearly more than the largest effect that is plausible times v_j is hard to explain by one.

Deviations (z_j - mu_j) / sqrt(v_j) follow a Student law whose degrees of freedom and scale (at least 1)
are fitted to all of them: LD of other samples makes some deviations large without any error. What is out
of line by that law is named, the worst first, and left out before the others are looked at again:
a wrong z-score puts its neighbours out of line, too.

The conditional means and variances are those of R's ``susieR::kriging_rss``; the law of deviations, and
leaving out one after the other, are not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import t as student

from garrote.arrays import Array, Floats
from garrote.files.json_values import number
from garrote.summaries import Table, listing
from garrote.zscores.flipped_signs import LEAST_MISMATCH, find_flipped, largest_effect
from garrote.zscores.mismatch import null_disagreement
from garrote.zscores.summary_statistics import ZScores

# Standard deviations beyond what an effect of its own explains that a z-score may be off by chance.
_CHANCE = 3.0
# Expected number of deviations as large as one that is out of line, among all variables.
_LEVEL = 0.05
# Degrees of freedom of the law of deviations, at least: fewer would make nothing out of line.
_HEAVIEST = 2.0
# Where so many are out of line, or as few are left, the question is no longer which of them.
_MOST, _FEWEST = 50, 5
# Names in a sentence.
_NAMED = 8
# A disagreement beyond this leaves so little of LD that nothing can be compared by it.
_CONTRADICTED = 0.5


@dataclass(frozen=True)
class Consistency:
    """Z-scores beside what LD and all other z-scores imply for them.

    Attributes
    ----------
    names : tuple of str
    z, expected, deviation : array of shape (D,)
        Each z-score (adjusted for n), its conditional mean, and the difference in conditional standard
        deviations. The others count with flipped signs turned, and without those out of line.
    flipped_evidence : array of shape (D,)
        Log likelihood ratio of -z against z, given the others.
    flipped, inconsistent : tuple of int
        Positions of variables whose sign seems to be flipped, and of others out of line; the worst
        first.
    undecided : tuple of pairs of tuples of int
        Positions of variables whose signs are flipped if those of the other part of the pair are
        not: near copies of each other of which nothing tells which is right.
    null_disagreement : float
        The s of largest likelihood if no variable had any effect, that of R's
        ``susieR::estimate_s_rss``. Effects of opposite signs on correlated variables raise it, too; it
        is not the ``mismatch`` that the regression uses.
    unexplained : bool
        Whether z-scores and LD contradict each other, and neither effects nor some of the z-scores
        explain it.
    n : float

    Examples
    --------
    A z-score with the wrong sign among three that hang together:

    >>> import numpy as np
    >>> from garrote.zscores.consistency import check_consistency
    >>> from garrote.zscores.summary_statistics import check_zscores
    >>> ld = 0.95 ** np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    >>> z = 6 * ld[10]
    >>> z[12] *= -1
    >>> check_consistency(check_zscores(z, ld, 1000)).flipped
    (12,)
    """

    names: tuple[str, ...]
    z: Floats
    expected: Floats
    deviation: Floats
    flipped_evidence: Floats
    flipped: tuple[int, ...]
    inconsistent: tuple[int, ...]
    undecided: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    null_disagreement: float
    unexplained: bool
    n: float

    @property
    def out_of_line(self) -> dict[int, str]:
        """A verdict on each variable whose z-score is not believed, by position."""
        verdicts = dict.fromkeys(self.flipped, "sign flipped")
        for pair in self.undecided:
            verdicts |= {j: self._either(j) for part in pair for j in part}
        return verdicts | dict.fromkeys(self.inconsistent, "out of line")

    def instead(self, j: int) -> tuple[int, ...]:
        """Return the variables whose signs may be flipped in place of that of variable j."""
        for pair in self.undecided:
            for part, other in (pair, pair[::-1]):
                if j in part:
                    return other
        return ()

    def table(self, all_variables: bool = False) -> Table:
        """Return the variables out of line, or all of them from the largest deviation on."""
        verdicts = self.out_of_line
        order = list(verdicts)
        if all_variables:
            order += [j for j in np.argsort(-np.abs(self.deviation)).tolist() if j not in verdicts]
        return Table(
            {
                "variable": [self.names[j] for j in order],
                "z": [float(self.z[j]) for j in order],
                "expected": [float(self.expected[j]) for j in order],
                "deviation": [float(self.deviation[j]) for j in order],
                "flipped": [float(self.flipped_evidence[j]) for j in order],
                "verdict": [verdicts.get(j, "") for j in order],
            }
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, in sentences; empty where all is well."""
        said = []
        if self.flipped:
            said.append(
                "signs of z-scores seem to be flipped (effects of the other allele) for "
                f"{self._named(self.flipped)}: turn them round, or leave these variables out"
            )
        for one, other in self.undecided:
            said.append(
                f"signs of z-scores contradict each other between {self._named(one)} and "
                f"{self._named(other)}: unless both have strong effects that hide each other, those of "
                "one side are flipped (effects of the other allele), and nothing tells which. Look "
                "their alleles up, or leave them out"
            )
        if self.inconsistent:
            said.append(
                f"z-scores disagree with LD for {self._named(self.inconsistent)}: check them, or leave "
                "these variables out"
            )
        if self.unexplained:
            said.append(
                "z-scores and LD contradict each other, and no variable stands out: check signs "
                "(alleles) and order of the variables"
            )
        if len(self.out_of_line) >= _MOST:
            said.append(
                f"{_MOST} z-scores or more disagree with LD: check that both have their variables in "
                "the same order and count the same alleles"
            )
        return tuple(said)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What puts a fit to these z-scores in doubt; empty where LD goes with them."""
        wrong = [*self.out_of_line]
        if not (wrong or self.unexplained):
            return ()
        of_whom = f" of {self._named(wrong)}" if wrong else ""
        several = "s" if len(wrong) != 1 else ""
        return (
            f"LD contradicts the z-score{several}{of_whom}: until that is mended, what follows cannot "
            "be relied on",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        out = list(self.out_of_line)
        return {
            "n": number(self.n),
            "null_disagreement": number(self.null_disagreement),
            "largest_deviation": number(np.delete(np.abs(self.deviation), out).max(initial=0.0)),
            "out_of_line": [
                {
                    "name": self.names[j],
                    "position": int(j),
                    "z": number(self.z[j]),
                    "expected": number(self.expected[j]),
                    "deviation": number(self.deviation[j]),
                    "flipped": j not in self.inconsistent,
                    "instead": [self.names[k] for k in self.instead(j)],
                }
                for j in out
            ],
        }

    def __str__(self) -> str:
        return "; ".join(self.notes) or "all z-scores agree with LD"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def _named(self, positions: Iterable[int]) -> str:
        return listing((self.names[j] for j in positions), str, _NAMED)

    def _either(self, j: int) -> str:
        return f"sign flipped, or that of {self._named(self.instead(j))}"


def check_consistency(scores: ZScores) -> Consistency:
    """Compare each z-score with what LD and all others imply for it."""
    z, spectrum = scores.adjusted, scores.spectrum
    flips = find_flipped(spectrum, z, scores.ld, scores.n, _MOST)
    signs = [j for flip in flips for j in flip.variables]
    turned = z.copy()
    turned[signs] *= -1.0
    disagreement = null_disagreement(spectrum)
    left = null_disagreement(spectrum.of(turned)) if signs else disagreement
    variances = spectrum.variances(max(left, LEAST_MISMATCH))
    inverse = (spectrum.vectors / variances) @ spectrum.vectors.T
    largest = largest_effect(z, scores.n)
    kept, found = np.arange(len(z)), list[int]()
    while len(kept) > _FEWEST and len(found) < _MOST:
        suspect = _worst(turned[kept], inverse, largest)
        if suspect is None:
            break
        found.append(int(kept[suspect]))
        kept, inverse = np.delete(kept, suspect), without(inverse, suspect)
    covariance = (spectrum.vectors * variances) @ spectrum.vectors.T
    expected, root = _implied(turned, covariance, kept, inverse)
    law = _Law.fitted(((turned - expected) / root)[kept])
    deviation = (z - expected) / root
    return Consistency(
        names=scores.names,
        z=z,
        expected=expected,
        deviation=deviation,
        flipped_evidence=law.log_density((z + expected) / root) - law.log_density(deviation),
        flipped=tuple(j for one in flips if not one.instead for j in one.variables),
        inconsistent=tuple(j for j in found if j not in signs),
        undecided=tuple((one.variables, one.instead) for one in flips if one.instead),
        null_disagreement=disagreement,
        unexplained=(
            disagreement > _CONTRADICTED
            and scores.mismatch > LEAST_MISMATCH
            and not (signs or found)
        ),
        n=scores.n,
    )


def conditional(z: Floats, inverse: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of each normal variable given all others, from the inverse covariance."""
    variance = 1.0 / np.diag(inverse)
    return z - variance * (inverse @ z), variance


def without(inverse: Floats, j: int) -> Floats:
    """Return the inverse covariance of all variables but one."""
    rest = np.delete(np.arange(len(inverse)), j)
    column = inverse[rest, j]
    return inverse[np.ix_(rest, rest)] - np.outer(column, column) / inverse[j, j]


class _Law(NamedTuple):
    """The Student law of deviations."""

    freedom: float
    scale: float

    @classmethod
    def fitted(cls, deviation: Floats) -> "_Law":
        """Return the law of largest likelihood, no narrower than the normal law that LD promises."""

        def law(parameters: Floats) -> "_Law":
            freedom, log_scale = (
                _HEAVIEST + np.exp(np.clip(parameters[0], -5.0, 7.0)),
                parameters[1],
            )
            return cls(float(freedom), float(np.exp(np.clip(log_scale, 0.0, 20.0))))

        def cost(parameters: Floats) -> float:
            return -float(law(parameters).log_density(deviation).sum())

        scale = np.log(max(float(np.median(np.abs(deviation))) / 0.6745, 1.0))
        starts = ([0.0, scale], [3.0, scale])
        found = [minimize(cost, start, method="Nelder-Mead") for start in starts]
        return law(min(found, key=lambda f: float(f.fun)).x)

    def log_density(self, deviation: Floats) -> Floats:
        return student.logpdf(deviation, self.freedom, scale=self.scale)

    def log_tail(self, deviation: Floats) -> Floats:
        return np.log(2.0) + student.logsf(np.abs(deviation), self.freedom, scale=self.scale)


def _worst(z: Floats, inverse: Floats, largest: float) -> int | None:
    """Return the position of the z-score most out of line, if any is."""
    mean, variance = conditional(z, inverse)
    root = np.sqrt(variance)
    deviation = (z - mean) / root
    surprise = -_Law.fitted(deviation).log_tail(deviation) - np.log(len(z))
    # What a plausible effect of its own would explain is no error.
    surprise[np.abs(deviation) <= largest * root + _CHANCE] = -np.inf
    j = int(np.argmax(surprise))
    return j if surprise[j] > -np.log(_LEVEL) else None


def _implied(z: Floats, covariance: Floats, kept: Array, inverse: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of every z-score given those in line.

    ``inverse`` is that of the covariance of those ``kept``.
    """
    mean, variance = np.empty(len(z)), np.empty(len(z))
    mean[kept], variance[kept] = conditional(z[kept], inverse)
    out = np.setdiff1d(np.arange(len(z)), kept)
    weights = covariance[np.ix_(out, kept)] @ inverse
    mean[out] = weights @ z[kept]
    variance[out] = covariance[out, out] - np.sum(weights * covariance[np.ix_(out, kept)], axis=1)
    return mean, np.sqrt(variance)
