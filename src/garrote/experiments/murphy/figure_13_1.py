"""Murphy Figure 13.1: all 1024 models of ten variables in Gray code order, and what to say of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.experiments.drawing import GARROTE, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings, quantiles
from garrote.inference import Beliefs
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.solvers.models.enumeration import enumerate_models
from garrote.summaries import Table

_COEF = np.array([0.0, -1.67, 0.13, 0.0, 0.0, 1.19, 0.0, -0.04, 0.33, 0.0])
_ROWS = 20
# The text prints neither; see the remarks.
_INCLUSION, _SLAB_VARIANCE = 0.1, 1.0
# The text's list of the best models: number in Gray code order, probability, members, all from 1.
_PUBLISHED = (
    (4, 0.447, (2,)),
    (61, 0.241, (2, 6)),
    (452, 0.103, (2, 6, 9)),
    (60, 0.091, (2, 3, 6)),
    (29, 0.041, (2, 5)),
    (68, 0.021, (2, 6, 7)),
    (36, 0.015, (2, 5, 6)),
    (5, 0.010, (2, 3)),
)


@dataclass(frozen=True)
class AllModels:
    """Every model of one data set in Gray code order.

    ``members`` tells, models x variables, what is in; ``cost`` is Eq. 13.2 up to a constant, 0 for the
    best model.
    """

    members: Array
    probability: Floats
    cost: Floats

    @property
    def inclusion(self) -> Floats:
        return self.probability @ self.members

    @property
    def order(self) -> Array:
        """Positions of the models, the most probable first."""
        return np.argsort(-self.probability, kind="stable")


def run_figure_13_1(settings: StudySettings) -> Report:
    """Score all models of data of the text's law, one draw in full and many in summary."""
    count = settings.count(100, quick=20)
    draws = [_score_models(stream) for stream in settings.streams(count)]
    first = draws[0]
    median = [_numbers(draw.inclusion > 0.5) for draw in draws]
    best = _numbers(first.members[first.order[0]])
    share = np.mean([model == (2, 6) for model in median])
    return Report(
        f"Murphy Figure 13.1: the posterior over all models of {len(_COEF)} variables",
        (_best_models(first), _inclusion_table(draws)),
        (
            f"{_ROWS} rows, independent standard normal columns and noise; the text's random numbers "
            "cannot be drawn again, so its table and ours are of different data of one law. It prints "
            f"neither prior: ours has pi_0 = {_INCLUSION}, sigma_w^2 = {_SLAB_VARIANCE:.0f}, and noise "
            "and intercept integrated out (13.16)",
            f"{_agreeing_numbers()} of the {len(_PUBLISHED)} printed models have the number that Gray "
            "code order gives them",
            "paper, from its table: the least a variable can have is the sum over the models listed, "
            "the most that and what they leave. So the probability of variable 6 is about one half "
            "there, although the text calls the model confident that it is included",
            f"median model (13.4): {_label(median[0])} in this draw, {{2, 6}} in {100 * share:.0f}% of "
            f"{count}; most probable model (13.3): {_label(best)} here",
        ),
        {"first": first, "median": median, "inclusion": np.array([one.inclusion for one in draws])},
        lambda: _draw(first),
    )


def gray_code(variables: int) -> Array:
    """Return all models, 2^D x D, each of which differs from the one before in one variable."""
    position = np.arange(2**variables)
    return ((position ^ position >> 1)[:, None] >> np.arange(variables) & 1).astype(bool)


