"""Pictures without their noise and their gaps, by what their patches have in common."""

from garrote.coding.images.denoiser import Denoiser
from garrote.coding.images.inpainter import Inpainter
from garrote.coding.images.laws import BetaProcessLaw, DictionaryLaw, MixtureLaw
from garrote.coding.images.noise import estimate_noise
from garrote.coding.images.patch_models import (
    MODELS,
    PatchBetaProcess,
    PatchDictionary,
    PatchMixture,
    PatchModel,
)
from garrote.coding.images.restoration import Restoration

__all__ = [
    "MODELS",
    "BetaProcessLaw",
    "Denoiser",
    "DictionaryLaw",
    "Inpainter",
    "MixtureLaw",
    "PatchBetaProcess",
    "PatchDictionary",
    "PatchMixture",
    "PatchModel",
    "Restoration",
    "estimate_noise",
]
