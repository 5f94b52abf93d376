"""From what users pass to arrays: tensors, numbers, lists; pictures in any order of dimensions."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor

__all__ = ["as_array", "figure_pixels", "picture", "png"]

Array = Any
_COLUMNS = 8  # of pictures, when several are shown as one


def as_array(value: Any) -> Array:
    """The numbers of a tensor (that may require grad), of a list, or of a number alone."""
    if isinstance(value, Tensor):
        array = value.detach().cpu().numpy()
        return array.astype(np.float32) if value.dtype.name == "bfloat16" else array
    if isinstance(value, (np.ndarray, np.generic, int, float, bool, list, tuple)):
        array = np.asarray(value)
        return array.reshape(1) if not array.ndim else array
    raise fail(
        NotImplementedError,
        call=f"a value of type {type(value).__name__} for TensorBoard",
        cause="expected a tensor, a NumPy array or a number",
        fix="convert it first, for example with float(value)",
    )


def picture(value: Any, order: str) -> Array:
    """One picture (rows, columns, channels) from a tensor with dimensions in this order.

    Several pictures (``N`` is in the order) are put side by side; grey becomes red, green and blue.
    """
    array, letters = as_array(value), order.upper()
    if len(set(letters)) != len(letters) or not set(letters) <= set("NCHW"):
        raise _misfit(array, order, "the letters N, C, H and W, each at most once")
    if array.ndim != len(letters):
        raise _misfit(array, order, f"{len(letters)} dimensions")
    if letters in ("HW", "WH"):
        grey = array if letters == "HW" else array.T
        return np.stack([grey] * 3, -1)
    if "N" in letters:
        return _side_by_side(array.transpose([letters.index(each) for each in "NCHW"]))
    pixels = array.transpose([letters.index(each) for each in "HWC"])
    return np.concatenate([pixels] * 3, -1) if pixels.shape[-1] == 1 else pixels


def _misfit(array: Array, order: str, expected: str) -> AssertionError:
    return fail(
        AssertionError,
        call=f"a picture of shape {array.shape} with dataformats={order!r}",
        cause=f"size of input tensor and input format are different: expected {expected}",
        fix="say what the dimensions are: dataformats='HWC', 'CHW', 'HW' or 'NCHW'",
    )


def _side_by_side(pictures: Array) -> Array:
    if pictures.shape[1] == 1:
        pictures = np.concatenate([pictures] * 3, 1)
    if pictures.shape[1] != 3:
        raise fail(
            AssertionError,
            call=f"pictures of shape {describe(pictures)}",
            cause="several pictures are shown in grey or in three colours, not in "
            f"{pictures.shape[1]} channels",
            fix="pass 1 or 3 channels",
        )
    count, channels, height, width = pictures.shape
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    sheet = np.zeros((channels, height * rows, width * columns), pictures.dtype)
    for number, each in enumerate(pictures):
        top, left = height * (number // columns), width * (number % columns)
        sheet[:, top : top + height, left : left + width] = each
    return sheet.transpose(1, 2, 0)


def png(pixels: Array, rescale: float = 1) -> bytes:
    """Floats from 0 to 1, or bytes, as a file."""
    from PIL import Image

    if pixels.dtype != np.uint8:
        pixels = (pixels.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)
    shown = Image.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels)
    if rescale != 1:
        shown = shown.resize((int(shown.width * rescale), int(shown.height * rescale)))
    file = io.BytesIO()
    shown.save(file, format="PNG")
    return file.getvalue()


def figure_pixels(figures: Any, close: bool) -> Array:
    """Matplotlib's figure as (channels, rows, columns); a list of them with one dimension more."""
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def paint(figure: Any) -> Array:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[:, :, :3].transpose(2, 0, 1)
        if close:
            pyplot.close(figure)
        return pixels.copy()

    return (
        np.stack([paint(each) for each in figures]) if isinstance(figures, list) else paint(figures)
    )
