"""
Pictures without noise and gaps
===============================

A photograph gets noise, and loses pixels. Models of its patches, learned from what is left, restore it,
and say how far each pixel may be from the truth.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_sample_image

from garrote.coding import Denoiser, Inpainter, PatchMixture

truth = load_sample_image("flower.jpg")[140:260, 220:364].mean(axis=2)
rng = np.random.default_rng(0)
noisy = truth + 20.0 * rng.standard_normal(truth.shape)
missing = rng.random(truth.shape) < 0.5

# %%
# The noise is estimated from the picture. Errors of restored pixels are known here; their deviations
# are stated without them.
model = PatchMixture(10, max_rounds=6)
clean = Denoiser(model).fit(noisy).restore(noisy)
filled = Inpainter(model).fit(truth, missing).restore(truth, missing)
for found, where in [(clean, ~np.isnan(truth)), (filled, missing)]:
    error, deviation = np.abs(found.picture - truth)[where], found.deviation[where]
    print(f"mean error {error.mean():.1f}, {np.mean(error <= 1.96 * deviation):.0%} within 95 %")

# %%
# Edges are where it is unsure.
gaps = np.where(missing, np.nan, truth)
shown = [noisy, clean.picture, clean.deviation, gaps, filled.picture, filled.deviation]
figure, axes = plt.subplots(2, 3, figsize=(9, 5.4), layout="constrained")
for panel, picture in zip(axes.ravel(), shown, strict=True):
    panel.imshow(picture, cmap="gray")
    panel.set_axis_off()
for panel, title in zip(axes[0], ["noise or gaps", "restored", "deviation"], strict=True):
    panel.set_title(title)
