"""How a tensor looks on the terminal.

The layout is PyTorch's, so that eyes and doctests trained on PyTorch keep working: one number
format for the whole tensor, chosen from the numbers that will be shown; large tensors reduced to
their edges; after the numbers whatever a reader could not guess (dtype, device, ``grad_fn``).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whygrad.errors import fail
from whygrad.tensor import devices, dtypes, keys

if TYPE_CHECKING:
    from whygrad.tensor import Tensor

__all__ = ["get_printoptions", "printoptions", "set_printoptions", "tensor_repr"]

Format = Callable[[Any], str]


class Options(NamedTuple):
    """What ``set_printoptions`` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}
_options = Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors are printed; ``profile`` is "default", "short" or "full"."""
    global _options
    chosen = _options
    if profile is not None:
        if profile not in _PROFILES:
            raise fail(
                ValueError,
                call=f"set_printoptions(profile={profile!r})",
                cause="there is no such profile",
                fix=f"use one of {', '.join(map(repr, _PROFILES))}",
            )
        chosen = _PROFILES[profile]
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    set_ones = {name: value for name, value in given.items() if value is not None}
    _options = chosen._replace(**set_ones, sci_mode=sci_mode)  # type: ignore[arg-type]


def get_printoptions() -> dict[str, Any]:
    """The current options, in the form ``set_printoptions`` takes."""
    return _options._asdict()


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Other options until the end of a ``with`` block."""
    global _options
    before = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = before


def tensor_repr(tensor: Tensor) -> str:
    """``tensor([1., 2.], requires_grad=True)``"""
    if tensor._keys & keys.BATCHED:
        return _batched_repr(tensor)
    prefix = "tensor(" if type(tensor).__name__ == "Tensor" else f"{type(tensor).__name__}("
    indent = len(prefix)
    notes: list[str] = []
    if tensor.device.type != "cpu":
        notes.append(f"device='{tensor.device}'")
    if tensor.layout is not devices.strided:
        body = _sparse_body(tensor, indent, notes)
    elif tensor.device.type == "meta":
        body = "..."
        notes.append(f"size={tuple(tensor.shape)}")
        _note_dtype(tensor, notes, obvious=())
    elif not tensor.numel():
        body = "[]"
        if tensor.ndim != 1:
            notes.append(f"size={tuple(tensor.shape)}")
        _note_dtype(tensor, notes, obvious=())
    else:
        if not _options.edgeitems:
            notes.append(f"size={tuple(tensor.shape)}")
        body = format_array(tensor.device.to_numpy(tensor._array), indent)
        _note_dtype(tensor, notes)
    if tensor.grad_fn is not None:
        notes.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    new_line = tensor.layout is devices.sparse_coo
    text = _with_notes(prefix + body, notes, indent, new_line)
    return text if tensor._results_as is None else f"Parameter({text})"


def _batched_repr(tensor: Tensor) -> str:
    batch = tensor._array
    inner = textwrap.indent(repr(batch.tensor), "    ")
    return f"a sample of shape {tuple(batch.shape)}, batched at level {batch.level}, of\n{inner}"


def _note_dtype(
    tensor: Tensor, notes: list[str], obvious: tuple[str, ...] = ("int64", "bool", "complex")
) -> None:
    """Name the dtype unless it is the one the numbers themselves would give."""
    dtype = tensor.dtype
    guessed = dtype is dtypes.get_default_dtype() or dtype.name in obvious
    if "complex" in obvious and dtype is dtypes.default_complex():
        guessed = True
    if not guessed:
        notes.append(f"dtype={dtype}")


def _sparse_body(tensor: Tensor, indent: int, notes: list[str]) -> str:
    if tensor.layout is devices.sparse_coo:
        parts = {"indices": tensor._indices(), "values": tensor._values()}
    else:
        parts = {
            "crow_indices": tensor.crow_indices(),
            "col_indices": tensor.col_indices(),
            "values": tensor.values(),
        }
    shown = []
    for label, part in parts.items():
        opening = f"{label}=tensor("
        if part.numel():
            text = format_array(part._array, indent + len(opening))
        else:
            text = f"[], size={tuple(part.shape)}"
        shown.append(f"{opening}{text})")
    notes += [f"size={tuple(tensor.shape)}", f"nnz={len(parts['values'])}"]
    _note_dtype(tensor, notes)
    notes.append(f"layout={tensor.layout}")
    return (",\n" + " " * indent).join(shown)


