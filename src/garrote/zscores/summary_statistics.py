"""Z-scores of one variable at a time, and the LD matrix of all: what they say of a regression.

A z-score is the estimate of a simple regression of y on one variable (and an intercept), divided by its
standard error. With n samples it is a correlation in disguise, r = z / sqrt(z^2 + n - 2); with the
variables' correlations R these are all moments of the standardised data, X'X = n R, X'y = n r, y'y = n.
Nothing is approximated where R is that of the same samples. For one of others see `mismatch`.

References
----------
Zou, Y., Carbonetto, P., Wang, G. and Stephens, M. (2022). Fine-mapping from summary data with the "Sum
of Single Effects" model. PLoS Genetics 18, e1010299.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import brentq

from garrote.arrays import Floats
from garrote.summaries import Shown
from garrote.zscores.given import check_ld, check_n, check_z, in_one_order, ld_notes
from garrote.zscores.mismatch import Spectrum, estimate_mismatch

# Eigenvalues above this are not negative; rounding to three decimals makes them lower than this.
_ZERO, _ROUNDED = -1e-10, -1e-3
# Eigenvalues up to this are 0, and so much of the correlations may lie in their directions.
_NO_VARIANCE, _NO_CORRELATION = 1e-9, 1e-9
# The largest share of y's variance that all variables may explain together, up to rounding.
_ALL = 1.0 + 1e-6
# LD counts as that of other samples from this mismatch on: a smaller one is rounding.
_OTHER_SAMPLES = 1e-4
# Standard deviations of chance by which z-scores may exceed what n and LD let expect.
_CHANCE = 3.0
# A mismatch beyond this leaves little of LD.
_MUCH = 0.2
# A mismatch beyond this leaves so little that variables count as uncorrelated.
_HARDLY_ANY = 0.5


@dataclass(frozen=True, repr=False)
class ZScores(Shown):
    """Checked z-scores with their LD matrix; made by `check_zscores`.

    Attributes
    ----------
    names : tuple of str
    z : array of shape (D,)
        As given.
    ld : array of shape (D, D)
        As given, symmetric, with ones on the diagonal.
    n : float
    mismatch : float
        The s that takes R to (1 - s) R + s I.
    spectrum : Spectrum
        Of R, with the adjusted z-scores.
    notes : tuple of str
        What was done to them that a reader should know.
    """

    names: tuple[str, ...]
    z: Floats
    ld: Floats
    n: float
    mismatch: float
    spectrum: Spectrum
    notes: tuple[str, ...]

    @property
    def of_other_samples(self) -> bool:
        """Whether LD counts as that of other samples."""
        return self.mismatch > _OTHER_SAMPLES

    @property
    def explained(self) -> float:
        """The share of y's variance that all variables together seem to explain.

        Up to 1 where LD is that of the same samples. With that of others noise in z counts in full, for
        each direction that LD has, and the share may be any number: no data have such moments then.
        """
        return _explained(self.spectrum, self.mismatch, self.n)

    @property
    def hides_the_noise(self) -> bool:
        """Whether the variables seem to explain more than all, so that the noise cannot be learnt."""
        return self.explained > _ALL

    @property
    def doubts(self) -> tuple[str, ...]:
        """What puts a fit in doubt: that next to nothing of LD is left to it."""
        if self.mismatch <= _HARDLY_ANY:
            return ()
        return (
            f"only {1 - self.mismatch:.0%} of LD is left (s = {self.mismatch:.2g}), as it does not go "
            "with the z-scores: what follows cannot be relied on",
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader has to know before believing in a fit; empty where all is well."""
        if not self.hides_the_noise:
            return ()
        return (
            f"{len(self.z)} variables with LD of other samples seem to explain {self.explained:.2g} "
            f"times the variance of y: most of that is noise, which {self.n:g} samples do not tell from "
            "effects. Only strong effects can be found; LD of the same samples, more samples or fewer "
            "variables would help",
        )

    @property
    def adjusted(self) -> Floats:
        """The z-scores that are normal however much a variable explains: sqrt(n - 1) r."""
        return adjust_zscores(self.z, self.n)

    @property
    def correlation(self) -> Floats:
        """The variables' correlations that the regression uses."""
        regularised = (1.0 - self.mismatch) * self.ld
        np.fill_diagonal(regularised, 1.0)
        return regularised

    def moments(self, hints: Sequence[str] = ()) -> tuple[Floats, Floats, float, float]:
        """Return X'X, X'y, y'y and n of standardised data, as `Problem.from_moments` takes them.

        Refused where these z-scores cannot be; ``hints`` at the reason are part of the error. Where
        they hide the noise, y'y is as much as all variables seem to explain.
        """
        share = self.explained
        if share > _most_explained(self.spectrum, self.mismatch, self.n):
            told = f"{share:.2g} times the" if np.isfinite(share) else "more than all"
            raise ValueError(
                f"z, ld and n = {self.n:g} contradict each other with mismatch = {self.mismatch:.2g}: "
                f"all variables together would explain {told} variance of y. Check n, signs of z and "
                f"the order of variables, or say a larger mismatch{'; '.join(['', *hints])}"
            )
        r = self.adjusted / np.sqrt(self.n - 1.0)
        # So much that there are data with such moments. Where the noise is known it does not matter:
        # the likelihoods of all models change by one factor.
        yty = self.n * max(1.0, share * _ALL)
        return self.n * self.correlation, self.n * r, yty, self.n


