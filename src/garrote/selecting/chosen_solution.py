"""What was found at the chosen strength: by annealing, and by sums over models that correct it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from scipy.stats import norm
from scipy.stats import t as student

from garrote.inference.correcting import Correction
from garrote.problem import Problem
from garrote.results.certificates import MONTE_CARLO, Certificate
from garrote.results.posterior import Posterior
from garrote.results.selections.evidence import VARIATIONAL
from garrote.selecting.judging import (
    AVERAGED,
    AVERAGED_INTERVALS,
    LEVEL,
    Verdict,
    by_inclusion,
)
from garrote.selecting.stand_ins import shared_notes

# Sampled probabilities that may be off by more than this are worth a word.
_ROUGH = 0.1


@dataclass(frozen=True)
class ChosenSolution:
    """What annealing found at the chosen strength and, if it was corrected, what sums over models say.

    ``uncorrected`` says why it was not, where that needs a word.
    """

    annealed: Posterior
    correction: Correction | None = None
    uncorrected: str = ""

    @property
    def posterior(self) -> Posterior:
        """What is believed in the end."""
        return self.annealed if self.correction is None else self.correction.posterior

    def noise_variance(self, problem: Problem) -> float:
        """Return the noise variance in the user's units; corrected, an average over models."""
        if self.correction is not None:
            return self.posterior.noise_variance
        unit = problem.scale.response_scale
        return float(self.annealed.optima[0].noise_variance * unit**2)

    @cached_property
    def certificate(self) -> Certificate:
        """How good the annealed solution is, and the sums over models beside it."""
        certificate = self.annealed.optima[0].certificate
        if self.correction is None:
            return certificate
        return replace(certificate, parts=certificate.parts | self.correction.certificate.parts)

    def verdict(self, gamma: float, reason: str) -> Verdict:
        """Select what is more likely in than out."""
        rule = f"probability > 0.5 at gamma = {gamma:.4g}, chosen {reason}"
        if self.correction is not None:
            return by_inclusion(
                self.posterior,
                float(norm.ppf(0.5 + LEVEL / 2)),
                evidence=AVERAGED,
                intervals=AVERAGED_INTERVALS,
                rule=f"{rule}; probabilities by {self.correction.how}",
            )
        return by_inclusion(
            self.annealed,
            float(student.ppf(0.5 + LEVEL / 2, self.annealed.degrees_of_freedom)),
            evidence=VARIATIONAL,
            intervals="intervals are conditional on the selection (Gaussian given the soft support)",
            rule=rule,
        )

    def notes(self, problem: Problem, names: Sequence[str]) -> list[str]:
        """Say what a correction left alone, and which columns share their probability."""
        if self.correction is None:
            return [self.uncorrected] if self.uncorrected else []
        certificate = self.correction.certificate
        error = certificate.value if certificate.kind == MONTE_CARLO else 0.0
        rough = f"inclusion probabilities were sampled, and any may be off by {error:.2f}"
        said = [rough] if error > _ROUGH else []
        return [*said, *self.correction.notes, *shared_notes(problem, self.posterior, names)]
