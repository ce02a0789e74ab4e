"""A selector fitted to columns and their copies at once, and what it then says of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from garrote.arrays import Array, Floats
from garrote.estimators.control.bases import seeds_of
from garrote.results.fit import PenaltyFit
from garrote.results.selections.evidence import is_certainty
from garrote.selecting.knockoffs.statistics import differences, log_odds_ratios, signed_maxima
from garrote.selecting.on_penalty_path import entry_order

STATISTICS = {
    "lasso-difference": differences,
    "signed-max": signed_maxima,
    "probability": log_odds_ratios,
}


@dataclass(frozen=True)
class Doubled:
    """What a fit to columns and copies says: statistics of groups, effects of columns, the noise."""

    statistics: Floats
    effect: Floats
    noise_variance: float


@dataclass(frozen=True)
class DoubledRows:
    """Rows of a fit: columns, response, what `fit` is told beside, and deviations of columns.

    ``told_apart`` says which groups have copies that are not the same.
    """

    X: Floats
    y: Array
    told: dict[str, Any]
    units: Floats
    groups: Array
    told_apart: Array

    def fit(self, base: Any, copies: Floats, statistic: str, rng: np.random.Generator) -> Doubled:
        """Fit columns and copies, each pair in an order of chance, and compare the two.

        Methods that meet columns one after the other may favour the first: the order sees to it that a
        copy is as often first as its original.
        """
        turned = (rng.random(int(self.groups.max()) + 1) < 0.5)[self.groups]
        first = np.where(turned, copies, self.X)
        table = np.hstack([first, np.where(turned, self.X, copies)])
        model = with_seed(clone(base), rng).fit(table, self.y, **self.told)

        def apart(values: Floats) -> tuple[Floats, Floats]:
            """Return what was found of originals, and of copies."""
            one, other = np.split(values, 2, axis=-1)
            return np.where(turned, other, one), np.where(turned, one, other)

        coef = coefficients_of(model, table.shape[1], statistic)
        effect = np.full(len(self.units), np.nan) if coef is None else apart(coef)[0]
        if statistic == "lasso-difference":
            assert coef is not None
            found = [part * self.units for part in apart(coef)]
        elif statistic == "signed-max":
            found = list(apart(entries_of(model)))
        else:
            found = list(apart(probabilities_of(model)))
        described = getattr(model, "selection_", None)
        return Doubled(
            self.told_apart * STATISTICS[statistic](found[0], found[1], self.groups),
            effect if effect.ndim == 1 else effect[np.abs(effect).sum(axis=1).argmax()],
            float(getattr(described, "noise_variance", np.nan)),
        )


def with_seed(model: Any, rng: np.random.Generator) -> Any:
    """Give a model without a seed one, so that the same seed of ours gives the same answer."""
    settings = model.get_params(deep=True)
    open_ones = [name for name in seeds_of(model) if settings[name] is None]
    return model.set_params(**{name: int(rng.integers(2**31)) for name in open_ones})


def told_to(base: Any, **given: Any) -> dict[str, Any]:
    """Return the arguments of `fit` that were given; refuse those that a base does not take."""
    told = {name: value for name, value in given.items() if value is not None}
    for name in told:
        if not has_fit_parameter(base, name):
            raise ValueError(
                f"{type(base).__name__}.fit takes no {name}: leave {name} out, or take a base that does"
            )
    return told


def coefficients_of(model: Any, count: int, statistic: str) -> Floats | None:
    """Return coefficients of so many columns; None where the statistic can do without."""
    coef = getattr(model, "coef_", None)
    if coef is None and statistic == "lasso-difference":
        raise ValueError(
            f"{type(model).__name__} has no coef_ after its fit, which statistic='lasso-difference' "
            "compares: take a linear base, or statistic='probability' of one with probabilities"
        )
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


def entries_of(model: Any) -> Floats:
    """Return how early each column enters a path: 1 for the first, less for later, 0 for never."""
    path = getattr(model, "path_", None)
    if path is None or not all(isinstance(fit, PenaltyFit) for fit in getattr(path, "fits", ())):
        raise ValueError(
            f"{type(model).__name__} has no path on which columns enter, which statistic='signed-max' "
            "reads: take base=SparseRegressor(alpha=None, method='homotopy'), or another statistic"
        )
    order = entry_order(path)
    per = path.n_features // model.n_features_in_  # several outputs
    return np.asarray(order.reshape(per, -1).max(axis=0) if per > 1 else order)


def probabilities_of(model: Any) -> Floats:
    """Return the probability of each column that the model states."""
    selection = getattr(model, "selection_", None)
    if selection is not None and is_certainty(selection.evidence):
        return np.asarray(selection.probability)
    found = getattr(model, "inclusion_probability_", None)
    if found is None:
        raise ValueError(
            f"{type(model).__name__} states no probabilities of columns, which "
            "statistic='probability' compares: take base=SpikeSlabRegressor() or VariationalGarrote(), "
            "or statistic='lasso-difference'"
        )
    return np.asarray(found)
