"""What a model of patches is: what it learns from, and what it hands back."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.certificates import Certificate
from garrote.settings import Settings


class Sample(NamedTuple):
    """Patches to learn from, one a row, which pixels of them are known, and all that goes with them.

    ``shape`` is that of a patch: height, width, colours. ``noise`` is a variance.
    """

    patches: Floats
    known: Array | None
    shape: tuple[int, int, int]
    noise: float
    floor: float
    rng: np.random.Generator
    n_jobs: int | None
    report: Callable[[str, int, int], None]


class LearnedLaw(NamedTuple):
    """A law of patches, the objective along the rounds in which it was learned, and how good it is."""

    law: Any
    objective: Floats
    certificate: Certificate


@dataclass(frozen=True)
class PatchModel(Settings):
    """How patches are modelled, and from how many of them at most that is learned."""

    max_patches: int = field(default=20_000, kw_only=True)
    name: ClassVar[str]
    reference: ClassVar[str]
    # Whether so much is learned of the noise that errors seem smaller than they are.
    fits_noise: ClassVar[bool] = False

    @abstractmethod
    def learn(self, sample: Sample) -> LearnedLaw:
        """Learn from patches."""
