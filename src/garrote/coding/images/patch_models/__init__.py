"""Models of patches: what is learned of those of a picture, so that others can be restored."""

from garrote.coding.images.patch_models.base import LearnedLaw, PatchModel, Sample
from garrote.coding.images.patch_models.beta_process import PatchBetaProcess
from garrote.coding.images.patch_models.dictionary import PatchDictionary
from garrote.coding.images.patch_models.mixture import PatchMixture

# By the name that stands for the default settings. A new model is a new row here.
MODELS = {model.name: model for model in (PatchMixture, PatchDictionary, PatchBetaProcess)}

__all__ = [
    "MODELS",
    "LearnedLaw",
    "PatchBetaProcess",
    "PatchDictionary",
    "PatchMixture",
    "PatchModel",
    "Sample",
]
