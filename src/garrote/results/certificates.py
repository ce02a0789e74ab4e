"""How good an answer is: numbers computed apart from the solver's state, in named parts."""

from dataclasses import dataclass

import numpy as np

from garrote.summaries import Table

# The kinds of certificates, by what their value is.
EQUATIONS = "violation of equations"
GAP = "duality gap"
OPTIMALITY = "violation of optimality"
MONTE_CARLO = "Monte Carlo error"
DRAWS = "error of draws"
ALL_MODELS = "sum over all models"
SEARCH = "search among models"
FITTED = "fitted models"
SUBSET = "fit to a subset"
KNOCKOFFS = "copies of columns"
SMOOTHED = "smoothed objective"
NOT_CERTIFIED = "not certified"


@dataclass(frozen=True)
class Certificate:
    """How far an answer is from what it should be, computed from the data and the stated answer.

    A part has the same name and meaning wherever it is found:

    ==================== ==============================================================================
    inclusion            largest violation of m = sigmoid(gamma + beta N chi w^2 / 2) (Eq. 8)
    weight               largest distance of a weight from what Eq. 9 implies, in standard errors
    noise                relative violation of the equation for the noise variance (Eq. 10)
    hyperparameters      largest change of the log slab variance or the prior log odds by another step
    bound                largest distance, over rows, of the place where a bound on the logistic
                         likelihood touches from the best one
    prior variance       the most that an update of one effect's prior variance adds to its log evidence
    lower bound          how far the lower bound stated is from the one computed afresh
    falls of the bound   the largest fall of the bound from one sweep to the next; it must never fall
    duality gap          how much better any other answer could be at most, as a share of the null
                         model's objective; only convex objectives have it
    objective gap        the same as a share of the objective of the answer itself
    norm gap             how much smaller the norm of other coefficients that match the response could be
                         at most, as a share of it
    misfit               what coefficients that should match the response leave of it, as a share of its
                         length
    excess               by how much the penalty is beyond a bound that was set on it, as a share of that
    smoothing            the most that an objective with smoothed kinks is above the objective itself,
                         at the last width, as a share of the null model's: no optimum of the smoothed
                         objective is farther than that from the best
    gap                  how much lower any other point's value could be at most, in the function's units
    slope of the average length of the gradient of an average, times its deviations, in the same units
    gradient of the average the same length without the deviations: units of the function over its
                         argument's
    error of the slope   the standard error of that, over fresh draws; 0 where the average is known
    averaging adds       the most that an average is above the function itself
    one flip             by how much the function is lower with one switch flipped; in its units
    violation            largest violation of a coefficient's optimality given all others, as a share of
                         the largest gradient of the null model
    Monte Carlo error    largest standard error of a sampled inclusion probability
    between chains       largest difference between the chains' inclusion probabilities
    error of a mean      largest standard error of a sampled coefficient's mean (or of that of the
                         logarithm of the noise variance or of the prior's scale), in posterior standard
                         deviations: 0.1 is 100 independent draws
    hidden entries       how far the share of hidden entries of signals that are outside of their 95 %
                         intervals is from 5 %
    halves of chains     by how much the largest R-hat between the halves of all chains is beyond 1
    log probability      how far log probabilities of the best models are from those computed one by
                         one, from scratch
    slab variance        what the integral over an unknown slab variance may have moved an inclusion
                         probability by
    found late           the part of the probability that the last tenth of a search added
    missed by one search where the slab's variance is unknown, there is a search with each of several:
                         the part of the probability, of all models that any of them found, that one of
                         them misses on average
    normal equations     largest gradient of a coefficient of a model that a greedy search has found, as
                         a share of the null model's largest: 0 at its least-squares (or most likely) fit
    best flip            what the objective would still fall by if one variable came in or left, as a
                         share of the null model's; a search has ended where none helps
    best exchange        what the error would still fall by if one variable were exchanged for another,
                         as a share of the null model's
    optimality gap       how much smaller the error of another subset of the same size could be at most,
                         as a share of the null model's; 0 where all subsets were searched
    step                 how far a step of a pursuit is from the best one, relative to it
    relevance            largest derivative of the log evidence by the logarithm of a prior variance
    addition             the most that one more variable could add to the log evidence
    joint variance       the smallest eigenvalue of the joint correlations of columns and knockoffs,
                         which exist where it is not negative
    slope                of the s of knockoffs: the largest slope of the objective by log s, relative to
                         its two parts
    exchange             the largest change of a correlation where a column and its knockoff change
                         places: of fixed-X ones rounding, of model-X ones chance, and what the
                         law that was taken for the columns misses
    atoms                what further passes over the atoms of a dictionary, with codes as they are,
                         would lower the objective by, as a share of that without atoms
    gradient             largest length of a likelihood's gradient at fitted models, in standard errors
    ==================== ==============================================================================

    Attributes
    ----------
    kind : str
        What the value is: "violation of equations", "duality gap", "Monte Carlo error", ...
    value : float
        What has to be small.
    parts : dict
        What the value is made of, by name; ``certificate["weight"]`` is one of them.
    meaning : str
        The value in words, where its parts do not say enough.

    Examples
    --------
    >>> from garrote.results.certificates import equations, optimality
    >>> certificate = equations({"inclusion": 2e-6, "weight": 3e-5, "noise": 1e-9})
    >>> certificate.value, certificate["noise"]
    (3e-05, 1e-09)
    >>> print(certificate)
    3.0e-05 (inclusion 2.0e-06, weight 3.0e-05, noise 1.0e-09)
    >>> print(optimality(gap=2e-9, violation=1e-7))
    2.0e-09 (duality gap; largest violation 1.0e-07)
    """

    kind: str
    value: float
    parts: dict[str, float]
    meaning: str = ""

    def __getitem__(self, part: str) -> float:
        return self.parts[part]

    def __str__(self) -> str:
        said = ", ".join(f"{name} {part:.1e}" for name, part in self.parts.items())
        return f"{self.value:.1e} ({self.meaning or said})"

    def _repr_html_(self) -> str:
        names, values = list(self.parts), list(self.parts.values())
        return Table({"part": names, "value": values}, f"{self.kind}: {self}")._repr_html_()


