"""Noise taken out of pictures, by what their patches have in common."""

from typing import Any, Self

from garrote.arrays import Array
from garrote.coding.images.patch_models import PatchModel
from garrote.coding.images.restoration import Restoration
from garrote.coding.images.restorer import PictureRestorer


class Denoiser(PictureRestorer):
    """A picture without its noise, and how far each pixel may be from the truth.

    The patches of a picture overlap and resemble each other. A model of patches is learned from the
    noisy ones; every patch is replaced by what the model makes of it, and every pixel by a mean over all
    patches that have it (Murphy 2012, section 13.8.4; Elad & Aharon 2006). Noise is taken to be white,
    Gaussian, and of the same deviation everywhere; where many pixels are as dark, or as light, as any,
    it was cut off there, and is taken to be.

    Parameters
    ----------
    model : {"mixture", "dictionary", "beta-process"} or patch model, default="mixture"
        `PatchMixture`, where every patch is of one of some kinds; `PatchDictionary`, where it is made of
        a few atoms (K-SVD), which is quicker; or `PatchBetaProcess`, where all about these is drawn,
        which takes long. A name stands for the default settings.
    sigma : float or "auto", default="auto"
        The standard deviation of the noise, in units of the picture; "auto" estimates it.
    patch : int, optional
        The side of patches; by default 8, and 6 of pictures in colours.
    random_state : int, RandomState or None, default=0
        By which patches are drawn to learn from, and noise to measure deviations.
    n_jobs : int, optional
        Threads.
    callback : callable, optional
        Told of what is done, as `Progress`.

    Attributes
    ----------
    law_ : MixtureLaw, DictionaryLaw or BetaProcessLaw
        What was learned of patches.
    components_ : array of shape (n_atoms, D)
        Atoms: the dictionary, or the principal axes of all kinds of patches.
    sigma_ : float
    patch_shape_ : tuple of int
        Height, width and colours of patches.
    record_ : array
        The objective along rounds of learning: the log posterior density of a pixel, which never falls,
        or what the dictionary's was.
    certificate_ : Certificate
        How far what was learned is from where another round would change nothing.
    n_features_in_ : int
        How many numbers a patch has.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import Denoiser
    >>> rows, columns = np.mgrid[:64, :64]
    >>> picture = 100.0 + 80.0 * (rows > columns)
    >>> noisy = picture + 20.0 * np.random.default_rng(0).standard_normal(picture.shape)
    >>> found = Denoiser(sigma=20.0).fit(noisy).restore(noisy)
    >>> error = found.picture - picture
    >>> bool(np.std(error) < 0.25 * np.std(noisy - picture))
    True
    """

    def __init__(
        self,
        model: str | PatchModel = "mixture",
        *,
        sigma: float | str = "auto",
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the noise of a picture, and learn its patches.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
            Of 2 or 4 layers the last is alpha, which is kept as it is.
        y : ignored
        """
        return self._learn(self._picture(X), None)

    def restore(self, X: Any) -> Restoration:
        """Take the noise out of a picture: that of the fit, or another with as much noise.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
        """
        return self._restored(self._picture(X), None)

    def transform(self, X: Any) -> Array:
        """Return the picture that `restore` finds.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
        """
        return self.restore(X).picture

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn the patches of a picture, and return it without noise.

        Parameters
        ----------
        X : array of shape (height, width) or (height, width, colours)
        y : ignored
        """
        return self.fit(X).transform(X)
