"""Single effects on several responses, by iterative Bayesian stepwise selection (Zou et al. 2023).

Effect l is of one variable, and its coefficients on K responses are b ~ sum_m omega_m N(0, v_l U_m): the
covariances U_m say which patterns effects have, shared, distinct or correlated, and the weights omega
how common each is (Urbut et al. 2019). Noise rows are N(0, V). Given products R = X'W(Y - others) and a
curvature c_j, with V = L L', L^-1 U_m L^-T = Q D Q' and z_j = Q'L^-1 R_j,

    log BF_jm = sum_k z_jk^2 v d_k / (2 (1 + v d_k c_j)) - log(1 + v d_k c_j) / 2,
    Q'L^-1 b | j, m ~ N(v d z_j / (1 + v d c_j), v d / (1 + v d c_j)).

Updates of effects in turn, of v, omega and V never lower the bound on the log evidence.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import norm

from garrote.arrays import Array, Floats
from garrote.solvers.responses.joint_evidence import JointMoments

# Prior variances that are looked among, and columns of less probability than this that do not count.
_LOWEST, _HIGHEST, _FEW = np.log(1e-6), np.log(1e2), 1e-9
# An effect of no more evidence than this is none.
_NULL = 1e-3


class Pattern(NamedTuple):
    """A covariance of effects, turned to coordinates in which it and the noise are diagonal."""

    back: Floats
    into: Floats
    sizes: Floats


class JointEffect(NamedTuple):
    """One effect: who has it, of which pattern, and its coefficients given that.

    ``mean`` (D x K) and ``second`` (D x K x K) are those given the column, of ``columns`` alone;
    ``parts`` are weights of patterns given the column, ``divergence`` is that of all from the prior.
    """

    probability: Floats
    columns: Array
    parts: Floats
    mean: Floats
    second: Floats
    deviation: Floats
    negative: Floats
    positive: Floats
    log_bayes_factor: float
    prior_variance: float
    divergence: float = 0.0

    @property
    def coef(self) -> Floats:
        """Coefficients of ``columns``, averaged over who has the effect."""
        return self.probability[self.columns, None] * self.mean

    def sign_rate(self) -> Floats:
        """Return for each response how probable it is that the effect is 0 or of the other sign."""
        p = self.probability[self.columns]
        return np.asarray(1.0 - np.maximum(p @ self.negative, p @ self.positive) / p.sum())


@dataclass(frozen=True)
class JointEffectsFit:
    """Effects that are not null, the noise covariance, weights of patterns and the bounds."""

    effects: tuple[JointEffect, ...]
    noise: Floats
    weights: Floats
    bounds: Floats
    converged: bool
    tried: int


class JointEffectsTask(NamedTuple):
    """What the loop needs: products, prior probabilities, patterns, what is known and when to stop."""

    data: JointMoments
    log_prior: Floats
    covariances: tuple[Floats, ...]
    known_variance: float | None
    noise: Floats | None
    effects: int
    tol: float
    max_iter: int


def turned(noise: Floats, covariances: tuple[Floats, ...]) -> tuple[Pattern, ...]:
    """Return patterns in coordinates in which they and the noise are diagonal."""
    root = np.linalg.cholesky(noise)
    inverse = np.linalg.inv(root)
    made = []
    for covariance in covariances:
        sizes, turn = np.linalg.eigh(inverse @ covariance @ inverse.T)
        made.append(Pattern(root @ turn, turn.T @ inverse, np.maximum(sizes, 0.0)))
    return tuple(made)


def log_bayes_factors(
    left: Floats, curvature: Floats, patterns: tuple[Pattern, ...], variance: float
) -> Floats:
    """Return log BF of every column (rows) under every pattern (columns)."""
    logs = []
    for pattern in patterns:
        sizes = variance * pattern.sizes
        load = 1.0 + np.outer(curvature, sizes)
        squares = (left @ pattern.into.T) ** 2
        logs.append(0.5 * np.sum(squares * sizes / load - np.log(load), axis=1))
    return np.column_stack(logs)


def joint_effect(
    left: Floats,
    curvature: Floats,
    log_prior: Floats,
    patterns: tuple[Pattern, ...],
    weights: Floats,
    known_variance: float | None = None,
) -> JointEffect:
    """Find the posterior of one effect, its prior variance at the largest evidence or given."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)

    def evidence(log_variance: float) -> float:
        logs = log_bayes_factors(left, curvature, patterns, float(np.exp(log_variance)))
        return float(logsumexp(log_prior[:, None] + log_weights + logs))

    if known_variance is None:
        places = np.linspace(_LOWEST, _HIGHEST, 13)
        best = int(np.argmax([evidence(place) for place in places]))
        around = places[max(best - 1, 0)], places[min(best + 1, 12)]
        place = float(minimize_scalar(lambda u: -evidence(u), bounds=around, method="bounded").x)
    else:
        place = float(np.log(known_variance))
    total = evidence(place)
    if known_variance is None and total <= _NULL:
        return _null(log_prior, left.shape[1], len(patterns))
    return _given(left, curvature, log_prior, patterns, log_weights, float(np.exp(place)), total)


