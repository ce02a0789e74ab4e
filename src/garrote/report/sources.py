"""What to cite, and what the words of a method mean, by the method's own names for them."""

from collections.abc import Mapping
from typing import Any

from garrote.estimators.registry import SELECTORS
from garrote.results.certificates import EQUATIONS, KNOCKOFFS, SUBSET
from garrote.results.selections.evidence import FREQUENCY, ORDER, Q_VALUE, SIGN, is_certainty

_STRENGTHS = {
    "gamma": (
        "prior log odds of inclusion",
        "gamma is the prior log odds that a variable is in the model: the further to the right, the "
        "more variables come in.",
    ),
    "alpha": (
        "strength of the penalty",
        "alpha is the strength of the penalty: the further to the right, the weaker it is and the more "
        "variables come in.",
    ),
    "size": (
        "variables in the model",
        "size is the number of variables, or of groups of them, that the search has in the model.",
    ),
    "steps": (
        "steps of the search",
        "steps are those of the search, each of which moves one coefficient.",
    ),
    "price": (
        "price of a variable",
        "price is what a variable has to explain of half the mean squared error: the further to the "
        "right, the less it is and the more variables come in.",
    ),
    "bound": (
        "bound of the shrinkage factors' sum",
        "bound is the largest sum of the factors by which the first fit's coefficients are shrunk: the "
        "further to the right, the larger it is and the more variables come in.",
    ),
}
_CERTAINTY = ("How sure it is that a variable belongs to the model", "")
_SIGN = (
    "How sure the sign of a variable's effect is (0.5 is a guess)",
    " The prior shrinks every effect and leaves none out, so that no variable has a probability of "
    "inclusion.",
)
_ENTRY = (
    "How early a variable enters as the penalty falls",
    " Entry is the largest alpha at which a variable is in, as a share of the path's largest: the first "
    "has nearly 1. It is no probability.",
)

_FREQUENCY = (
    "In which share of the resamples a variable is selected",
    " Such a frequency is not the probability that the variable has an effect.",
)
_ORDER = (
    "How early a variable enters the search's models",
    " The variable that comes first has 1, and what comes later less. It is no probability.",
)

_Q_VALUE = (
    "At which false discovery rate a variable is selected",
    " A q-value is the least rate at which a variable is selected: the smaller it is, the stronger. It "
    "is no probability, and holds under the assumption that the rule states.",
)
_ABOUT = {SIGN: _SIGN, ORDER: _ORDER, FREQUENCY: _FREQUENCY, Q_VALUE: _Q_VALUE}

