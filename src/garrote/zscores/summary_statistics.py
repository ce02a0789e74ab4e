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

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import issparse

from garrote.arrays import Floats
from garrote.limits.magnitudes import WEIGHTS, refuse_large
from garrote.summaries import Shown, listing
from garrote.zscores.mismatch import Spectrum, estimate_mismatch

# How far entries of an LD matrix may be from symmetric, and its diagonal from 1: files are rounded.
_ASYMMETRY, _DIAGONAL = 1e-4, 1e-3
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
# So many correlations without a negative one among them are worth a word.
_MANY = 20


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
    z, ld, names = _in_one_order(z, ld, names)
    names = _check_z(z, names)
    n = _check_n(n)
    ld = _check_ld(ld, names)
    values, vectors = np.linalg.eigh(ld)
    floor = _least_mismatch(values)
    spectrum = Spectrum(np.maximum(values, 0.0), vectors, adjust_zscores(z, n) @ vectors)
    chosen, notes = _choose_mismatch(spectrum, mismatch, floor, n)
    return ZScores(names, z, ld, n, chosen, spectrum, (*_ld_notes(ld), *notes))


def match_names(
    z: Floats, names: Sequence[str], ld: Floats, ld_names: Sequence[str]
) -> tuple[Floats, Floats, tuple[str, ...], tuple[str, ...]]:
    """Bring z-scores and LD to the variables that both have, in the order of z; the rest is told of.

    Returns
    -------
    z, ld, names : for the variables of both
    notes : tuple of str
    """
    for what, given in (("z-scores", names), ("ld", ld_names)):
        twice = [name for name, count in Counter(given).items() if count > 1]
        if twice:
            raise ValueError(
                f"the {what} have {listing(twice, most=5)} more than once: leave one of each"
            )
    place = {name: j for j, name in enumerate(ld_names)}
    shared = [k for k, name in enumerate(names) if name in place]
    if not shared:
        raise ValueError(
            f"z-scores and ld have no name in common: the former have {listing(names, most=3)}, the "
            f"latter {listing(ld_names, most=3)}"
        )
    columns = [place[names[k]] for k in shared]
    kept = tuple(names[k] for k in shared)
    notes = []
    for what, given in (("LD", names), ("a z-score", ld_names)):
        lost = [name for name in given if name not in set(kept)]
        if lost:
            notes.append(f"left out, without {what}: {listing(lost, str, 5)}")
    return z[shared], ld[np.ix_(columns, columns)], kept, tuple(notes)


def _in_one_order(z: Any, ld: Any, names: Any) -> tuple[Floats, Floats, tuple[str, ...] | None]:
    """Return arrays in one order, that of the names which both carry, and these names."""
    of_z, of_ld = _names_along(z, "index"), _names_along(ld, "columns")
    of_rows = _names_along(ld, "index")
    if of_rows is not None and of_ld is not None and of_rows != of_ld:
        raise ValueError(
            f"the rows of ld, {listing(of_rows, most=3)}, are not its columns, "
            f"{listing(of_ld, most=3)}: give both the same variables in the same order"
        )
    if issparse(ld):
        ld = ld.toarray()
    values, matrix = np.asarray(z, dtype=np.float64), np.asarray(ld, dtype=np.float64)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if names is not None:
        return values, matrix, tuple(map(str, names))
    if of_z is not None and of_ld is not None and set(of_z) == set(of_ld) and of_z != of_ld:
        values, matrix, of_ld, _ = match_names(values, of_z, matrix, of_ld)
    elif of_z is not None and of_ld is not None and of_z != of_ld:
        raise ValueError(
            f"the names of z, {listing(of_z, most=3)}, are not those of ld, {listing(of_ld, most=3)}: "
            "take the variables that both have"
        )
    return values, matrix, of_ld or of_z


def _names_along(given: Any, axis: str) -> tuple[str, ...] | None:
    """Return the names along an axis of a pandas object, or None; numbers alone are no names."""
    found = getattr(given, axis, None)
    if found is None or callable(found) or not hasattr(found, "tolist"):
        return None
    names = found.tolist()
    return tuple(map(str, names)) if any(isinstance(name, str) for name in names) else None


