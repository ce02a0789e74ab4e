"""``garrote image``: a picture without its noise, or with its gaps filled in, and a page about it."""

import argparse
from typing import TYPE_CHECKING, Any

from garrote.cli import console
from garrote.cli.errors import DONE, CommandError, UsageError
from garrote.cli.outputs import check_library, check_sources, check_targets

if TYPE_CHECKING:
    from garrote.arrays import Array
    from garrote.coding.images.files import PictureFile


def run(options: argparse.Namespace) -> int:
    """Read the picture, restore it, write it and its page."""
    _check(options)
    from garrote.coding.images.files import PictureFile, read_mask, read_picture, refuse_unfit
    from garrote.coding.images.files import write_picture as write

    try:
        given = read_picture(options.file)
        refuse_unfit(options.output, given.pixels)
        mask = None if options.mask is None else read_mask(options.mask, given.pixels.shape)
        with console.progress() as callback, console.warnings_kept() as heard:
            found = _restored(options, given, mask, callback)
    except ValueError as error:
        raise CommandError(str(error)) from None
    write(options.output, PictureFile(found.picture, given.beside))
    if options.report is not None:
        _write_page(options, found, heard)
    for text in heard:
        console.warn(text)
    for sentence in _told(options, found):
        console.say(sentence)
    console.say(f"The picture is in {options.output}.")
    if options.report is not None:
        console.say(f"The report is in {options.report}.")
    return DONE


def _check(options: argparse.Namespace) -> None:
    """Refuse what could not be done, before any work."""
    if options.denoise == options.inpaint:
        raise UsageError("name one of --denoise and --inpaint", "image")
    if options.inpaint and options.mask is None:
        raise UsageError("--inpaint needs --mask, a picture that is white where pixels are missing",
                         "image")  # fmt: skip
    if options.denoise and options.mask is not None:
        raise UsageError("--mask is of --inpaint: --denoise restores all pixels", "image")
    if options.output is None:
        raise UsageError("name the picture to write: -o restored.png", "image")
    sources = [options.file, *([] if options.mask is None else [options.mask])]
    check_sources(sources)
    check_targets({"--output": options.output, "--report": options.report}, sources)
    check_library("PIL", "a picture", "images")
    if options.report is not None:
        check_library("jinja2", "a report", "report")


def _restored(
    options: argparse.Namespace, given: "PictureFile", mask: "Array | None", callback: Any
) -> Any:
    """Return what `Denoiser` or `Inpainter` makes of a picture."""
    from garrote.coding import Denoiser, Inpainter

    settings = {
        "patch": options.patch,
        "random_state": options.seed,
        "n_jobs": options.threads,
        "callback": callback,
    }
    if options.denoise:
        sigma = "auto" if options.sigma is None else options.sigma
        return (
            Denoiser(options.model, sigma=sigma, **settings).fit(given.pixels).restore(given.pixels)
        )
    sigma = 0.0 if options.sigma is None else options.sigma
    painter = Inpainter(options.model, sigma=sigma, **settings).fit(given.pixels, mask)
    return painter.restore(given.pixels, mask)


def _told(options: argparse.Namespace, found: Any) -> list[str]:
    """Return sentences that say what was done, and how sure it is."""
    high, wide = found.picture.shape[:2]
    uncertain = found.deviation[found.deviation > 0]
    said = []
    if options.denoise:
        source = "given" if isinstance(options.sigma, float) else "estimated from the picture"
        said.append(
            f"{wide} x {high} pixels; the noise has a deviation of {found.sigma:.4g}, {source}."
        )
    elif found.missing is None:
        said.append(
            f"{wide} x {high} pixels, of which the mask marks none as missing: nothing to do."
        )
    else:
        said.append(f"{wide} x {high} pixels, of which {found.missing.mean():.1%} were missing.")
    if uncertain.size:
        said.append(
            f"A restored pixel is within {1.96 * float((uncertain**2).mean() ** 0.5):.3g} of the true "
            "one with a probability of about 95 %, on average over the picture."
        )
    return said


def _write_page(options: argparse.Namespace, found: Any, heard: list[str]) -> None:
    from garrote.report.restored import write_restoration

    what = "without noise" if options.denoise else "with its gaps filled in"
    high, wide, colours = found.patch_shape
    facts = [
        ("Model of patches", options.model),
        ("Patches", f"{wide} x {high} pixels, {colours} colour{'s' * (colours > 1)}"),
        ("Deviation of the noise", f"{found.sigma:.4g}"),
        ("Deviations were multiplied with", f"{found.scale:.3g}, measured on pixels held out"
         if found.missing is not None else f"{found.scale:.3g}, measured on a copy with more noise"),
        ("Certificate", str(found.certificate)),
        ("Command", " ".join(options.words)),
    ]  # fmt: skip
    write_restoration(
        options.report,
        _plates(options, found),
        _told(options, found),
        facts,
        heading=f"The picture {what}",
        source=options.file,
        warnings=heard,
    )


def _plates(options: argparse.Namespace, found: Any) -> list[Any]:
    """Return the pictures of the page: before, after, where it is unsure, what was taken, atoms."""
    import numpy as np

    from garrote.cli.pictures import plates as draw
    from garrote.report.restored import Plate

    scale = draw.Range.of(found)
    most = float(found.deviation.max(initial=0.0))
    plates = [
        Plate("Before", "As it was given; missing pixels are red." if found.missing is not None
              else "As it was given.", draw.before(found, scale)),
        Plate("After", "As it was restored.", draw.colours(found.picture, scale)),
        Plate("Where it is unsure", f"The deviation of each pixel: black is 0, white {most:.3g}.",
              draw.light(found.deviation, most)),
    ]  # fmt: skip
    if options.denoise:
        taken = found.removed
        reach = float(np.abs(taken).max(initial=0.0))
        caption = (
            f"The picture given less the restored one: grey is 0, black and white {reach:.3g}."
        )
        plates.append(Plate("What was taken away", caption, draw.signed(taken, reach)))
    shown = min(len(found.atoms), draw.MOST_ATOMS)
    caption = f"{shown} of {len(found.atoms)} of what patches were made of, each in its own scale."
    plates.append(Plate("Atoms", caption, draw.atoms(found)))
    return plates
