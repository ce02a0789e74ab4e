"""The baseline hazard that goes with a fit, and curves of survival by it (Breslow 1974).

At a time of events the cumulated hazard rises by their weight over the sum of relative hazards of the
rows at risk; under Efron's ties by the terms of his likelihood.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.survival.partial import fill_events, fill_hazards, fill_rates
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class Baseline(Shown):
    """The cumulated hazard of a row whose linear predictor is 0, a step function in each stratum.

    Attributes
    ----------
    strata : tuple of str
        Names of the strata; one empty name where there are none.
    times : tuple of arrays
        Times of events of each stratum, ascending.
    hazard : tuple of arrays
        The cumulated hazard from each of these times on.
    """

    strata: tuple[str, ...]
    times: tuple[Floats, ...]
    hazard: tuple[Floats, ...]

    def at(self, times: Floats, stratum: int = 0) -> Floats:
        """Return the cumulated hazard of one stratum at some times."""
        steps = np.concatenate([[0.0], self.hazard[stratum]])
        return steps[np.searchsorted(self.times[stratum], times, side="right")]

    @property
    def all_times(self) -> Floats:
        """Times of events of all strata."""
        return np.unique(np.concatenate(self.times))

    def survival(self, hazards: Floats, times: Floats, strata: Array | None = None) -> Floats:
        """Return the probability to be without event at some times (rows x times).

        Parameters
        ----------
        hazards : array of shape (n,)
            Relative hazards of the rows.
        times : array of shape (m,)
        strata : array of int of shape (n,), optional
            Positions of the rows' strata.
        """
        where = np.zeros(len(hazards), np.intp) if strata is None else strata
        cumulated = np.array([self.at(times, k) for k in range(len(self.strata))])[where]
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(-hazards[:, None] * cumulated))

    def positions(self, labels: Sequence[Any]) -> Array:
        """Return the positions of strata, given their labels."""
        known = {name: k for k, name in enumerate(self.strata)}
        found = [f"{x:g}" if isinstance(x, float) else str(x) for x in labels]
        unknown = sorted({name for name in found if name not in known})
        if unknown:
            raise ValueError(
                f"strata {unknown[:5]} had no rows in the fit, and no baseline hazard is known of them: "
                f"those of the fit are {list(self.strata)[:10]}"
            )
        return np.array([known[name] for name in found], dtype=np.intp)


def baseline_of(likelihood: Any, strata: tuple[str, ...], weights: Floats, eta: Floats) -> Baseline:
    """Return the baseline hazard of fitted rows, given their linear predictors."""
    risk = likelihood.risk
    count, rate = len(risk.times), np.zeros(len(eta))
    highest = fill_rates(likelihood, np.asarray(weights, np.float64), eta, rate)
    table, hazard, ahead = np.zeros((4, count)), np.zeros(count), np.zeros(count)
    fill_events(likelihood, np.asarray(weights, np.float64), rate, table)
    fill_hazards(likelihood, table, hazard, ahead)
    times, hazards = [], []
    for k in range(len(strata)):
        part = slice(risk.begin[k], risk.begin[k + 1])
        used = hazard[part] > 0
        times.append(risk.times[part][used])
        hazards.append(np.cumsum(hazard[part][used]) * np.exp(-highest[k]))
    return Baseline(strata, tuple(times), tuple(hazards))
