"""Patches as atoms of a dictionary whose size is not given, all of it drawn by a Gibbs sampler."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from garrote.coding.images.laws import BetaProcessLaw
from garrote.coding.images.patch_models.base import LearnedLaw, PatchModel, Sample
from garrote.coding.incomplete import BetaProcessDictionary
from garrote.settings import check_count


@dataclass(frozen=True)
class PatchBetaProcess(PatchModel):
    """A beta process: how many atoms there are, which of them a patch has and how noisy it is are drawn.

    `BetaProcessDictionary` is fitted to patches, with gaps where pixels are missing; patches are then
    restored under each of the dictionaries that it keeps. That takes long. The noise is what is given
    or estimated; beside gaps, and where none is given, it is learned.

    Parameters
    ----------
    n_atoms : int, default=128
        At which the process is cut off.
    n_steps : int, default=20
        States of the chain that count.
    burn_in : int, default=100
        States before them.
    """

    n_atoms: int = 128
    n_steps: int = 20
    burn_in: int = 100
    name: ClassVar[str] = "beta-process"
    reference: ClassVar[str] = (
        "Zhou, Chen, Paisley, Ren, Sapiro & Carin (2009), Non-parametric Bayesian dictionary learning "
        "for sparse image representations. NeurIPS 22, 2295-2303"
    )
    max_patches: int = field(default=10_000, kw_only=True)

    def __post_init__(self) -> None:
        check_count("n_atoms", self.n_atoms, 1)
        check_count("n_steps", self.n_steps, 1)
        check_count("burn_in", self.burn_in, 0)
        check_count("max_patches", self.max_patches, 1)

    def learn(self, sample: Sample) -> LearnedLaw:
        values = sample.patches if sample.known is None else sample.patches[sample.known]
        level = float(values.mean())
        process = BetaProcessDictionary(
            self.n_atoms,
            noise_variance=sample.noise if sample.known is None and sample.noise else None,
            n_steps=self.n_steps,
            burn_in=self.burn_in,
            random_state=int(sample.rng.integers(2**31)),
            n_jobs=sample.n_jobs,
            callback=lambda event: sample.report("learning", event.done, event.total),
        )
        rows = sample.patches - level
        process.fit(rows if sample.known is None else np.where(sample.known, rows, np.nan))
        # Callbacks are not for files, and sums to go on from are large: pictures are learned whole.
        process.set_params(callback=None)
        del process.memory_
        law = BetaProcessLaw(process, level, sample.floor)
        return LearnedLaw(law, process.record_.objective, process.certificate_)