def _null(log_prior: Floats, responses: int, patterns: int) -> JointEffect:
    """Return an effect that is none."""
    nobody, nothing = np.zeros(0, dtype=np.intp), np.zeros((0, responses))
    return JointEffect(
        np.exp(log_prior), nobody, np.zeros((0, patterns)), nothing,
        np.zeros((0, responses, responses)), nothing, nothing, nothing, 0.0, 0.0,
    )  # fmt: skip


def _given(
    left: Floats,
    curvature: Floats,
    log_prior: Floats,
    patterns: tuple[Pattern, ...],
    log_weights: Floats,
    variance: float,
    total: float,
) -> JointEffect:
    """Return the effect of a known prior variance."""
    logs = log_bayes_factors(left, curvature, patterns, variance) + log_weights
    by_column = logsumexp(logs, axis=1)
    probability = np.exp(log_prior + by_column - total)
    columns = np.flatnonzero(probability > _FEW)
    parts = np.exp(logs[columns] - by_column[columns, None])
    K, c = left.shape[1], curvature[columns]
    mean, second = np.zeros((len(columns), K)), np.zeros((len(columns), K, K))
    negative, positive = np.zeros((2, len(columns), K))
    for m, pattern in enumerate(patterns):
        sizes = variance * pattern.sizes
        spread = sizes / (1.0 + np.outer(c, sizes))
        centre = (left[columns] @ pattern.into.T * spread) @ pattern.back.T
        within = np.einsum("ak,jk,bk->jab", pattern.back, spread, pattern.back)
        share = parts[:, m]
        mean += share[:, None] * centre
        second += share[:, None, None] * (within + centre[:, :, None] * centre[:, None, :])
        deviation = np.sqrt(np.maximum(np.einsum("jaa->ja", within), 0.0))
        # Responses that a pattern leaves out have no sign, but for rounding.
        there = deviation > 1e-6 * deviation.max(axis=1, keepdims=True, initial=0.0)
        at = np.divide(centre, deviation, out=np.zeros_like(centre), where=there)
        negative += share[:, None] * np.where(there, norm.cdf(-at), 0.0)
        positive += share[:, None] * np.where(there, norm.cdf(at), 0.0)
    spread = np.sqrt(np.maximum(np.einsum("jaa->ja", second) - mean**2, 0.0))
    made = JointEffect(
        probability, columns, parts, mean, second, spread, negative, positive, total, variance
    )
    return made._replace(divergence=_divergence(made, left[columns], c, patterns[0], total))


def _divergence(
    effect: JointEffect, left: Floats, c: Floats, pattern: Pattern, total: float
) -> float:
    """Return how far an effect is from its prior: what it explains on average, less its evidence."""
    inverse = pattern.into.T @ pattern.into  # of the noise, whatever the pattern
    explained = np.sum((effect.mean @ inverse) * left, axis=1)
    explained -= 0.5 * c * np.einsum("ab,jab->j", inverse, effect.second)
    return float(effect.probability[effect.columns] @ explained - total)


def fit_joint_effects(task: JointEffectsTask) -> JointEffectsFit:
    """Update effects in turn, the noise and the weights of patterns until the bound stands still."""
    state = _State(task)
    bounds: list[float] = []
    converged = False
    for _ in range(task.max_iter):
        state.sweep()
        bounds.append(state.bound())
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) <= task.tol:
            converged = True
            break
    kept = sorted(
        (e for e in state.effects if e.prior_variance > 0), key=lambda e: -e.log_bayes_factor
    )
    return JointEffectsFit(
        tuple(kept), state.noise, state.weights, np.array(bounds), converged, task.effects
    )


