"""Murphy Figure 13.23: a photograph with text written over it, and without."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.coding import Inpainter, PatchBetaProcess, PatchDictionary, PatchMixture
from garrote.experiments.drawing import make_axes
from garrote.experiments.pictures.photograph import photograph
from garrote.experiments.report import Report, StudySettings
from garrote.summaries import Table

_SIDE, _QUICK_SIDE = 160, 36


def run_figure_13_23(settings: StudySettings) -> Report:
    """Hide strokes and single pixels of a photograph, and fill them in."""
    truth = _part(_QUICK_SIDE if settings.quick else _SIDE)
    masks = {
        "text": strokes(truth.shape[:2]),
        "80 % of pixels": np.random.default_rng(settings.seed).random(truth.shape[:2]) < 0.8,
    }
    found = {
        (name, where): Inpainter(model, random_state=settings.seed)
        .fit(truth, mask)
        .restore(truth, mask)
        for where, mask in masks.items()
        for name, model in _models(settings.quick).items()
    }
    rows = list(found)
    errors = {key: (found[key].picture - truth)[masks[key[1]]] for key in rows}
    deviations = {key: found[key].deviation[masks[key[1]]] for key in rows}
    covered = {key: np.abs(errors[key]) <= 1.96 * deviations[key] for key in rows}
    return Report(
        "Murphy Figure 13.23: inpainting",
        (
            Table(
                {
                    "missing": [where for _, where in rows],
                    "model of patches": [name for name, _ in rows],
                    "PSNR": [_psnr(found[key].picture, truth) for key in rows],
                    "mean error where missing": [float(np.abs(errors[key]).mean()) for key in rows],
                    "within 1.96 deviations": [f"{covered[key].mean():.1%}" for key in rows],
                },
                caption=f"{truth.shape[1]} x {truth.shape[0]} pixels in colours",
            ),
        ),
        (
            "the text's photograph (Mairal et al. 2008) has 12 million pixels, and its dictionary was "
            "learned from 7 million undamaged patches of it; here the damaged picture is all there is, "
            "and the photograph is one that scikit-learn brings along",
        ),
        {"restored": found, "truth": truth, "masks": masks, "covered": covered},
        lambda: _draw(found, truth, masks),
    )


def _models(quick: bool) -> dict[str, Any]:
    if quick:
        return {
            "mixture": PatchMixture(4, max_rounds=3, max_patches=800),
            "beta process": PatchBetaProcess(24, n_steps=2, burn_in=10, max_patches=300),
            "cosines": PatchDictionary("dct"),
        }
    return {
        "mixture": PatchMixture(),
        "beta process": PatchBetaProcess(),
        "cosines": PatchDictionary("dct"),
    }


def _part(side: int) -> Floats:
    """Return a part of the photograph."""
    return photograph()[150 : 150 + side, 200 : 200 + side]


def strokes(shape: tuple[int, ...]) -> Array:
    """Return lines of something like writing: strokes of two pixels, up, down and across."""
    rng = np.random.default_rng(0)
    mask = np.zeros(shape, bool)
    for top in range(3, shape[0] - 8, 14):
        left = 2
        while left < shape[1] - 6:
            down, across = int(rng.integers(4, 8)), int(rng.integers(3, 6))
            mask[top : top + down, left : left + 2] = True
            bar = top + rng.integers(0, down - 1)
            mask[bar : bar + 2, left : left + across] = True
            left += across + int(rng.integers(2, 5))
    return mask


def _psnr(picture: Array, truth: Floats) -> float:
    return float(10 * np.log10(255.0**2 / np.mean((picture - truth) ** 2)))


def _draw(found: dict[tuple[str, str], Any], truth: Floats, masks: dict[str, Array]) -> Any:
    figure, axes = make_axes(len(masks), 4, width=12, height=3.2 * len(masks))
    for row, (where, mask) in zip(axes, masks.items(), strict=True):
        best = found["mixture", where]
        shown = {
            "as it is": truth / 255.0,
            f"missing: {where}": np.where(mask[:, :, None], 1.0, truth / 255.0),
            "filled in": best.picture.clip(0, 255) / 255.0,
            "deviation": best.deviation.max(axis=2),
        }
        for panel, (title, picture) in zip(row, shown.items(), strict=True):
            panel.imshow(picture, cmap="gray" if picture.ndim == 2 else None)
            panel.set_title(title)
            panel.set_axis_off()
    return figure
