"""Relevance determination: every coefficient has a variance of its own, set by the evidence.

w_j ~ N(0, variance_j) for columns in standard deviations. Coefficients are integrated out, and what is
left, the probability of the data given all variances, is maximised (MacKay 1995; Tipping 2001; Murphy
2012, section 13.7). Most variances come out as 0 exactly, and their variables are out.
"""

from dataclasses import dataclass
from typing import ClassVar

from garrote.priors.base import Prior
from garrote.rules.integration import Integration
from garrote.settings import check_positive, is_number


@dataclass(frozen=True)
class RelevancePrior(Prior):
    """Normal coefficients with a variance each, which the evidence chooses.

    The precisions 1 / variance_j may have a Gamma law with shape a + 1 and rate b, that of the noise one
    with shape c + 1 and rate d: a log(precision) - b precision is added to the log evidence (Murphy
    2012, Eqs. 13.154 and 13.155). With all of them 0, the default, the solution is sparsest; with
    ``b`` > 0 no variance is ever 0, and every variable stays in. Columns are in standard deviations, and
    so is the response: ``b`` is in squares of the ratio, ``d`` in squares of the response's deviation.

    Attributes
    ----------
    a, b : float, default=0
        Of the precisions of the coefficients.
    c, d : float, default=0
        Of the precision of the noise; of no use for labels, which have none.
    noise_variance : float, optional
        A known noise variance, in squared units of the response; by default it is set by the evidence.

    Examples
    --------
    >>> from garrote.priors import RelevancePrior
    >>> RelevancePrior(b=0.01).sparse
    False
    """

    a: float = 0.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0
    noise_variance: float | None = None
    kind: ClassVar[str] = "relevance"
    has_noise: ClassVar[bool] = True
    integrations: ClassVar[tuple[Integration, ...]] = (
        Integration.CLOSED_FORM,
        Integration.POLYA_GAMMA,
    )
    reference: ClassVar[str] = (
        "Tipping (2001), Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211-244"
    )

    def __post_init__(self) -> None:
        """Raise unless the four numbers are >= 0, and a noise variance is positive."""
        for name in ("a", "b", "c", "d"):
            value = getattr(self, name)
            if not (is_number(value) and value >= 0):
                raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
        if self.a > 0 and self.b == 0:
            raise ValueError(
                f"a = {self.a} with b = 0 drives every precision to infinity: give b > 0 too"
            )
        if self.noise_variance is not None:
            check_positive("noise_variance", self.noise_variance)

    @property
    def sparse(self) -> bool:
        """Whether variances may be 0 exactly, so that variables are out."""
        return self.b == 0

    def usual_method(self, integration: Integration) -> str:
        """Return the walk from variable to variable; for labels, and where none is out, fixed points."""
        numbers = integration is Integration.CLOSED_FORM
        return "sequential" if numbers and self.sparse else "fixed-point"
