"""The sparse coder as users meet it: arrays and frames in and out, files, summaries, refusals."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import garrote
from garrote.coding import CODERS, LassoCoding, PursuitCoding, SparseCoder, dct_dictionary
from reference_coding import signals_of_few_atoms


def test_codes_lead_back_to_signals():
    atoms, signals = signals_of_few_atoms(noise=0.0)
    coder = SparseCoder(atoms, PursuitCoding(6)).fit(signals)
    codes = coder.transform(signals)
    assert codes.shape == (60, 30)
    left = signals - coder.inverse_transform(codes)
    share = 1 - np.sum(left**2) / np.sum(signals**2)
    assert share > 0.99
    assert coder.score(signals) == pytest.approx(share)
    np.testing.assert_allclose(
        coder.inverse_transform(scipy.sparse.csr_array(codes)), signals - left, atol=1e-12
    )


def test_output_is_sparse_or_a_frame_where_that_is_asked_for():
    atoms, signals = signals_of_few_atoms()
    dense = SparseCoder(atoms).fit_transform(signals)
    sparse = SparseCoder(atoms, sparse_output=True).fit_transform(signals.astype(np.float32))
    assert sparse.format == "csr"
    assert sparse.dtype == np.float32
    np.testing.assert_allclose(sparse.toarray(), dense, atol=1e-5)
    frame = pd.DataFrame(signals, columns=[f"t{j}" for j in range(16)])
    coder = SparseCoder(atoms).set_output(transform="pandas").fit(frame)
    found = coder.transform(frame)
    assert list(found.columns[:2]) == ["sparsecoder0", "sparsecoder1"]
    assert list(found.columns) == list(coder.get_feature_names_out())
    np.testing.assert_array_equal(found.to_numpy(), dense)


@pytest.mark.parametrize("name", CODERS)
def test_a_coder_comes_back_from_its_file(name, tmp_path):
    atoms, signals = signals_of_few_atoms()
    coder = SparseCoder(atoms, name).fit(signals)
    coder.save(tmp_path / "coder.garrote")
    again = garrote.load(tmp_path / "coder.garrote")
    np.testing.assert_array_equal(again.transform(signals), coder.transform(signals))
    assert again.method_ == coder.method_


def test_settings_of_a_method_are_searched_over():
    atoms, signals = signals_of_few_atoms()
    search = GridSearchCV(SparseCoder(atoms, PursuitCoding()), {"method__n_nonzero": [1, 3]}, cv=3)
    assert search.fit(signals).best_params_ == {"method__n_nonzero": 3}
    with pytest.raises(ValueError, match=r"write method=PursuitCoding\(\) to set its n_nonzero"):
        clone(SparseCoder(atoms)).set_params(method__n_nonzero=2)


def test_codes_are_told_in_a_few_lines():
    atoms, signals = signals_of_few_atoms()
    codes = SparseCoder(atoms, "lasso").fit(signals).encode(signals)
    said = str(codes.summary())
    assert "60 signals over 30 atoms" in said
    assert "largest duality gap of 60 signals" in said
    assert len(repr(codes)) < 1000


def test_cosines_are_orthonormal_or_overcomplete():
    for shape in (7, (3, 5)):
        atoms = dct_dictionary(shape)
        np.testing.assert_allclose(atoms @ atoms.T, np.eye(len(atoms)), atol=1e-12)
    many = dct_dictionary((4, 4), 6)
    assert many.shape == (36, 16)
    np.testing.assert_allclose(np.linalg.norm(many, axis=1), 1)
    assert np.linalg.matrix_rank(many) == 16
    with pytest.raises(ValueError, match="shape must be an integer >= 1, got 0"):
        dct_dictionary((4, 0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dictionary": np.ones((3, 5))}, "atoms have 5 entries and signals 16"),
        ({"dictionary": np.ones(16)}, "dictionary must have an atom a row"),
        ({"dictionary": np.full((2, 16), np.inf)}, "dictionary must be finite, got inf in atom 0"),
        ({"dictionary": np.full((2, 16), 1e200)}, "dictionary is 1e.200 at atom 0"),
        ({"dictionary": "wavelets"}, "dictionary must be an array of atoms or 'dct'"),
        ({"method": "lars"}, "method must be one of .*or a coding method of garrote.coding"),
        ({"method": PursuitCoding(99)}, "n_nonzero must be at most 16"),
    ],
)
def test_what_no_codes_could_come_of_is_refused(change, message):
    atoms, signals = signals_of_few_atoms()
    coder = SparseCoder(**{"dictionary": atoms, **change})
    with pytest.raises(ValueError, match=message):
        coder.fit(signals).transform(signals)


def test_bad_signals_are_refused_with_their_place():
    atoms, signals = signals_of_few_atoms()
    coder = SparseCoder(atoms, LassoCoding()).fit(signals)
    gap = signals.copy()
    gap[4, 7] = np.nan
    with pytest.raises(ValueError, match=r"row 4, column 7 \(1 column affected\)\. Drop those"):
        coder.transform(gap)
    with pytest.raises(ValueError, match="3 features"):
        coder.transform(signals[:, :3])
    with pytest.raises(ValueError, match="X has 7 columns, but there are 30 atoms"):
        coder.inverse_transform(np.ones((2, 7)))
