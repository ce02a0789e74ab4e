"""The variational garrote of several responses: a switch for a variable, a weight for each response.

y_k = sum_i s_i w_ki x_i + noise_k, with log odds m_i = gamma + sum_k beta_k c_i w_ki^2 / 2: responses
are rows of one larger regression, in units of their own noise, in which the columns of a variable share
a switch (`garrote.priors.shared_switches`). Noise variances are those that its residuals imply, found in
rounds.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from garrote.arrays import Array, Floats
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import check_offset, check_rows
from garrote.estimators.given.rows import GivenRows
from garrote.estimators.responses.joint import combined, response_names
from garrote.likelihoods.several import SeveralResponses
from garrote.priors import GroupedInclusion
from garrote.results.joint import JointPosterior
from garrote.results.laws import Anchor, SoftSupport, Spread
from garrote.results.posterior import Posterior
from garrote.results.selections.selection import Selection

# Rounds over noise variances, and the change of their logarithms at which they end.
_ROUNDS, _STILL = 8, 0.02


class StackedResponses:
    """Responses one below another, each with columns of its own."""

    def __init__(self, model: Any, rows: Arguments):
        _refuse(model)
        self.names = response_names(rows.y)
        self.Y = check_rows(model, rows.X, rows.y, several=True)[1]
        N, self.K = self.Y.shape
        shift = check_offset(rows.offset, N, SeveralResponses(self.K))
        self.shift = np.zeros_like(self.Y) if shift is None else shift
        self.given = GivenRows.of(model, rows._replace(y=self.Y[:, 0], offset=None))
        X = self.given.X
        if not (isinstance(X, np.ndarray) or scipy.sparse.issparse(X)):
            raise ValueError(
                "the garrote of several responses takes an array, a data frame or a sparse matrix, got "
                f"{type(X).__name__}: fit one response at a time"
            )
        self.X, self.D = scipy.sparse.csc_array(X), X.shape[1]
        self.groups = np.arange(N) if rows.groups is None else np.asarray(rows.groups)
        weights = self.given.weights
        self.center = (
            np.asarray(self.X.T @ weights) / weights.sum()
            if model.fit_intercept
            else np.zeros(self.D)
        )
        self.square = np.asarray(self.X.power(2).T @ weights) / weights.sum() - self.center**2
        left = self.Y - self.shift
        self.first = np.sqrt(np.average((left - np.average(left, 0, weights)) ** 2, 0, weights))
        if not (self.first > 0).all():
            constant = self.names[int(np.argmin(self.first))]
            raise ValueError(f"response {constant!r} is constant: leave it out")

    def fit(self, model: Any, noise: Floats) -> Any:
        """Fit the garrote to all rows in units of the responses' noise."""
        K, D, N = self.K, self.D, len(self.Y)
        blocks = scipy.sparse.block_diag([self.X / s for s in noise], format="csc")
        numbers = np.tile(np.arange(D), K)
        always = [k * D + int(j) for k in range(K) for j in self.given.covariates]
        if model.fit_intercept:
            level = scipy.sparse.block_diag([np.full((N, 1), 1.0 / s) for s in noise])
            blocks = scipy.sparse.hstack([blocks, level], format="csc")
            always += range(K * D, K * D + K)
        # Those always in are variables of their own.
        owner = np.append(numbers, D + np.arange(blocks.shape[1] - K * D))
        owner[always] = D + K + np.arange(len(always))
        _, owner = np.unique(owner, return_inverse=True)
        log_odds = np.append(np.tile(self.given.log_odds, K), np.zeros(blocks.shape[1] - K * D))
        inner = clone(model).set_params(
            inclusion=GroupedInclusion(owner.tolist()), covariates=always, fit_intercept=False,
            prior_log_odds=log_odds if log_odds.any() else None, stability=None,
        )  # fmt: skip
        y = ((self.Y - self.shift) / noise).T.ravel()
        groups = np.tile(self.groups, K)
        with warnings.catch_warnings():
            # What concerns single columns of the stacked table is told of variables.
            warnings.simplefilter("ignore", UserWarning)
            return inner.fit(
                scipy.sparse.csc_array(blocks), y, np.tile(self.given.weights, K), groups=groups
            )

    def implied_noise(self, inner: Any) -> Floats:
        """Return the deviations of the noise that the expected squared residuals imply."""
        coef, level = self.unpacked(inner)
        variance = inner.posterior_.variance[: self.K * self.D].reshape(self.K, self.D)
        left = self.Y - self.shift - self.X @ coef.T - level
        squares = np.average(left**2, 0, self.given.weights) + variance @ self.square
        return np.asarray(np.sqrt(np.maximum(squares, 1e-12 * self.first**2)))

    def unpacked(self, inner: Any) -> tuple[Floats, Floats]:
        """Return coefficients (K x D) and intercepts."""
        count = self.K * self.D
        level = inner.coef_[count:] if len(inner.coef_) > count else np.zeros(self.K)
        return inner.coef_[:count].reshape(self.K, self.D), level


