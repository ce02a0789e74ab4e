"""One quick configuration of every estimator that takes a design in place of an array."""

from garrote import (
    Bolasso,
    GreedyClassifier,
    GreedyRegressor,
    NonNegativeGarrote,
    RelevanceClassifier,
    RelevanceRegressor,
    ShrinkageClassifier,
    ShrinkageRegressor,
    SingleEffectsClassifier,
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    StabilitySelection,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.inference import Gibbs
from garrote.paths import Anneal, AnnealBound, FollowPath
from garrote.priors import EffectSlab, GaussianSlab, SingleEffects

SHORT = {"random_state": 0, "method": Gibbs(100, 20)}
EVERY_ESTIMATOR = [
    VariationalGarrote(method=Anneal(gammas=12), cv=3),
    VariationalGarroteClassifier(gamma="free_energy", method=AnnealBound(gammas=6)),
    SparseRegressor(method=FollowPath(alphas=12), cv=3, penalty_factor={2: 0.0}),
    SparseClassifier(method=FollowPath(alphas=12), cv=3),
    SpikeSlabRegressor(GaussianSlab(1.0), "mean-field", covariates=[2]),
    SpikeSlabClassifier(EffectSlab(1.0), "mean-field"),
    SingleEffectsRegressor(SingleEffects(effects=3)),
    SingleEffectsClassifier(SingleEffects(effects=3)),
    ShrinkageRegressor("horseshoe", **SHORT),
    # Under the horseshoe roundings of labels' chains grow: to 3e-10 after these 120 steps.
    ShrinkageClassifier("laplace", **SHORT),
    GreedyRegressor("splicing", criterion="cv", cv=3, covariates=[2]),
    GreedyClassifier("forward", n_features=2),
    RelevanceRegressor(covariates=[2]),
    RelevanceClassifier(),
    NonNegativeGarrote("ridge", method=FollowPath(alphas=12), cv=3),
    StabilitySelection(SparseRegressor(method=FollowPath(alphas=12)), n_resamples=10),
    Bolasso(SparseRegressor(alpha=0.1), n_resamples=10),
]
