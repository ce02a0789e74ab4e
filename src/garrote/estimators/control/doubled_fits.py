"""A selector fitted to columns and their copies at once, and what it then says of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from garrote.arrays import Array, Floats
from garrote.estimators.control.bases import seeds_of
from garrote.estimators.control.knockoff_statistics import KnockoffStatistic, coefficients_of


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

    def fit(
        self, base: Any, copies: Floats, statistic: KnockoffStatistic, rng: np.random.Generator
    ) -> Doubled:
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

        coef = coefficients_of(model, table.shape[1])
        effect = np.full(len(self.units), np.nan) if coef is None else apart(coef)[0]
        original, copy = apart(statistic.read(model, np.tile(self.units, 2)))
        described = getattr(model, "selection_", None)
        return Doubled(
            self.told_apart * statistic.compare(original, copy, self.groups),
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
