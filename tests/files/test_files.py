"""Files written whole or not at all, arrays in zip files, and numbers as JSON has them."""

import io
import json
import zipfile

import numpy as np
import pytest

from garrote.files.json_values import number, numbers
from garrote.files.npy import BadArray, read_header, stated_array
from garrote.files.writing import replacing, write_text


def test_a_text_is_written_whole_and_takes_the_place_of_an_older_one(tmp_path):
    path = tmp_path / "answer.json"
    for text in ("größe", "a longer text", ""):
        write_text(path, text)
        assert path.read_bytes().decode() == text
    assert [file.name for file in tmp_path.iterdir()] == ["answer.json"]


def write_half(path, blow):
    with replacing(path) as stream:
        stream.write(b"half of the ne")
        raise blow


@pytest.mark.parametrize("blow", [KeyboardInterrupt, OSError])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, blow):
    path = tmp_path / "answer.json"
    path.write_text("old")
    with pytest.raises(blow):
        write_half(path, blow)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["answer.json"]


def test_a_link_stays_a_link_and_folders_are_not_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        write_text(tmp_path, "new")
    with pytest.raises(FileNotFoundError, match="create it first"):
        write_text(tmp_path / "absent" / "file", "new")


def zipped(name, content, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr(name, content)
    archive = zipfile.ZipFile(stream)
    return archive, archive.getinfo(name)


def as_npy(values):
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_states_its_shape_order_and_type(order):
    values = np.zeros((3, 4), dtype=np.float32, order=order)
    header = stated_array(*zipped("X.npy", as_npy(values)))
    assert header == ((3, 4), order == "F", np.dtype(np.float32))
    assert header.nbytes == values.nbytes


def test_an_array_that_is_not_what_it_states_is_refused():
    content = as_npy(np.zeros(5))
    with pytest.raises(BadArray, match=r"X\.npy has 160 bytes, not an array of float64 and \(5,\)"):
        stated_array(*zipped("X.npy", content[:-8]))
    archive, info = zipped("X.npy", content)
    info.file_size = 10**12
    with pytest.raises(BadArray, match=r"states 1,000,000,000,000 bytes, which it cannot hold"):
        stated_array(archive, info)
    info.flag_bits |= 1
    with pytest.raises(BadArray, match=r"X\.npy is encrypted"):
        stated_array(archive, info)
    with pytest.raises(BadArray, match="cannot hold"):
        stated_array(*zipped("X.npy", content, zipfile.ZIP_BZIP2))
    with pytest.raises(BadArray, match="the header of an array cannot be read"):
        read_header(io.BytesIO(b"no array at all"))


def test_numbers_are_those_that_json_can_hold():
    assert [number(v) for v in (np.float32(0.5), 2, np.inf, np.nan)] == [0.5, 2.0, None, None]
    table = np.array([[1 / 3, np.nan], [-np.inf, 1234567.0]])
    assert numbers(table) == [[0.333333, None], [None, 1234570.0]]
    assert numbers(table[0], digits=2) == [0.33, None]
    assert json.loads(json.dumps(numbers(table), allow_nan=False)) == numbers(table)
