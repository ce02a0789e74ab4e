"""What learned models say of patches: what their missing and noisy pixels are, and how surely."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from garrote.arrays import Array, Floats
from garrote.coding.coders import PursuitCoding
from garrote.coding.incomplete import BetaProcessDictionary
from garrote.solvers.coding.dealing import deal
from garrote.solvers.coding.masked_gaussians import PartSums, masked_posterior
from garrote.solvers.coding.masked_pursuit import masked_pursuit

_IMPROBABLE = 1e-3
# Among how many threads patches with gaps may be dealt out.
_SHARES = 16


class Restored(NamedTuple):
    """Patches as they may have been: a mean and a variance of each pixel."""

    mean: Floats
    variance: Floats


class MixturePosterior(NamedTuple):
    """Means and variances of patches, the sum of their log likelihoods, and sums for a step of EM."""

    mean: Floats
    variance: Floats
    log_likelihood: float
    sums: PartSums


@dataclass(frozen=True)
class MixtureLaw:
    """A mixture of Gaussians of patches: each part a dictionary of its own, its principal axes.

    Attributes
    ----------
    weights : array of shape (n_parts,)
    means : array of shape (n_parts, D)
    covariances : array of shape (n_parts, D, D)
    floor : float
        A variance below which nothing is told apart.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    floor: float

    @property
    def atoms(self) -> Floats:
        """The principal axes of all parts, each as long as patches vary along it, longest first."""
        values, vectors = np.linalg.eigh(self.covariances)
        strength = np.maximum(values, 0.0) * self.weights[:, None]
        axes = vectors.transpose(0, 2, 1).reshape(-1, self.means.shape[1])
        order = np.argsort(-strength.ravel(), kind="stable")
        return np.asarray((axes * np.sqrt(np.maximum(values, 0.0)).reshape(-1, 1))[order])

    def restore(
        self, patches: Floats, known: Array | None, noise: float, n_jobs: int | None = None
    ) -> Restored:
        """Return what patches are, given their known pixels, whose noise has this variance."""
        found = self.posterior(patches, known, noise, n_jobs)
        return Restored(found.mean, found.variance)

    def weight(self, restored: Restored) -> Floats:
        """Return how much each patch counts, pixel by pixel."""
        return np.asarray(1.0 / (restored.variance + self.floor))

    def posterior(
        self,
        patches: Floats,
        known: Array | None,
        noise: float,
        n_jobs: int | None = None,
        learn: bool = False,
    ) -> MixturePosterior:
        """Return the same, and with ``learn`` what a step of EM has to know."""
        if known is None or known.all():
            parts = [self._whole_posterior(patches, noise, learn)]
        else:
            log_weights = np.log(self.weights)

            def some(rows: Floats, mask: Array) -> Any:
                return masked_posterior(
                    rows, mask, log_weights, self.means, self.covariances, noise, learn
                )

            # Each has sums of its own, which are large.
            together = -(-len(patches) // _SHARES)
            parts = deal(patches, some, n_jobs, 0.0, (np.ascontiguousarray(known),), together)
        sums = PartSums(*(sum(each) for each in zip(*(part.sums for part in parts), strict=True)))
        return MixturePosterior(
            np.concatenate([part.mean for part in parts]),
            np.concatenate([part.variance for part in parts]),
            float(sum(part.log_likelihood for part in parts)),
            sums,
        )

    def _whole_posterior(self, patches: Floats, noise: float, learn: bool) -> MixturePosterior:
        """Return the posterior of patches without gaps: each part is a matrix for all of them."""
        count, length = self.means.shape
        scores, gains = np.empty((len(patches), count)), []
        for c in range(count):
            root = np.linalg.cholesky(self.covariances[c] + noise * np.eye(length))
            inverse = solve_triangular(root, np.eye(length), lower=True)
            white = (patches - self.means[c]) @ inverse.T
            scores[:, c] = np.log(self.weights[c]) - np.log(np.diag(root)).sum()
            scores[:, c] -= 0.5 * np.einsum("ij,ij->i", white, white)
            gains.append(self.covariances[c] @ inverse.T @ inverse)
        top = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - top)
        whole = shares.sum(axis=1, keepdims=True)
        total = float(np.sum(top + np.log(whole)) - 0.5 * patches.size * np.log(2 * np.pi))
        shares /= whole
        shares[shares < _IMPROBABLE] = 0.0
        shares /= shares.sum(axis=1, keepdims=True)
        return self._moments(patches, shares, gains, total, learn)

    def _moments(
        self, patches: Floats, shares: Floats, gains: list[Floats], total: float, learn: bool
    ) -> MixturePosterior:
        """Put first and second moments of all parts together."""
        size = len(self.weights) if learn else 0
        length = patches.shape[1]
        sums = PartSums(np.zeros(size), np.zeros((size, length)), np.zeros((size, length, length)))
        mean, square = np.zeros(patches.shape), np.zeros(patches.shape)
        for c, gain in enumerate(gains):
            inside = np.flatnonzero(shares[:, c])
            share = shares[inside, c][:, None]
            value = (patches[inside] - self.means[c]) @ gain.T + self.means[c]
            left = self.covariances[c] - gain @ self.covariances[c]
            mean[inside] += share * value
            square[inside] += share * (value**2 + np.maximum(np.diag(left), 0.0))
            if learn:
                sums.counts[c] = share.sum()
                sums.sums[c] = (share * value).sum(axis=0)
                sums.products[c] = (share * value).T @ value + share.sum() * left
        return MixturePosterior(mean, np.maximum(square - mean**2, 0.0), total, sums)