def fit_garrote_of_responses(model: Any, rows: Arguments) -> None:
    """Fit all responses, and set the fitted attributes."""
    stacked = StackedResponses(model, rows)
    noise = stacked.first
    for _ in range(_ROUNDS):
        inner = stacked.fit(model, noise)
        implied = stacked.implied_noise(inner)
        moved = float(np.abs(np.log(implied / noise)).max())
        if moved <= _STILL:
            break
        noise = implied
    _store(model, stacked, inner, noise)


def _refuse(model: Any) -> None:
    """Refuse settings that are those of one response."""
    for name in ("signs", "noise_variance", "inclusion"):
        if getattr(model, name) is not None:
            raise ValueError(
                f"{name} is for one response: leave it at None for several, which share one switch for "
                "each variable"
            )


def _store(model: Any, stacked: StackedResponses, inner: Any, noise: Floats) -> None:
    K, D = stacked.K, stacked.D
    names = stacked.given.column_names
    model.coef_, level = stacked.unpacked(inner)
    model.intercept_ = np.array(level)
    model.gamma_, model.certificate_, model.n_iter_ = (
        inner.gamma_,
        inner.certificate_,
        inner.n_iter_,
    )
    if hasattr(inner, "cv_results_"):
        model.cv_results_ = inner.cv_results_
    variances = noise**2 * inner.noise_variance_
    posteriors = tuple(
        _of_response(inner.posterior_, k, stacked, float(variances[k]), float(noise[k]))
        for k in range(K)
    )
    probability = posteriors[0].inclusion_probability
    model.posterior_ = JointPosterior(posteriors, stacked.names, probability, np.diag(variances))
    model.inclusion_probability_ = probability
    model.noise_variance_, model.noise_covariance_ = variances, np.diag(variances)
    model.groups_ = None
    total = stacked.given.weights.sum()
    model._anchor = Anchor(stacked.center, 1.0 / total if model.fit_intercept else 0.0)
    model.__dict__.pop("path_", None)  # that of a fit before
    always = [names[j] for j in stacked.given.covariates]
    model.selections_ = tuple(
        _selection(inner.selection_, k, D, names, stacked.names[k], always, float(variances[k]))
        for k in range(K)
    )
    model.selection_ = combined(model.selections_, model.coef_, stacked.names)


def _of_response(
    whole: Posterior, k: int, stacked: StackedResponses, noise: float, unit: float
) -> Posterior:
    """Return what is believed of the coefficients of one response."""
    D, spread = stacked.D, whole.spread
    here = _block(spread.columns, k, D)
    inclusion = whole.inclusion_probability[k * D : (k + 1) * D].copy()
    return Posterior(
        mean=whole.mean[k * D : (k + 1) * D],
        inclusion_probability=inclusion,
        spread=Spread(
            spread.columns[here] - k * D, spread.standard_error[here],
            spread.correlation[np.ix_(here, here)],
        ),
        law=_law_of(whole.law, k, D, unit),
        noise_variance=noise,
        degrees_of_freedom=max(whole.degrees_of_freedom / stacked.K, 1.0),
        names=stacked.given.column_names,
        covariates=stacked.given.covariates,
        free_energy=whole.free_energy,
    )  # fmt: skip


def _law_of(law: Any, k: int, D: int, unit: float) -> Any:
    """Return the law of the coefficients of one response, whose noise is in some unit."""
    if isinstance(law, SoftSupport):
        own = _block(law.columns, k, D)
        return SoftSupport(
            law.columns[own] - k * D, law.probability[own], law.mean[own], law.deviation[own],
            law.correlation[np.ix_(own, own)],
        )  # fmt: skip
    inside = [_block(members, k, D) for members in law.members]
    each = list(zip(law.members, law.mean, law.spread, inside, strict=True))
    return replace(
        law,
        members=tuple(members[here] - k * D for members, _, _, here in each),
        mean=tuple(mean[here] for _, mean, _, here in each),
        spread=tuple(spread[np.ix_(here, here)] / unit**2 for _, _, spread, here in each),
        noise_rate=law.noise_rate * unit**2,
    )


def _block(columns: Array, k: int, D: int) -> Array:
    return np.flatnonzero((columns >= k * D) & (columns < (k + 1) * D))


def _selection(
    whole: Selection, k: int, D: int, names: tuple[str, ...], response: str, always: list[str],
    noise: float,
) -> Selection:  # fmt: skip
    """Return the selection of one response, of that of the stacked table."""
    part = slice(k * D, (k + 1) * D)
    by_column: dict[str, Any] = {
        name: np.asarray(getattr(whole, name))[part]
        for name in ("selected", "probability", "effect", "standard_error", "lower", "upper")
    }
    return replace(
        whole, **by_column, names=names, response=response, always_in=tuple(always),
        noise_variance=noise, interchangeable={}, constant=(), groups=None, path=None,
        predictions=None, stand_ins=None, models=None, credible_sets=(), validation=None,
        deviation=None, marginal_z=None, warnings=(),
        rule=f"{whole.rule}; all responses share one switch for each variable",
    )  # fmt: skip
