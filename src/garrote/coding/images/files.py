"""Pictures in files: read as arrays, and written whole or not at all."""

import io
import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array
from garrote.files.writing import replacing

# How pillow calls what arrays can stand for, and what it makes of all else.
_PLAIN = ("L", "LA", "RGB", "RGBA", "I;16", "I", "F")
_MADE = {"1": "L", "CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "HSV": "RGB", "RGBX": "RGB"}
# Formats by suffix, and the kinds of numbers that each of them keeps without loss of digits.
_FORMATS = {
    ".png": ("PNG", ("uint8", "uint16")),
    ".tif": ("TIFF", ("uint8", "uint16", "int32", "float32")),
    ".tiff": ("TIFF", ("uint8", "uint16", "int32", "float32")),
    ".jpg": ("JPEG", ("uint8",)),
    ".jpeg": ("JPEG", ("uint8",)),
    ".bmp": ("BMP", ("uint8",)),
}


class PictureFile(NamedTuple):
    """The pixels of a file, and what else of it is carried over to another one."""

    pixels: Array
    beside: dict[str, Any]


def read_picture(path: str | os.PathLike[str]) -> PictureFile:
    """Return the picture of a file; palettes become colours, all else stays as it is.

    Parameters
    ----------
    path : str or path
        PNG, TIFF, JPEG, BMP or another format that pillow reads, with one picture in it.
    """
    Image = _pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as file:
                _refuse_what_would_be_lost(path, file)
                file.load()
                pixels = np.asarray(_plain(path, file))
                beside = {k: file.info[k] for k in ("icc_profile", "exif") if file.info.get(k)}
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ValueError(f"{path} is too large a picture: {error}") from None
    except Image.UnidentifiedImageError:
        raise ValueError(
            f"{path} is no picture that pillow can read: give a PNG, TIFF, JPEG or BMP file"
        ) from None
    except (OSError, SyntaxError) as error:
        raise ValueError(f"{path} cannot be read as a picture: {error}") from None
    return PictureFile(pixels, beside)


def read_mask(path: str | os.PathLike[str], shape: tuple[int, ...]) -> Array:
    """Return which pixels a file marks as missing: the light ones, of at least half of white.

    Parameters
    ----------
    path : str or path
    shape : tuple of int
        Of the picture: its height and width come first.
    """
    pixels = read_picture(path).pixels
    if pixels.shape[:2] != tuple(shape[:2]):
        raise ValueError(
            f"the mask {path} has {pixels.shape[1]} x {pixels.shape[0]} pixels, the picture "
            f"{shape[1]} x {shape[0]}: make one of the same size, white where pixels are missing"
        )
    white = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "iu" else 1.0
    layers = pixels.reshape(*pixels.shape[:2], -1)
    light = layers if layers.shape[2] in (1, 3) else layers[:, :, :-1]
    return np.asarray(light.mean(axis=2) >= 0.5 * white)


def refuse_unfit(path: str | os.PathLike[str], pixels: Array) -> None:
    """Refuse a file whose format could not hold such a picture, before any work."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise ValueError(f"{path} must end in one of {known}, which say how pictures are written")
    name, kinds = _FORMATS[suffix]
    if str(pixels.dtype) not in kinds:
        raise ValueError(
            f"{name} cannot hold numbers of type {pixels.dtype}: name a file that ends in .tif"
            + (" or .png" if pixels.dtype == np.uint16 else "")
        )
    if pixels.ndim == 3 and pixels.shape[2] in (2, 4) and name in ("JPEG", "BMP"):
        raise ValueError(f"{name} cannot hold alpha: name a file that ends in .png or .tif")


def write_picture(path: str | os.PathLike[str], picture: PictureFile) -> None:
    """Write a picture, whole or not at all, in the format of the file's name."""
    refuse_unfit(path, picture.pixels)
    name, _ = _FORMATS[Path(path).suffix.lower()]
    options: dict[str, Any] = {"quality": 95} if name == "JPEG" else {}
    beside = {} if name == "BMP" else picture.beside
    data = _encoded(picture.pixels, name, **options, **beside)
    with replacing(path) as stream:
        stream.write(data)


def _encoded(pixels: Array, name: str, **options: Any) -> bytes:
    """Return the bytes of a picture in a format."""
    stream = io.BytesIO()
    _pillow().fromarray(np.ascontiguousarray(pixels)).save(stream, format=name, **options)
    return stream.getvalue()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            'pictures in files need pillow: run `pip install "garrote[images]"`'
        ) from error
    return Image


def _refuse_what_would_be_lost(path: str | os.PathLike[str], file: Any) -> None:
    """Raise for files of which pillow would read a part alone."""
    frames = getattr(file, "n_frames", 1)
    if frames > 1:
        raise ValueError(f"{path} holds {frames} pictures: give a file of one")
    if file.format == "PNG" and file.mode in ("RGB", "RGBA", "LA"):
        with Path(path).open("rb") as stream:
            header = stream.read(25)
        if header[24] == 16:
            raise ValueError(
                f"{path} has colours or alpha of 16 bits, of which pillow reads 8: save it with 8 "
                "bits, or each colour as a grey picture of 16 bits"
            )


def _plain(path: str | os.PathLike[str], file: Any) -> Any:
    """Return a picture in a form that an array can stand for."""
    if file.mode in ("P", "PA"):
        return file.convert("RGBA" if file.mode == "PA" or "transparency" in file.info else "RGB")
    if file.mode in ("I;16B", "I;16L", "I;16N"):
        return file.convert("I;16") if file.mode != "I;16B" else file.convert("I")
    if file.mode in _MADE:
        return file.convert(_MADE[file.mode])
    if file.mode not in _PLAIN:
        raise ValueError(f"{path} has pixels of the kind {file.mode!r}: save it as grey or RGB")
    return file
