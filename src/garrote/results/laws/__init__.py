"""In what form a posterior knows its coefficients: by models, draws, independent variables, effects."""

from garrote.results.laws.base import Anchor, CoefficientLaw, Spread
from garrote.results.laws.covariates import CovariatesLaw, FactorisedPredictor
from garrote.results.laws.draws import Draws, States
from garrote.results.laws.effects import EffectsLaw
from garrote.results.laws.factorised import Mixture, SoftSupport
from garrote.results.laws.gaussian import JointGaussian
from garrote.results.laws.models import Intercepts, Models
from garrote.results.laws.pooled import Pooled

# What the field `law` of a posterior may be.
Law = Models | States | Draws | SoftSupport | Mixture | EffectsLaw | JointGaussian | Pooled

__all__ = [
    "Anchor",
    "CoefficientLaw",
    "CovariatesLaw",
    "Draws",
    "EffectsLaw",
    "FactorisedPredictor",
    "Intercepts",
    "JointGaussian",
    "Law",
    "Mixture",
    "Models",
    "Pooled",
    "SoftSupport",
    "Spread",
    "States",
]
