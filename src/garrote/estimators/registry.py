"""Every selector by the name that the command line knows it by. A new method is a new row here."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where an estimator's class lives, and its source where that is not its method's."""

    module: str
    estimator: str
    reference: str | None = None

    def load(self) -> Any:
        """Return the class."""
        return getattr(import_module(self.module), self.estimator)


class Selector(NamedTuple):
    """A selector: its full name, what it is for in one line, where it lives, its source.

    ``for_labels`` is the estimator for a response of labels, where there is one.
    """

    title: str
    purpose: str
    module: str
    estimator: str
    reference: str
    for_labels: Place | None = None

    def load(self) -> Any:
        """Return the estimator's class."""
        return Place(self.module, self.estimator).load()


_GARROTE = "Kappen & Gomez (2014), The Variational Garrote. Machine Learning 96, 269-294"
_BOUND = (
    "Jaakkola & Jordan (2000), Bayesian parameter estimation via variational methods. Statistics and "
    "Computing 10, 25-37"
)
_LAPLACE = (
    "Tierney & Kadane (1986), Accurate approximations for posterior moments and marginal densities. "
    "JASA 81, 82-86"
)
_MEAN_FIELD = "Carbonetto & Stephens (2012), Bayesian Analysis 7, 73-108"

# The sources of what is done with labels, by the method that did it.
LABEL_REFERENCES = {
    "sample": "Polson, Scott & Windle (2013), Bayesian inference for logistic models using Polya-Gamma "
    "latent variables. JASA 108, 1339-1349",
    "mean-field": f"{_MEAN_FIELD}, with the bound of {_BOUND}",
    "single-effects": "Wang et al. (2020), JRSS B 82, 1273-1300, with the bound of " + _BOUND,
    "enumerate": _LAPLACE,
    "metropolis": _LAPLACE,
    "fixed-point": _LAPLACE,
    "em": _LAPLACE,
}
LABEL_REFERENCES["gibbs"] = LABEL_REFERENCES["sample"]
# The sources of what is done with numbers, by the method that did it.
_MURPHY = "Murphy (2012), Machine Learning: A Probabilistic Perspective, section 13.2"
_SAMPLING = "Zanella & Roberts (2019), JRSS B 81, 489-517"
_EFFECTS = (
    "Wang et al. (2020), A simple new approach to variable selection in regression, with application "
    "to genetic fine mapping. JRSS B 82, 1273-1300"
)
_HORSESHOE = (
    "Carvalho, Polson & Scott (2010), The horseshoe estimator for sparse signals. Biometrika 97, "
    "465-480"
)
_RELEVANCE = (
    "Tipping (2001), Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211-244"
)
NUMBER_REFERENCES = {
    "sample": f"{_MURPHY}; {_SAMPLING}",
    "mean-field": f"{_MURPHY}; {_MEAN_FIELD}",
    "single-effects": _EFFECTS,
}
# The source of weights of models by BIC, for labels and counts.
BIC_REFERENCE = (
    "Schwarz (1978), Estimating the dimension of a model. Annals of Statistics 6, 461-464"
)

SELECTORS = {
    "garrote": Selector(
        "Variational Garrote",
        "few true variables among many; probabilities, effects and a certified path",
        "garrote.estimators.variational_garrote",
        "VariationalGarrote",
        _GARROTE,
        for_labels=Place(
            "garrote.estimators.variational_garrote_classifier",
            "VariationalGarroteClassifier",
            f"{_GARROTE}, with the bound of {_BOUND}",
        ),
    ),
    "lasso": Selector(
        "Penalised regression",
        "the lasso and its kin for numbers, counts and labels, each point of the path certified",
        "garrote.estimators.sparse_regressor",
        "SparseRegressor",
        "Tibshirani (1996), Regression shrinkage and selection via the lasso. JRSS B 58, 267-288",
        for_labels=Place("garrote.estimators.sparse_classifier", "SparseClassifier"),
    ),
    "greedy": Selector(
        "Greedy search",
        "subsets of columns by pursuits, stepwise searches, exchanges or exactly; nothing is shrunk",
        "garrote.estimators.searching.greedy_regressor",
        "GreedyRegressor",
        "Pati, Rezaiifar & Krishnaprasad (1993), Orthogonal matching pursuit. Asilomar Conference 27, "
        "40-44; Zhu et al. (2020), A polynomial algorithm for best-subset selection problem. PNAS 117, "
        "33117-33123",
        for_labels=Place("garrote.estimators.searching.greedy_classifier", "GreedyClassifier"),
    ),
    "breiman-garrote": Selector(
        "Breiman's garrote",
        "least squares, each coefficient shrunk by a factor of its own that may become 0",
        "garrote.estimators.non_negative_garrote",
        "NonNegativeGarrote",
        "Breiman (1995), Better subset regression using the nonnegative garrote. Technometrics 37, "
        "373-384",
    ),
    "spike-slab": Selector(
        "Spike-and-slab selection",
        "inclusion probabilities of variables and models, exact or sampled",
        "garrote.estimators.spike_slab_regressor",
        "SpikeSlabRegressor",
        f"{_MURPHY}; sampling: {_SAMPLING}; mean field: {_MEAN_FIELD}",
        for_labels=Place(
            "garrote.estimators.spike_slab_classifier",
            "SpikeSlabClassifier",
            "; ".join(
                dict.fromkeys(
                    LABEL_REFERENCES[name] for name in ("sample", "mean-field", "enumerate")
                )
            ),
        ),
    ),
    "single-effects": Selector(
        "Sum of single effects",
        "credible sets of variables that could stand in for one another; quick with many columns",
        "garrote.estimators.single_effects_regressor",
        "SingleEffectsRegressor",
        _EFFECTS,
        for_labels=Place(
            "garrote.estimators.single_effects_classifier",
            "SingleEffectsClassifier",
            LABEL_REFERENCES["single-effects"],
        ),
    ),
    "shrinkage": Selector(
        "Shrinkage prior",
        "the horseshoe and its kin: all variables stay in, with intervals and signs' probabilities",
        "garrote.estimators.shrinkage_regressor",
        "ShrinkageRegressor",
        _HORSESHOE,
        for_labels=Place(
            "garrote.estimators.shrinkage_classifier",
            "ShrinkageClassifier",
            f"{_HORSESHOE}; {LABEL_REFERENCES['sample']}",
        ),
    ),
    "relevance": Selector(
        "Relevance determination",
        "a prior variance for each coefficient, set by the evidence; quick, and too generous to noise",
        "garrote.estimators.relevance.relevance_regressor",
        "RelevanceRegressor",
        _RELEVANCE,
        for_labels=Place(
            "garrote.estimators.relevance.relevance_classifier",
            "RelevanceClassifier",
            f"{_RELEVANCE}; {_LAPLACE}",
        ),
    ),
}
# Estimators that select no columns, and are no methods of the command line.
MACHINES = (
    Place("garrote.estimators.margins.smooth_svc", "SmoothSVC"),
    Place("garrote.estimators.margins.smooth_svr", "SmoothSVR"),
    Place("garrote.estimators.relevance.kernel_machine", "KernelFeatures"),
    Place("garrote.estimators.relevance.relevance_vectors", "RelevanceVectorRegressor"),
    Place("garrote.estimators.relevance.relevance_vectors", "RelevanceVectorClassifier"),
)


