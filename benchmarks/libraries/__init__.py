"""One adapter a library: `version()` says which is installed, `measure(job)` runs one measurement.

A job is a dictionary with `task`, `folder` (of the problem), `options`, `threads`, `warm_up`,
`patience` (seconds above which a fit is not repeated) and `judge` (is the answer wanted?).
"""

import os
import sys
from pathlib import Path

RIVALS = ("glmnet", "adelie", "scikit_learn", "celer", "abess", "susie", "bms")


def interpreter(library):
    """The Python that runs a library's adapter: adelie needs NumPy 1, so it lives apart."""
    if library != "adelie":
        return sys.executable
    own = Path(__file__).parents[1] / ".venv-adelie" / "bin" / "python"
    return os.environ.get("ADELIE_PYTHON") or str(own)
