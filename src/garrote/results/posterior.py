"""What is believed about the coefficients after seeing the data: one object from every method."""

import inspect
import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods import Likelihood
from garrote.priors.column_groups import ColumnGroups
from garrote.results.accuracy import DISAGREES, Audit, SamplingAccuracy
from garrote.results.credible_sets import CredibleSet, Substitutes
from garrote.results.enrichment import Enrichment
from garrote.results.laws import Anchor, Law, Models, Spread
from garrote.results.optima import Optima
from garrote.results.shapes import SlabShapes
from garrote.summaries import Summary, Table

# Columns below this inclusion probability have no covariances stated.
IN_SUPPORT = 0.01
# Models that have less of the probability than this are not all that matter.
_ALL = 0.9995


# The law that a posterior is known by, for what needs one of a kind.
AnyLaw = TypeVar("AnyLaw", bound=Law)


@dataclass(frozen=True, repr=False)
class Posterior(Generic[AnyLaw]):
    """What is believed about each coefficient, in the user's units.

    For the garrote the inclusion probabilities are variational (each given the mean of the others),
    and variances are those of a Gaussian given the soft support: they hold the inclusion
    probabilities, and the noise variance, for known. Methods that average over models state variances
    in which the choice of the model is uncertain too.

    Attributes
    ----------
    mean : array of shape (D,)
        Coefficients averaged over inclusion.
    inclusion_probability : array of shape (D,)
        NaN, but for covariates, under priors that shrink and leave nothing out.
    spread : Spread
        Standard deviations and correlations of the coefficients that matter; all others are taken to be
        out.
    noise_variance : float
        Residual variance, with the degrees of freedom spent on the support taken off; NaN for labels and
        counts.
    degrees_of_freedom : float
    law : Models, States, Draws, SoftSupport, Mixture or EffectsLaw
        In what form the coefficients are known; see `garrote.results.laws`.
    names : tuple of str
    covariates : array of int
        Columns that are always in.
    free_energy : float
        NaN for methods that sample: they do not know it.
    log_evidence : float, optional
        Log probability of the data, up to a constant that depends on the data alone.
    size_probability : array, optional
        Probability of each model size.
    optima : Optima
        Distinct solutions found at this strength, best first.
    accuracy : SamplingAccuracy, optional
        For methods that sample.
    checked : Audit, optional
        How the inclusion probabilities compare with better ones.
    substitutes : Substitutes, optional
        What credible sets are made of.
    shapes : SlabShapes, optional
        Which shape of the slab the data prefer, where the prior left a choice.
    groups : ColumnGroups, optional
        Which columns are in together, or out together: a group is one variable then.
    enrichment : Enrichment, optional
        What annotations add to the log odds of inclusion, under an `AnnotatedInclusion`.

    Examples
    --------
    >>> from garrote import VariationalGarrote
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = VariationalGarrote().fit(data.X, data.y)
    >>> draws = model.posterior_.sample(100, random_state=0)
    >>> draws.shape
    (100, 20)
    """

    mean: Floats
    inclusion_probability: Floats
    spread: Spread
    noise_variance: float
    degrees_of_freedom: float
    law: AnyLaw
    names: tuple[str, ...]
    covariates: Array
    free_energy: float = float("nan")
    log_evidence: float | None = None
    size_probability: Floats | None = None
    optima: Optima = field(default_factory=Optima)
    accuracy: SamplingAccuracy | None = None
    checked: Audit | None = None
    substitutes: Substitutes | None = None
    shapes: SlabShapes | None = None
    groups: ColumnGroups | None = None
    enrichment: Enrichment | None = None

    @property
    def each(self) -> tuple["Posterior[AnyLaw]", ...]:
        """The posterior of each response: of one, itself."""
        return (self,)

    @property
    def support(self) -> Array:
        """Columns for which a covariance is stated."""
        return self.spread.columns

    @property
    def standard_error(self) -> Floats:
        """Standard deviations of the support's coefficients."""
        return self.spread.standard_error

    @property
    def correlation(self) -> Floats:
        """Correlations of the support's coefficients."""
        return self.spread.correlation

    @property
    def covariance(self) -> Floats:
        """Covariance of the support's coefficients."""
        return self.spread.covariance

    @property
    def variance(self) -> Floats:
        """Variance of every coefficient; 0 outside of the support."""
        return self.law.variance(len(self.mean), self.spread)

    @property
    def sign_probability(self) -> Floats | None:
        """The probability of each coefficient's likelier sign, where draws of all of them are known."""
        return self.law.sign_probability

    @property
    def keeps_every_variable(self) -> bool:
        """Whether the prior shrinks and never leaves a variable out, so that nothing is "in"."""
        return self.sign_probability is not None

    @property
    def start_dependence(self) -> float:
        """The largest difference in an inclusion probability between two of the optima."""
        return self.optima.disagreement(len(self.mean))

    def summary(self, n: int = 10) -> Summary:
        """Return in short what is believed, and a table of the variables it is most certain of.

        Covariates are among them. The table prints, shows as HTML and becomes a data frame.
        """
        signs = self.sign_probability
        certain = self.inclusion_probability if signs is None else signs
        best = np.argsort(-np.nan_to_num(certain), kind="stable")[:n]
        table = Table(
            {
                "variable": [self.names[j] for j in best],
                "probability" if signs is None else "sign probability": certain[best].tolist(),
                "mean": self.mean[best].tolist(),
                "standard deviation": np.sqrt(self.variance[best]).tolist(),
            }
        )
        return Summary((self._in_words, *self._facts), table)

    @property
    def _in_words(self) -> str:
        """How many coefficients there are, and how many of them are believed to be in."""
        what = f"Posterior of {len(self.mean):,} coefficients ({type(self.law).__name__})"
        if self.keeps_every_variable:
            return f"{what}: {self.law.in_words}"
        expected = float(self.inclusion_probability.sum())
        return f"{what}: {expected:.3g} expected in, {len(self.median_model):,} more likely in than out"

    @property
    def _facts(self) -> tuple[str, ...]:
        """What is known beside the coefficients, in words."""
        noise = f"noise variance {self.noise_variance:.4g}"
        evidence = "" if self.log_evidence is None else f"log evidence {self.log_evidence:.6g}"
        known = [noise if np.isfinite(self.noise_variance) else "", evidence]
        beside = [
            ", ".join(filter(None, known)),
            *map(str, filter(None, [self.shapes, self.checked])),
        ]
        return tuple(filter(None, beside))

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def local_optima(self) -> Table:
        """Return the distinct optima: free energy, weight, size, how each was reached, variables."""
        return self.optima.table(self.names)

    def models(self, n: int = 10) -> Table:
        """Return the most probable models; the caption says what part of the probability they have."""
        found = self._kept_models()
        shown = range(min(n, found.best))
        together = float(found.probability[: len(shown)].sum())
        said = f"the {len(shown)} most probable models have {together:.3g} of the probability"
        return Table(
            {
                "model": [self._label(found.members[k]) for k in shown],
                "size": [len(self._called(found.members[k])) for k in shown],
                "probability": [float(found.probability[k]) for k in shown],
            },
            said if together < _ALL else "",
        )

    @property
    def listed_probability(self) -> float:
        """The probability of all models that ``models()`` can list; of a search, among those found."""
        found = self._kept_models()
        return float(found.probability[: found.best].sum())

    @property
    def most_probable_model(self) -> Array:
        """Columns of the single most probable model (Murphy 2012, Eq. 13.3), covariates included."""
        return np.sort(self._kept_models().members[0])

    @property
    def median_model(self) -> Array:
        """Columns that are more likely in than out (Eq. 13.4), covariates included."""
        if self.keeps_every_variable:
            raise ValueError("this prior leaves no variable out: see discoveries() or interval()")
        return np.flatnonzero(self.inclusion_probability > 0.5)

    def _kept_models(self) -> Models:
        if self.law.models is None:
            raise ValueError(
                "this method keeps no models: SpikeSlabRegressor with method='enumerate', 'sample', "
                "'metropolis', 'gibbs' or 'search' does"
            )
        return self.law.models

    def _label(self, members: Array) -> str:
        return " + ".join(self._called(members)) or "(none)"

    def _called(self, members: Array) -> list[str]:
        """Return the variables of a model: groups by their labels, columns by their names."""
        if self.groups is None:
            return [self.names[j] for j in members]
        alone = np.isin(members, self.covariates)
        called = [
            self.names[j] if single else self.groups.labels[self.groups.numbers[j]]
            for j, single in zip(members, alone, strict=True)
        ]
        return list(dict.fromkeys(called))

    def discoveries(self, fdr: float = 0.05) -> Array:
        """Return the most variables whose expected share of false ones is at most ``fdr``.

        By decreasing inclusion probability, while the mean of 1 - probability stays below it. A group
        of columns counts as one variable, and is found with all its columns. Covariates are no
        discoveries. Where there are no inclusion probabilities those of the signs
        are taken: false are then effects of the other sign.
        """
        if not 0 <= fdr < 1:
            raise ValueError(f"fdr must be at least 0 and below 1, got {fdr}")
        signs = self.sign_probability
        probability = self.inclusion_probability if signs is None else signs
        order = np.argsort(-probability, kind="stable")
        order = order[~np.isin(order, self.covariates)]
        if self.groups is not None:
            first = np.sort(np.unique(self.groups.numbers[order], return_index=True)[1])
            found = self.groups.numbers[order[first][: _below(probability[order[first]], fdr)]]
            by_group = [order[self.groups.numbers[order] == group] for group in found]
            return np.concatenate([order[:0], *by_group])
        return order[: _below(probability[order], fdr)]

    def credible_sets(
        self, coverage: float = 0.95, min_purity: float = 0.5
    ) -> tuple[CredibleSet, ...]:
        """Return sets of variables of which at least one is in, each with at least a probability.

        Variables of a set could stand in for one another: the data do not tell which it is. Sets are
        `garrote.results.credible_sets.CredibleSet`, those of the strongest evidence first; covariates
        are in none. Under a prior that shrinks and leaves no variable out, in are those that a draw's
        fit needs: from the best on, as long as one brings the fit's law of y nearer to the draw's by
        half a nat, about what a coefficient of one standard error is worth (Hahn & Carvalho 2015). The
        documentation states the rules by which sets are made of that.

        Parameters
        ----------
        coverage : float, default=0.95
            The probability of each set.
        min_purity : float, default=0.5
            The smallest absolute correlation that two variables of a set may have.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must lie between 0 and 1, got {coverage}")
        if not 0 <= min_purity <= 1:
            raise ValueError(f"min_purity must lie between 0 and 1, got {min_purity}")
        if self.substitutes is None:
            raise ValueError(
                "this posterior was made without what credible sets need: fit it again, with this "
                "version of garrote"
            )
        sets = self.law.credible_sets(self.substitutes, self.names, coverage, min_purity)
        if self.groups is None:
            return sets
        labels, numbers = self.groups.labels, self.groups.numbers
        return tuple(
            replace(found, names=tuple(labels[numbers[j]] for j in found.variables))
            for found in sets
        )

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed intervals of all coefficients, counted from draws."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        return self.law.interval(level)

    def audit(self) -> Audit:
        """Return how the inclusion probabilities compare with better ones, as found by the fit.

        Warns where one of them is off by more than 0.1.
        """
        if self.checked is None:
            raise ValueError("this posterior has nothing to be checked against")
        if self.checked.largest_difference > DISAGREES:
            warnings.warn(f"{self.checked}: prefer method='sample'", UserWarning, stacklevel=2)
        return self.checked

    def sample(self, n: int, random_state: Any = None) -> Floats:
        """Draw coefficient vectors: a model by its probability, then its coefficients.

        Of a posterior that is known by draws these are drawn from, with replacement.
        """
        return self.law.sample(n, self.mean, np.random.default_rng(random_state))

    def predictive_deviation(self, X: Any, anchor: Anchor) -> Floats:
        """Return the standard deviations of new responses, numbers, at rows of X.

        They cover noise, coefficients and intercept; over models, also which of them it is.
        """
        found = self.law.response_variance(X, self.mean, self.noise_variance, self.spread, anchor)
        return np.sqrt(found)

    def mean_response(
        self,
        likelihood: Likelihood,
        X: Any,
        offset: Floats | None = None,
        integrated: bool = True,
    ) -> Floats:
        """Return the mean of labels or counts at rows of X, averaged over models and coefficients.

        Unless ``integrated``, each model predicts at its maximum.
        """
        known = np.zeros(X.shape[0]) if offset is None else offset
        return self.law.mean_response(likelihood, X, self.mean, self.covariates, known, integrated)

    def response_moments(
        self,
        likelihood: Likelihood,
        X: Any,
        offset: Floats | None = None,
        integrated: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return the mean and the variance of new labels or counts at rows of X."""
        known = np.zeros(X.shape[0]) if offset is None else offset
        return self.law.response_moments(
            likelihood, X, self.mean, self.covariates, known, integrated
        )

    def to_arviz(self, n: int = 1000, random_state: Any = None) -> Any:
        """Return draws of the coefficients as arviz's InferenceData (DataTree in later versions)."""
        try:
            import arviz
        except ImportError as error:
            raise ImportError("to_arviz needs arviz: run `pip install arviz`") from error
        draws = self.sample(n, random_state)
        stated = {"coefficient": draws[None], "included": (draws != 0)[None]}
        if self.keeps_every_variable:
            del stated["included"]
        groups = {"posterior": stated}
        labels = {
            "coords": {"variable": list(self.names)},
            "dims": {name: ["variable"] for name in stated},
        }
        # arviz 1 takes the groups as one mapping, earlier versions as arguments.
        if "posterior" in inspect.signature(arviz.from_dict).parameters:
            return arviz.from_dict(**groups, **labels)
        return arviz.from_dict(groups, **labels)


def _below(probability: Floats, fdr: float) -> int:
    """Return how many of the most probable have at most a share of false ones, as expected."""
    false = np.cumsum(1 - probability) / np.arange(1, len(probability) + 1)
    return int(np.count_nonzero(false <= fdr))