def equations(parts: dict[str, float]) -> Certificate:
    """Return how far an answer is from satisfying its own equations, over all columns."""
    return Certificate(EQUATIONS, max(parts.values()), parts)


def optimality(gap: float, violation: float) -> Certificate:
    """Return how far a penalised fit is from the optimum of its objective.

    ``gap`` is NaN for objectives that have no dual; the violation counts then.
    """
    if np.isnan(gap):
        said = "largest violation of optimality"
        return Certificate(OPTIMALITY, violation, {"violation": violation}, said)
    said = f"duality gap; largest violation {violation:.1e}"
    return Certificate(GAP, gap, {"duality gap": gap, "violation": violation}, said)


def with_smoothing(fit: Certificate, added: float) -> Certificate:
    """Return what also tells how much smoothing adds, as a share of the null model's objective."""
    said = f"{fit.meaning}; smoothing adds {added:.1e} at most"
    return Certificate(fit.kind, fit.value, fit.parts | {"smoothing": added}, said)


def of_margins(gap: float, of_null: float) -> Certificate:
    """Return how much lower a machine's objective could be, as shares of it and of the null model's."""
    return Certificate(GAP, gap, {"objective gap": gap, "duality gap": of_null})


def constrained(gap: float, violation: float, excess: float) -> Certificate:
    """Return how far a fit is from the best one whose penalty is within a bound.

    ``violation`` is that of the penalised fit at the multiplier of the bound.
    """
    said = f"duality gap {gap:.1e}, excess over the bound {excess:.1e}"
    parts = {"duality gap": gap, "violation": violation, "excess": excess}
    return Certificate(GAP, max(gap, excess), parts, said)


def with_noise(fit: Certificate, noise: float) -> Certificate:
    """Return what also covers the noise variance that was learned with a penalised fit.

    ``noise`` is its relative error, by whose square it is from the largest log posterior.
    """
    said = f"{fit.meaning}; noise variance {noise:.1e}"
    return Certificate(fit.kind, max(fit.value, noise**2), fit.parts | {"noise": noise}, said)


