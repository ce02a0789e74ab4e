"""What the codes of signals come to: sums by which atoms can be found without the signals themselves."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats


class CodeSums(NamedTuple):
    """Sums over signals x with codes z, each signal with its weight.

    Attributes
    ----------
    inner : array of shape (1 or D, K, K)
        Products of codes with each other, for each entry over the signals that show it; one matrix for
        all entries where none is missing.
    uncertain : array of shape (1 or D, K)
        Variances of codes, likewise; 0 where codes are known.
    outer : array of shape (K, D)
        Products of codes with the entries that were seen.
    inside : array of shape (K,)
        In how many codes each atom is, or is expected to be.
    sizes : array of shape (K,)
        Mean squares of codes.
    numbers : array of shape (3,)
        The squares of all entries that were seen, how many these are, and how many signals.
    """

    inner: Floats
    uncertain: Floats
    outer: Floats
    inside: Floats
    sizes: Floats
    numbers: Floats

    @classmethod
    def of(
        cls,
        codes: Any,
        values: Floats,
        seen: Array,
        weights: Floats,
        variance: Floats | None = None,
        probability: Floats | None = None,
    ) -> "CodeSums":
        """Sum up: codes, which may be sparse, as means with variances and probabilities of being in."""
        weighted, whole = scipy.sparse.diags_array(weights) @ codes, bool(seen.all())
        if whole:
            inner = _dense(weighted.T @ codes)[None]
        else:
            inner = np.array([_dense(weighted[shown].T @ codes[shown]) for shown in seen.T])
        uncertain, sizes = np.zeros((1, codes.shape[1])), weights @ codes**2
        if variance is not None:
            uncertain = (
                (weights @ variance)[None] if whole else (weights[:, None] * seen).T @ variance
            )
            sizes = sizes + weights @ variance
        numbers = [weights @ np.sum(values**2, axis=1), weights @ seen.sum(axis=1), weights.sum()]
        inside = weights @ ((codes != 0) if probability is None else probability)
        return cls(inner, uncertain, weighted.T @ values, inside, sizes, np.array(numbers))

    def plus(self, other: "CodeSums") -> "CodeSums":
        """Return the sums over the signals of both."""
        return CodeSums(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, share: float) -> "CodeSums":
        """Return the sums of signals that count less."""
        return CodeSums(*(share * each for each in self))

    def ordered(self, order: Array) -> "CodeSums":
        """Return the sums of atoms in another order."""
        inner = np.ascontiguousarray(self.inner[:, order][:, :, order])
        return CodeSums(
            inner, self.uncertain[:, order], self.outer[order], self.inside[order],
            self.sizes[order], self.numbers,
        )  # fmt: skip

    def without(self, k: int) -> "CodeSums":
        """Return the sums as they are when nothing is known of an atom."""
        inner, uncertain, outer, inside, sizes, numbers = (each.copy() for each in self)
        inner[:, k], inner[:, :, k], outer[k] = 0.0, 0.0, 0.0
        uncertain[:, k], inside[k], sizes[k] = 0.0, 0.0, 0.0
        return CodeSums(inner, uncertain, outer, inside, sizes, numbers)

    def scaled(self, factor: Floats) -> "CodeSums":
        """Return the sums of codes that are multiplied with a factor of each atom."""
        return CodeSums(
            self.inner * factor[:, None] * factor, self.uncertain * factor**2,
            self.outer * factor[:, None], self.inside, self.sizes * factor**2, self.numbers,
        )  # fmt: skip

    def left(self, atoms: Floats) -> float:
        """Return the squares that codes, as means, leave of the entries that were seen."""
        image = self.image(atoms)
        return float(self.numbers[0] - 2.0 * np.vdot(self.outer, atoms) + np.vdot(image, atoms))

    def image(self, atoms: Floats) -> Floats:
        """Return products of codes with what codes make of the entries that were seen."""
        if len(self.inner) == 1:
            return np.asarray(self.inner[0] @ atoms)
        return np.asarray(np.matmul(self.inner, atoms.T[:, :, None])[:, :, 0].T)

    @property
    def total(self) -> float:
        """How many signals there are, by their weights."""
        return float(self.numbers[2])

    @property
    def mean_square(self) -> float:
        """Of the entries that were seen; 1 if all are 0."""
        return float(self.numbers[0] / self.numbers[1]) or 1.0

    @property
    def own(self) -> Floats:
        """Of each atom the sum of squares of its codes, for each entry: of shape (K, 1 or D)."""
        return np.asarray(np.einsum("jkk->kj", self.inner))


def _dense(products: Any) -> Floats:
    return np.asarray(products.toarray() if scipy.sparse.issparse(products) else products)
