"""Mean field where variables hang together a priori: the law enters by its mean over the others.

Each (w_j, s_j) has its own factor, as without ties, and the prior log odds of one variable are the
derivative of the expected log prior by its probability (`garrote.priors.structured.expected`):

    log odds m_j = d E log p(s) / d m_j + log(r / (c_j + r)) / 2 + mu_j^2 (c_j + r) / (2 noise),

with r one over the slab's variance, c_j the curvature and mu_j = z_j c_j / (c_j + r). Sweeps of that,
the noise variance and, where it is unknown, the slab's by its mode never lower the bound on the
evidence. They start from nothing, from what columns alone say and from random sets; distinct optima are
mixed by their bounds.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from garrote.arrays import Floats
from garrote.inference.mean_field.factorised import Average, factorised_posterior
from garrote.inference.mean_field.hyperparameters import Learning
from garrote.inference.methods import MeanField
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.priors.structured.expected import ExpectedPrior
from garrote.results.certificates import equations
from garrote.results.fit import Fit
from garrote.results.optima import Optima

# Sweeps of one solution, at most; random starts; what distinct optima differ by in some probability.
_SWEEPS, _RANDOM, _DISTINCT = 2000, 4, 0.01
# Tables of more columns than this have no matrix of cross products at hand.
_MOST = 4000


@dataclass
class _State:
    """Factors at some hyperparameters; ``fitted`` are the cross products with what they predict."""

    probability: Floats
    weight: Floats
    fitted: Floats
    noise: float
    variance: float


class TiedField:
    """Sweeps over the usable columns of a problem under a law with ties."""

    def __init__(self, task: Task):
        problem, self.law = task.problem, task.beliefs.inclusion
        usable = problem.usable
        self.gram, self.xty = problem.known_block(usable), problem.xty[usable]
        self.curvature, self.yty, self.n = np.diag(self.gram), float(problem.yty), float(problem.n)
        self.smallest = problem.smallest_noise
        self.known_noise = task.prior.known_noise
        self.learning = Learning(task.prior, np.zeros(0), None)

    def begin(self, probability: Floats) -> _State:
        """Return a state of given probabilities, its weights those of columns alone."""
        variance = self.learning.first().variance
        weight = self.xty / (self.curvature + 1.0 / variance)
        noise = self.known_noise or self.yty / self.n
        coef = probability * weight * min(1.0, 1.0 / max(probability.sum(), 1.0))
        return _State(probability.copy(), weight, self.gram @ coef, noise, variance)

    def settle(self, start: Floats, tol: float, most: int) -> tuple[_State, int]:
        """Sweep until probabilities, noise and slab stand still."""
        state, prior = self.begin(start), ExpectedPrior(self.law, start)
        coef = np.asarray(np.linalg.lstsq(self.gram, state.fitted, rcond=None)[0], np.float64)
        sweeps = 0
        for sweeps in range(1, most + 1):
            moved = self._sweep(state, prior, coef)
            moved = max(moved, self._learn(state))
            if moved <= 0.1 * tol:
                break
            if sweeps % 20 == 0:
                state.fitted = self.gram @ coef
        state.fitted = self.gram @ (state.probability * state.weight)
        return state, sweeps

    def _sweep(self, state: _State, prior: ExpectedPrior, coef: Floats) -> float:
        ridge, moved = 1.0 / state.variance, 0.0
        for j, c in enumerate(self.curvature):
            weight = (self.xty[j] - state.fitted[j] + c * coef[j]) / (c + ridge)
            m = expit(prior.gain(j) + self._evidence(weight, c, ridge, state.noise))
            change = m * weight - coef[j]
            moved = max(moved, abs(m - state.probability[j]))
            moved = max(moved, abs(change) * np.sqrt(c / state.noise))
            state.fitted += change * self.gram[j]
            coef[j] += change
            state.probability[j], state.weight[j] = m, weight
            prior.set(j, float(m))
        return float(moved)

    @staticmethod
    def _evidence(weight: Floats, c: Floats, ridge: float, noise: float) -> Floats:
        return np.asarray(0.5 * np.log(ridge / (c + ridge)) + 0.5 * weight**2 * (c + ridge) / noise)

    def _learn(self, state: _State) -> float:
        """Set the noise variance, and that of the slab where it is unknown; return the larger change."""
        before = np.log([state.noise, state.variance])
        squares = state.weight**2 + state.noise / (self.curvature + 1.0 / state.variance)
        size = float(state.probability.sum())
        if self.known_noise is None:
            state.noise = self.implied_noise(state)
        total = float(state.probability @ squares) / state.noise
        state.variance = self.learning.next_variance(state.variance, total, size)
        return float(np.abs(np.log([state.noise, state.variance]) - before).max())

    def implied_noise(self, state: _State) -> float:
        """Return the noise variance that all factors imply."""
        m, w, ridge = state.probability, state.weight, 1.0 / state.variance
        squares = w**2 + state.noise / (self.curvature + ridge)
        total = self._squared(state) + ridge * float(m @ squares)
        return max(total / (self.n + float(m.sum())), self.smallest)

    def _squared(self, state: _State) -> float:
        """Return the expected squared residual."""
        m, w, c = state.probability, state.weight, self.curvature
        coef = m * w
        squares = w**2 + state.noise / (c + 1.0 / state.variance)
        left = self.yty - 2 * coef @ self.xty + coef @ self.gram @ coef
        return float(left + c @ (m * squares - coef**2))

    def bound(self, state: _State) -> float:
        """Return the bound on the log evidence at the state's noise and slab."""
        m, w, c, s = state.probability, state.weight, self.curvature, state.noise
        ridge = 1.0 / state.variance
        cost = 0.5 * np.log(ridge / (c + ridge)) + 0.5 - 0.5 * ridge * (w**2 / s + 1 / (c + ridge))
        total = -0.5 * self.n * np.log(2 * np.pi * s) - 0.5 * self._squared(state) / s
        total += float(m @ cost - np.sum(xlogy(m, m) + xlog1py(1 - m, -m)))
        return total + ExpectedPrior(self.law, m).value()

    def certify(self, state: _State) -> dict[str, float]:
        """Return by how much the stated solution violates its equations, from the data alone."""
        m, w, c = state.probability, state.weight, self.curvature
        ridge, coef = 1.0 / state.variance, m * w
        wanted = (self.xty - self.gram @ coef + c * coef) / (c + ridge)
        prior = ExpectedPrior(self.law, m)
        gains = np.array([prior.gain(j) for j in range(len(m))])
        implied = expit(gains + self._evidence(w, c, ridge, state.noise))
        noise = 0.0 if self.known_noise else abs(self.implied_noise(state) / state.noise - 1.0)
        return {
            "inclusion": float(np.abs(implied - m).max(initial=0.0)),
            "weight": float((np.abs(wanted - w) * np.sqrt(c / state.noise)).max(initial=0.0)),
            "noise": float(noise),
        }


