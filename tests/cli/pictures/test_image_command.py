import re

import numpy as np
import pytest
from PIL import Image

from garrote.cli.main import main
from reference_pictures import psnr, scene

TRUTH = scene(30, 34)
NOISY = np.clip(TRUTH + 12.0 * np.random.default_rng(3).standard_normal(TRUTH.shape), 0, 255)
MASK = np.random.default_rng(4).random(TRUTH.shape) < 0.4


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main(["image", *map(str, arguments), "--patch", "4"])
        out, err = capsys.readouterr()
        return code, " ".join(out.split()), " ".join(err.split())

    return call


def save(name, pixels, mode=None):
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    (picture if mode is None else picture.convert(mode)).save(name)
    return name


def read(name):
    with Image.open(name) as file:
        return np.asarray(file), file.mode


def test_noise_is_taken_out_of_a_file(run):
    save("in.png", NOISY.astype(np.uint8))
    code, out, _ = run("in.png", "--denoise", "--sigma", "auto", "-o", "out.png")
    assert code == 0
    assert "34 x 30 pixels; the noise has a deviation of" in out
    assert "estimated from the picture" in out
    found, mode = read("out.png")
    assert mode == "L"
    assert psnr(found, TRUTH) > psnr(NOISY, TRUTH) + 3.0


def test_gaps_are_filled_in_and_all_else_kept(run):
    save("in.png", np.where(MASK, 0, TRUTH).astype(np.uint8))
    save("mask.png", (255 * MASK).astype(np.uint8))
    code, out, _ = run("in.png", "--inpaint", "--mask", "mask.png", "-o", "out.png")
    assert code == 0
    assert f"of which {MASK.mean():.1%} were missing" in out
    found, _ = read("out.png")
    np.testing.assert_array_equal(found[~MASK], TRUTH.astype(np.uint8)[~MASK])
    assert np.abs(found - TRUTH)[MASK].mean() < 12.0


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "I;16", "P", "1", "CMYK", "F"])
def test_every_kind_of_file_is_restored_or_becomes_colours(run, mode):
    suffix = "tif" if mode in ("CMYK", "F") else "png"
    grey = NOISY.astype(np.uint8)
    if mode == "I;16":
        save("in.png", NOISY.astype(np.uint16) * 200)
    elif mode in ("LA", "RGBA"):
        layers = np.repeat(grey[:, :, None], len(mode), axis=2)
        layers[:, :, -1] = np.arange(34)
        save("in.png", layers)
    elif mode == "F":
        save("in.tif", NOISY.astype(np.float32))
    else:
        save(f"in.{suffix}", grey, mode)
    code, _, err = run(f"in.{suffix}", "--denoise", "--sigma", 12, "-o", f"out.{suffix}")
    assert (code, err) == (0, "")
    found, kind = read(f"out.{suffix}")
    assert kind == {"P": "RGB", "1": "L", "CMYK": "RGB"}.get(mode, mode)
    if mode in ("LA", "RGBA"):
        np.testing.assert_array_equal(found[:, :, -1], layers[:, :, -1])
    if mode == "I;16":
        assert psnr(found / 200.0, TRUTH) > psnr(NOISY, TRUTH)


