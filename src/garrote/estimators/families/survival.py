"""What regressors of times until an event have beside: curves of survival, and concordance as score."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.estimators.given.arguments import Arguments
from garrote.likelihoods import FAMILIES, survival_times
from garrote.likelihoods.survival.baseline import Baseline, baseline_of
from garrote.likelihoods.survival.concordance import concordance
from garrote.likelihoods.survival.times import Times, read_times

# What such a response is called.
RESPONSE = "time to event"


def is_of_times(model: Any) -> bool:
    """Tell whether an estimator's family is of times until an event."""
    family = getattr(model, "family", None)
    known = FAMILIES.get(family) if isinstance(family, str) else family
    return bool(getattr(known, "of_times", False))


def as_records(y: Any) -> Array:
    """Return times in whatever form as checked records, which can be indexed by rows."""
    times = read_times(y)
    truncated = np.isfinite(times.start).any()
    labels = np.array(times.strata, dtype=object)[times.stratum]
    return survival_times(
        times.stop, times.event, start=times.start if truncated else None,
        strata=labels if len(times.strata) > 1 else None,
    )  # fmt: skip


class SurvivalMixin:
    """Predictions of survival, for estimators whose ``predict`` returns relative hazards."""

    def _keep_baseline(self, rows: Arguments) -> None:
        """Store the baseline hazard of fitted rows; forget that of a fit before."""
        vars(self).pop("baseline_", None)
        if not is_of_times(self):
            return
        model: Any = self
        times = read_times(rows.y)
        likelihood, _ = model._survival_family().given(rows.y)
        weights = np.ones(len(times.stop))
        if rows.sample_weight is not None:
            weights = np.asarray(rows.sample_weight, dtype=np.float64)
        eta = np.log(model.predict(rows.X, offset=rows.offset))
        model.baseline_ = baseline_of(likelihood, times.strata, weights, eta)

    def _survival_family(self) -> Any:
        family: Any = self.family  # type: ignore[attr-defined]
        return FAMILIES[family] if isinstance(family, str) else family

    def predict_survival(
        self, X: Any, times: Any = None, *, strata: Any = None, offset: Any = None
    ) -> Floats:
        """Return the probability of each row to be without event at some times (n x times).

        For ``family="cox"``. The baseline hazard is Breslow's at the fitted coefficients (Efron's with
        his ties), and ``baseline_`` has its steps; beyond the last event it stays as it is.

        Parameters
        ----------
        X : array of shape (n, D)
        times : array, optional
            By default those of events in the fit, ``baseline_.all_times``.
        strata : array of shape (n,), optional
            The rows' strata, where the fit had such.
        offset : array of shape (n,), optional
        """
        check_is_fitted(self, "coef_")
        known: Baseline | None = vars(self).get("baseline_")
        if known is None:
            raise ValueError("predict_survival is for family='cox', whose responses are times")
        hazards = self.predict(X, offset=offset)  # type: ignore[attr-defined]
        given = known.all_times if times is None else np.atleast_1d(times).astype(float)
        if not np.isfinite(given).all():
            raise ValueError("times must be finite numbers")
        named = len(known.strata) > 1
        if named != (strata is not None):
            raise ValueError(
                f"the fit had strata {list(known.strata)[:10]}: say by strata= which are the rows'"
                if named
                else "the fit had no strata: leave strata out"
            )
        where = None if strata is None else known.positions(list(strata))
        if where is not None and len(where) != len(hazards):
            raise ValueError(f"strata has {len(where)} entries for {len(hazards)} rows")
        return known.survival(hazards, given, where)

    def concordance(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return Harrell's concordance of predicted hazards with times: 0.5 is chance, 1 is best."""
        times: Times = read_times(y)
        hazards = self.predict(X, offset=offset)  # type: ignore[attr-defined]
        if len(hazards) != len(times.stop):
            raise ValueError(f"X has {len(hazards)} rows, y {len(times.stop)}")
        return concordance(times, hazards, sample_weight)
