"""The photograph that the studies of pictures begin with: one that scikit-learn brings along."""

import numpy as np
from sklearn.datasets import load_sample_image

from garrote.arrays import Floats


def photograph() -> Floats:
    """Return a photograph in colours, 427 x 640 pixels; say what is needed to read it."""
    try:
        return np.asarray(load_sample_image("china.jpg"), float)
    except ImportError as error:
        raise ImportError(
            'the photograph needs pillow: run `pip install "garrote[images]"`'
        ) from error
