"""Names at the right ends of curves: an artist that arranges them whenever it is drawn.

Only at drawing time are the sizes of the axes and of the texts known, so that names stay apart in
any layout, at any resolution and after a window was resized. This module needs matplotlib.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from garrote.displays.names import LITERAL, push_apart, shorten_all

# Points between the axes and the names, which leaders bridge.
_LEADER = 16
_MARGIN = 3
_LINE_HEIGHT = 1.05


class EndLabels(Artist):
    """Names beside the right edge of the axes, each led to the end of its curve.

    Parameters
    ----------
    axes : Axes
    curves : sequence of Line2D
        The most important first: where not all names fit, the last ones are left out.
    names : sequence of str
    """

    def __init__(self, axes: Axes, curves: Sequence[Line2D], names: Sequence[str]):
        super().__init__()
        self._ends = [_last_point(curve) for curve in curves]
        colours = [curve.get_color() for curve in curves]
        styles = [curve.get_linestyle() for curve in curves]
        self.texts = [
            Text(0, 0, name, color=colour, fontsize="small", va="center", **LITERAL)
            for name, colour in zip(shorten_all(names), colours, strict=True)
        ]
        self._leaders = [
            Line2D([], [], color=colour, linestyle=style, lw=0.8)
            for colour, style in zip(colours, styles, strict=True)
        ]
        for part in (*self.texts, *self._leaders):
            part.set_transform(IdentityTransform())
        self.set_clip_on(False)
        axes.add_artist(self)
        for part in (*self.texts, *self._leaders):
            part.set_figure(axes.figure)

    def get_children(self) -> list[Artist]:
        return [*self.texts, *self._leaders]

    def draw(self, renderer: Any) -> None:
        """Draw the names that have room, and their leaders."""
        if self.get_visible():
            self._arrange(renderer)
            for part in self.get_children():
                part.draw(renderer)

    def get_window_extent(self, renderer: Any = None) -> Bbox:
        """Return the box around all names that are shown."""
        self._arrange(renderer)
        boxes = [text.get_window_extent(renderer) for text in self.texts if text.get_visible()]
        return Bbox.union(boxes) if boxes else Bbox.null()

    def get_tightbbox(self, renderer: Any = None) -> Bbox | None:
        """Return the room that layouts have to reserve."""
        return self.get_window_extent(renderer) if self.texts else None

    def _arrange(self, renderer: Any) -> None:
        """Place names in pixels, as near to the ends of their curves as room allows."""
        axes = self.axes
        assert axes is not None
        if not self.texts:
            return
        box = axes.get_window_extent()
        height = _LINE_HEIGHT * max(t.get_window_extent(renderer).height for t in self.texts)
        room = max(1, int(box.height / height))
        shown = range(min(room, len(self.texts)))
        for k, (text, leader) in enumerate(zip(self.texts, self._leaders, strict=True)):
            text.set_visible(k in shown)
            leader.set_visible(k in shown)
        ends = axes.transData.transform([self._ends[k] for k in shown])
        ends[:, 1] = np.clip(ends[:, 1], box.y0, box.y1)
        low, high = box.y0 + height / 2, box.y1 - height / 2
        # Ends in the same pixel are equal, so that the more important name is above.
        heights = push_apart(ends[:, 1].round(), height, low, max(low, high))
        pixel = axes.figure.dpi / 72
        across = np.array([0, 0.25, 0.75, 1]) * _LEADER * pixel
        for k, (x, y), placed in zip(shown, ends, heights, strict=True):
            start = max(box.x1, x)
            self.texts[k].set_position((start + (_LEADER + _MARGIN) * pixel, placed))
            xs = [min(x, start), *(start + across)]
            self._leaders[k].set_data(xs, [y, y, y, placed, placed])


def _last_point(curve: Line2D) -> tuple[float, float]:
    """Return the last point of a curve that is a number."""
    points = np.asarray(curve.get_xydata(), dtype=float)
    points = points[np.isfinite(points).all(axis=1)]
    return (float(points[-1, 0]), float(points[-1, 1])) if len(points) else (0.0, 0.0)
