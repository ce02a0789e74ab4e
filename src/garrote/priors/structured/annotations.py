"""Annotations: what is known of a variable raises its odds of being in, by how much is learned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit, logit

from garrote.arrays import Array, Floats
from garrote.priors.inclusion import Inclusion, InclusionLaw
from garrote.settings import check_positive
from garrote.summaries import listing

# Directions in which annotations vary by less than this share of the most are none.
_NO_DIRECTION = 1e-8


@dataclass(frozen=True)
class AnnotatedOdds(Inclusion):
    """Odds a + b'f_j of the variables of one problem, at some value of what is to be learned.

    Attributes
    ----------
    features : array of shape (D, 1 + A)
        A column of ones, and annotations in units of their own: as they are where they have two values,
        else centred and in standard deviations.
    offsets : array of shape (D,)
        Known parts of the log odds.
    labels : tuple of str
    units, centers : arrays of shape (A,)
        Of the annotations as they were given.
    scale : float
        Standard deviation of b, a priori.
    base : (float, float)
        The Beta law of the probability of a variable whose annotations are 0, or average.
    at : array of shape (1 + A,)
        The present value of a and b.
    """

    learned: ClassVar[bool] = True

    features: Floats = None  # type: ignore[assignment]
    offsets: Floats = None  # type: ignore[assignment]
    labels: tuple[str, ...] = ()
    units: Floats = None  # type: ignore[assignment]
    centers: Floats = None  # type: ignore[assignment]
    scale: float = 1.0
    base: tuple[float, float] = (1.0, 1.0)
    at: Floats = None  # type: ignore[assignment]

    def with_values(self, at: Floats) -> "AnnotatedOdds":
        """Return the same odds at other values."""
        log_odds = self.offsets + self.features @ at
        nothing = -float(np.logaddexp(0.0, log_odds).sum())
        return replace(self, by_size=np.full(len(log_odds) + 1, nothing), log_odds=log_odds, at=at)

    def known(self) -> Inclusion:
        """Return the law with its present values for known ones."""
        return Inclusion(self.by_size, self.log_odds)

    def log_prior_of(self, at: Floats) -> float:
        """Return the log density of a and b, but for a constant."""
        a, b = self.base
        base = a * log_expit(at[0]) + b * log_expit(-at[0])
        return float(base - 0.5 * np.sum((at[1:] / self.scale) ** 2))

    def slope_of(self, at: Floats) -> Floats:
        """Return the gradient of that log density."""
        a, b = self.base
        return np.append(a - (a + b) * expit(at[0]), -at[1:] / self.scale**2)

    def precision_of(self, at: Floats) -> Floats:
        """Return minus its second derivatives."""
        a, b = self.base
        p = float(expit(at[0]))
        return np.diag(np.append((a + b) * p * (1 - p), np.full(len(at) - 1, self.scale**-2.0)))


@dataclass(frozen=True)
class AnnotatedInclusion(InclusionLaw):
    """What is known of variables raises their odds of being in: log odds_j = a + b'f_j, b learned.

    f_j are annotations of variable j, such as whether a variant is in a coding region, or how conserved
    its place is. Their enrichment b, and a, are learned with the posterior by EM; enrichments have
    intervals, from draws of a and b (Carbonetto & Stephens 2013). Inclusion probabilities are those at
    the mode of a and b.

    Parameters
    ----------
    features : data frame, mapping from variables to values, or array of shape (D,) or (D, A)
        A row for each column of X, in their order or, of a data frame or mapping, by their names.
        Annotations that are constant, or combinations of others, are refused.
    scale : float, default=2.0
        Standard deviation of each enrichment, a priori: per unit of an annotation of two values, and per
        standard deviation of others.
    base : (float, float), optional
        The Beta law of the probability of a variable whose annotations are 0 (or average, where they
        have more than two values); by default Beta(1, sqrt(D)).

    References
    ----------
    Carbonetto, P. and Stephens, M. (2013). Integrated enrichment analysis of variants and pathways in
    genome-wide association studies indicates central role for IL-2 signaling genes in type 1 diabetes,
    and cytokine signaling genes in Crohn's disease. PLoS Genetics 9, e1003770.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SpikeSlabRegressor
    >>> from garrote.priors import AnnotatedInclusion
    >>> rng = np.random.default_rng(0)
    >>> X, coding = rng.standard_normal((150, 12)), np.arange(12) < 4
    >>> y = X[:, :4] @ [1.0, -0.5, 0.4, 0.3] + rng.standard_normal(150)
    >>> law = AnnotatedInclusion({f"x{j}": {"coding": coding[j]} for j in range(12)})
    >>> model = SpikeSlabRegressor(inclusion=law).fit(X, y)
    >>> bool(model.posterior_.enrichment.estimate[0] > 1)
    True
    """

    features: Any = None
    scale: float = 2.0
    base: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be annotations of any table."""
        check_positive("scale", self.scale)
        object.__setattr__(self, "features", _storable(self.features))
        if self.base is not None:
            given = tuple(self.base) if isinstance(self.base, tuple | list) else ()
            if len(given) != 2 or not all(isinstance(v, int | float) and v > 0 for v in given):
                raise ValueError(
                    f"base must be a pair (a, b) of positive numbers, got {self.base!r}"
                )
            object.__setattr__(self, "base", tuple(map(float, given)))

    def found_among(
        self, names: Sequence[str], resolve: Callable[[Any], Any]
    ) -> "AnnotatedInclusion":
        """Return the law with a row of annotations for every column, in their order."""
        rows = self.features["rows"]
        if rows is None:
            return self
        missing = [name for name in names if name not in rows]
        if missing:
            raise ValueError(
                f"features of an AnnotatedInclusion has no row for {listing(missing, most=5)}: every "
                "variable needs its annotations"
            )
        unknown = [name for name in rows if name not in set(names)]
        if unknown:
            raise ValueError(
                f"features of an AnnotatedInclusion annotates {listing(unknown, most=5)}, which is no "
                "variable of the table: leave it out, or correct its name"
            )
        place = {name: k for k, name in enumerate(rows)}
        values = np.asarray(self.features["values"])[[place[name] for name in names]]
        found = {"rows": None, "labels": self.features["labels"], "values": values.tolist()}
        return replace(self, features=found)

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Inclusion:
        """Return the law over some of ``count`` columns, at values to begin to learn from."""
        if self.features["rows"] is not None:
            raise ValueError(
                "features by names need the names of the columns, among which an estimator finds "
                "them: give an array of a row for each column"
            )
        values, labels = (
            np.array(self.features["values"], dtype=np.float64),
            self.features["labels"],
        )
        if len(values) != count:
            raise ValueError(
                f"features of an AnnotatedInclusion has {len(values)} rows for {count} columns"
            )
        values = values[columns]
        _refuse_idle(values, labels)
        two = np.array([len(np.unique(column)) <= 2 for column in values.T], dtype=bool)
        centers = np.where(two, 0.0, values.mean(axis=0))
        units = np.where(two, 1.0, values.std(axis=0))
        features = np.column_stack([np.ones(len(values)), (values - centers) / units])
        base = self.base or (1.0, float(np.sqrt(max(len(columns), 1))))
        first = np.append(logit(base[0] / sum(base)), np.zeros(len(labels)))
        known = np.zeros(len(columns)) if offsets is None else np.asarray(offsets, float)
        nothing = np.zeros(len(columns))
        made = AnnotatedOdds(
            np.zeros(len(columns) + 1), nothing, None, features, known, tuple(labels), units, centers,
            float(self.scale), base, first,
        )  # fmt: skip
        return made.with_values(first)


