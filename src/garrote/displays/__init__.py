"""Pictures of results, as Display objects in scikit-learn's manner; they need matplotlib.

Each class stores plain data, has `from_estimator` (or `from_theory`) and `plot`, and leaves what it
drew in `ax_`, `figure_` and its kin. Displays read results only, never the data.
"""

from garrote.displays.coding.atoms import AtomsDisplay
from garrote.displays.coding.codes import CodesDisplay
from garrote.displays.coding.learning import LearningDisplay
from garrote.displays.credible_sets import CredibleSetsDisplay
from garrote.displays.cv_curve import CVCurveDisplay
from garrote.displays.hysteresis import HysteresisDisplay
from garrote.displays.inclusion import InclusionDisplay
from garrote.displays.models import ModelsDisplay
from garrote.displays.path import PathDisplay
from garrote.displays.phase import PhaseDisplay
from garrote.displays.shrinkage import ShrinkageDisplay
from garrote.displays.stability import StabilityDisplay
from garrote.displays.times.survival import SurvivalDisplay

__all__ = [
    "AtomsDisplay",
    "CVCurveDisplay",
    "CodesDisplay",
    "CredibleSetsDisplay",
    "HysteresisDisplay",
    "InclusionDisplay",
    "LearningDisplay",
    "ModelsDisplay",
    "PathDisplay",
    "PhaseDisplay",
    "ShrinkageDisplay",
    "StabilityDisplay",
    "SurvivalDisplay",
]
