"""
What penalties make of an estimate
==================================

With orthogonal columns every penalty turns a least squares estimate into a coefficient by a rule of its
own. The lasso moves all of them towards zero by the same amount; concave penalties remove small ones and
leave large ones alone, some of them with a jump.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote.penalties import HAL, L1, MCP, SCAD, BestSubset, Bridge, NormalJeffreys, thresholding

estimates = np.linspace(-4, 4, 801)
penalties = [L1(), MCP(3), SCAD(3.7), Bridge(0.5), BestSubset(), HAL(1, 1), NormalJeffreys()]
figure, axes = plt.subplots(2, 4, figsize=(10, 5.4), sharex=True, sharey=True, layout="constrained")
axes.flat[-1].axis("off")
for axis, penalty in zip(axes.flat, penalties, strict=False):
    axis.axline((0, 0), slope=1, color="0.8", linewidth=1)
    axis.plot(estimates, thresholding(penalty, estimates, strength=1.0))
    axis.set_title(penalty.name)
figure.supxlabel("least squares estimate")
figure.supylabel("coefficient")
