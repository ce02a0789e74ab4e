"""Missing pixels of pictures filled in, by what patches have in common."""

from typing import Any, Self

from garrote.arrays import Array
from garrote.coding.images.patch_models import PatchModel
from garrote.coding.images.pictures import Picture, observed_pixels
from garrote.coding.images.restoration import Restoration
from garrote.coding.images.restorer import PictureRestorer


class Inpainter(PictureRestorer):
    """A picture whose missing pixels are filled in, and how far each may be from the truth.

    A model of patches is learned from patches with gaps; the known pixels of a patch say what its gaps
    hold (Murphy 2012, Figure 13.23; Zhou et al. 2009). Gaps that are wider than a patch are filled in by
    what the model knows of all patches, which is little: deviations say so.

    Parameters
    ----------
    model : {"mixture", "dictionary", "beta-process"} or patch model, default="mixture"
        `PatchMixture`, where every patch is of one of some kinds; `PatchDictionary`, whose atoms are
        given, or cosines; or `PatchBetaProcess`, where all about atoms is drawn, which takes long. A
        name stands for the default settings.
    sigma : float or "auto", default=0.0
        The standard deviation of noise in known pixels, which are kept as they are where it is 0, and
        denoised otherwise; "auto" estimates it, from patches without gaps.
    patch : int, optional
        The side of patches; by default 8, and 6 of pictures in colours.
    random_state : int, RandomState or None, default=0
        By which patches are drawn to learn from, and pixels held out to measure deviations.
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Told of what is done, as `Progress`.

    Attributes
    ----------
    law_, components_, sigma_, patch_shape_, record_, certificate_, n_features_in_
        As of `Denoiser`.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import Inpainter
    >>> rows, columns = np.mgrid[:64, :64]
    >>> picture = 100.0 + 80.0 * (rows > columns)
    >>> missing = np.random.default_rng(0).random(picture.shape) < 0.5
    >>> found = Inpainter().fit(picture, missing).restore(picture, missing)
    >>> bool(np.abs(found.picture - picture)[missing].mean() < 5.0)
    True
    """

    _gaps = True

    def __init__(
        self,
        model: str | PatchModel = "mixture",
        *,
        sigma: float | str = 0.0,
        patch: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        callback: Any = None,
    ):
        self.model = model
        self.sigma = sigma
        self.patch = patch
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, mask: Any = None) -> Self:
        """Learn the patches of a picture with gaps.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
            NaN are missing. Of 2 or 4 layers the last is alpha, which is kept as it is.
        mask : array of shape (height, width) or (height, width, colours), optional
            Not 0, or true, where pixels are missing.
        """
        return self._learn(*self._known(X, mask))

    def restore(self, X: Any, mask: Any = None) -> Restoration:
        """Fill in the missing pixels of a picture: that of the fit, or another one.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
        mask : array of shape (height, width) or (height, width, colours), optional
        """
        return self._restored(*self._known(X, mask))

    def transform(self, X: Any, mask: Any = None) -> Array:
        """Return the picture that `restore` finds.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
        mask : array of shape (height, width) or (height, width, colours), optional
        """
        return self.restore(X, mask).picture

    def fit_transform(self, X: Any, mask: Any = None) -> Array:
        """Learn the patches of a picture, and return it with its gaps filled in.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
        mask : array of shape (height, width) or (height, width, colours), optional
        """
        return self.fit(X, mask).transform(X, mask)

    def _known(self, X: Any, mask: Any) -> tuple[Picture, Array | None]:
        picture = self._picture(X)
        known = observed_pixels(picture, mask)
        return picture, None if known.all() else known
