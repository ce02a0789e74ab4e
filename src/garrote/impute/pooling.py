"""One answer from several fillings of the gaps: posteriors mixed, and their disagreement added.

Rubin, D. B. (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from scipy.stats import t
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from garrote.arrays import Array, Floats
from garrote.impute.filling import completed_tables
from garrote.results.credible_sets import pooled_substitutes
from garrote.results.laws import Spread
from garrote.results.laws.pooled import Pooled, pooled_variance
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.results.selections.evidence import border
from garrote.results.selections.selection import Selection
from garrote.results.selections.stability import Stability
from garrote.results.selections.views import Predictions

_LEAST_SHARE = 1e-12  # of a variance: less of it between imputations is rounding


def pool(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    n_imputations: int = 10,
    random_state: Any = None,
    feature_names: Any = None,
    **fit: Any,
) -> Any:
    """Fit an estimator to several fillings of the gaps in X, and pool what it finds.

    The posterior is the equal mixture of the m posteriors: inclusion probabilities and coefficients
    are means over them. The variance of a coefficient is T = U + (1 + 1/m) B, the mean of its posterior
    variances plus the variance B between its m means, and intervals reach t quantiles of
    (m - 1) (1 + U / ((1 + 1/m) B))^2 degrees of freedom times its root (Rubin 1987). What is missing is
    taken to depend on what is known, not on itself ("missing at random").

    Parameters
    ----------
    estimator : estimator of garrote with a posterior
        It is cloned. Those that only penalise, as `SparseRegressor`, have no posterior.
    X : array or data frame of shape (N, D)
        Numbers, NaN (or ``pandas.NA``) where a value is missing.
    y : array of shape (N,) or (N, 1)
        Without gaps; leave out rows whose response is not known.
    sample_weight, feature_names, **fit
        As for ``estimator.fit``.
    n_imputations : int >= 2, default=10
    random_state : int, Generator, RandomState or None
        The seeds of all fillings are spawned from it.

    Returns
    -------
    estimator
        Fitted, with pooled ``posterior_``, ``coef_`` and ``selection_``; it predicts and is saved as any
        other. It has no list of models, path or validation; sums of single effects have no sets either.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SpikeSlabRegressor, impute
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 5))
    >>> y = 2 * X[:, 1] + rng.standard_normal(100)
    >>> X[rng.random((100, 5)) < 0.1] = np.nan
    >>> model = impute.pool(SpikeSlabRegressor(), X, y, n_imputations=5, random_state=0)
    >>> model.get_support(indices=True)
    array([1])
    """
    names = feature_names if feature_names is not None else _names_of(X)
    values, y = _as_numbers(X), column_or_1d(y)
    if len(values) != len(y):
        raise ValueError(f"X has {len(values)} rows and y has {len(y)}: they must be as many")
    tables = completed_tables(values, y, n_imputations, random_state=random_state)
    models = [
        _fit(estimator, table, y, sample_weight, feature_names=names, **fit) for table in tables
    ]
    return _pooled(models, int(np.isnan(values).sum()))


def _fit(estimator: Any, *data: Any, **fit: Any) -> Any:
    """Return a fitted clone that has a posterior."""
    model = clone(estimator).fit(*data, **fit)
    if not hasattr(model, "posterior_"):
        raise TypeError(
            f"{type(estimator).__name__} has no posterior to pool: take SpikeSlabRegressor, "
            "VariationalGarrote, SingleEffectsRegressor, ShrinkageRegressor or their classifiers"
        )
    return model


def _as_numbers(X: Any) -> Floats:
    if scipy.sparse.issparse(X):
        raise ValueError(
            "X must be an array or a data frame: a sparse matrix has no gaps to fill in"
        )
    try:
        if hasattr(X, "iloc"):  # pandas.NA is no number: in columns of objects, nor in its own ones
            X = X.where(X.notna(), np.nan).to_numpy(np.float64, na_value=np.nan)
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "X must hold numbers, with NaN where a value is missing: encode other columns first"
        ) from error
    if values.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns, got shape {values.shape}: give a single "
            "column as X.reshape(-1, 1)"
        )
    return values


def _names_of(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _pooled(models: Sequence[Any], gaps: int) -> Any:
    """Return the first model with what all of them say together."""
    first, count = models[0], len(models)
    intercepts = np.array([float(np.ravel(model.intercept_)[0]) for model in models])
    first.posterior_ = posterior = _mixed([model.posterior_ for model in models], intercepts)
    first.selection_ = _selection([model.selection_ for model in models], posterior, gaps)
    first.coef_ = posterior.mean.reshape(first.coef_.shape)
    level = float(intercepts.mean())
    first.intercept_ = np.array([level]) if np.ndim(first.intercept_) else level
    for name, value in (
        ("inclusion_probability_", posterior.inclusion_probability),
        ("sign_probability_", posterior.sign_probability),
        ("noise_variance_", posterior.noise_variance),
    ):
        if hasattr(first, name):
            setattr(first, name, value)
    for name in ("path_", "cv_results_"):
        if hasattr(first, name):
            delattr(first, name)
    first.n_imputations_ = count
    return first


def _mixed(posteriors: Sequence[Posterior], intercepts: Floats) -> Posterior:
    """Return the equal mixture of posteriors."""
    means = np.array([p.mean for p in posteriors])
    inclusion = np.mean([p.inclusion_probability for p in posteriors], axis=0)
    support = np.unique(np.concatenate([p.support for p in posteriors]))
    keeps = posteriors[0].keeps_every_variable
    columns = support if keeps else support[inclusion[support] > IN_SUPPORT]
    within = np.mean([_covariance(p, columns) for p in posteriors], axis=0)
    between = np.atleast_2d(np.cov(means[:, columns], rowvar=False)) if len(columns) else within
    count = len(posteriors)
    return replace(
        posteriors[0],
        mean=means.mean(axis=0),
        inclusion_probability=inclusion,
        spread=Spread.of(columns, within + (1 + 1 / count) * between),
        noise_variance=float(np.mean([p.noise_variance for p in posteriors])),
        degrees_of_freedom=float(np.mean([p.degrees_of_freedom for p in posteriors])),
        law=Pooled(tuple(posteriors), intercepts),
        free_energy=float("nan"),
        log_evidence=None,
        size_probability=_mean_of([p.size_probability for p in posteriors]),
        optima=type(posteriors[0].optima)(),
        accuracy=None,
        checked=None,
        substitutes=pooled_substitutes([p.substitutes for p in posteriors]),
        shapes=None,
    )


def _covariance(posterior: Posterior, columns: Array) -> Floats:
    """Return the covariance of some coefficients; those outside of the support are 0 for sure."""
    place = {int(j): k for k, j in enumerate(posterior.support)}
    here = [(k, place[int(j)]) for k, j in enumerate(columns) if int(j) in place]
    found = np.zeros((len(columns), len(columns)))
    if here:
        to, of = (np.array(part) for part in zip(*here, strict=True))
        found[np.ix_(to, to)] = posterior.covariance[np.ix_(of, of)]
    return found


def _mean_of(parts: Sequence[Floats | None]) -> Floats | None:
    known = [part for part in parts if part is not None]
    same = len(known) == len(parts) and len({part.shape for part in known}) == 1
    return np.mean(known, axis=0) if same else None


def _selection(selections: Sequence[Selection], posterior: Posterior, gaps: int) -> Selection:
    """Return what is selected after pooling, with intervals that allow for what was imputed."""
    first, count = selections[0], len(selections)
    probability = np.mean([one.probability for one in selections], axis=0)
    signs = posterior.sign_probability
    if signs is not None:
        probability = signs
    effects = np.array([one.effect for one in selections])
    within = np.array([np.nan_to_num(one.standard_error**2) for one in selections])
    error = np.sqrt(pooled_variance(within, effects))
    stated = np.asarray(np.isfinite([one.standard_error for one in selections]).any(axis=0))
    reach = t.ppf(0.5 + first.level / 2, _freedom(within, effects)) * error
    effect = effects.mean(axis=0)
    lower, upper = (np.where(stated, effect + side * reach, np.nan) for side in (-1, 1))
    selected = probability > border(first.evidence, first.level)
    if signs is not None:  # no variable is ever out: selected is what has a sure sign
        selected = (lower > 0) | (upper < 0)
    selected[[name in first.always_in for name in first.names]] = True
    return replace(
        first,
        selected=selected,
        probability=probability,
        effect=effect,
        standard_error=np.where(stated, error, np.nan),
        lower=lower,
        upper=upper,
        intervals=f"intervals allow for what {count} imputations of missing values differ by: their "
        "variance is the mean within imputations plus that between them (Rubin 1987)",
        rule=f"{first.rule}; effects and probabilities are pooled over {count} imputations of {gaps:,} "
        "missing values; settings that were found, stand-ins and notes on the fit are of the first",
        noise_variance=posterior.noise_variance,
        certificate=max((one.certificate for one in selections), key=lambda c: c.value),
        converged=all(one.converged for one in selections),
        path=None,
        validation=None,
        models=None,
        pieces=None,
        credible_sets=() if posterior.substitutes is None else posterior.credible_sets(first.level),
        stability=_stability([one.stability for one in selections]),
        predictions=_predictions([one.predictions for one in selections]),
        warnings=_warnings(selections, within, effects, stated),
        provenance={**first.provenance, "imputations": count, "missing_values": gaps},
    )


def _freedom(within: Floats, effects: Floats) -> Floats:
    """Return Rubin's degrees of freedom; infinite where nothing varies between imputations."""
    count = len(effects)
    inside, other = within.mean(axis=0), (1 + 1 / count) * effects.var(axis=0, ddof=1)
    varies = other > _LEAST_SHARE * np.maximum(inside, np.finfo(np.float64).tiny)
    ratio = np.where(varies, inside / np.where(varies, other, 1.0), np.inf)
    return np.asarray(np.minimum((count - 1) * (1 + ratio) ** 2, 1e9))