def _check_z(z: Floats, names: tuple[str, ...] | None) -> tuple[str, ...]:
    if z.ndim != 1 or not len(z):
        raise ValueError(f"z must be one number for each variable, got shape {z.shape}")
    names = names or tuple(f"x{j}" for j in range(len(z)))
    if len(names) != len(z):
        raise ValueError(f"names has {len(names)} entries for {len(z)} z-scores")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"names has {listing(twice, most=5)} more than once: rename them")
    bad = np.flatnonzero(~np.isfinite(z))
    if len(bad):
        raise ValueError(
            f"z is missing or infinite for {listing((names[j] for j in bad), most=5)}: leave these "
            "variables out of z and ld"
        )
    refuse_large(z, "z", of="variable")
    return names


def _check_n(n: Any) -> float:
    if n is None:
        raise ValueError(
            "n is missing: give the number of samples behind the z-scores, at least roughly"
        )
    if np.ndim(n) > 0:
        sizes = np.unique(np.asarray(n, dtype=np.float64))
        if len(sizes) != 1:
            raise ValueError(
                f"n must be one number, got {np.size(n)} from {sizes[0]:g} to {sizes[-1]:g}: take the "
                "median, and leave out variables that are far from it"
            )
        n = sizes[0]
    if isinstance(n, bool) or not isinstance(n, Real) or not np.isfinite(float(n)) or n <= 3:
        raise ValueError(f"n must be a number of samples above 3, got {n!r}")
    refuse_large(float(n), "n", limit=WEIGHTS)
    return float(n)


def _check_ld(ld: Floats, names: Sequence[str]) -> Floats:
    """Return a symmetric matrix of correlations."""
    count = len(names)
    if ld.ndim != 2 or ld.shape[0] != ld.shape[1]:
        raise ValueError(f"ld must be a square matrix of correlations, got shape {ld.shape}")
    if len(ld) != count:
        raise ValueError(
            f"ld has {len(ld)} variables and z has {count}: give both for the same ones"
        )
    bad = np.flatnonzero(~np.isfinite(ld).all(axis=0))
    if len(bad):
        worst = bad[np.argsort(-np.count_nonzero(~np.isfinite(ld[:, bad]), axis=0), kind="stable")]
        raise ValueError(
            f"ld is missing or infinite for {listing((names[j] for j in worst), most=5)}: leave "
            "variables without variation out of z and ld"
        )
    apart = np.abs(ld - ld.T)
    if apart.max() > _ASYMMETRY:
        j, k = divmod(int(apart.argmax()), count)
        triangle = not (np.triu(ld, 1).any() and np.tril(ld, -1).any())
        remedy = "mirror the triangle" if triangle else "give correlations of one set of samples"
        raise ValueError(
            f"ld is not symmetric: {ld[j, k]:.4g} for {names[j]!r} and {names[k]!r}, {ld[k, j]:.4g} the "
            f"other way round; {remedy}"
        )
    off = np.abs(np.diag(ld) - 1.0)
    if off.max() > _DIAGONAL:
        j = int(off.argmax())
        raise ValueError(
            f"ld must be correlations, with 1 on the diagonal, but {names[j]!r} has {ld[j, j]:.4g}: "
            "divide covariances by standard deviations"
        )
    ld = (ld + ld.T) / 2
    np.fill_diagonal(ld, 1.0)
    largest = np.abs(ld)
    if largest.max() > 1.0 + _DIAGONAL:
        j, k = divmod(int(largest.argmax()), count)
        raise ValueError(
            f"ld must be correlations between -1 and 1, but {names[j]!r} and {names[k]!r} have "
            f"{ld[j, k]:.4g}"
        )
    return np.clip(ld, -1.0, 1.0)


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


def _ld_notes(ld: Floats) -> tuple[str, ...]:
    if len(ld) >= _MANY and float(ld.min()) >= 0.0:
        return (
            "ld has no negative entry: make sure that it holds correlations, not their squares",
        )
    return ()
