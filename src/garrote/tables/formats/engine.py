"""Where polars is imported, and what is said when it is absent."""

from typing import Any


def polars() -> Any:
    """Return the polars module."""
    try:
        import polars as module
    except ImportError as error:
        raise ImportError(
            'reading tables needs polars: run `pip install "garrote[cli]"`'
        ) from error
    return module
