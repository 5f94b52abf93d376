"""``out=`` in every state a tensor can be in, on both libraries.

A state is a way to make the tensors to write to.  What is compared is everything a program can see
afterwards: the values, the geometry, what lies around the view, the versions, what is returned,
and whether there was a warning or an error of the same class.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.conformance import harness
from tests.conformance.harness import Side, as_numpy
from whygrad.ops.define import Op

MARK = 1  # what the memory around an output holds before: a number every dtype has

Room = tuple[Any, Any]  # the whole memory, and the tensor to write to


def fresh(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    base = lib.empty(0, dtype=dtype)
    return base, base


def exact(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    base = lib.full(shape, MARK, dtype=dtype)
    return base, base


def gaps(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    """Every other element of a larger block."""
    *outer, last = shape or (1,)
    base = lib.full((*outer, 2 * last + 1), MARK, dtype=dtype)
    return base, base[..., 1::2] if shape else base[1]


def turned(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    """Columns where rows are expected."""
    base = lib.full(shape[::-1], MARK, dtype=dtype)
    return base, base.permute(tuple(reversed(range(len(shape)))))


def offset(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    """Not at the start of its memory."""
    count = int(np.prod(shape))
    base = lib.full((count + 5,), MARK, dtype=dtype)
    return base, base[2 : 2 + count].view(shape)


def flat(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    """As many elements in another shape, as a view with gaps."""
    count = int(np.prod(shape))
    base = lib.full((2, count, 2), MARK, dtype=dtype)
    return base, base[0, :, 1] if len(shape) != 1 else base[:1, :, 1]


def folded(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    """As many elements in two rows of a wider block."""
    count = int(np.prod(shape))
    if count % 2 or count == 0:
        return flat(lib, shape, dtype)
    base = lib.full((2, count // 2 + 1), MARK, dtype=dtype)
    return base, base[:, 1:]


def too_many(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    base = lib.full((2 + int(np.prod(shape)),), MARK, dtype=dtype)
    return base, base


def too_many_in_a_view(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    base = lib.full((2 * (2 + int(np.prod(shape))),), MARK, dtype=dtype)
    return base, base[1::2]


def too_few(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    base = lib.full((max(int(np.prod(shape)) - 1, 1),), MARK, dtype=dtype)
    return base, base


def complex_numbers(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    return exact(lib, shape, lib.complex128)


def integers(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    return exact(lib, shape, lib.int32)


def single_precision(lib: Any, shape: tuple[int, ...], dtype: Any) -> Room:
    return exact(lib, shape, lib.float32)


STATES = (
    fresh, exact, gaps, turned, offset, flat, folded, too_many, too_many_in_a_view, too_few,
    complex_numbers, integers, single_precision,
)  # fmt: skip


OTHER_DTYPES = (complex_numbers, integers, single_precision)
# PyTorch remarks on a resize that it asked for itself, or forgets to.
OWN_REMARKS = ("addbmm", "linear", "logsigmoid", "narrow_copy")
# Memory order of results is whygrad's own; the sign of a vector is nobody's.
OWN_STRIDES = ("nonzero",)
EITHER_SIGN = ("linalg_eigh", "linalg_svd", "svd")
RESIZED_VIEWS = (flat, folded, too_many_in_a_view)
# PyTorch writes these values to the wrong places, or takes a shape that is not the result's.
WRONG_IN_PYTORCH: dict[str, tuple[Any, ...]] = {
    "avg_pool3d": (gaps, turned),
    "fft_fftfreq": STATES,
    "fft_ihfftn": STATES,
    "fft_rfftfreq": STATES,
    "kthvalue": (flat,),
    "narrow_copy": (gaps, turned),
}


class Written:
    """What a program sees after a call with ``out=`` in some state."""

    def __init__(
        self, lib: Any, function: Callable[..., Any], side: Side, state: Callable[..., Room]
    ) -> None:
        self.error: Exception | None = None
        self.bases: list[Any] = []
        self.outs: list[Any] = []
        self.results: list[Any] = []  # of the same call without out=
        self.returned_out = False
        call = side.call.on(lambda *args, **kwargs: self._call(lib, function, state, args, kwargs))
        with lib.no_grad(), warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                call(*side.args, **side.kwargs)
            except Exception as error:
                self.error = error
        self.warned = any("resized" in str(each.message) for each in seen)

    def _call(
        self,
        lib: Any,
        function: Callable[..., Any],
        state: Callable[..., Room],
        args: Any,
        kwargs: Any,
    ) -> Any:
        plain = function(*args, **kwargs)
        self.results = list(plain) if isinstance(plain, tuple) else [plain]
        rooms = [state(lib, tuple(each.shape), each.dtype) for each in self.results]
        self.bases = [base for base, _ in rooms]
        self.outs = [out for _, out in rooms]
        out = tuple(self.outs) if isinstance(plain, tuple) else self.outs[0]
        given = function(*args, **kwargs, out=out)
        returned = given if isinstance(given, tuple) else (given,)
        self.returned_out = all(a is b for a, b in zip(returned, self.outs, strict=True))
        return given


def differences(op: Op, state: Callable[..., Room], mine: Written, theirs: Written) -> list[str]:
    """How the two differ, in words; nothing if they agree."""
    if state in WRONG_IN_PYTORCH.get(op.name, ()) or isinstance(theirs.error, TypeError):
        return []  # PyTorch takes out= in some forms of a function only
    if mine.error is not None:
        return _of_errors(mine, theirs)
    if theirs.error is not None:
        if state not in OTHER_DTYPES:
            return [f"PyTorch refuses: {theirs.error}"]
        return _of_conversion(mine)  # any dtype that the result may be converted to
    found = [] if mine.returned_out else ["something else than out is returned"]
    if mine.warned is not theirs.warned and op.name not in OWN_REMARKS:
        found.append("a warning too many" if mine.warned else "no warning")
    strides = op.name not in harness.OWN_STRIDES and op.name not in OWN_STRIDES
    for a, b in zip(mine.outs, theirs.outs, strict=True):
        found += [f"out: {each}" for each in _of_tensors(op, a, b, strides)]
    if strides or state not in RESIZED_VIEWS:  # which lie in memory in the order of their strides
        for a, b in zip(mine.bases, theirs.bases, strict=True):
            found += [f"around it: {each}" for each in _of_tensors(op, a, b, strides)]
    return found


def _of_errors(mine: Written, theirs: Written) -> list[str]:
    if theirs.error is None:
        return [f"PyTorch does it, here: {mine.error}"]
    found = []
    if not isinstance(mine.error, type(theirs.error)) and not isinstance(
        theirs.error, type(mine.error)
    ):
        found.append(f"{type(mine.error).__name__} against {type(theirs.error).__name__}")
    if any((as_numpy(each) != MARK).any() or each._version for each in mine.bases):
        found.append("a refused call has written")
    return found


def _of_conversion(mine: Written) -> list[str]:
    return [
        f"out: {as_numpy(out)} for {as_numpy(result)}"
        for out, result in zip(mine.outs, mine.results, strict=True)
        if not np.allclose(as_numpy(out), as_numpy(result), 1e-6, 1e-7, equal_nan=True)
    ]


def _of_tensors(op: Op, a: Any, b: Any, strides: bool) -> list[str]:
    if tuple(a.shape) != tuple(b.shape) or a.dtype.name != str(b.dtype).removeprefix("torch."):
        return [f"{a.dtype}{tuple(a.shape)} against {b.dtype}{tuple(b.shape)}"]
    found = []
    size = np.abs if op.name in EITHER_SIGN else np.asarray
    if not np.allclose(size(as_numpy(a)), size(as_numpy(b)), 1e-6, 1e-7, equal_nan=True):
        found.append(f"{as_numpy(a)} against {as_numpy(b)}")
    if strides and b.numel() and tuple(a.stride()) != b.stride():
        found.append(f"strides {a.stride()} against {b.stride()}")
    if a.numel() and not a._version:
        found.append("the version does not show the write")
    return found
