"""How a tensor looks in a notebook: one small table, no scripts, no outside resources."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.tensor import devices
from whygrad.tensor.printing import format_array, tensor_repr

if TYPE_CHECKING:
    from whygrad.tensor import Tensor

__all__ = ["tensor_html"]

_CELL = "text-align:left;vertical-align:top;padding:2px 8px"


def tensor_html(tensor: Tensor) -> str:
    """Facts on the left of each row, values in the last one."""
    rows = {
        "shape": str(list(tensor.shape)),
        "dtype": str(tensor.dtype),
        "device": str(tensor.device) if tensor.device.type != "cpu" else "",
        "grad_fn": "" if tensor.grad_fn is None else tensor.grad_fn.name(),
        "made at": "" if tensor.grad_fn is None else str(tensor.grad_fn.where),
        "requires grad": "yes" if tensor.requires_grad and tensor.is_leaf else "",
        "range": _range(tensor),
    }
    body = "".join(_row(label, escape(text)) for label, text in rows.items() if text)
    body += _row("values", f"<pre style='margin:0'>{escape(_values(tensor))}</pre>")
    return f"<table style='border-collapse:collapse'>{body}</table>"


def _row(label: str, content: str) -> str:
    return f"<tr><th style='{_CELL}'>{label}</th><td style='{_CELL}'>{content}</td></tr>"


def _has_values(tensor: Tensor) -> bool:
    return type(tensor._array) is np.ndarray and tensor.numel() > 0


def _range(tensor: Tensor) -> str:
    """Least, greatest and mean of the finite numbers, and how many are not finite."""
    if not _has_values(tensor) or tensor.dtype.is_complex:
        return ""
    values: Any = tensor._array.astype(np.float64)
    finite = values[np.isfinite(values)]
    strange = values.size - finite.size
    if not finite.size:
        return f"no finite number among {strange}"
    text = f"min {finite.min():.4g}, max {finite.max():.4g}, mean {finite.mean():.4g}"
    return f"{text}, {strange} not finite" if strange else text


def _values(tensor: Tensor) -> str:
    if _has_values(tensor):
        return format_array(tensor._array)
    if tensor.layout is devices.strided:
        return "no data" if tensor.device.type == "meta" else "[]"
    return tensor_repr(tensor)