@dataclass(frozen=True)
class DictionaryLaw:
    """Patches as their mean and a few atoms.

    Patches without gaps are coded by pursuit, until no more is left than noise would leave; of patches
    with gaps an atom comes in where that raises the posterior density, codes having Gaussian priors.

    Attributes
    ----------
    atoms : array of shape (n_atoms, D)
        Of length 1.
    spread : array of shape (n_atoms,)
        The prior variance of an atom's code.
    log_odds : array of shape (n_atoms,)
        Of an atom to be in a code, a priori.
    gain : float
        What is left of a patch has ``gain`` times the standard deviation of the noise.
    floor : float
        A variance below which nothing is told apart.
    constants : array of shape (n_constants, D)
        Patches of one colour, which are always in.
    level : float
        The prior variance of their codes.
    """

    atoms: np.ndarray
    spread: np.ndarray
    log_odds: np.ndarray
    gain: float
    floor: float
    constants: np.ndarray
    level: float

    def restore(
        self, patches: Floats, known: Array | None, noise: float, n_jobs: int | None = None
    ) -> Restored:
        """Return what patches are, given their known pixels, whose noise has this variance."""
        if known is None or known.all():
            return self._whole(patches, noise, n_jobs)
        atoms = np.concatenate([self.constants, self.atoms])
        always, count = len(self.constants), len(self.atoms)
        spread = np.concatenate([np.full(always, self.level), self.spread])
        odds = np.concatenate([np.zeros(always), self.log_odds])
        most = min(count + always, max(always + 1, patches.shape[1] // 4))

        def some(rows: Floats, mask: Array) -> Any:
            return masked_pursuit(atoms, rows, mask, noise, spread, odds, most, always)

        cost = float(atoms.size * 8)
        parts = deal(patches, some, n_jobs, cost, (np.ascontiguousarray(known),))
        mean, variance = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Restored(mean, variance)

    def _whole(self, patches: Floats, noise: float, n_jobs: int | None) -> Restored:
        levels = patches @ self.constants.T @ self.constants
        length = patches.shape[1]
        mean, free = levels, np.full(len(patches), len(self.constants))
        if len(self.atoms):
            coder = PursuitCoding(error=self.gain**2 * noise * length)
            codes = coder.code(self.atoms, patches - levels, n_jobs).codes
            mean, free = mean + codes @ self.atoms, free + np.diff(codes.indptr)
        # So many directions of a patch are as noisy as they were.
        variance = np.repeat(noise * free[:, None] / length, length, axis=1)
        return Restored(mean, variance)

    def weight(self, restored: Restored) -> Floats:
        """Return how much each patch counts: all the same."""
        return np.ones(restored.mean.shape)


@dataclass(frozen=True)
class BetaProcessLaw:
    """Patches, less a level, as a beta process draws them: a few atoms of a dictionary of any size.

    Attributes
    ----------
    process : BetaProcessDictionary
        Fitted to patches.
    level : float
    floor : float
        A variance below which nothing is told apart.
    """

    process: BetaProcessDictionary
    level: float
    floor: float

    @property
    def atoms(self) -> Floats:
        """The atoms that are in any patch, those in most first."""
        used = max(1, round(self.process.n_atoms_))
        return np.asarray(self.process.components_[:used])

    def restore(
        self, patches: Floats, known: Array | None, noise: float, n_jobs: int | None = None
    ) -> Restored:
        """Return what patches are, given their known pixels; the noise is what the process learned."""
        rows = patches - self.level
        found = self.process.reconstruct(rows if known is None else np.where(known, rows, np.nan))
        return Restored(found.mean + self.level, found.deviation**2)

    def weight(self, restored: Restored) -> Floats:
        """Return how much each patch counts: all the same."""
        return np.ones(restored.mean.shape)