def _score_models(stream: np.random.SeedSequence) -> AllModels:
    rng = np.random.default_rng(stream)
    X = rng.standard_normal((_ROWS, len(_COEF)))
    problem = Problem.from_rows(X, X @ _COEF + rng.standard_normal(_ROWS))
    D = problem.n_features
    beliefs = Beliefs.about(
        problem,
        GaussianSlab(_SLAB_VARIANCE),
        Inclusion.independent(np.full(D, _INCLUSION), np.zeros(D)),
    )
    found = enumerate_models(
        beliefs.rule(problem, D),
        problem.known_block(np.arange(D)),
        problem.xty,
        problem.yty,
        beliefs.inclusion.by_size,
        beliefs.inclusion.log_odds,
        keep=2**D,
    )
    members = gray_code(D)
    place = np.argsort(found.models)[members @ (1 << np.arange(D))]
    log_weights = found.log_weights[place]
    probability = np.exp(log_weights - found.log_total)
    return AllModels(members, probability, log_weights.max() - log_weights)


def _best_models(draw: AllModels) -> Table:
    best = draw.order[: len(_PUBLISHED)]
    return Table(
        {
            "paper: model": [number for number, _, _ in _PUBLISHED],
            "prob": [f"{probability:.3f}" for _, probability, _ in _PUBLISHED],
            "members": [_label(members) for _, _, members in _PUBLISHED],
            "ours: model": (best + 1).tolist(),
            "prob ": [f"{probability:.3f}" for probability in draw.probability[best]],
            "members ": [_label(_numbers(draw.members[position])) for position in best],
        },
        caption="the most probable models; their number in Gray code order counts from 1",
    )


def _inclusion_table(draws: list[AllModels]) -> Table:
    low, high = published_bounds()
    values = np.array([draw.inclusion for draw in draws])
    return Table(
        {
            "variable": list(range(1, len(_COEF) + 1)),
            "true w": [f"{w:.2f}" for w in _COEF],
            "paper, from its table": [
                f"{a:.3f} to {b:.3f}" for a, b in zip(low, high, strict=True)
            ],
            "ours, this draw": [f"{p:.3f}" for p in values[0]],
            f"median (10% to 90%) of {len(draws)} draws": [quantiles(v, 2) for v in values.T],
        },
        caption="inclusion probabilities",
    )


def published_bounds() -> tuple[Floats, Floats]:
    """Return the least and the most that the printed models leave to each inclusion probability."""
    low = np.zeros(len(_COEF))
    for _, probability, members in _PUBLISHED:
        low[np.array(members) - 1] += probability
    rest = 1 - sum(probability for _, probability, _ in _PUBLISHED)
    return low, low + rest


def _agreeing_numbers() -> int:
    models = gray_code(len(_COEF))
    return sum(_numbers(models[number - 1]) == members for number, _, members in _PUBLISHED)


def _numbers(included: Array) -> tuple[int, ...]:
    """Return the variables that are in, counted from 1 as in the text."""
    return tuple((np.flatnonzero(included) + 1).tolist())


def _label(members: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, members)) + "}"


def _draw(draw: AllModels) -> Any:
    figure, axes = make_axes(2, 2, width=9, height=6.5)
    bits, cost, posterior, inclusion = axes.flat
    bits.imshow(draw.members.T, aspect="auto", cmap="Greys", interpolation="nearest")
    bits.set(yticks=range(len(_COEF)), yticklabels=range(1, len(_COEF) + 1), ylabel="variable")
    bits.set(title="(a) models in Gray code order, black: in")
    cost.plot(draw.cost, color=GARROTE, lw=0.7)
    cost.set(ylabel=r"$f(\gamma)$ above its least", title="(b) cost")
    posterior.vlines(np.arange(len(draw.cost)), 0, draw.probability, color=GARROTE, lw=1)
    posterior.set(ylim=(0, 0.1), ylabel=r"$p(\gamma | D)$", title="(c) posterior, cut at 0.1")
    inclusion.bar(np.arange(1, len(_COEF) + 1), draw.inclusion, color=GARROTE)
    inclusion.axhline(0.5, color=OTHER, lw=0.8, ls=":")
    inclusion.set(ylim=(0, 1), ylabel=r"$p(\gamma_j = 1 | D)$", title="(d) inclusion probabilities")
    inclusion.set(xlabel="variable", xticks=range(1, len(_COEF) + 1))
    for one in (bits, cost, posterior):
        one.set_xlabel("model")
    return figure
