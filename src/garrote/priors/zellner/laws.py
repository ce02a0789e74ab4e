"""Laws of an unknown g: hyper-g, Zellner and Siow's, robust, intrinsic, beta prime, and their family.

Settings only: each answers with the numbers of a `LawOfG` for models of every size. A new law is one
class here, and a row of `G_LAWS` if users shall say it as text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.priors.evidence.law_of_g import LawOfG
from garrote.settings import Settings, check_positive, is_number

# The least power of 1 - u under a beta prime law, for models of nearly as many variables as rows.
_LEAST_POWER = 0.5


class UnknownG(Settings):
    """A law of g. ``varies`` says whether it depends on the size of the model.

    ``price`` is about how many more variables it charges for, which says where tables are fine.
    """

    varies: ClassVar[bool] = False
    price: ClassVar[float] = 3.0
    reference: ClassVar[str] = "Li & Clyde (2018)"

    def numbers(self, sizes: Floats, rows: float, spent: float) -> Floats:
        """Return the numbers of the `LawOfG`, a row for each size of a model.

        ``rows`` are all rows, of which ``spent`` went into means.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how g is distributed")


def confluent(
    sizes: Floats,
    a: Floats | float,
    b: Floats | float,
    s: Floats | float = 0.0,
    r: float = 0.0,
    v: Floats | float = 1.0,
    kappa: Floats | float = 1.0,
) -> Floats:
    """Return the numbers of truncated compound confluent hypergeometric laws (Li & Clyde 2018).

    u = 1 / (1 + g) has the density u^(a/2 - 1) (1 - vu)^(b/2 - 1) (kappa + (1 - kappa) vu)^-r e^(-su).
    """
    numbers = (v, 0.5 * b, 0.5 * (a + b) - r, r, kappa, s, 0.0)  # in the order of a `LawOfG`
    return np.column_stack([np.broadcast_to(np.asarray(part), sizes.shape) for part in numbers])


@dataclass(frozen=True)
class HyperG(UnknownG):
    """g / (1 + g) ~ Beta(1, a / 2 - 1), as Liang et al. (2008) have it; or g / N in place of g.

    ``over_rows`` divides g by N, all rows (their weights added up): the hyper-g/n law.
    """

    a: float = 3.0
    over_rows: bool = False
    reference: ClassVar[str] = "Liang et al. (2008)"

    def __post_init__(self) -> None:
        """Raise unless there is such a law."""
        if not (is_number(self.a) and self.a > 2):
            raise ValueError(f"a of a HyperG must be above 2, got {self.a!r}: no law of g else")

    def numbers(self, sizes: Floats, rows: float, spent: float) -> Floats:
        """Return the numbers of the `LawOfG`, a row for each size of a model."""
        if not self.over_rows:
            return confluent(sizes, self.a - 2.0, 2.0)
        return confluent(sizes, self.a - 2.0, 2.0, r=0.5 * self.a, kappa=1.0 / rows)


@dataclass(frozen=True)
class CCH(UnknownG):
    """The truncated compound confluent hypergeometric law, of which all others here are cases but one.

    u = 1 / (1 + g) lies between 0 and 1 / v and has a density proportional to
    u^(a/2 - 1) (1 - vu)^(b/2 - 1) (kappa + (1 - kappa) vu)^-r e^(-su). CCH(2, 2, s) is the truncated
    gamma law, CCH(1, 2, N + 3) the adapted one of Zellner and Siow, CCH(.02, .02 max(N, D^2)) the
    benchmark prior of Ley & Steel (2012).
    """

    a: float
    b: float
    s: float = 0.0
    r: float = 0.0
    v: float = 1.0
    kappa: float = 1.0

    def __post_init__(self) -> None:
        """Raise unless there is such a law."""
        for name in ("a", "b", "kappa"):
            check_positive(f"{name} of a CCH", getattr(self, name))
        for name, least in (("s", 0.0), ("r", 0.0), ("v", 1.0)):
            value = getattr(self, name)
            if not (is_number(value) and value >= least):
                raise ValueError(f"{name} of a CCH must be at least {least:g}, got {value!r}")

    def numbers(self, sizes: Floats, rows: float, spent: float) -> Floats:
        """Return the numbers of the `LawOfG`, a row for each size of a model."""
        return confluent(sizes, self.a, self.b, self.s, self.r, self.v, self.kappa)


@dataclass(frozen=True)
class ZellnerSiow(UnknownG):
    """1 / g ~ Gamma(1/2, N / 2): the coefficients of a model have a Cauchy law."""

    reference: ClassVar[str] = "Zellner & Siow (1980)"

    def numbers(self, sizes: Floats, rows: float, spent: float) -> Floats:
        """Return the numbers of the `LawOfG`, a row for each size of a model."""
        law = LawOfG(1.0, -0.5, 0.0, 0.0, 1.0, 0.0, 0.5 * rows)
        return np.tile(np.array(law), (len(sizes), 1))


@dataclass(frozen=True)
class Robust(UnknownG):
    """(1 + g)^(-3/2) from g = (N + 1) / (k + k0) - 1 on; k0 are the columns that are always in."""

    varies: ClassVar[bool] = True
    reference: ClassVar[str] = "Bayarri et al. (2012)"

    def numbers(self, sizes: Floats, rows: float, spent: float) -> Floats:
        """Return the numbers of the `LawOfG`, a row for each size of a model."""
        begin = np.maximum((rows + 1.0) / np.maximum(sizes + spent, 1.0), 1.0)
        return confluent(sizes, 1.0, 2.0, r=1.5, v=begin)


@dataclass(frozen=True)
class Intrinsic(UnknownG):
    """The law of g that makes Zellner's prior an intrinsic one, g > N / (k + k0)."""

    varies: ClassVar[bool] = True
    reference: ClassVar[str] = "Womack, Leon-Novelo & Casella (2014)"

    def numbers(self, sizes: Floats, rows: float, spent: float) -> Floats:
        """Return the numbers of the `LawOfG`, a row for each size of a model."""
        own = np.maximum(sizes + spent, 1.0)
        whole = rows + own
        return confluent(sizes, 1.0, 1.0, r=1.0, v=whole / own, kappa=whole / rows)


@dataclass(frozen=True)
class BetaPrime(UnknownG):
    """1 / (1 + g) ~ Beta(1/4, (N - k - 1.5) / 2), for which the evidence has a closed form.

    The second number is at least 1/4: models of nearly as many variables as rows have no other law.
    """

    varies: ClassVar[bool] = True
    reference: ClassVar[str] = "Maruyama & George (2011)"

    def numbers(self, sizes: Floats, rows: float, spent: float) -> Floats:
        """Return the numbers of the `LawOfG`, a row for each size of a model."""
        return confluent(sizes, 0.5, np.maximum(rows - sizes - 1.5, _LEAST_POWER))


G_LAWS: dict[str, Callable[[], UnknownG]] = {
    "hyper-g": HyperG,
    "hyper-g/n": lambda: HyperG(over_rows=True),
    "zellner-siow": ZellnerSiow,
    "robust": Robust,
    "intrinsic": Intrinsic,
    "beta-prime": BetaPrime,
}
