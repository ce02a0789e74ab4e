"""What a fit to columns and copies says of each, and which of a column and its copy looks stronger.

A statistic reads a number for every column from a fitted model, compares those of a column (or a group)
with those of its copy, and names the base that is fitted where none is given.
"""

from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.sparse_classifier import SparseClassifier
from garrote.estimators.sparse_regressor import SparseRegressor
from garrote.estimators.spike_slab_classifier import SpikeSlabClassifier
from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
from garrote.penalties import L1, GroupLasso
from garrote.priors import ColumnGroups
from garrote.results.fit import PenaltyFit
from garrote.results.selections.evidence import is_certainty
from garrote.selecting.knockoffs.statistics import differences, log_odds_ratios, signed_maxima
from garrote.selecting.on_penalty_path import entry_order
from garrote.settings import as_settings


class KnockoffStatistic:
    """How strong a fitted model finds its columns, each beside its copy."""

    name: ClassVar[str]

    def read(self, model: Any, units: Floats) -> Floats:
        """Return a number for every column and copy, ``units`` being the deviations of all of these."""
        raise NotImplementedError

    def compare(self, original: Floats, copy: Floats, groups: Array) -> Floats:
        """Return a number for every group: positive where the original looks stronger than the copy."""
        raise NotImplementedError

    def default_base(self, groups: ColumnGroups, labels: bool) -> Any:
        """Return what is fitted where no base is given, to numbers or labels."""
        raise NotImplementedError


class LassoDifference(KnockoffStatistic):
    """Sizes of the coefficients of standardised columns."""

    name = "lasso-difference"

    def read(self, model: Any, units: Floats) -> Floats:
        """Return coefficients in standard deviations of the columns."""
        coef = coefficients_of(model, len(units))
        if coef is None:
            raise ValueError(
                f"{type(model).__name__} has no coef_ after its fit, which "
                f"statistic={self.name!r} compares: take a linear base, or statistic='probability' of "
                "one with probabilities"
            )
        return np.asarray(coef * units)

    def compare(self, original: Floats, copy: Floats, groups: Array) -> Floats:
        """Return differences of lengths."""
        return differences(original, copy, groups)

    def default_base(self, groups: ColumnGroups, labels: bool) -> Any:
        """Return the lasso by cross-validation."""
        return (SparseClassifier if labels else SparseRegressor)(_penalty_of_both(groups))


class SignedMax(KnockoffStatistic):
    """The place on a path at which a column enters."""

    name = "signed-max"

    def read(self, model: Any, units: Floats) -> Floats:
        """Return how early each column enters: 1 for the first, less for later, 0 for never."""
        path = getattr(model, "path_", None)
        if path is None or not all(
            isinstance(fit, PenaltyFit) for fit in getattr(path, "fits", ())
        ):
            raise ValueError(
                f"{type(model).__name__} has no path on which columns enter, which "
                f"statistic={self.name!r} reads: take base=SparseRegressor(alpha=None, "
                "method='homotopy'), or another statistic"
            )
        order = entry_order(path)
        per = path.n_features // model.n_features_in_  # several outputs
        return np.asarray(order.reshape(per, -1).max(axis=0) if per > 1 else order)

    def compare(self, original: Floats, copy: Floats, groups: Array) -> Floats:
        """Return the earlier entry, signed by whose it is."""
        return signed_maxima(original, copy, groups)

    def default_base(self, groups: ColumnGroups, labels: bool) -> Any:
        """Return the lasso's path, of single columns with its corners."""
        penalty = _penalty_of_both(groups)
        if labels or not groups.are_single:
            return (SparseClassifier if labels else SparseRegressor)(penalty, alpha=None)
        return SparseRegressor(penalty, alpha=None, method="homotopy")


class Probability(KnockoffStatistic):
    """The log odds of being in."""

    name = "probability"

    def read(self, model: Any, units: Floats) -> Floats:
        """Return the probability of each column that the model states."""
        selection = getattr(model, "selection_", None)
        if selection is not None and is_certainty(selection.evidence):
            return np.asarray(selection.probability)
        found = getattr(model, "inclusion_probability_", None)
        if found is None:
            raise ValueError(
                f"{type(model).__name__} states no probabilities of columns, which "
                f"statistic={self.name!r} compares: take base=SpikeSlabRegressor() or "
                "VariationalGarrote(), or statistic='lasso-difference'"
            )
        return np.asarray(found)

    def compare(self, original: Floats, copy: Floats, groups: Array) -> Floats:
        """Return differences of log odds."""
        return log_odds_ratios(original, copy, groups)

    def default_base(self, groups: ColumnGroups, labels: bool) -> Any:
        """Return posteriors over models."""
        return SpikeSlabClassifier() if labels else SpikeSlabRegressor()


STATISTICS: dict[str, type[KnockoffStatistic]] = {
    kind.name: kind for kind in (LassoDifference, SignedMax, Probability)
}


def as_statistic(statistic: Any) -> KnockoffStatistic:
    """Return a statistic, given it or its name."""
    otherwise = "a KnockoffStatistic"
    return as_settings("statistic", statistic, KnockoffStatistic, STATISTICS, otherwise)


def coefficients_of(model: Any, count: int) -> Floats | None:
    """Return coefficients of so many columns (a row for each of several outputs), or None."""
    coef = getattr(model, "coef_", None)
    if coef is None:
        return None
    found = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
    found = found[0] if found.ndim == 2 and len(found) == 1 else found
    if found.shape[-1] != count:
        raise ValueError(
            f"coef_ of {type(model).__name__} has shape {found.shape} after a fit to {count} columns, "
            "half of which are copies: knockoffs need a coefficient for each"
        )
    return found


def _penalty_of_both(groups: ColumnGroups) -> Any:
    """Return the lasso of columns and copies; of groups, the copies of one make up another."""
    if groups.are_single:
        return L1()
    numbers = groups.numbers
    second_half = np.repeat([0, int(numbers.max()) + 1], len(numbers))
    return GroupLasso(np.tile(numbers, 2) + second_half)
