"""What a posterior says of annotations: sums of them over sets of variables that are in.

Given a and b a set s has log prior a |s| + b' sum_{j in s} f_j - Z(a, b): what the data tell of a and b
they tell by t(s) = (|s|, sum of f_j) alone. Of single effects, each of which is of one variable by odds,
Z is the number of effects times the logarithm of the sum of all odds, and a has no part in it.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp, softmax

from garrote.arrays import Array, Floats
from garrote.priors.structured.annotations import AnnotatedOdds
from garrote.results.laws import EffectsLaw
from garrote.results.posterior import Posterior

# Draws of sets, where a law does not list them.
_DRAWS = 2000


@dataclass(frozen=True)
class AnnotatedSets:
    """Sets by their sums t (T x (1 + A)), with weights that add up to 1, drawn at some a and b.

    ``effects`` tells that they are of single effects.
    """

    odds: AnnotatedOdds
    sums: Floats
    weights: Floats
    effects: bool

    @classmethod
    def of(
        cls, posterior: Posterior, odds: AnnotatedOdds, columns: Array, rng: np.random.Generator
    ) -> "AnnotatedSets":
        """Take the sets of a posterior, found at the present a and b."""
        law = posterior.law
        everyone = np.zeros((len(posterior.mean), odds.features.shape[1]))
        everyone[columns] = odds.features
        if isinstance(law, EffectsLaw):
            return cls(odds, _of_effects(law, everyone, rng), np.full(_DRAWS, 1 / _DRAWS), True)
        if law.models is not None:
            models = law.models
            sums = np.array([everyone[members].sum(axis=0) for members in models.members])
            made = cls(odds, sums, np.asarray(models.share), False)
        else:
            inside = posterior.sample(_DRAWS, random_state=rng) != 0.0
            made = cls(odds, inside @ everyone, np.full(_DRAWS, 1 / _DRAWS), False)
        # What laws leave out, improbable variables, counts by its mean.
        mean = posterior.inclusion_probability[columns] @ odds.features
        return replace(made, sums=made.sums + (mean - made.weights @ made.sums))

    def log_sum(self, at: Floats) -> Floats:
        """Return Z for each of the sets at other values."""
        log_odds = self.odds.offsets + self.odds.features @ at
        if self.effects:
            return np.asarray(self.sums[:, 0] * logsumexp(log_odds))
        return np.full(len(self.sums), np.logaddexp(0.0, log_odds).sum())

    def log_likelihood(self, at: Floats) -> tuple[float, float]:
        """Return the log likelihood of a and b beside that of the present ones, and on how many draws.

        It is the mean over the sets of how much likelier they are.
        """
        change = self.sums @ (at - self.odds.at) - self.log_sum(at) + self.log_sum(self.odds.at)
        logs = change + np.log(np.maximum(self.weights, 1e-300))
        top = float(logsumexp(logs))
        share = np.exp(logs - top)
        return top, float(1.0 / np.sum(share**2)) if len(share) > 1 else 1.0

    def slope(self) -> Floats:
        """Return the gradient of the log likelihood at the present values (Louis 1982)."""
        return np.asarray(self.weights @ self._away())

    def known(self) -> Floats:
        """Return what would be known of a and b, were the sets known."""
        X, log_odds = self.odds.features, self.odds.log_odds
        if self.effects:
            p = softmax(log_odds)
            spread = (X.T * p) @ X - np.outer(X.T @ p, X.T @ p)
            return np.asarray(float(self.weights @ self.sums[:, 0]) * spread)
        p = 1.0 / (1.0 + np.exp(-log_odds))
        return np.asarray((X.T * (p * (1 - p))) @ X)

    def missing(self) -> Floats:
        """Return what of that is not known, as the sets are not."""
        away = self._away()
        away = away - self.weights @ away
        return np.asarray((away.T * self.weights) @ away)

    def _away(self) -> Floats:
        """Return by how much the sums of each set differ from those that are expected a priori."""
        X, log_odds = self.odds.features, self.odds.log_odds
        if self.effects:
            away = self.sums - np.outer(self.sums[:, 0], X.T @ softmax(log_odds))
            away[:, 0] = 0.0
            return away
        return np.asarray(self.sums - X.T @ (1.0 / (1.0 + np.exp(-log_odds))))


def _of_effects(law: EffectsLaw, everyone: Floats, rng: np.random.Generator) -> Floats:
    """Draw the sums of annotations over the variables of single effects."""
    sums = np.zeros((_DRAWS, everyone.shape[1]))
    for a, present in zip(law.probability, law.present, strict=True):
        if a.sum() > 0:
            which = rng.choice(len(a), size=_DRAWS, p=a / a.sum())
            sums += (rng.random(_DRAWS) < present)[:, None] * everyone[law.columns[which]]
    return sums
