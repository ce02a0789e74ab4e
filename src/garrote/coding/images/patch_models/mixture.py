"""Patches of some kinds, each with principal axes of its own: learned by EM, from patches with gaps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.coding.images.laws import MixtureLaw
from garrote.coding.images.patch_models.base import LearnedLaw, PatchModel, Sample
from garrote.coding.images.patch_models.edges import first_parts
from garrote.results.certificates import OPTIMALITY, Certificate
from garrote.settings import check_count, check_positive

# What is known of a part before it has patches is as good as so many of them, with sums of squares of
# so many times the floor for each of their pixels.
_PATCHES, _SCATTER = 10, 5.0


@dataclass(frozen=True)
class PatchMixture(PatchModel):
    r"""A mixture of Gaussians: every patch is of one of some kinds, each with principal axes of its own.

    A kind is a dictionary of orthogonal atoms, and codes are sparse in blocks: of all kinds a patch has
    the atoms of one (piecewise linear estimation). Learned by EM from patches with gaps and noise,
    starting from edges of all directions; the log posterior density never falls. The posterior of a
    patch is a mixture of Gaussians, without any approximation.

    Parameters
    ----------
    n_parts : int, default=20
        Kinds of patches.
    max_rounds : int, default=12
        Rounds of EM.
    tol : float, default=1e-4
        A round that raises the log posterior density of a pixel by no more than this is the last.
    max_patches : int, default=20_000
        Patches to learn from at most.
    """

    n_parts: int = 20
    max_rounds: int = 12
    tol: float = 1e-4
    name: ClassVar[str] = "mixture"
    reference: ClassVar[str] = (
        "Yu, Sapiro & Mallat (2012), Solving inverse problems with piecewise linear estimators: from "
        "Gaussian mixture models to structured sparsity. IEEE Transactions on Image Processing 21, "
        "2481-2499"
    )

    def __post_init__(self) -> None:
        check_count("n_parts", self.n_parts, 1)
        check_count("max_rounds", self.max_rounds, 1)
        check_positive("tol", self.tol)
        check_count("max_patches", self.max_patches, 1)

    def learn(self, sample: Sample) -> LearnedLaw:
        law = self._first(sample)
        pixels = sample.patches.size if sample.known is None else sample.known.sum()
        objective: list[float] = []
        while True:
            found = law.posterior(sample.patches, sample.known, sample.noise, sample.n_jobs, True)
            objective.append((found.log_likelihood + _log_prior(law)) / pixels)
            sample.report("learning", len(objective), self.max_rounds + 1)
            rise = objective[-1] - objective[-2] if len(objective) > 1 else np.inf
            if rise <= self.tol or len(objective) > self.max_rounds:
                break
            law = _maximised(law, *found.sums)
        said = f"another round of EM raises the log density of a pixel by less than {rise:.1e}"
        certificate = Certificate(OPTIMALITY, max(rise, 0.0), {"round": max(rise, 0.0)}, said)
        return LearnedLaw(law, np.array(objective), certificate)

    def _first(self, sample: Sample) -> MixtureLaw:
        count = min(self.n_parts, max(1, len(sample.patches) // 10))
        patches, known = sample.patches, sample.known
        values = patches if known is None else patches[known]
        level, variance = float(values.mean()), float(values.var())
        covariances = first_parts(count, sample.shape, variance, sample.floor, sample.rng)
        means = np.full((count, patches.shape[1]), level)
        return MixtureLaw(np.full(count, 1.0 / count), means, covariances, sample.floor)


def _log_prior(law: MixtureLaw) -> float:
    """Return the log prior density of a mixture, up to a constant.

    Weights have a Dirichlet law, covariances an inverse Wishart one.
    """
    logs = np.linalg.slogdet(law.covariances)[1]
    traces = np.trace(np.linalg.inv(law.covariances), axis1=1, axis2=2)
    prior = _PATCHES * logs + _scatter(law) * traces
    return float(np.log(law.weights).sum() - 0.5 * np.sum(prior))


def _scatter(law: MixtureLaw) -> float:
    """Return what is added to the sums of squares of each pixel of each part."""
    return _SCATTER * law.means.shape[1] * law.floor


def _maximised(law: MixtureLaw, counts: Floats, sums: Floats, products: Floats) -> MixtureLaw:
    """Return the mixture of the largest expected log density."""
    length = law.means.shape[1]
    means, covariances = law.means.copy(), np.empty_like(law.covariances)
    for c, count in enumerate(counts):
        if count > 0:
            means[c] = sums[c] / count
        scatter = products[c] - np.outer(means[c], means[c]) * count
        scatter[np.diag_indices(length)] += _scatter(law)
        covariances[c] = 0.5 * (scatter + scatter.T) / (count + _PATCHES)
    return MixtureLaw((counts + 1) / np.sum(counts + 1), means, covariances, law.floor)