def _stability(parts: Sequence[Stability | None]) -> Stability | None:
    """Return how often variables came back in the refits of all fillings together."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return replace(
        known[0],
        refits=sum(part.refits for part in known),
        found=np.sum([part.found for part in known], axis=0),
    )


def _predictions(parts: Sequence[Predictions | None]) -> Predictions | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or known[0].predicted.shape[0] != 1:
        return None
    return replace(known[0], predicted=np.mean([part.predicted for part in known], axis=0))


def _warnings(
    selections: Sequence[Selection], within: Floats, effects: Floats, stated: Array
) -> tuple[str, ...]:
    """Return by how much gaps widen intervals, and the warnings of the first fit.

    Those of the others mostly say the same with other numbers.
    """
    counts = [one.n_selected for one in selections]
    doubtful = sum(not one.converged for one in selections)
    notes = [f"{doubtful} of {len(selections)} fits did not converge"] if doubtful else []
    inside, total = within.mean(axis=0), pooled_variance(within, effects)
    known = stated & (inside > 0)
    if known.any():
        wider = 100 * (np.sqrt(total[known] / inside[known]) - 1)
        notes.append(f"missing values make standard errors up to {wider.max():.0f} % larger")
    if min(counts) < max(counts):
        notes.append(f"single imputations select from {min(counts)} to {max(counts)} variables")
    return (*notes, *selections[0].warnings)
