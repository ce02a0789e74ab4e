"""Matrices by fast products: cosines, waves, wavelets, differences, samples and random projections.

Each is a ``scipy.sparse.linalg.LinearOperator``: ``A @ B`` and ``A.T`` are operators again, and an
estimator takes any of them in place of X.
"""

from garrote.designs.operators.base import Operator
from garrote.designs.operators.differences import Differences, Steps
from garrote.designs.operators.projections import RandomProjection
from garrote.designs.operators.sampling import Identity, Rows
from garrote.designs.operators.transforms import CosineTransform, FourierSamples
from garrote.designs.operators.trends import Trends
from garrote.designs.operators.wavelets import WaveletTransform

__all__ = [
    "CosineTransform",
    "Differences",
    "FourierSamples",
    "Identity",
    "Operator",
    "RandomProjection",
    "Rows",
    "Steps",
    "Trends",
    "WaveletTransform",
]
