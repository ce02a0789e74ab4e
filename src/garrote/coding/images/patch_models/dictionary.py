"""Patches as a few atoms of a dictionary, given or learned from them."""

import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Floats
from garrote.coding.atoms import given_atoms, of_length_one
from garrote.coding.dictionaries import dct_dictionary
from garrote.coding.dictionary_learning import DictionaryLearning
from garrote.coding.images.laws import DictionaryLaw
from garrote.coding.images.patch_models.base import LearnedLaw, PatchModel, Sample
from garrote.coding.learners import KSVD
from garrote.results.certificates import NOT_CERTIFIED, Certificate
from garrote.settings import check_count, check_positive


@dataclass(frozen=True)
class PatchDictionary(PatchModel):
    """Every patch is its mean and a few atoms of a dictionary, given or learned from the patches.

    Parameters
    ----------
    dictionary : {"ksvd", "dct"}, array of shape (n_atoms, D), or transformer, default="ksvd"
        "ksvd" learns atoms from patches by K-SVD, beginning with cosines: codes leave of a patch what
        noise would. From patches with gaps nothing is learned that way: cosines are used. A transformer
        such as `DictionaryLearning` is fitted to patches, less their means; given atoms stay as they
        are, and have the pixels of a patch row by row, its colours last.
    n_atoms : int, default=256
        How many there are at most where they are cosines or are learned by K-SVD.
    max_rounds : int, default=10
        Rounds of K-SVD.
    gain : float, default=1.15
        What codes leave of a patch has so many times the standard deviation of the noise.
    max_patches : int, default=40_000
        Patches to learn from at most.
    """

    dictionary: Any = "ksvd"
    n_atoms: int = 256
    max_rounds: int = 10
    gain: float = 1.15
    max_patches: int = field(default=40_000, kw_only=True)
    name: ClassVar[str] = "dictionary"
    fits_noise: ClassVar[bool] = True
    reference: ClassVar[str] = (
        "Elad & Aharon (2006), Image denoising via sparse and redundant representations over learned "
        "dictionaries. IEEE Transactions on Image Processing 15, 3736-3745"
    )

    def __post_init__(self) -> None:
        if isinstance(self.dictionary, str) and self.dictionary not in ("ksvd", "dct"):
            raise ValueError(
                "dictionary must be 'ksvd', 'dct', an array of atoms or a transformer of "
                f"garrote.coding, got {self.dictionary!r}"
            )
        check_count("n_atoms", self.n_atoms, 1)
        check_count("max_rounds", self.max_rounds, 1)
        check_positive("gain", self.gain)
        check_count("max_patches", self.max_patches, 1)

    def learn(self, sample: Sample) -> LearnedLaw:
        constants = _constants(sample.shape)
        values = sample.patches if sample.known is None else sample.patches[sample.known]
        level = 100.0 * float(values.var() + values.mean() ** 2) * sample.shape[0] * sample.shape[1]
        atoms, objective, certificate = self._atoms(sample, constants)
        spread, odds = _usual_codes(atoms, float(values.var()), sample.shape)
        law = DictionaryLaw(atoms, spread, odds, self.gain, sample.floor, constants, level)
        return LearnedLaw(law, objective, certificate)

    def _atoms(self, sample: Sample, constants: Floats) -> tuple[Floats, Floats, Certificate]:
        given = Certificate(NOT_CERTIFIED, np.nan, {}, "atoms are given, not learned")
        if not isinstance(self.dictionary, str | np.ndarray | list):
            return self._fitted(clone(self.dictionary), sample, constants)
        if not isinstance(self.dictionary, str):
            atoms = of_length_one(given_atoms(self.dictionary, sample.patches.shape[1]))
            return atoms, np.zeros(0), given
        atoms = _cosines(sample.shape, self.n_atoms)
        few = len(sample.patches) < 4 * len(atoms)
        if self.dictionary == "dct" or sample.known is not None or few or not sample.noise:
            return atoms, np.zeros(0), given
        error = self.gain**2 * sample.noise * sample.patches.shape[1]
        learner = DictionaryLearning(
            len(atoms), KSVD(error=error, max_rounds=self.max_rounds), dictionary=atoms,
        )  # fmt: skip
        return self._fitted(learner, sample, constants)

    def _fitted(
        self, learner: Any, sample: Sample, constants: Floats
    ) -> tuple[Floats, Floats, Certificate]:
        """Learn atoms by a transformer, from patches less their means."""
        if sample.known is not None:
            raise ValueError(
                f"{type(learner).__name__} cannot learn from patches with gaps: give "
                "model='mixture', or a dictionary as an array"
            )
        params = learner.get_params(deep=False)
        ours = {
            "random_state": int(sample.rng.integers(2**31)),
            "n_jobs": sample.n_jobs,
            "callback": lambda event: sample.report("learning", event.done, event.total),
        }
        learner.set_params(**{k: v for k, v in ours.items() if k in params and params[k] is None})
        with warnings.catch_warnings():
            # A picture needs no dictionary that has settled; the certificate says how far it is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            learner.fit(sample.patches - sample.patches @ constants.T @ constants)
        record = getattr(learner, "record_", None)
        missing = Certificate(NOT_CERTIFIED, np.nan, {}, f"of {type(learner).__name__}")
        return (
            of_length_one(learner.components_),
            np.zeros(0) if record is None else record.objective,
            getattr(learner, "certificate_", missing),
        )


def _constants(shape: tuple[int, int, int]) -> Floats:
    """Return patches of one colour, of length 1, one a row."""
    high, wide, colours = shape
    return np.tile(np.eye(colours), high * wide).reshape(colours, -1) / np.sqrt(high * wide)


def _cosines(shape: tuple[int, int, int], most: int) -> Floats:
    """Return at most so many cosines of mean 0, each in every direction of colours."""
    high, wide, colours = shape
    side = max(1, int(np.sqrt(most / colours)))
    waves = dct_dictionary((high, wide), max(side, high, wide))[1:]
    tones = dct_dictionary(colours)
    atoms = np.concatenate([np.kron(waves, tone) for tone in tones])
    return of_length_one(atoms)


def _usual_codes(
    atoms: Floats, variance: float, shape: tuple[int, int, int]
) -> tuple[Floats, Floats]:
    """Return prior variances of codes and log odds: smooth atoms have larger codes than rough ones."""
    waves = atoms.reshape(len(atoms), *shape)
    rough = np.sum(np.diff(waves, axis=1) ** 2, axis=(1, 2, 3))
    rough += np.sum(np.diff(waves, axis=2) ** 2, axis=(1, 2, 3))
    share = np.full(len(atoms), min(0.5, 3.0 / max(len(atoms), 1)))
    spread = variance * shape[0] * shape[1] * 0.1 / (0.1 + rough)
    return np.maximum(spread, 1e-12), np.log(share / (1 - share))
