"""The options of ``garrote image``. Nothing heavy is imported here."""

import argparse

from garrote.cli.values import bound, count, seed


def add_image(command: argparse.ArgumentParser) -> None:
    """Add what ``garrote image`` may be told."""
    command.epilog = "Example: garrote image in.png --denoise -o out.png --report page.html"
    command.add_argument("file", help="PNG, TIFF, JPEG or BMP file")
    command.add_argument("--denoise", action="store_true", help="take noise out of all pixels")
    command.add_argument("--inpaint", action="store_true", help="fill in the pixels of --mask")
    command.add_argument(
        "--mask", metavar="FILE", help="a picture of the same size, white where pixels are missing"
    )
    command.add_argument(
        "--sigma", type=noise, metavar="S",
        help="standard deviation of the noise in units of the file, or auto (default: auto; of "
        "--inpaint 0, which keeps known pixels as they are)",
    )  # fmt: skip
    command.add_argument(
        "--model", choices=("mixture", "dictionary", "beta-process"), default="mixture",
        help="how patches are modelled (default: mixture)",
    )  # fmt: skip
    command.add_argument(
        "--patch", type=count, metavar="P", help="side of patches (default 8, of colours 6)"
    )
    command.add_argument("--seed", type=seed, default=0, metavar="S", help="default 0")
    command.add_argument("--threads", type=count, metavar="T", help="default 1")
    command.add_argument("-o", "--output", metavar="FILE", help="picture to write")
    command.add_argument("--report", metavar="FILE", help="write an HTML page about it")


def noise(text: str) -> float | str:
    """Return a deviation of noise, or "auto"."""
    return text if text == "auto" else bound(text)
