"""Denoising and inpainting of real pictures beside K-SVD as published, scikit-learn and scikit-image.

    python benchmarks/pictures.py [folder of pictures]

Six crops of 256 x 256 pixels of what scikit-image and scikit-learn bring along, or all pictures of a
folder, as they are. Rivals get what favours them: weights of total variation and the code of
scikit-learn's example are those that come nearest to the truth.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from garrote.coding import Denoiser, Inpainter, PursuitCoding, dct_dictionary

SIGMA, MISSING = 25.0, 0.8


def pictures(folder=None):
    """Return pictures by name, grey, as floats from 0 to 255."""
    if folder is not None:
        from PIL import Image

        return {
            path.stem: np.asarray(Image.open(path).convert("L"), float)
            for path in sorted(Path(folder).iterdir())
        }
    from skimage import color, data
    from sklearn.datasets import load_sample_image

    whole = {
        "camera": data.camera(),
        "coins": data.coins(),
        "astronaut": data.astronaut(),
        "coffee": data.coffee(),
        "china": load_sample_image("china.jpg"),
        "flower": load_sample_image("flower.jpg"),
    }
    grey = {k: v * 1.0 if v.ndim == 2 else 255.0 * color.rgb2gray(v) for k, v in whole.items()}
    return {name: _middle(picture) for name, picture in grey.items()}


def _middle(picture, side=256):
    top, left = (max(0, (length - side) // 2) for length in picture.shape)
    return picture[top : top + side, left : left + side]


def psnr(found, truth):
    return 10 * np.log10(255.0**2 / np.mean((found - truth) ** 2))


def ksvd_of_elad_and_aharon(noisy, sigma):
    """Denoise as published: 256 cosines, 10 rounds over all patches, exact rank-one updates."""
    n, error = 8, (1.15 * sigma) ** 2 * 64
    patches = sliding_window_view(noisy, (n, n)).reshape(-1, n * n)
    levels = patches.mean(axis=1, keepdims=True)
    signals = patches - levels
    atoms = dct_dictionary((n, n), 16)[1:]
    coder = PursuitCoding(error=error)
    for _ in range(10):
        codes = coder.code(atoms, signals).codes.tocsc()
        left = signals - codes @ atoms
        for j in range(len(atoms)):
            span = slice(codes.indptr[j], codes.indptr[j + 1])
            rows = codes.indices[span]
            if not len(rows):
                worst = np.argmax(np.einsum("ij,ij->i", left, left))
                atoms[j] = left[worst] / np.linalg.norm(left[worst])
                continue
            rest = left[rows] + codes.data[span][:, None] * atoms[j]
            atoms[j] = np.linalg.eigh(rest.T @ rest)[1][:, -1]
            codes.data[span] = rest @ atoms[j]
            left[rows] = rest - codes.data[span][:, None] * atoms[j]
    found = coder.code(atoms, signals).codes @ atoms + levels
    weight = 30.0 / sigma
    total, count = weight * noisy, np.full(noisy.shape, weight)
    high, wide = noisy.shape[0] - n + 1, noisy.shape[1] - n + 1
    found = found.reshape(high, wide, n, n)
    for i in range(n):
        for j in range(n):
            total[i : i + high, j : j + wide] += found[:, :, i, j]
            count[i : i + high, j : j + wide] += 1
    return total / count


def dictionary_of_scikit_learn(noisy, truth):
    """Denoise as its example does; of its codes by pursuit the best one."""
    from sklearn.decomposition import MiniBatchDictionaryLearning
    from sklearn.feature_extraction.image import extract_patches_2d, reconstruct_from_patches_2d

    unit = noisy / 255.0
    data = extract_patches_2d(unit, (7, 7)).reshape(-1, 49)
    level, spread = data.mean(axis=0), data.std(axis=0)
    learner = MiniBatchDictionaryLearning(
        n_components=50, batch_size=200, alpha=1.0, max_iter=10, random_state=0
    ).fit((data - level) / spread)
    inside = data.mean(axis=0)
    found = []
    for atoms in (1, 2):
        learner.set_params(transform_algorithm="omp", transform_n_nonzero_coefs=atoms)
        rows = learner.transform(data - inside) @ learner.components_ + inside
        picture = 255.0 * reconstruct_from_patches_2d(rows.reshape(-1, 7, 7), noisy.shape)
        found.append(psnr(picture, truth))
    return max(found)


def total_variation_of_scikit_image(noisy, truth):
    """Denoise with the weight that comes nearest to the truth."""
    from skimage.restoration import denoise_tv_chambolle

    weights = np.geomspace(0.02, 0.5, 25)
    return max(psnr(255.0 * denoise_tv_chambolle(noisy / 255.0, weight=w), truth) for w in weights)


def main(folder=None):
    rows = []
    for k, (name, truth) in enumerate(pictures(folder).items()):
        rng = np.random.default_rng(100 + k)
        noisy = truth + SIGMA * rng.standard_normal(truth.shape)
        missing = rng.random(truth.shape) < MISSING
        found = Denoiser(sigma=SIGMA).fit(noisy).restore(noisy)
        filled = Inpainter().fit(truth, missing).restore(truth, missing)
        dictionary = Denoiser("dictionary", sigma=SIGMA).fit(noisy).restore(noisy)
        row = {
            "mixture": psnr(found.picture, truth),
            "dictionary": psnr(dictionary.picture, truth),
            "K-SVD as published": psnr(ksvd_of_elad_and_aharon(noisy, SIGMA), truth),
            "scikit-learn": dictionary_of_scikit_learn(noisy, truth),
            "TV": total_variation_of_scikit_image(noisy, truth),
            "cover": _covered(found, truth, np.ones(truth.shape, bool)),
            "cover dict.": _covered(dictionary, truth, np.ones(truth.shape, bool)),
            "80 % missing": psnr(filled.picture, truth),
            "cover missing": _covered(filled, truth, missing),
        }
        rows.append(list(row.values()))
        if k == 0:
            print("| picture | " + " | ".join(row) + " |")
        print(f"| {name} | " + " | ".join(_cell(v) for v in row.values()) + " |", flush=True)
    print("| mean | " + " | ".join(_cell(v) for v in np.mean(rows, axis=0)) + " |")


def _covered(found, truth, where):
    return np.mean((np.abs(found.picture - truth) <= 1.96 * found.deviation)[where])


def _cell(value):
    return f"{value:.2f}" if value > 1 else f"{value:.1%}"


if __name__ == "__main__":
    main(*sys.argv[1:])
