"""A prior on sums of single effects: each is the effect of one variable, and which one is unknown.

w = sum of L vectors with one entry that is not 0 each. Which entry it is has prior probabilities p_j,
its size is N(0, v) with a variance of each effect's own (Wang et al. 2020). An effect whose variance
comes out as 0 is none, so that L is no more than an upper bound.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from garrote.priors.base import Prior
from garrote.rules.integration import Integration

ESTIMATES = ("optim", "em")
THOROUGH = "thorough"
PATTERNS = ("canonical", "canonical+data")


@dataclass(frozen=True)
class SingleEffects(Prior):
    """Settings of a sum of single effects.

    For labels effects are on log odds: ``variance`` is then in squares of these (and not set by steps of
    EM), there is no noise, and ``tol`` and ``max_iter`` are those of the bound on the likelihood. For
    counts and times until an event effects are on log rates and log hazards, columns are fitted one by
    one, and there is no bound, so that nothing is refined.

    Attributes
    ----------
    effects : int, optional
        The most effects that there may be. By default as many as the data ask for: some are tried, and
        more while none of them is null.
    variance : {"optim", "em"} or float, default="optim"
        The prior variance of each effect: set to the value of the largest evidence; by steps of EM,
        which never leave an effect out altogether; or given, as a share of the response's variance.
    refine : bool or "thorough", default=True
        Whether to look for better optima: for each set of variables that could stand in for one another,
        fit without them, put them back, and keep what has the higher bound. Meanwhile effects of next to
        no evidence that are spread over the table are held; "thorough" lets them move too, which may
        take ten times as long.
    doubt : bool, default=True
        Whether an effect may not be there at all. Its probabilities then sum to that of being there,
        BF / (1 + BF) with evidence averaged over its size; otherwise to 1, as in susieR. With fewer
        than 30 rows there is always doubt.
    noise_variance : float, optional
        A known noise variance, in squared units of the response; by default it is estimated.
    tol : float, default=1e-4
        Sweeps end when no probability moves by more, and neither a coefficient (in standard errors) nor
        the bound by more than ten times as much.
    max_iter : int, default=500
        The most sweeps over all effects.
    covariances : "canonical", "canonical+data" or list of matrices (K x K), default="canonical"
        Of several responses: which patterns effects on them have, up to a size. By default effects on
        one response alone, independent ones, correlated ones and the same on all; "canonical+data" adds
        those of strong columns alone. How common each is, is learned (Urbut et al. 2019).

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SingleEffectsRegressor
    >>> from garrote.priors import SingleEffects
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 8))
    >>> X[:, 5] = X[:, 2] + 0.01 * rng.standard_normal(100)
    >>> y = X[:, 2] + rng.standard_normal(100)
    >>> model = SingleEffectsRegressor(prior=SingleEffects(effects=5)).fit(X, y)
    >>> [found.variables.tolist() for found in model.posterior_.credible_sets(0.95)]
    [[2, 5]]
    """

    effects: int | None = None
    variance: float | str = "optim"
    refine: bool | str = True
    doubt: bool = True
    noise_variance: float | None = None
    tol: float = 1e-4
    max_iter: int = 500
    covariances: Any = "canonical"
    kind: ClassVar[str] = "effects"
    integrations: ClassVar[tuple[Integration, ...]] = (
        Integration.CLOSED_FORM,
        Integration.POLYA_GAMMA,
        Integration.LAPLACE,
    )
    has_noise: ClassVar[bool] = True

    @property
    def known_variance(self) -> float | None:
        """The prior variance of every effect, where it is given; None where each has its own."""
        return None if isinstance(self.variance, str) else float(self.variance)

    @property
    def by_steps(self) -> bool:
        """Whether prior variances move by steps of EM rather than to the largest evidence."""
        return self.variance == "em"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        L = self.effects
        if L is not None and (not isinstance(L, Integral) or isinstance(L, bool) or L < 1):
            raise ValueError(f"effects must be a positive integer, or None to find it, got {L!r}")
        v = self.variance
        number = isinstance(v, Real) and not isinstance(v, bool)
        if not (v in ESTIMATES if isinstance(v, str) else number and 0 < v < float("inf")):
            raise ValueError(f"variance must be one of {ESTIMATES} or a positive number, got {v!r}")
        if self.refine != THOROUGH and not isinstance(self.refine, bool | np.bool_):
            raise ValueError(f"refine must be True, False or {THOROUGH!r}, got {self.refine!r}")
        if not isinstance(self.doubt, bool | np.bool_):
            raise ValueError(f"doubt must be True or False, got {self.doubt!r}")
        known = self.noise_variance
        if known is not None and not (isinstance(known, Real) and 0 < known < float("inf")):
            raise ValueError(f"noise_variance must be positive and finite, got {known!r}")
        if not (isinstance(self.tol, Real) and self.tol > 0):
            raise ValueError(f"tol must be positive, got {self.tol!r}")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a positive integer, got {self.max_iter!r}")
        given = self.covariances
        if isinstance(given, str):
            if given not in PATTERNS:
                raise ValueError(
                    f"covariances must be one of {PATTERNS} or matrices, got {given!r}"
                )
            return
        if isinstance(given, dict):
            listed: Any = {str(name): _as_list(matrix) for name, matrix in given.items()}
        elif isinstance(given, list | tuple) or hasattr(given, "ndim"):
            listed = [_as_list(matrix) for matrix in given]
        else:
            raise ValueError(f"covariances must be one of {PATTERNS} or matrices, got {given!r}")
        if not listed:
            raise ValueError("covariances of SingleEffects are none: give one at least")
        object.__setattr__(self, "covariances", listed)


def _as_list(matrix: Any) -> Any:
    return matrix.tolist() if hasattr(matrix, "tolist") else matrix