def test_the_page_shows_before_after_atoms_and_where_it_is_unsure(run):
    save("in.png", np.where(MASK, 0, TRUTH).astype(np.uint8))
    save("mask.png", (255 * MASK).astype(np.uint8))
    page = "page.html"
    code, out, _ = run(
        "in.png", "--inpaint", "--mask", "mask.png", "-o", "out.png", "--report", page
    )
    assert code == 0
    assert f"The report is in {page}." in out
    with open(page, encoding="utf-8") as stream:
        text = stream.read()
    titles = re.findall(r'<h2 id="plate-\d">([^<]*)</h2>', text)
    assert titles == ["Before", "After", "Where it is unsure", "Atoms"]
    assert text.count('src="data:image/png;base64,') == 4
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["in.png", "-o", "out.png"], "name one of --denoise and --inpaint"),
        (["in.png", "--denoise", "--inpaint", "-o", "o.png"], "name one of --denoise and --inpaint"),
        (["in.png", "--inpaint", "-o", "out.png"], "--inpaint needs --mask"),
        (["in.png", "--denoise", "--mask", "in.png", "-o", "o.png"], "--mask is of --inpaint"),
        (["in.png", "--denoise"], "name the picture to write"),
        (["in.png", "--denoise", "--sigma", "-1", "-o", "o.png"], "must be at least 0"),
        (["none.png", "--denoise", "-o", "o.png"], "none.png"),
        (["in.png", "--denoise", "-o", "in.png"], "is also the file that is read"),
        (["in.png", "--denoise", "-o", "nowhere/o.png"], "there is no folder 'nowhere'"),
        (["in.png", "--denoise", "-o", "out.gif"], "out.gif must end in one of .png"),
        (["deep.png", "--denoise", "-o", "out.jpg"], "JPEG cannot hold numbers of type uint16"),
        (["alpha.png", "--denoise", "-o", "out.jpg"], "JPEG cannot hold alpha"),
        (["text.png", "--denoise", "-o", "o.png"], "text.png is no picture that pillow can read"),
        (["cut.png", "--denoise", "-o", "o.png"], "cut.png cannot be read as a picture"),
        (["two.gif", "--denoise", "-o", "o.png"], "two.gif holds 2 pictures"),
        (["deep_colours.png", "--denoise", "-o", "o.png"], "colours or alpha of 16 bits"),
        (["in.png", "--inpaint", "--mask", "small.png", "-o", "o.png"],
         "the mask small.png has 5 x 4 pixels, the picture 34 x 30"),
        (["in.png", "--inpaint", "--mask", "white.png", "-o", "o.png"],
         "the mask hides all of the picture"),
        (["pixel.png", "--denoise", "-o", "o.png"], "sigma='auto' cannot be estimated"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_and_nothing_written(run, tmp_path, arguments, said):
    whole = NOISY.astype(np.uint8)
    save("in.png", whole)
    save("deep.png", whole.astype(np.uint16))
    save("alpha.png", np.repeat(whole[:, :, None], 4, axis=2))
    save("small.png", np.zeros((4, 5), np.uint8))
    save("white.png", np.full(whole.shape, 255, np.uint8))
    save("pixel.png", np.full((1, 1), 9, np.uint8))
    (tmp_path / "text.png").write_text("no picture at all")
    data = (tmp_path / "in.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(data[: len(data) // 2])
    (tmp_path / "deep_colours.png").write_bytes(deep_colours())
    frames = [Image.fromarray(whole), Image.fromarray(255 - whole)]
    frames[0].save("two.gif", save_all=True, append_images=frames[1:])
    before = set(tmp_path.iterdir())
    code, _, err = run(*arguments)
    assert code in (1, 2)
    assert said in err
    assert set(tmp_path.iterdir()) == before


def deep_colours():
    """Return a PNG of two pixels with 16 bits a colour, which pillow cannot write."""
    import struct
    import zlib

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0" + bytes(range(12))))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")


def test_one_pixel_with_a_known_noise_is_restored(run):
    save("in.png", np.full((1, 1), 9, np.uint8))
    code, _, _ = run("in.png", "--denoise", "--sigma", 3, "-o", "out.png")
    assert code == 0
    assert read("out.png")[0].item() == 9


def test_a_mask_that_marks_nothing_changes_nothing(run):
    save("in.png", NOISY.astype(np.uint8))
    save("mask.png", np.zeros(NOISY.shape, np.uint8))
    code, out, _ = run("in.png", "--inpaint", "--mask", "mask.png", "-o", "out.png")
    assert code == 0
    assert "nothing to do" in out
    np.testing.assert_array_equal(read("out.png")[0], NOISY.astype(np.uint8))
