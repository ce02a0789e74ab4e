"""From a function and a start to a point, its value, and a certificate made of fresh draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.proximal.inputs import as_floats
from garrote.results.certificates import Certificate
from garrote.settings import is_number
from garrote.smoothing.agreement import check_said
from garrote.smoothing.bernoulli import BernoulliBound
from garrote.smoothing.certificates import certify_mean, certify_switches
from garrote.smoothing.gaussian import GaussianBound
from garrote.smoothing.objective import Objective, to_numpy
from garrote.smoothing.optimisers import LBFGS, Descent, Newton, Optimiser, Told, as_optimiser
from garrote.smoothing.schedule import Shrinking
from garrote.smoothing.switching import Switched, follow_switches
from garrote.solvers.control import Callback
from garrote.summaries import Shown

# Widths from the first to this share of it, where nothing else is said.
_NARROW = 1e-3


@dataclass(frozen=True, repr=False)
class SmoothFit(Shown):
    """What `minimise` found.

    Attributes
    ----------
    x : array
        The point that is stated, of the library, type and device of ``start``.
    value : float
        f(x).
    mean : array
        Where the law of x is centred at the end: means, or probabilities of switches.
    sigma : array
        Its deviations at the end.
    bound : float
        The average of f over that law, which no minimum of f is above; an estimate where U is sampled.
    certificate : Certificate
        How far x is from a minimum, from the function and x alone, by fresh draws where U is sampled.
    history : array of shape (widths, 2)
        Each width and the value at its mean.
    n_iter : int
        Steps of the optimiser.
    n_evaluations : int
        Points at which f was computed, its derivative included.
    """

    x: Any
    value: float
    mean: Floats
    sigma: Floats
    bound: float
    certificate: Certificate
    history: Floats
    n_iter: int
    n_evaluations: int


def minimise(
    bound: GaussianBound | BernoulliBound,
    start: Any,
    *,
    sigma: Any = None,
    error: float | None = None,
    optimiser: Any = "auto",
    lower: float | None = None,
    callback: Callback | None = None,
) -> SmoothFit:
    """Minimise a function by way of its average, whose width shrinks.

    Parameters
    ----------
    bound : GaussianBound or BernoulliBound
        The function, and what is known of its average.
    start : array of shape (D,)
        The law's first centre, or the first probabilities of switches. Of NumPy, PyTorch or another
        library of the array API, float32 or float64: f gets points of the same kind.
    sigma : float or Shrinking, optional
        The first width (1), from which halves lead to a thousandth of it; or all of them.
    error : float, optional
        End where averaging adds no more than this, which ``bound.added`` tells (Eq. 18, as derived).
    optimiser : "auto", "newton", "lbfgs", "natural", Newton, LBFGS or NaturalGradient
        "auto": Newton if second derivatives are known or estimated, else L-BFGS; natural for switches.
    lower : float, optional
        What f never falls below: the certificate is then a gap.
    callback : callable, optional
        Told a `Progress` after each width, or each step where widths or probabilities are learned.

    Returns
    -------
    SmoothFit

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.smoothing import GaussianBound, minimise
    >>> def far(x):
    ...     return np.abs(x - np.array([1.0, 2.0, 4.0, 8.0, 16.0])).sum(
    ...         axis=1
    ...     )  # least at the median
    >>> fit = minimise(GaussianBound(far), np.zeros(1), sigma=5.0)
    >>> round(float(fit.x[0]), 1), round(fit.value, 1)
    (4.0, 21.0)
    """
    _check_given(bound, lower)
    first = _checked(template := as_floats(start))
    objective = Objective(bound.f, getattr(bound, "derivative", None), bound.batched, template)
    way = None if optimiser == "auto" else as_optimiser(optimiser)
    if isinstance(bound, BernoulliBound):
        if sigma is not None or error is not None:
            raise ValueError(
                "sigma and error are of normal laws: switches have probabilities alone"
            )
        found = follow_switches(bound, objective, first, way, callback)
        return _of_switches(bound, objective, found, lower)
    schedule = _schedule(bound, 1.0 if sigma is None else sigma, error)
    run = _follow(bound, objective, first, schedule, way or _usual(bound), callback)
    return _of_numbers(bound, objective, run, lower)


def _check_given(bound: Any, lower: Any) -> None:
    """Refuse what is no bound, and a least value that is no number."""
    if not isinstance(bound, GaussianBound | BernoulliBound):
        raise TypeError(
            f"bound must be a GaussianBound or a BernoulliBound, got a {type(bound).__name__}: "
            "minimise(GaussianBound(f), start)"
        )
    if lower is not None and not is_number(lower):
        raise ValueError(f"lower must be a finite number or None, got {lower!r}")


def _refuse_widths(sigma: Any, error: Any) -> None:
    """Refuse settings of normal laws where there are none."""
    if sigma is not None or error is not None:
        raise ValueError("sigma and error are of normal laws: switches have probabilities alone")


def _of_switches(
    bound: BernoulliBound, objective: Objective, found: Switched, lower: float | None
) -> SmoothFit:
    """Return what is stated of a state, with its certificate."""
    state, theta = found.state, found.theta
    average, certificate = certify_switches(bound, objective, state, theta, lower)
    return SmoothFit(
        objective.place(state), objective.value(state), theta, np.sqrt(theta * (1 - theta)),
        average.value, certificate, found.history, found.steps, objective.evaluations,
    )  # fmt: skip


def _of_numbers(
    bound: GaussianBound, objective: Objective, run: "_Run", lower: float | None
) -> SmoothFit:
    """Return what is stated of a mean, with its certificate."""
    average, certificate = certify_mean(bound, objective, run.mu, run.sigma, lower)
    return SmoothFit(
        objective.place(run.mu), objective.value(run.mu), run.mu, run.sigma, average.value,
        certificate, run.history, run.steps, objective.evaluations,
    )  # fmt: skip


@dataclass(frozen=True)
class _Run:
    """The best mean, its widths, the widths passed and the values there, and all steps."""

    mu: Floats
    sigma: Floats
    history: Floats
    steps: int


def _follow(
    bound: GaussianBound,
    objective: Objective,
    start: Floats,
    schedule: Shrinking,
    way: Optimiser,
    callback: Callback | None,
) -> _Run:
    """Go down width by width; keep the mean of least value."""
    check_said(bound, objective, start, np.full(len(start), schedule.widths()[0]))
    widths = schedule.widths()[:1] if way.learns else schedule.widths()
    at = Descent(start, np.full(len(start), widths[0]), 0)
    best, least, made, history = at, np.inf, 0, []

    told = Told(callback, way.steps if way.learns else len(widths))

    def average(mu: Floats, sigma: Floats, stream: int) -> Any:
        if way.learns:
            told.next()
        return bound.at(objective, mu, sigma, 1 + stream)

    for level, width in enumerate(widths):
        at = at._replace(sigma=np.full(len(start), width))
        at = way.descend(average, at, level, schedule.last, bound.sampled)
        value = objective.value(at.mu)
        made += at.steps
        history.append((float(at.sigma.max()), value))
        if value <= least:
            best, least = at, value
        if not way.learns:
            told.next()
    return _Run(best.mu, at.sigma, np.array(history), made)


def _usual(bound: GaussianBound) -> Optimiser:
    """Return Newton's steps where second derivatives are known or estimated, else L-BFGS."""
    return LBFGS() if not bound.sampled and bound.curvature is None else Newton()


def _schedule(bound: GaussianBound, sigma: Any, error: float | None) -> Shrinking:
    """Return the widths that are meant."""
    if isinstance(sigma, Shrinking):
        if error is not None:
            raise ValueError(
                "error sets the last width, and sigma=Shrinking(...) has one: give either"
            )
        return sigma
    sigma = Shrinking(sigma).first  # which refuses what is no width
    last = bound.width_for(error) if error is not None else None
    return Shrinking(sigma, min(last, sigma) if last else _NARROW * sigma)


def _checked(start: Any) -> Floats:
    """Return the start in NumPy's float64; refuse what f cannot be asked about."""
    kind = str(start.dtype).rpartition(".")[2]
    if kind not in ("float32", "float64"):
        raise TypeError(
            f"start must be of float32 or float64, as f gets points of the same type, got {kind}"
        )
    if len(start.shape) != 1 or not start.shape[0]:
        raise ValueError(
            f"start must be one point, an array of shape (D,), got shape {tuple(start.shape)}"
        )
    first = to_numpy(start)
    if not np.isfinite(first).all():
        wrong = int(np.argmin(np.isfinite(first)))
        raise ValueError(f"start must be finite, got {first[wrong]} at position {wrong}")
    return first
