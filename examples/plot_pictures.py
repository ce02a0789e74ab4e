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
# Noise
# -----
# Its deviation is estimated from the picture. The errors of restored pixels are known here; the
# deviations are stated without them.
model = PatchMixture(10, max_rounds=6)
clean = Denoiser(model).fit(noisy).restore(noisy)
error = np.abs(clean.picture - truth)
print(
    f"noise {clean.sigma:.1f}; mean error {np.abs(noisy - truth).mean():.1f}, then {error.mean():.1f}"
)
print(f"within 1.96 deviations: {np.mean(error <= 1.96 * clean.deviation):.0%}")

# %%
# Gaps
# ----
filled = Inpainter(model).fit(truth, missing).restore(truth, missing)
error = np.abs(filled.picture - truth)[missing]
print(f"mean error of missing pixels {error.mean():.1f}")
print(f"within 1.96 deviations: {np.mean(error <= 1.96 * filled.deviation[missing]):.0%}")

# %%
# Edges are where it is unsure.
figure, axes = plt.subplots(2, 3, figsize=(9, 5.4), layout="constrained")
shown = {
    "with noise": noisy,
    "without": clean.picture,
    "deviation": clean.deviation,
    "half of it missing": np.where(missing, np.nan, truth),
    "filled in": filled.picture,
    "deviation of gaps": filled.deviation,
}
for panel, (title, picture) in zip(axes.ravel(), shown.items(), strict=True):
    bounds = {} if "deviation" in title else {"vmin": 0, "vmax": 255}
    panel.imshow(picture, cmap="gray", **bounds)
    panel.set_title(title)
    panel.set_axis_off()