class Controller(NamedTuple):
    """An estimator around another one, its base, that bounds or counts false selections.

    ``share`` is the setting by which it is told a share of false selections; None where it has none.
    """

    title: str
    purpose: str
    place: Place
    share: str | None

    def load(self) -> Any:
        """Return the estimator's class."""
        return self.place.load()


# By the name that the command line knows them by. A new way to control errors is a new row here.
CONTROLS = {
    "stability": Controller(
        "Stability selection",
        "what the method selects in most halves of the rows, with a bound on false selections",
        Place(
            "garrote.estimators.control.stability_selection",
            "StabilitySelection",
            "Shah & Samworth (2013), Variable selection with error control: another look at stability "
            "selection. JRSS B 75, 55-80; Meinshausen & Buehlmann (2010), Stability selection. JRSS B "
            "72, 417-473",
        ),
        share="false_share",
    ),
    "bolasso": Controller(
        "Bolasso",
        "what the method selects in all bootstrap samples of the rows; no bound is known",
        Place(
            "garrote.estimators.control.bolasso",
            "Bolasso",
            "Bach (2008), Bolasso: model consistent lasso estimation through the bootstrap. ICML 25, "
            "33-40",
        ),
        share=None,
    ),
    "knockoffs": Controller(
        "Knockoffs",
        "what beats a copy of itself that knows nothing of the response, at a false discovery rate",
        Place(
            "garrote.estimators.control.knockoffs",
            "Knockoffs",
            "Barber & Candes (2015), Controlling the false discovery rate via knockoffs. Annals of "
            "Statistics 43, 2055-2085; Candes, Fan, Janson & Lv (2018), Panning for gold. JRSS B 80, "
            "551-577",
        ),
        share="q",
    ),
}


def every_place() -> Iterator[tuple[Selector, Place]]:
    """Yield every estimator with the row that it stands in."""
    for row in SELECTORS.values():
        yield row, Place(row.module, row.estimator, row.reference)
        if row.for_labels is not None:
            yield row, row.for_labels


def title_of(estimator: type) -> str:
    """Return the full name of the method that an estimator's class is of, or the class's where none."""
    found = _row_of(estimator)
    return estimator.__name__ if found is None else found[0].title


def reference_of(estimator: type) -> str | None:
    """Return the source of an estimator's class, or of what it derives from, if it has a row."""
    around = (row.place for row in CONTROLS.values())
    for place in around:
        if (place.module, place.estimator) == (estimator.__module__, estimator.__name__):
            return place.reference
    found = _row_of(estimator)
    return None if found is None else found[1].reference or found[0].reference


def classifier_of(estimator: type) -> str | None:
    """Return the name of the classifier that does what an estimator's class does of numbers."""
    found = _row_of(estimator)
    return None if found is None or found[0].for_labels is None else found[0].for_labels.estimator


def _row_of(estimator: type) -> tuple[Selector, Place] | None:
    """Return the method of an estimator, and where it itself lives."""
    known = {(place.module, place.estimator): (row, place) for row, place in every_place()}
    family = ((kind.__module__, kind.__name__) for kind in estimator.__mro__)
    return next((known[place] for place in family if place in known), None)
