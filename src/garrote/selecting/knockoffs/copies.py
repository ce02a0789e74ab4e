"""Copies of rows: drawn given the columns' law (model-X), or built from the columns alone (fixed-X).

In coordinates U of variance 1 with correlations R both are

::

    U - U R^-1 S + E C,   C'C = 2 S - S R^-1 S,

S = diag(s). For model-X E has independent normal entries, so that originals and copies have a joint
normal law that no exchange of a column with its copy changes (Candes et al. 2018). For fixed-X the
columns of E are orthonormal, and orthogonal to U and to the intercept: the cross products of all columns
are then exactly those that such exchanges leave as they are (Barber & Candes 2015). Which orthonormal
columns these are is drawn at random.
"""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.selecting.knockoffs.column_law import ColumnLaw, column_means
from garrote.selecting.knockoffs.coordinates import Coordinates
from garrote.selecting.knockoffs.separation import Separation, separate, solved_by

# Directions of the conditional covariance with less variance have none.
_NO_VARIANCE = 1e-12


@dataclass(frozen=True)
class CopyLaw:
    """How copies are made of columns: coordinates, separation, and what copies have of chance.

    ``explained`` is R^-1 S, and ``root`` a matrix C with C'C = 2 S - S R^-1 S.
    """

    mean: Floats
    coordinates: Coordinates
    separation: Separation
    explained: Floats
    root: Floats

    @classmethod
    def of(cls, mean: Floats, covariance: Floats, groups: Array, aim: str) -> "CopyLaw":
        """Separate the groups of columns of some mean and covariance by the name of an aim."""
        coordinates = Coordinates.of(covariance, groups)
        separation = separate(coordinates, aim)
        each = separation.each
        explained = solved_by(coordinates.correlation, np.diag(each))
        left = 2.0 * np.diag(each) - each[:, None] * explained
        variance, directions = np.linalg.eigh((left + left.T) / 2)
        kept = variance > _NO_VARIANCE
        root = np.sqrt(variance[kept])[:, None] * directions[:, kept].T
        return cls(mean, coordinates, separation, explained, root)

    def made_of(self, X: Floats, chance: Floats) -> Floats:
        """Return copies of rows, ``chance`` being E."""
        rows = (X - self.mean) @ self.coordinates.into
        change = (chance @ self.root - rows @ self.explained) @ self.coordinates.back
        copies = X + change
        # Columns that cannot be separated are their own copies, to the last digit.
        same = ~(self.coordinates.back[self.separation.each > 0] != 0).any(axis=0)
        copies[:, same] = X[:, same]
        return copies

    def draw(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Draw model-X copies of rows."""
        return self.made_of(X, rng.standard_normal((len(X), len(self.root))))


def law_of_copies(law: ColumnLaw, groups: Array, aim: str) -> CopyLaw:
    """Return how copies of columns of some law are made (model-X)."""
    return CopyLaw.of(law.mean, law.covariance, groups, aim)


@dataclass(frozen=True)
class FixedTable:
    """Rows for fixed-X copies: those given and, where N is small, some more that hold nothing but noise.

    ``roots`` are square roots of the weights; ``extra`` says how many rows were added, whose columns are
    at their means and whose responses are noise.
    """

    rows: Floats
    mean: Floats
    roots: Floats
    intercept: bool
    extra: int

    @classmethod
    def of(cls, X: Floats, weights: Floats, intercept: bool) -> "FixedTable":
        """Take rows of positive weight; raise where there are too few for fixed-X copies."""
        count, columns = X.shape
        spent = int(intercept)
        if count < columns + spent + 1:
            raise ValueError(
                f"fixed-X knockoffs need more rows than columns{' and intercept' * spent}, so that the "
                f"noise can be told: at least {columns + spent + 1} of positive weight for {columns} "
                f"columns, got {count}; take knockoffs='model-x'"
            )
        roots = np.sqrt(weights)
        mean = column_means(X, weights) if intercept else np.zeros(columns)
        # Beside the columns there must be room for as many copies, for the intercept, and for that of
        # the longer table.
        extra = max(0, 2 * columns + 2 * spent - count) if count < 2 * columns + spent else 0
        return cls(X, mean, roots, intercept, extra)

    @property
    def covariance(self) -> Floats:
        """The cross products of the weighted, centred rows."""
        rows = self._weighted
        return np.asarray(rows.T @ rows)

    @property
    def _weighted(self) -> Floats:
        return np.asarray((self.rows - self.mean) * self.roots[:, None])

    def longer(self) -> tuple[Floats, Floats]:
        """Return all rows, those that were added being the mean, and the roots of their weights."""
        more = np.broadcast_to(self.mean, (self.extra, self.rows.shape[1]))
        return np.vstack([self.rows, more]), np.append(self.roots, np.ones(self.extra))

    def longer_response(self, y: Floats, rng: np.random.Generator) -> Floats:
        """Return the response with noise for the rows that were added, around the mean of y."""
        if not self.extra:
            return y
        level = float(np.average(y, weights=self.roots**2)) if self.intercept else 0.0
        rows, left = self._weighted, (y - level) * self.roots
        coef, _, rank, _ = np.linalg.lstsq(rows, left, rcond=None)
        spread = float(np.linalg.norm(left - rows @ coef))
        noise = spread / np.sqrt(len(y) - int(rank) - int(self.intercept))
        return np.append(y, level + noise * rng.standard_normal(self.extra))

    def copies(self, law: CopyLaw, rng: np.random.Generator) -> Floats:
        """Return fixed-X copies of all rows, with a random choice of the orthonormal columns."""
        rows, roots = self.longer()
        taken = [((rows - self.mean) * roots[:, None]) @ law.coordinates.into]
        if self.intercept:
            taken.append(roots[:, None])
        if self.intercept and self.extra:
            taken.append((roots * (np.arange(len(roots)) < len(self.rows)))[:, None])
        basis = _orthonormal(np.hstack(taken))
        chance = rng.standard_normal((len(roots), len(law.root)))
        for _ in range(2):  # twice is enough against cancellation
            chance -= basis @ (basis.T @ chance)
        free, _ = np.linalg.qr(chance)
        return law.made_of(rows, free / roots[:, None])

    def turned(
        self, copies: Floats, y: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Return columns, copies and response after a turn of all rows that is drawn at random.

        Whatever is made of the turned rows depends on cross products alone, which the statistics of
        fixed-X copies have to: folds of rows as they were given would see more. Rows have weight 1 after
        it, and means are where they were.
        """
        rows, roots = self.longer()
        level = float(np.average(y, weights=roots**2)) if self.intercept else 0.0
        whole = np.column_stack([rows - self.mean, copies - self.mean, y - level]) * roots[:, None]
        count, spent = len(whole), int(self.intercept)
        if self.intercept:  # a reflection that takes the intercept's direction to the first row
            mirror = roots / np.linalg.norm(roots)
            mirror[0] += np.copysign(1.0, mirror[0])
            mirror /= np.linalg.norm(mirror)
            whole = (whole - 2.0 * np.outer(mirror, mirror @ whole))[1:]
        factor = np.linalg.qr(whole, mode="r")
        frame = rng.standard_normal((count, len(factor)))
        frame, triangle = np.linalg.qr(frame - spent * frame.mean(axis=0))
        turned = (frame * np.sign(np.diag(triangle))) @ factor
        one, other = np.split(turned[:, :-1], 2, axis=1)
        return one + self.mean, other + self.mean, turned[:, -1] + level


def _orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis of what columns span."""
    scale = np.linalg.norm(columns, axis=0)
    left, size, _ = np.linalg.svd(columns / np.where(scale > 0, scale, 1.0), full_matrices=False)
    kept = size > 1e-12 * size[0]
    return np.asarray(left[:, kept])