_CERTIFICATE = {
    "joint variance": "the smallest eigenvalue of the joint correlations of columns and copies: such "
    "copies exist where it is not negative",
    "slope": "how far the separation of any column from its copy is from the best one",
    "exchange": "the largest change of a correlation where a column and its copy change places; by "
    "chance, and by what the law of the columns misses, unless copies are exact",
    "relevance": "how far the evidence is from level in the variance of any variable that is in",
    "addition": "what letting one more variable in could add to the log evidence",
    "inclusion": "how far any variable's probability is from the one that the data and all "
    "other variables imply for it",
    "weight": "how far any weight is from the one that the data and all other variables imply, "
    "in standard errors",
    "noise": "how far the noise variance is from the one that the residuals imply, relative to it",
    "hyperparameters": "how far the logarithms of the slab variance and of the prior odds would still "
    "move",
    "prior variance": "the most that another update of an effect's prior variance would add to its log "
    "evidence",
    "lower bound": "how far the stated bound on the log evidence is from the one computed afresh, "
    "relative to it",
    "falls of the bound": "how far the bound ever fell from one sweep to the next, which it must not",
    "Monte Carlo error": "the largest standard error of a sampled inclusion probability, from "
    "batches of the chains",
    "between chains": "the largest difference between the inclusion probabilities of two chains",
    "error of a mean": "the largest standard error of a sampled mean, of a coefficient or of the "
    "logarithm of the noise variance or of the prior's scale, in posterior standard deviations",
    "halves of chains": "by how much R-hat is beyond 1: how much wider the draws of all chains are "
    "than those of their halves",
    "log probability": "how far the log probability of any of the best models is from that computed "
    "for it alone, from scratch",
    "slab variance": "how far the integral over the slab's variance may have moved an inclusion "
    "probability: by its last refinement, and by what lies beyond its ends",
    "found late": "the part of the probability that the last tenth of the search added",
    "gradient": "how far any of the best models is from the maximum of its likelihood, in standard "
    "errors",
    "duality gap": "how much lower the objective could be at most, as a share of the null model's",
    "norm gap": "how much smaller the norm of other coefficients that match the response could be at "
    "most, as a share of it",
    "misfit": "what the coefficients leave of the response, as a share of its length",
    "excess": "by how much the penalty is beyond the bound that was set on it, as a share of that",
    "normal equations": "how far any coefficient is from the best one for the variables in the model, "
    "as a share of the null model's largest gradient",
    "best flip": "what the objective would still fall by if one variable came in or left",
    "best exchange": "what the error would still fall by if one variable were exchanged for another",
    "optimality gap": "how much smaller the error of another model of this size could be at most",
    "step": "how far any step is from the best one, relative to it",
    "violation": "how far any coefficient is from the best one given all others, as a share of the null "
    "model's largest gradient",
}
# What the whole certificate says, by one of its parts: its meaning, what to add where it was good
# enough and where it was not, and the reservation for the answer in the latter case.
_SENTENCES = {
    "Monte Carlo error": (
        "The inclusion probabilities were sampled; any of them may be off by about",
        "A variable whose probability is closer than that to 0.5 could fall on the other side.",
        "That is much: more steps or more chains are needed.",
        "sampled inclusion probabilities may still be far off",
    ),
    "error of a mean": (
        "The coefficients were sampled; the mean of any of them may be off, in posterior standard "
        "deviations, by about",
        "Intervals that end near 0 could fall on its other side.",
        "That is much, or chains disagree: more steps are needed.",
        "sampled coefficients have not settled",
    ),
    "found late": (
        "Models were searched for, and none visited twice; the last tenth of the search still added",
        "What was never seen is missing from the answer.",
        "That is much: a longer search is needed.",
        "the search was still finding probable models when it ended",
    ),
    "log probability": (
        "All models were summed; the log probabilities of the best agree with those computed one by "
        "one to within",
        "No model was left out.",
        "That is more than rounding explains.",
        "log probabilities of models are off by more than rounding",
    ),
    "duality gap": (
        "No other coefficients have an objective that is lower, as a share of the null model's, by more "
        "than",
        "Every point of the path reached its tolerance.",
        "Not every point of the path reached its tolerance.",
        "the solver stopped before the objective was as low as asked for",
    ),
    "norm gap": (
        "The coefficients match the response, and none that do have a norm smaller, as a share of it, "
        "by more than",
        "Where several have the same norm, one of them is shown.",
        "That is more than rounding explains.",
        "the linear programme was not solved to all digits",
    ),
    "violation": (
        "No coefficient can be improved given all others: the conditions for that are violated by at "
        "most",
        "The objective is not convex, so that another set of variables may have a lower one.",
        "Not every point of the path reached its tolerance.",
        "the solver stopped before its conditions held to the tolerance asked for",
    ),
}
_SUBSET = (
    "The model is the best fit to the variables it has, and no change that the search looks for "
    "improves it by more than",
    "Another model that the search never saw may be better.",
    "That is more than it should be: the search ended before it was done.",
    "the search ended before it was done",
)
_KNOCKOFFS = (
    "Copies of the columns are what they should be to within",
    "Chance, and the law of the columns where that was estimated, have their part beside.",
    "That is more than rounding explains.",
    "copies of the columns are not what they should be",
)
_EQUATIONS = (
    "The answer violates its own equations by at most",
    "Every fit behind it reached its tolerance.",
    "Not every fit behind it reached its tolerance.",
    "the solver stopped before its equations held to the tolerance asked for",
)


def citation(document: Mapping[str, Any]) -> str | None:
    """Return the source of the method: what came with the selection, or what its name tells."""
    stated = document["provenance"].get("reference")
    if isinstance(stated, str) and stated:
        return stated
    titles = {method.title: method.reference for method in SELECTORS.values()}
    return titles.get(document["method"])


def own_citation(version: str) -> str:
    """Return how to cite this library."""
    return f"garrote {version}: sparse linear models and Bayesian variable selection in Python."


def strength_words(strength: str) -> tuple[str, str]:
    """Return what a strength is, in a few words for an axis and in a sentence."""
    return _STRENGTHS.get(strength, ("", f"{strength} is the strength of the selection."))


def evidence_words(evidence: str) -> tuple[str, str]:
    """Return what a kind of evidence tells about a variable, to begin a sentence, and a remark."""
    if evidence in _ABOUT:
        return _ABOUT[evidence]
    return _CERTAINTY if is_certainty(evidence) else _ENTRY


def certificate_words(part: str) -> str:
    """Return what a part of the certificate measures."""
    return _CERTIFICATE.get(part, "how far the answer is from its own equations")


def certificate_sentences(certificate: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return what precedes the value, what follows it if it is good enough or not, a reservation."""
    if certificate["kind"] == KNOCKOFFS:
        return _KNOCKOFFS
    if certificate["kind"] in (EQUATIONS, SUBSET):
        return _EQUATIONS if certificate["kind"] == EQUATIONS else _SUBSET
    return next(
        (_SENTENCES[part] for part in certificate["parts"] if part in _SENTENCES), _EQUATIONS
    )