def tied_mean_field(task: Task, method: MeanField) -> Inferred:
    """Settle from several starts, mix the optima, and change to the user's units."""
    problem, law = task.problem, task.beliefs.inclusion
    if law.ties is None or not law.are_single:
        raise ValueError(
            "mean field has no groups of columns that are in together: take method='sample', or a law "
            "over columns, such as TwoLevelInclusion"
        )
    Learning(task.prior, np.zeros(0), None).slab.check_independent(method.name)
    if len(problem.usable) > _MOST:
        raise ValueError(
            f"mean field under this law takes {_MOST:,} columns at most, got {len(problem.usable):,}: "
            "take method='sample'"
        )
    field, found = TiedField(task), list[tuple[float, _State, int, str]]()
    for name, start in _starts(field, task.seed).items():
        state, sweeps = field.settle(start, method.tol, method.max_iter or _SWEEPS)
        bound = field.bound(state)
        if all(np.abs(state.probability - s.probability).max() > _DISTINCT for _, s, _, _ in found):
            found.append((bound, state, sweeps, name))
    found.sort(key=lambda entry: -entry[0])
    return _inferred(task, method, field, found)


def _starts(field: TiedField, seed: object) -> dict[str, Floats]:
    """Return probabilities to begin with."""
    count = len(field.xty)
    rng = np.random.default_rng(0 if seed is None else seed)  # type: ignore[arg-type]
    alone = field.xty**2 / (field.curvature * max(field.yty / field.n, 1e-300))
    starts = {
        "from nothing": np.zeros(count),
        "from columns alone": expit(0.5 * alone - np.log(max(count, 2))),
    }
    for k in range(_RANDOM):
        starts[f"from a random set {k + 1}"] = (rng.random(count) < min(0.5, 10 / count)) * 0.9
    return starts


def _inferred(
    task: Task, method: MeanField, field: TiedField, found: list[tuple[float, _State, int, str]]
) -> Inferred:
    problem, columns = task.problem, task.problem.usable
    fits, spreads = [], []
    for bound, state, sweeps, _ in found:
        fits.append(
            Fit(
                strength=float("nan"),
                columns=columns,
                probability=state.probability,
                weight=state.weight,
                noise_variance=state.noise,
                free_energy=-bound,
                expected_size=float(state.probability.sum()),
                certificate=equations(field.certify(state)),
                n_iter=sweeps,
            )
        )
        spreads.append(state.noise / (field.curvature + 1.0 / state.variance))
    logs = np.array([entry[0] for entry in found])
    average = Average(problem.n_features, logs, list(zip(fits, spreads, strict=True)))
    share = np.exp(logs - np.logaddexp.reduce(logs))
    optima = Optima(tuple(fits), tuple(entry[3] for entry in found))
    evidence = float(np.logaddexp.reduce(logs))
    posterior = factorised_posterior(
        problem, task.beliefs, average, optima, share, task.names, None, evidence
    )
    best = found[0][1]
    how = f"{len(found)} mean-field optima, slab variance {best.variance:.3g}; {field.law.words}"
    posterior = with_substitutes(problem, posterior)
    settled = fits[0].certificate.value <= method.tol
    return Inferred(
        posterior, fits[0].certificate, method.name, how, settled,
        notes=task.beliefs.doubts(None),
    )  # fmt: skip
