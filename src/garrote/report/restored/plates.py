"""Pictures of a page as plates with a title and a caption, and the page as one file."""

import io
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.files.writing import write_text
from garrote.report.assembly import page_of, part

# Pixels of a side that a page shows at most: every so many are shown of a larger picture.
_MOST = 1600


@dataclass(frozen=True)
class Plate:
    """A picture of the page: its title, what it shows, and pixels from 0 to 255."""

    title: str
    caption: str
    pixels: Array


def write_restoration(
    path: str | PathLike[str],
    plates: Sequence[Plate],
    answer: Sequence[str],
    facts: Sequence[tuple[str, str]],
    *,
    heading: str,
    source: str = "",
    warnings: Sequence[str] = (),
) -> None:
    """Write the page of a restored picture as one file.

    Parameters
    ----------
    path : str or path
    plates : sequence of Plate
    answer : sequence of str
        Sentences that say what was done, and how well.
    facts : sequence of (str, str)
        Rows of a table: what is told, and the value.
    heading : str
    source : str
        The file that was restored.
    warnings : sequence of str
    """
    page = page_of(
        "restoration.html.jinja",
        style=part("report.css") + part("restoration.css"),
        script="",
        images=True,
        plates=[(plate.title, plate.caption, *_shown(plate.pixels)) for plate in plates],
        answer=list(answer),
        facts=list(facts),
        heading=heading,
        tab=f"{heading} · garrote",
        source=source,
        warnings=list(warnings),
    )
    write_text(path, page)


def _shown(pixels: Array) -> tuple[str, int, int]:
    """Return a picture as a data URI, with its width and height."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            'pictures of a report need pillow: run `pip install "garrote[images]"`'
        ) from error
    step = -(-max(pixels.shape[:2]) // _MOST)
    small: Any = np.ascontiguousarray(pixels[::step, ::step], dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(small).save(stream, format="PNG")
    data = b64encode(stream.getvalue()).decode("ascii")
    return f"data:image/png;base64,{data}", small.shape[1], small.shape[0]