class _State:
    """Effects while they are fitted, with the products of what they predict with all columns."""

    def __init__(self, task: JointEffectsTask):
        self.task = task
        data = task.data
        self.curvature = np.ascontiguousarray(np.diag(data.gram))
        self.noise = data.yty / data.n if task.noise is None else task.noise
        M = len(task.covariances)
        self.weights = np.full(M, 1.0 / M)
        null = _null(task.log_prior, data.xty.shape[1], M)
        self.effects = [null] * task.effects
        self.fitted = [np.zeros_like(data.xty)] * task.effects

    def products(self, effect: JointEffect) -> Floats:
        """Return X'WX times the mean coefficients of an effect."""
        return np.asarray(self.task.data.gram[:, effect.columns] @ effect.coef)

    def sweep(self) -> None:
        """Update every effect, the weights of patterns and the noise."""
        task, data = self.task, self.task.data
        patterns = turned(self.noise, task.covariances)
        total = sum(self.fitted, np.zeros_like(data.xty))
        for k in range(len(self.effects)):
            left = data.xty - total + self.fitted[k]
            effect = joint_effect(
                left, self.curvature, task.log_prior, patterns, self.weights, task.known_variance
            )
            products = self.products(effect)
            total += products - self.fitted[k]
            self.effects[k], self.fitted[k] = effect, products
        self._learn_weights()
        if task.noise is None:
            self.noise = self.expected_products() / data.n

    def _learn_weights(self) -> None:
        """Set weights of patterns to their shares of the effects, one more being spread over all."""
        M = len(self.weights)
        used = [effect.probability[effect.columns] @ effect.parts for effect in self.effects]
        counts = np.full(M, 1.0 / M) + sum(used, np.zeros(M))
        change = np.log(self.weights) - np.log(counts / counts.sum())
        self.weights = counts / counts.sum()
        # Posteriors stay, and are nearer to the new prior.
        self.effects = [
            effect._replace(divergence=effect.divergence + float(own @ change))
            for effect, own in zip(self.effects, used, strict=True)
        ]

    def expected_products(self) -> Floats:
        """Return the expected cross products of what is left of the responses."""
        data = self.task.data
        total = sum(self.fitted, np.zeros_like(data.xty))
        products = data.yty.copy()
        for effect, fitted in zip(self.effects, self.fitted, strict=True):
            own, c = effect.columns, self.curvature[effect.columns]
            coef = effect.coef
            cross = coef.T @ data.xty[own]
            products += -cross - cross.T + coef.T @ total[own]
            products += self._second(effect, c) - coef.T @ fitted[own]
        return np.asarray(0.5 * (products + products.T))

    @staticmethod
    def _second(effect: JointEffect, c: Floats) -> Floats:
        return np.asarray(
            np.einsum("j,jab->ab", effect.probability[effect.columns] * c, effect.second)
        )

    def bound(self) -> float:
        """Return the bound on the log evidence, with the log prior of the weights of patterns."""
        data, inverse = self.task.data, np.linalg.inv(self.noise)
        K = len(self.noise)
        total = -0.5 * data.n * (np.linalg.slogdet(self.noise)[1] + K * np.log(2 * np.pi))
        total -= 0.5 * float(np.sum(inverse * self.expected_products()))
        for effect in self.effects:
            total -= effect.divergence
        return float(total + np.sum(np.log(self.weights)) / len(self.weights))


def with_doubt(
    effect: JointEffect,
    left: Floats,
    curvature: Floats,
    log_prior: Floats,
    patterns: tuple[Pattern, ...],
    weights: Floats,
) -> JointEffect:
    """Return an effect that may not be there: its evidence, averaged over its size, against none."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    sizes = np.exp(np.linspace(np.log(1e-3), 0.0, 13))
    logs = [
        logsumexp(
            log_prior[:, None] + log_weights + log_bayes_factors(left, curvature, patterns, v)
        )
        for v in sizes
    ]
    mean = float(logsumexp(logs) - np.log(len(sizes)))
    present = 1.0 / (1.0 + np.exp(-mean)) if mean < 700 else 1.0
    return effect._replace(probability=effect.probability * present)