def matching(gap: float, misfit: float) -> Certificate:
    """Return how well coefficients match the response, and how much smaller their norm could be."""
    return Certificate(GAP, max(gap, misfit), {"norm gap": gap, "misfit": misfit})


def with_refit(fit: Certificate, refit: Certificate) -> Certificate:
    """Return what covers a fit without a penalty, too, to the columns that a fit has found."""
    both = fit.kind == refit.kind == GAP
    gap = max(fit[GAP], refit[GAP]) if both else np.nan
    return optimality(gap, max(fit["violation"], refit["violation"]))


def monte_carlo(error: float, disagreement: float, split_r_hat: float = np.nan) -> Certificate:
    """Return how far sampled inclusion probabilities may be off.

    ``error`` is the largest standard error of one, from batches of the chains, ``disagreement`` the
    largest difference between chains.
    """
    parts = {"Monte Carlo error": error, "between chains": disagreement}
    said = f"error {error:.1e}, between chains {disagreement:.1e}"
    if not np.isnan(split_r_hat):
        parts["halves of chains"] = split_r_hat - 1.0
        said += f", split R-hat {split_r_hat:.3f}"
    return Certificate(MONTE_CARLO, max(error, disagreement), parts, said)


def of_draws(error: float, split_r_hat: float) -> Certificate:
    """Return how well draws of coefficients know their means.

    ``error`` is the largest standard error of a mean, in posterior standard deviations.
    """
    parts = {"error of a mean": error, "halves of chains": split_r_hat - 1.0}
    said = f"of a posterior deviation, split R-hat {split_r_hat:.3f}"
    return Certificate(DRAWS, error, parts, said)


def of_all_models(log_probability: float, slab_variance: float = 0.0) -> Certificate:
    """Return how far log probabilities of models are from those computed one by one, from scratch.

    ``slab_variance`` bounds the error of an inclusion probability by the integral over an unknown slab
    variance; 0 without one.
    """
    integral = {"slab variance": slab_variance} if slab_variance else {}
    parts = {"log probability": log_probability} | integral
    return Certificate(ALL_MODELS, max(parts.values()), parts, "exact sum over all models")


def of_search(
    found_late: float, log_probability: float, slab_variance: float = 0.0, missed: float = 0.0
) -> Certificate:
    """Return what a search among models may have missed, and how well it knows those it found."""
    integral = {"slab variance": slab_variance, "missed by one search": missed}
    integral = integral if slab_variance else {}
    parts = {"found late": found_late, "log probability": log_probability} | integral
    said = f"the last tenth of the search added {found_late:.1e}"
    return Certificate(SEARCH, max(parts.values()), parts, said)


def of_fitted_models(log_probability: float, gradient: float) -> Certificate:
    """Return how far models that were all fitted are from their maxima."""
    parts = {"log probability": log_probability, "gradient": gradient}
    return Certificate(FITTED, max(parts.values()), parts)


def of_subset(parts: dict[str, float]) -> Certificate:
    """Return how far a greedy search's model is from what the search has to end with."""
    return Certificate(SUBSET, max(parts.values(), default=0.0), parts)


def of_knockoffs(
    joint_variance: float, left: str, optimality: float, exchange: float, exact: bool
) -> Certificate:
    """Return whether knockoffs exist, how far their s is from the optimum, and what exchanges change.

    ``left`` names the part that ``optimality`` is. Where copies are ``exact`` exchanges change nothing.
    """
    parts = {"joint variance": joint_variance, left: optimality, "exchange": exchange}
    value = max(0.0, -joint_variance, optimality, exchange if exact else 0.0)
    said = f"{left} {optimality:.1e}, smallest joint variance {joint_variance:.1e}"
    return Certificate(
        KNOCKOFFS, value, parts, f"{said}, an exchange changes correlations by {exchange:.1e}"
    )


# Of a solution that has yet to be certified.
UNKNOWN = Certificate(NOT_CERTIFIED, np.inf, {})
