"""Pictures of a backward pass: one box per value, edges that carry what flowed back.

``content`` decides what the picture says (words, sizes, what is left out), ``look`` how that looks.
From there two ways lead to a file: Graphviz, where the ``dot`` program is installed, and a layered
layout of our own (``ranks``, ``ordering``, ``coordinates``, ``layout``), painted as SVG text or
through Pillow.  So a picture never needs a system package.
"""

from __future__ import annotations

from whygrad.why.drawing.files import draw
from whygrad.why.drawing.graphviz import to_dot
from whygrad.why.drawing.paint_svg import svg

__all__ = ["draw", "svg", "to_dot"]
