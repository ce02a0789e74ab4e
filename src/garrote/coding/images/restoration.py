"""A restored picture, with what it was restored from and how uncertain each of its pixels is."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.certificates import Certificate
from garrote.summaries import Shown, Summary, Table


@dataclass(frozen=True, repr=False)
class Restoration(Shown):
    """What `Denoiser.restore` and `Inpainter.restore` find.

    Attributes
    ----------
    picture : array
        In the form of the picture given: its shape and type, its alpha.
    deviation : array of shape (height, width) or (height, width, colours)
        How far each pixel may be from the true one, as a standard deviation in units of the picture; 0
        of pixels that are kept.
    given : array
        What was restored.
    missing : array of bool or None
        Which pixels were, if any: of shape (height, width) or (height, width, colours).
    sigma : float
        The standard deviation of the noise.
    scale : float
        What deviations of patches were multiplied with, so that they agree with errors: those of pixels
        held out, or of a copy of the picture with independent noise. 1.0 if there were too few pixels.
    beside : float
        The variance that was added then, of what patches do not tell of: structure that is no stronger
        than noise, and is nowhere in their codes. 0 where pixels were held out.
    atoms : array of shape (n_atoms, D)
        What patches were restored by.
    patch_shape : tuple of int
        Height, width and colours of a patch.
    certificate : Certificate
        How far what was learned of patches is from where no round would change it.
    """

    picture: Array
    deviation: Floats
    given: Array
    missing: Array | None
    sigma: float
    scale: float
    beside: float
    atoms: Floats
    patch_shape: tuple[int, int, int]
    certificate: Certificate

    @property
    def removed(self) -> Floats:
        """What was taken away: the picture given less the restored one, NaN where it was missing."""
        taken = np.asarray(self.given, dtype=float) - np.asarray(self.picture, dtype=float)
        if self.missing is not None:
            taken = taken[..., : self.deviation.shape[2]] if self.deviation.ndim == 3 else taken
            taken[np.broadcast_to(self.missing, taken.shape)] = np.nan
        return np.asarray(taken)

    def summary(self) -> Summary:
        """Return facts about the picture, and quantiles of the deviations."""
        high, wide = self.picture.shape[:2]
        facts = [f"{high:,} x {wide:,} pixels, {self.picture.dtype}; noise: {self.sigma:.4g}"]
        if self.missing is not None:
            facts.append(f"missing: {int(self.missing.sum()):,} ({self.missing.mean():.1%})")
        facts.append(f"certificate: {self.certificate}")
        shares = (0.05, 0.25, 0.5, 0.75, 0.95)
        quantiles = np.quantile(self.deviation, shares).tolist()
        columns = {"share of pixels": list(shares), "deviation at most": quantiles}
        return Summary(tuple(facts), Table(columns, "how uncertain pixels are"))