def _storable(features: Any) -> dict[str, Any]:
    """Return annotations in values that can be compared and saved: rows, labels and numbers."""
    if isinstance(features, Mapping) and set(features) == {"rows", "labels", "values"}:
        return dict(features)
    if features is None:
        raise ValueError(
            "features of an AnnotatedInclusion are missing: give a row for each column"
        )
    rows: list[str] | None = None
    if isinstance(features, Mapping):
        rows = [str(name) for name in features]
        listed = list(features.values())
        nested = bool(listed) and isinstance(listed[0], Mapping)
        labels = [str(key) for key in listed[0]] if nested else None
        values = np.array([[row[key] for key in listed[0]] for row in listed] if nested else listed)
    elif hasattr(features, "columns") and hasattr(features, "index"):
        rows = None if _is_range(features.index) else [str(name) for name in features.index]
        labels, values = [str(name) for name in features.columns], np.asarray(features)
    else:
        if (
            hasattr(features, "index")
            and hasattr(features, "iloc")
            and not _is_range(features.index)
        ):
            rows = [str(name) for name in features.index]
        labels, values = None, np.asarray(features)
    return {"rows": rows, **_checked(values, labels, rows)}


def _checked(values: Any, labels: list[str] | None, rows: list[str] | None) -> dict[str, Any]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "annotations must be numbers or truth values; code words by a column of 0 and 1 for each"
        ) from None
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    if numbers.ndim != 2 or not numbers.size:
        raise ValueError(f"features must have a row for each column, got shape {np.shape(values)}")
    labels = [f"annotation {k}" for k in range(numbers.shape[1])] if labels is None else labels
    if numbers.shape[1] == 1 and labels == ["annotation 0"]:
        labels = ["annotation"]
    bad = np.argwhere(~np.isfinite(numbers))
    if len(bad):
        row, column = bad[0]
        called = rows[row] if rows else f"row {row}"
        raise ValueError(
            f"annotation {labels[column]!r} of {called} is missing or infinite: every variable needs one"
        )
    if rows is not None and len(set(rows)) < len(rows):
        twice = next(name for name in rows if rows.count(name) > 1)
        raise ValueError(
            f"features of an AnnotatedInclusion has {twice!r} twice: give one row each"
        )
    return {"labels": labels, "values": numbers.tolist()}


def _is_range(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex"


def _refuse_idle(values: Floats, labels: Sequence[str]) -> None:
    """Refuse annotations that are constant, or combinations of those before them."""
    kept = np.ones((len(values), 1))
    for column, label in zip(values.T, labels, strict=True):
        if np.ptp(column) == 0:
            raise ValueError(
                f"annotation {label!r} is {column[0]:g} for every variable that may be in or out: it "
                "cannot tell them apart, leave it out"
            )
        centred = (column - column.mean()) / column.std()
        left = centred - kept @ np.linalg.lstsq(kept, centred, rcond=None)[0]
        if left @ left <= _NO_DIRECTION * len(values):
            raise ValueError(
                f"annotation {label!r} is a combination of those before it: their enrichments cannot be "
                "told apart, leave one of them out"
            )
        kept = np.column_stack([kept, centred])
