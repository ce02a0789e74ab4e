"""What `Denoiser` and `Inpainter` share: learn patches, restore them, measure deviations."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.coding.images.calibrating import Calibration, calibrated
from garrote.coding.images.clipping import Bounds
from garrote.coding.images.noise import estimate_noise
from garrote.coding.images.patch_models import MODELS, LearnedLaw, PatchModel, Sample
from garrote.coding.images.patches import Patches, patch_shape
from garrote.coding.images.pictures import Picture, as_picture
from garrote.coding.images.restoration import Restoration
from garrote.coding.images.restoring import Damage, Whole, restore_patches
from garrote.estimators.shared.named_settings import NamedSettings, Objects
from garrote.estimators.shared.posterior_settings import seed_of
from garrote.estimators.shared.saving import SaveMixin
from garrote.results.certificates import Certificate
from garrote.settings import check_count, is_number
from garrote.solvers.control import Control

# Sides of patches: with colours, a patch has as many numbers as one of grey has of this side.
_GREY, _COLOURED = 8, 6
# What is below this share of the picture's variance is not told apart.
_FLOOR = 5e-4
# What no model explains of known pixels beside gaps has so many times this variance.
_MISFIT = 4.0


class PictureRestorer(SaveMixin, NamedSettings, BaseEstimator):
    """The base of estimators whose signals are pictures: `fit` learns patches, `restore` uses them."""

    model: Any
    sigma: Any
    patch: int | None
    random_state: Any
    n_jobs: int | None
    callback: Any
    law_: Any
    sigma_: float
    record_: np.ndarray
    certificate_: Certificate
    # Whether pixels may be missing.
    _gaps = False

    @property
    def _objects(self) -> dict[str, Objects]:
        return {"model": MODELS}

    @property
    def components_(self) -> Floats:
        """What patches are made of, an atom a row: pixels row by row, colours last."""
        check_is_fitted(self, "law_")
        return np.asarray(self.law_.atoms)

    def _learn(self, picture: Picture, known: Array | None) -> Self:
        """Learn the patches of a picture."""
        model = patch_model(self.model)
        self._check()
        values = picture.values
        sigma = self._sigma(values, known)
        side = self._side(values.shape[2])
        size = patch_shape(side, values)
        rng, _ = self._streams()
        self.patch_shape_: tuple[int, int, int] = (*size, values.shape[2])
        self.sigma_, self.n_features_in_ = sigma, int(np.prod(self.patch_shape_))
        control = Control(callback=self.callback)
        learned = self._learned(model, values, known, sigma**2, rng, control.report)
        self.fitted_to_ = _digest(values)
        self.law_, self.record_ = learned.law, learned.objective
        self.certificate_ = learned.certificate
        return self

    def _learned(
        self,
        model: PatchModel,
        values: Floats,
        known: Array | None,
        noise: float,
        rng: np.random.Generator,
        report: Callable[[str, int, int], None],
    ) -> LearnedLaw:
        variance = float(values.var() if known is None else values[known].var())
        size = self.patch_shape_[:2]
        patches = Patches.of(values if known is None else np.where(known, values, 0.0), size)
        chosen = np.arange(patches.number)
        if patches.number > model.max_patches:
            chosen = np.sort(rng.choice(patches.number, model.max_patches, replace=False))
        mask = None if known is None else Patches.of(known, size).some(chosen)
        # A picture of one colour has no variance; any floor will do.
        floor = (_FLOOR * variance) or 1.0
        if known is not None:
            noise += _MISFIT * floor
        elif noise:
            floor = min(floor, 0.1 * noise)
        sample = Sample(
            patches.some(chosen), mask, self.patch_shape_, noise, floor, rng, self.n_jobs, report,
        )  # fmt: skip
        return model.learn(sample)

    def _restored(self, picture: Picture, known: Array | None) -> Restoration:
        """Restore a picture by what was learned."""
        check_is_fitted(self, "law_")
        values = picture.values
        self._refuse_other(values)
        misfit = 0.0 if known is None else _MISFIT * self.law_.floor
        damage = Damage(values, known, self.sigma_**2, misfit)
        kept = np.zeros(values.shape, bool) if known is None else known
        if self.sigma_ > 0:
            kept = np.zeros(values.shape, bool)
        if kept.all() or (known is None and not self.sigma_):
            whole, found = Whole(values, np.zeros(values.shape)), Calibration()
        else:
            whole, found = self._measured(damage)
        mean = np.where(kept, np.nan_to_num(values), whole.mean)
        deviation = np.sqrt(whole.variance) * ~kept
        grey = len(picture.shape) == 2
        missing = None if known is None else ~known
        if missing is not None and (missing == missing[:, :, :1]).all():
            missing = missing[:, :, 0]
        return Restoration(
            picture.in_form(mean), deviation[:, :, 0] if grey else deviation, picture.in_form(values),
            missing, self.sigma_, *found, self.components_, self.patch_shape_, self.certificate_,
        )  # fmt: skip

    def _measured(self, damage: Damage) -> tuple[Whole, Calibration]:
        """Return the picture with variances that agree with errors, and how they were made to."""
        size, control = self.patch_shape_[:2], Control(callback=self.callback)
        model, (_, rng) = patch_model(self.model), self._streams()
        # Atoms have learned of the noise, too: a copy with more of it is restored by atoms of its own.
        own = model.fits_noise and len(self.record_) > 0 and damage.known is None
        own = own and self.fitted_to_ == _digest(damage.values)

        def restore(some: Damage, stage: str = "measuring") -> Whole:
            def told(done: int, total: int) -> None:
                control.report(stage, done, total)

            law = self.law_
            if own and stage == "measuring":
                law = self._learned(model, some.values, None, some.noise, rng, _silent).law
            return restore_patches(law, some, size, self.n_jobs, told)

        whole = restore(damage, "restoring")
        sigma = self.sigma_
        bounds = Bounds.of(damage.values, damage.known, sigma)
        told = bounds.far_from(whole.mean, sigma)
        found = calibrated(restore, damage, whole, told, size, rng)
        whole = whole._replace(variance=found.variance(whole.variance))
        if bounds.any:
            mean, growth = bounds.undone(whole.mean, sigma)
            whole = Whole(mean, growth**2 * whole.variance)
        return whole, found

    def _streams(self) -> list[np.random.Generator]:
        """Return random numbers to learn and to measure by: not those of a user with the same seed."""
        return np.random.default_rng(seed_of(self.random_state)).spawn(2)

    def _refuse_other(self, values: Floats) -> None:
        high, wide, colours = self.patch_shape_
        if values.shape[2] != colours:
            raise ValueError(
                f"the picture has {values.shape[2]} colours, and patches were learned from a picture "
                f"of {colours}: fit again, or give a picture of {colours}"
            )
        if values.shape[0] < high or values.shape[1] < wide:
            raise ValueError(
                f"the picture of {values.shape[0]} x {values.shape[1]} pixels is smaller than the "
                f"patches of {high} x {wide} that were learned: fit it itself"
            )

    def _check(self) -> None:
        """Refuse settings that are none, before any work."""
        if self.patch is not None:
            check_count("patch", self.patch, 1)
        if self.sigma != "auto" and not (is_number(self.sigma) and 0 <= self.sigma < np.inf):
            raise ValueError(
                f"sigma must be 'auto' or a standard deviation of 0 or more, got {self.sigma!r}"
            )

    def _sigma(self, values: Floats, known: Array | None) -> float:
        return estimate_noise(values, known) if self.sigma == "auto" else float(self.sigma)

    def _side(self, colours: int) -> int:
        return self.patch or (_GREY if colours == 1 else _COLOURED)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Rows of a picture are no samples: no row is anything without the others.
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self._gaps
        return tags

    def _picture(self, X: Any) -> Picture:
        return as_picture(X, gaps=self._gaps)


def patch_model(given: Any) -> PatchModel:
    """Return a model that is given, or that a name stands for."""
    if isinstance(given, PatchModel):
        return given
    if not isinstance(given, str) or given not in MODELS:
        raise ValueError(
            f"model must be one of {tuple(MODELS)}, or a patch model of garrote.coding, got {given!r}"
        )
    return MODELS[given]()


def _digest(values: Floats) -> str:
    """Return what tells pictures apart."""
    return sha256(values.tobytes()).hexdigest()


def _silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""
