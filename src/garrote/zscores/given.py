"""Z-scores, LD and n as they are handed over: in one order, and refused where they cannot be."""

from collections import Counter
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from garrote.arrays import Floats
from garrote.limits.magnitudes import WEIGHTS, refuse_large
from garrote.summaries import listing

# How far entries of an LD matrix may be from symmetric, and its diagonal from 1: files are rounded.
_ASYMMETRY, _DIAGONAL = 1e-4, 1e-3
# So many correlations without a negative one among them are worth a word.
_MANY = 20


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


def in_one_order(z: Any, ld: Any, names: Any) -> tuple[Floats, Floats, tuple[str, ...] | None]:
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


def check_z(z: Floats, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names of finite z-scores, x0, x1, ... where they have none."""
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


def check_n(n: Any) -> float:
    """Return the number of samples, or say why it is none."""
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


def check_ld(ld: Floats, names: Sequence[str]) -> Floats:
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


def ld_notes(ld: Floats) -> tuple[str, ...]:
    """Return what to look at in correlations that are possible."""
    if len(ld) >= _MANY and float(ld.min()) >= 0.0:
        return (
            "ld has no negative entry: make sure that it holds correlations, not their squares",
        )
    return ()