def adjust_zscores(z: Floats, n: float) -> Floats:
    """Return sqrt(n - 1) z / sqrt(z^2 + n - 2), the correlations with y times sqrt(n - 1)."""
    return np.sqrt(n - 1.0) * z / np.hypot(z, np.sqrt(n - 2.0))


def check_zscores(
    z: Any,
    ld: Any,
    n: float | None,
    *,
    mismatch: float | str = "estimate",
    names: Sequence[str] | None = None,
) -> ZScores:
    """Return z-scores and LD that go together, or refuse them in a sentence that names the remedy.

    Parameters
    ----------
    z : array of shape (D,)
        A pandas Series whose index has the names of ``ld`` is brought into its order.
    ld : array of shape (D, D)
        Correlations (not their squares) of the variables.
    n : float
        How many samples are behind the z-scores; less the covariates, if z was adjusted for any.
    mismatch : float between 0 and 1, or "estimate"
        0 says that ``ld`` is that of the same samples. It is raised where rounding has made eigenvalues
        of ``ld`` negative.
    names : sequence of str, optional
        By default those that ``ld`` or ``z`` brings along, or x0, x1, ...

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import Problem
    >>> from garrote.zscores.summary_statistics import check_zscores
    >>> scores = check_zscores([5.0, 4.2, 0.1], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], n=500)
    >>> scores.mismatch
    0.0
    >>> Problem.from_moments(*scores.moments()).n_features
    3
    """
    z, ld, names = in_one_order(z, ld, names)
    names = check_z(z, names)
    n = check_n(n)
    ld = check_ld(ld, names)
    values, vectors = np.linalg.eigh(ld)
    floor = _least_mismatch(values)
    spectrum = Spectrum(np.maximum(values, 0.0), vectors, adjust_zscores(z, n) @ vectors)
    chosen, notes = _choose_mismatch(spectrum, mismatch, floor, n)
    return ZScores(names, z, ld, n, chosen, spectrum, (*ld_notes(ld), *notes))


def _least_mismatch(values: Floats) -> float:
    """Return the s that makes eigenvalues positive where rounding has made them negative."""
    least, allowed = float(values[0]), _ROUNDED * np.sqrt(len(values))
    if least < allowed:
        raise ValueError(
            f"ld is not positive semidefinite: its smallest eigenvalue is {least:.3g}, below what "
            f"rounding does ({allowed:.2g}). Compute all correlations from one set of samples, without "
            "missing entries and with small ones left as they are"
        )
    if least > _ZERO:
        return 0.0
    return -2.0 * least / (1.0 - 2.0 * least)


def _choose_mismatch(
    spectrum: Spectrum, given: float | str, floor: float, n: float
) -> tuple[float, tuple[str, ...]]:
    """Return the s to use, and what to say of it."""
    if isinstance(given, str):
        if given != "estimate":
            raise ValueError(f"mismatch must be 'estimate' or a number from 0 to 1, got {given!r}")
        likely = max(estimate_mismatch(spectrum), floor)
        chosen = _enough(spectrum, likely, n)
        why = "estimated" if chosen == likely else "the least with which such z-scores can exist"
    elif isinstance(given, Real) and 0 <= given <= 1:
        chosen = max(float(given), floor)
        why = "as given" if chosen == given else "the least that makes all eigenvalues positive"
    else:
        raise ValueError(f"mismatch must be 'estimate' or a number from 0 to 1, got {given!r}")
    if not chosen:
        return 0.0, ()
    reason = "" if why == "as given" else ": it is of other samples or rounded, or some z are wrong"
    told = f"LD counts as (1 - s) R + s I with s = {chosen:.2g}, {why}{reason}"
    much = "s is large: check that LD is of such samples and counts the same alleles, in this order"
    return chosen, (told, *([much] if chosen > _MUCH else []))


def _explained(spectrum: Spectrum, mismatch: float, n: float) -> float:
    """Return the share of y's variance that all variables would explain: above 1, no data exist."""
    variances = (1.0 - mismatch) * spectrum.values + mismatch
    share = spectrum.rotated**2 / (n - 1.0)
    some = variances > _NO_VARIANCE
    if share[~some].sum() > _NO_CORRELATION:
        return np.inf
    return float(np.sum(share[some] / variances[some]))


def _most_explained(spectrum: Spectrum, mismatch: float, n: float) -> float:
    """Return the largest share that can be, up to chance.

    Of z ~ N(R b, C), C the LD that counts, z'C^-1 z has a chi-squared law with as many degrees of
    freedom as C has directions, and a noncentrality b'R C^-1 R b of no more than n - 1, all of y.
    Where LD is that of the same samples, the noise is a part of these n - 1.
    """
    if mismatch <= _OTHER_SAMPLES:
        return _ALL
    free = np.count_nonzero((1.0 - mismatch) * spectrum.values + mismatch > _NO_VARIANCE)
    return float(_ALL + (free + _CHANCE * np.sqrt(2 * free + 4 * (n - 1))) / (n - 1))


def _enough(spectrum: Spectrum, least: float, n: float) -> float:
    """Return the smallest s for which data exist, or the least one if there is none.

    Where LD is of other samples and has more directions than there are samples there may be none.
    """

    def excess(mismatch: float) -> float:
        return min(_explained(spectrum, mismatch, n), 1e300) - 1.0

    if excess(least) <= _ALL - 1.0:
        return least
    low = max(least, _NO_VARIANCE)
    for high in np.geomspace(low, 1.0, 60)[1:]:
        if excess(high) <= 0:
            return float(brentq(excess, low, high, xtol=1e-12)) * (1.0 + 1e-6)
        low = high
    return least
