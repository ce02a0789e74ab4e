"""The posterior of several responses that share which variables are in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.results.credible_sets import CredibleSet
from garrote.results.enrichment import Enrichment
from garrote.results.posterior import Posterior
from garrote.summaries import Shown, Table


@dataclass(frozen=True, repr=False)
class JointPosterior(Shown):
    """What is believed of several responses: one posterior each, in which the same variables are in.

    Attributes
    ----------
    responses : tuple of K Posterior
        Of the coefficients of each response. Where responses share models, all have the same inclusion
        probabilities.
    response_names : tuple of K str
    inclusion_probability : array of shape (D,)
        That a variable has an effect on any of them.
    noise_covariance : array of shape (K, K)
        In the user's units.
    certain_sign : array of shape (K, D), optional
        Of single effects: the probability that a variable in each of the effects has no effect on a
        response, or one of the other sign (local false sign rate); the least over effects.
    patterns : dict, optional
        Of single effects: the learned weight of every prior covariance of effects.
    log_evidence : float, optional
    enrichment : Enrichment, optional
        What annotations add to the log odds of inclusion.
    """

    responses: tuple[Posterior, ...]
    response_names: tuple[str, ...]
    inclusion_probability: Floats
    noise_covariance: Floats
    certain_sign: Floats | None = None
    patterns: dict[str, float] | None = None
    log_evidence: float | None = None
    enrichment: Enrichment | None = None

    def __len__(self) -> int:
        return len(self.responses)

    def __getitem__(self, response: int | str) -> Posterior:
        if isinstance(response, str):
            return self.responses[self.response_names.index(response)]
        return self.responses[response]

    @property
    def each(self) -> tuple[Posterior, ...]:
        """The posterior of each response."""
        return self.responses

    @property
    def mean(self) -> Floats:
        """Coefficients (K x D), averaged over inclusion."""
        return np.array([one.mean for one in self.responses])

    @property
    def names(self) -> tuple[str, ...]:
        """What the variables are called."""
        return self.responses[0].names

    @property
    def noise_correlation(self) -> Floats:
        """Correlations of the noise between responses."""
        size = np.sqrt(np.diag(self.noise_covariance))
        return np.asarray(self.noise_covariance / np.outer(size, size))

    def credible_sets(
        self, coverage: float = 0.95, min_purity: float = 0.5
    ) -> tuple[CredibleSet, ...]:
        """Return sets of variables of which at least one is in, for all responses."""
        return self.responses[0].credible_sets(coverage, min_purity=min_purity)

    def table(self, variables: Sequence[int] | None = None) -> Table:
        """Return a row for each variable, by default those more likely in than out, by response."""
        shown = np.flatnonzero(self.inclusion_probability > 0.5) if variables is None else variables
        chosen = [int(j) for j in shown]
        columns: dict[str, list[Any]] = {
            "variable": [self.names[j] for j in chosen],
            "probability": [float(self.inclusion_probability[j]) for j in chosen],
        }
        for name, one in zip(self.response_names, self.responses, strict=True):
            deviation = np.sqrt(one.variance)
            columns[f"effect on {name}"] = [float(one.mean[j]) for j in chosen]
            columns[f"deviation on {name}"] = [float(deviation[j]) for j in chosen]
        return Table(columns)
