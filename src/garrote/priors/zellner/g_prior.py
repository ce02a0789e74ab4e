"""Zellner's g-prior: the coefficients of a model are as uncertain as least squares, times g."""

from dataclasses import dataclass

from garrote.priors.base import Slab
from garrote.priors.evidence import FixedG
from garrote.priors.evidence.best_g import BestG
from garrote.priors.evidence.scanned_g import ScannedG
from garrote.priors.evidence.tabled_g import TabledG, tabled_g
from garrote.priors.zellner.laws import G_LAWS, UnknownG
from garrote.settings import is_number

# The g of largest evidence for each model (empirical Bayes).
BEST = "eb"


@dataclass(frozen=True)
class GPrior(Slab):
    """w ~ N(0, g noise (X'X)^{-1}), with one g for all coefficients of a model.

    g is a number, a law of an unknown one (`HyperG`, `ZellnerSiow`, `Robust`, `Intrinsic`, `BetaPrime`,
    `CCH`, or its name: "hyper-g", "hyper-g/n", "zellner-siow", "robust", "intrinsic", "beta-prime"), or
    "eb": the one of largest evidence for each model. Liang et al. (2008) compare them.
    """

    g: float | str | UnknownG = "hyper-g/n"

    def __post_init__(self) -> None:
        """Raise unless g is a positive number, a law or the name of one."""
        if is_number(self.g) and self.g > 0:  # type: ignore[operator]
            return
        if not isinstance(self.g, UnknownG) and self.g not in (*G_LAWS, BEST):
            raise ValueError(
                f"g of a GPrior must be a positive number, one of {(*G_LAWS, BEST)}, or a law such as "
                f"garrote.priors.HyperG(a=4), got {self.g!r}"
            )

    @property
    def law_of_g(self) -> UnknownG | None:
        """The law of g, None where g is known or the best for each model."""
        if isinstance(self.g, str):
            return None if self.g == BEST else G_LAWS[self.g]()
        return self.g if isinstance(self.g, UnknownG) else None

    def rule(self, n: float, yty: float, most: int, spent: float = 0.0) -> FixedG | BestG | TabledG:
        """Return the marginal likelihood for n rows (less those spent on means)."""
        law = self.law_of_g
        if law is not None:
            return tabled_g(n, yty or 1.0, law, n + spent, spent, most)
        return BestG(0.0, yty or 1.0, n) if self.g == BEST else self._fixed(n, yty)

    def reference_rule(self, n: float, yty: float, spent: float = 0.0) -> FixedG | ScannedG:
        """Return the marginal likelihood without tables, for a few models: a certificate's."""
        if self.law_of_g is None and self.g != BEST:
            return self._fixed(n, yty)
        return ScannedG(0.0, yty or 1.0, n, self.law_of_g, n + spent, spent)

    def noise_shape(self, n: float) -> float:
        """Return the shape of the noise's inverse gamma law given a model."""
        return 0.5 * n

    def _fixed(self, n: float, yty: float) -> FixedG:
        # With any finite g no model interpolates: y'y / (1 + g) is left to all of them.
        return FixedG(0.0, float(self.g), yty, 0.5 * n, 0.0)
