"""What is believed about the coefficients after seeing the data: one object from every method."""

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.coefficient_laws import CovariatesLaw, FactorisedPredictor, Models, States
from garrote.results.credible_sets import (
    CredibleSet,
    EffectsLaw,
    Inclusions,
    Likeness,
    sets_of_effects,
    sets_of_models,
)
from garrote.results.fit import Fit
from garrote.results.mixture_law import MixtureLaw
from garrote.summaries import Table

# Columns below this inclusion probability have no covariances stated.
IN_SUPPORT = 0.01
# Models that have less of the probability than this are not all that matter.
_ALL = 0.9995
# Disagreement between stated and checked inclusion probabilities that a reader should know of.
DISAGREES = 0.1


@dataclass(frozen=True)
class Audit:
    """A comparison of inclusion probabilities with better ones, on the variables that matter most."""

    columns: Array
    stated: Floats
    checked: Floats
    against: str

    @property
    def largest_difference(self) -> float:
        """The largest disagreement."""
        return float(np.abs(self.stated - self.checked).max(initial=0.0))

    def __str__(self) -> str:
        return (
            f"{len(self.columns)} variables checked against {self.against}: inclusion probabilities "
            f"differ by at most {self.largest_difference:.3f}"
        )


@dataclass(frozen=True)
class Posterior:
    """What is believed about each coefficient, in the user's units.

    For the garrote the inclusion probabilities are variational (each given the mean of the others),
    and variances are those of a Gaussian given the soft support: they hold the inclusion
    probabilities, and the noise variance, for known. Methods that average over models state variances
    in which the choice of the model is uncertain too.

    Attributes
    ----------
    inclusion_probability : array of shape (D,)
    mean : array of shape (D,)
        Coefficients averaged over inclusion, m w.
    support : array of int
        Columns for which a covariance is stated; all others are taken to be out.
    standard_error : array of shape (k,)
        Standard deviations of the support's coefficients given the soft support.
    correlation : array of shape (k, k)
        Their correlations.
    noise_variance : float
        Residual variance, with the degrees of freedom spent on the support taken off.
    degrees_of_freedom : float
    free_energy : float
        NaN for methods that sample: they do not know it.
    optima : tuple of Fit
        Distinct solutions found at this strength, best first.
    names : tuple of str
    log_evidence : float, optional
        Log probability of the data, up to a constant that depends on the data alone.
    size_probability : array, optional
        Probability of each model size.
    found : Models, optional
        Models that stand for all: the most probable ones, and draws from the others.
    monte_carlo_error : array of shape (D,), optional
        Standard errors of the inclusion probabilities, for methods that sample.
    effective_sample_size, split_r_hat : array of shape (D,), optional
        For methods that sample: so many independent models would tell as much of each inclusion, and
        how the halves of all chains compare (1 if they agree).
    given_inclusion : array of shape (k,), optional
        Standard deviations of the support's coefficients given that they are in, where these differ
        from ``standard_error``.
    checked : Audit, optional
        How the inclusion probabilities compare with better ones.
    reached : tuple of str
        How each of the optima was come to: annealed, reheated, from a start, in an order of updates.
    states : States, optional
        Intercepts and coefficients that chains went through, where these are kept.
    predictor : FactorisedPredictor, optional
        How sure linear predictors are, where models of labels are factorised.
    beside : CovariatesLaw, optional
        How coefficients of covariates go by those of the other columns, where no models are kept.
    effects : EffectsLaw, optional
        The single effects whose sum the coefficients are.
    likeness, inclusions : optional
        What credible sets need: correlations of variables, and in which models they are.
    draws : array of shape (S, D), optional
        For priors that shrink and leave nothing out: draws of the coefficients, in order, chain by
        chain. ``inclusion_probability`` is then NaN but for covariates, and ``monte_carlo_error``
        is that of the coefficients' means.
    sign_probability : array of shape (D,), optional
        For these: the probability of each coefficient's likelier sign, 1 less its local false sign rate.
    shrinkage : array of shape (D,), optional
        For these: the mean share of its least-squares value that the prior takes away from a coefficient
        (were its column alone), kappa of Carvalho et al. (2010).
    mixture : MixtureLaw, optional
        Of factorised solutions, whose mixture the posterior is: the law of the support's coefficients.
    optima_share : array, optional
        The weights of the optima in the mixture of them, where they are not by free energy alone.

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

    inclusion_probability: Floats
    mean: Floats
    support: Array
    standard_error: Floats
    correlation: Floats
    noise_variance: float
    degrees_of_freedom: float
    free_energy: float
    optima: tuple[Fit, ...]
    names: tuple[str, ...] = ()
    log_evidence: float | None = None
    size_probability: Floats | None = None
    found: Models | None = None
    monte_carlo_error: Floats | None = None
    given_inclusion: Floats | None = None
    checked: Audit | None = None
    effective_sample_size: Floats | None = None
    split_r_hat: Floats | None = None
    covariates: Array | None = None
    reached: tuple[str, ...] = ()
    states: States | None = None
    predictor: FactorisedPredictor | None = None
    beside: CovariatesLaw | None = None
    effects: EffectsLaw | None = None
    likeness: Likeness | None = None
    inclusions: Inclusions | None = None
    draws: Floats | None = None
    sign_probability: Floats | None = None
    shrinkage: Floats | None = None
    mixture: MixtureLaw | None = None
    optima_share: Floats | None = None

    @property
    def keeps_every_variable(self) -> bool:
        """Whether the prior shrinks and never leaves a variable out, so that nothing is "in"."""
        return self.draws is not None

    @property
    def optima_weights(self) -> Floats:
        """Weights of the distinct optima in a mixture of them.

        In proportion to exp(-free energy); where the mixture is the posterior, those of its bound on the
        evidence, in which optima that share their models share their weight.
        """
        if self.optima_share is not None:
            return self.optima_share
        energies = np.array([fit.free_energy for fit in self.optima])
        weights = np.exp(energies.min(initial=np.inf) - energies)
        return np.asarray(weights / weights.sum()) if len(weights) else weights

    @property
    def start_dependence(self) -> float:
        """The largest difference in an inclusion probability between two of the optima."""
        probabilities = np.zeros((len(self.optima), len(self.mean)))
        for row, fit in zip(probabilities, self.optima, strict=True):
            row[fit.columns] = fit.probability
        return float(np.ptp(probabilities, axis=0).max(initial=0.0)) if len(probabilities) else 0.0

    def local_optima(self) -> Table:
        """Return the distinct optima: free energy, weight, size, how each was reached, variables."""
        members = [fit.columns[fit.probability > 0.5] for fit in self.optima]
        return Table(
            {
                "free energy": [float(fit.free_energy) for fit in self.optima],
                "weight": [float(weight) for weight in self.optima_weights],
                "size": [float(fit.expected_size) for fit in self.optima],
                "reached": list(self.reached) or ["" for _ in self.optima],
                "variables": [self._label(columns) for columns in members],
            }
        )

    @property
    def covariance(self) -> Floats:
        """Covariance of the support's coefficients given the soft support."""
        return self.correlation * np.outer(self.standard_error, self.standard_error)

    @property
    def variance(self) -> Floats:
        """Variance of every coefficient given the soft support; 0 outside of it."""
        if self.draws is not None:
            return np.asarray(self.draws.var(axis=0))
        variance = np.zeros(len(self.mean))
        variance[self.support] = self.standard_error**2
        return variance

    def models(self, n: int = 10) -> Table:
        """Return the most probable models; the caption says what part of the probability they have."""
        found = self._kept_models()
        shown = range(min(n, found.best))
        together = float(found.probability[: len(shown)].sum())
        said = f"the {len(shown)} most probable models have {together:.3g} of the probability"
        return Table(
            {
                "model": [self._label(found.members[k]) for k in shown],
                "size": [len(found.members[k]) for k in shown],
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
        if self.found is None:
            raise ValueError(
                "this method keeps no models: BayesianSelector with method='enumerate', 'sample', "
                "'metropolis', 'gibbs' or 'search' does"
            )
        return self.found

    def _label(self, members: Array) -> str:
        names = self.names or [f"x{j}" for j in range(len(self.mean))]
        return " + ".join(names[j] for j in members) or "(none)"

    def discoveries(self, fdr: float = 0.05) -> Array:
        """Return the most variables whose expected share of false ones is at most ``fdr``.

        By decreasing inclusion probability, while the mean of 1 - probability stays below it.
        Covariates are no discoveries. Where there are no inclusion probabilities those of the signs
        are taken: false are then effects of the other sign.
        """
        if not 0 <= fdr < 1:
            raise ValueError(f"fdr must be at least 0 and below 1, got {fdr}")
        signs = self.sign_probability
        probability = self.inclusion_probability if signs is None else signs
        order = np.argsort(-probability, kind="stable")
        if self.covariates is not None:
            order = order[~np.isin(order, self.covariates)]
        false = np.cumsum(1 - probability[order]) / np.arange(1, len(order) + 1)
        return order[: int(np.count_nonzero(false <= fdr))]

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
        if self.likeness is None:
            raise ValueError(
                "this posterior was made without what credible sets need: fit it again, with this "
                "version of garrote"
            )
        names = self.names or tuple(f"x{j}" for j in range(len(self.mean)))
        if self.effects is not None:
            return sets_of_effects(self.effects, self.likeness, names, coverage, min_purity)
        assert self.inclusions is not None
        return sets_of_models(self.inclusions, self.likeness, names, coverage, min_purity)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed intervals of all coefficients, counted from draws."""
        if self.draws is None:
            raise ValueError(
                "this posterior has no draws of its own: see `standard_error`, or count from sample(n)"
            )
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        lower, upper = np.quantile(self.draws, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return lower, upper

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
        rng = np.random.default_rng(random_state)
        if self.draws is not None:
            return np.asarray(self.draws[rng.integers(len(self.draws), size=n)])
        if self.states is not None:
            rows = self.states.coefficients
            return rows[rng.integers(rows.shape[0], size=n)].toarray()
        draws = np.zeros((n, len(self.mean)))
        if self.found is None:
            if self.effects is not None:
                self.effects.sample(draws, rng)
            else:
                self._fill_softly(draws, rng)
            if self.beside is not None:
                columns = self.beside.columns
                beyond = self.beside.draw(draws[:, columns] - self.mean[columns], rng)
                draws[:, self.covariates] = self.mean[self.covariates] + beyond
            return draws
        share = self.found.probability / self.found.probability.sum()
        chosen = rng.choice(len(share), size=n, p=share)
        for model in np.unique(chosen):
            rows, members = np.flatnonzero(chosen == model), self.found.members[model]
            noise = self.found.draw_noise(model, len(rows), rng)
            if len(members):
                # Rounding may leave a law of next to no spread a little less than none.
                unit = rng.multivariate_normal(
                    np.zeros(len(members)),
                    self.found.spread[model],
                    len(rows),
                    method="eigh",
                    check_valid="ignore",
                )
                drawn = self.found.mean[model] + np.sqrt(noise)[:, None] * unit
                draws[np.ix_(rows, members)] = drawn
        return draws

    def _fill_softly(self, draws: Floats, rng: np.random.Generator) -> None:
        """Draw inclusion variable by variable, then the Gaussian given the soft support.

        Of a mixture a component is drawn before.
        """
        if self.mixture is not None:
            draws[:, self.mixture.columns] = self.mixture.draw(len(draws), rng)
            return
        if not len(self.support):
            return
        m = self.inclusion_probability[self.support]
        sure = np.maximum(m, 1e-12)
        zero = np.zeros(len(m))
        unit = rng.multivariate_normal(zero, self.correlation, size=len(draws), method="eigh")
        deviation = self.standard_error if self.given_inclusion is None else self.given_inclusion
        gaussian = self.mean[self.support] / sure + unit * deviation
        draws[:, self.support] = gaussian * (rng.random((len(draws), len(m))) < m)

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
            "coords": {"variable": list(self.names) or [f"x{j}" for j in range(len(self.mean))]},
            "dims": {name: ["variable"] for name in stated},
        }
        # arviz 1 takes the groups as one mapping, earlier versions as arguments.
        if "posterior" in inspect.signature(arviz.from_dict).parameters:
            return arviz.from_dict(**groups, **labels)
        return arviz.from_dict(groups, **labels)