def _with_notes(text: str, notes: list[str], indent: int, new_line: bool) -> str:
    """Append the notes, starting a new line where the current one is full."""
    column = len(text) - text.rfind("\n") + 1
    for note in notes:
        if new_line or column + len(note) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + note
            column = indent + len(note)
            new_line = False
        else:
            text += ", " + note
            column += len(note) + 2
    return text + ")"


def format_array(array: Any, indent: int = 0) -> str:
    """The numbers of a non-empty array in nested brackets."""
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    summarize = array.size > _options.threshold
    shown = _edges(array) if summarize else array
    if array.dtype.kind == "c":
        real, imaginary = NumberFormat(shown.real), NumberFormat(shown.imag)
        width = real.width + imaginary.width + 1
        return _nested(array, indent, summarize, _complex_format(real, imaginary), width)
    numbers = NumberFormat(shown)
    return _nested(array, indent, summarize, numbers, numbers.width)


def _edges(array: Any) -> Any:
    """The elements that are left when the middle of every long axis is skipped."""
    edge = _options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            kept = [*range(edge), *range(size - edge, size)]
            array = array.take(kept, axis)
    return array


class NumberFormat:
    """One format for all numbers of a tensor, so that columns line up."""

    def __init__(self, shown: Any) -> None:
        self.template = "{}"
        self.suffix = ""
        self.width = 1
        if shown.dtype.kind == "f":
            self._choose(shown)
        else:
            self.width = max((len(str(value)) for value in shown.ravel().tolist()), default=1)

    def _choose(self, shown: Any) -> None:
        """Whole, fixed or scientific: from the finite numbers that are not zero."""
        precision = _options.precision
        telling = shown[np.isfinite(shown) & (shown != 0)]
        scientific = bool(_options.sci_mode) and telling.size > 0
        whole = bool((telling == np.ceil(telling)).all())
        if telling.size and _options.sci_mode is None:
            size = np.abs(telling.astype(np.float64))
            least, most = size.min(), size.max()
            with np.errstate(over="ignore"):
                scientific = bool(most / least > 1000 or most > 1e8 or least < 1e-4)
        if scientific:
            self.template = f"{{:.{precision}e}}"
        elif whole:
            self.template, self.suffix = "{:.0f}", "."
        else:
            self.template = f"{{:.{precision}f}}"
        self.width = max((len(self._bare(value)) for value in telling.tolist()), default=1)

    def _bare(self, value: Any) -> str:
        text = self.template.format(value)
        return text + self.suffix if self.suffix and math.isfinite(value) else text

    def __call__(self, value: Any) -> str:
        return self._bare(value).rjust(self.width)


def _complex_format(real: NumberFormat, imaginary: NumberFormat) -> Format:
    def both(value: complex) -> str:
        tail = imaginary(value.imag).lstrip() + "j"
        return real(value.real) + (tail if tail[0] in "+-" else "+" + tail)

    return both


def _nested(array: Any, indent: int, summarize: bool, number: Format, width: int) -> str:
    if array.ndim == 0:
        return number(array.item())
    edge = _options.edgeitems
    skip = summarize and (array.shape[0] > 2 * edge or not edge)
    if array.ndim == 1:
        return _row(array, indent, skip, number, width)
    ends = [*array[:edge], *array[len(array) - edge :]] if skip else list(array)
    parts = [_nested(each, indent + 1, summarize, number, width) for each in ends]
    if skip:
        parts.insert(edge, "...")
    between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + between.join(parts) + "]"


def _row(row: Any, indent: int, skip: bool, number: Format, width: int) -> str:
    edge = _options.edgeitems
    if skip:
        texts = [
            number(value) for value in (*row[:edge].tolist(), *row[len(row) - edge :].tolist())
        ]
        texts.insert(edge, " ..." if edge else "...")
    else:
        texts = [number(value) for value in row.tolist()]
    per_line = max(1, (_options.linewidth - indent) // (width + 2))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
