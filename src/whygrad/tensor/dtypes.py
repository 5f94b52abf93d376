"""Element types and PyTorch's promotion rules.

A dtype here is a thin, named handle on a NumPy dtype.  Promotion follows PyTorch, not NumPy:
dimensioned tensors outrank 0-d tensors, which outrank Python numbers, and within one category
(bool < integer < float < complex) a lower rank never widens a higher one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.errors import fail
from whygrad.tensor.keys import DTYPE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DType",
    "can_cast",
    "finfo",
    "get_default_dtype",
    "iinfo",
    "of",
    "promote_types",
    "result_type",
    "set_default_dtype",
]

BOOL, INTEGER, FLOAT, COMPLEX = range(4)


class DType:
    """One element type, such as ``whygrad.float32``."""

    __slots__ = ("_numpy", "category", "itemsize", "key", "name")

    def __init__(self, name: str, category: int, itemsize: int) -> None:
        self.name = name
        self.category = category
        self.itemsize = itemsize
        self.key = DTYPE_BITS[name]
        self._numpy: np.dtype[Any] | None = None if name == "bfloat16" else np.dtype(name)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype behind this one; bfloat16 is loaded from ml_dtypes on first use."""
        if self._numpy is None:
            self._numpy = _load_bfloat16()
        return self._numpy

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOAT

    @property
    def is_differentiable(self) -> bool:
        """Whether tensors of it can require grad: floats and complex numbers."""
        return self.category >= FLOAT

    @property
    def is_complex(self) -> bool:
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.name not in ("bool", "uint8")

    def __repr__(self) -> str:
        return f"whygrad.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return of, (self.name,)


bool_ = DType("bool", BOOL, 1)
uint8 = DType("uint8", INTEGER, 1)
int8 = DType("int8", INTEGER, 1)
int16 = DType("int16", INTEGER, 2)
int32 = DType("int32", INTEGER, 4)
int64 = DType("int64", INTEGER, 8)
float16 = DType("float16", FLOAT, 2)
bfloat16 = DType("bfloat16", FLOAT, 2)
float32 = DType("float32", FLOAT, 4)
float64 = DType("float64", FLOAT, 8)
complex64 = DType("complex64", COMPLEX, 8)
complex128 = DType("complex128", COMPLEX, 16)

ALL = (
    bool_, uint8, int8, int16, int32, int64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
# PyTorch's second names.
ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32,
    "long": int64, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
by_key = {dtype.key: dtype for dtype in ALL}
_by_name = {dtype.name: dtype for dtype in ALL}
_python_types: dict[Any, DType] = {bool: bool_, int: int64, float: float64, complex: complex128}
CATEGORY_OF_PYTHON = {bool: BOOL, int: INTEGER, float: FLOAT, complex: COMPLEX}
_default = float32


class _ByNumpy(dict[Any, DType]):
    """NumPy dtype → DType; answers unknown dtypes with an error that says what to do."""

    def __missing__(self, dtype: Any) -> DType:
        known = _by_name.get(np.dtype(dtype).name)
        if known is None:
            raise fail(
                TypeError,
                call=f"dtype {dtype}",
                cause="whygrad has no element type for this NumPy dtype",
                fix=f"convert the array first: array.astype(t) with t one of {', '.join(_by_name)}",
            )
        self[dtype] = known
        return known


by_numpy = _ByNumpy()


def _load_bfloat16() -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ModuleNotFoundError as missing:
        raise fail(
            ModuleNotFoundError,
            call="whygrad.bfloat16",
            cause="bfloat16 arrays need the package ml_dtypes, which is not installed",
            fix="pip install 'whygrad[bfloat16]'",
        ) from missing
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


def of(dtype: Any) -> DType:
    """Accept a whygrad dtype, a NumPy dtype or its name, or a Python number type."""
    if isinstance(dtype, DType):
        return dtype
    known = _python_types.get(dtype) if isinstance(dtype, type) else _by_name.get(dtype)
    return by_numpy[np.dtype(dtype)] if known is None else known


def get_default_dtype() -> DType:
    """The dtype of float tensors made from Python numbers (float32 at start)."""
    return _default


def set_default_dtype(dtype: Any) -> None:
    """Choose the dtype of float tensors made from Python numbers."""
    global _default
    chosen = of(dtype)
    if chosen.category != FLOAT:
        raise fail(
            TypeError,
            call=f"set_default_dtype({chosen})",
            cause="only floating point types can be the default",
            fix="pass whygrad.float32 or whygrad.float64",
        )
    _default = chosen


def default_complex() -> DType:
    return complex128 if _default is float64 else complex64


def promote_types(a: Any, b: Any) -> DType:
    """The smallest dtype that both can be converted to, by PyTorch's table."""
    left, right = of(a), of(b)
    if left is right:
        return left
    low, high = sorted((left, right), key=lambda dtype: (dtype.category, dtype.itemsize))
    if low.category == INTEGER and high.category == INTEGER:
        if uint8 not in (low, high):
            return high
        return int16 if int8 in (low, high) else high
    if low.category == FLOAT and high.category == FLOAT:
        return float32 if low.itemsize == high.itemsize else high
    if low is float64 and high is complex64:
        return complex128
    return high


def result_type(*operands: Any) -> DType:
    """The dtype an op on these tensors and Python numbers computes in.

    Operands rank as: tensors with dimensions, then 0-d tensors, then Python numbers.  A rank
    joins in only when its category is higher than what the ranks above it gave.
    """
    dimensioned: DType | None = None
    zero_dim: DType | None = None
    number: DType | None = None
    for operand in operands:
        dtype = getattr(operand, "dtype", None)
        if dtype is None:
            number = _join(number, _dtype_of_number(operand))
        elif operand.ndim:
            dimensioned = _join(dimensioned, of(dtype))
        else:
            zero_dim = _join(zero_dim, of(dtype))
    return _rank(_rank(dimensioned, zero_dim), number) or _default


def _join(a: DType | None, b: DType) -> DType:
    return b if a is None else promote_types(a, b)


def _rank(high: DType | None, low: DType | None) -> DType | None:
    if high is None or low is None:
        return high or low
    if high.category == FLOAT and low.category == COMPLEX:
        return complex128 if high is float64 else complex64  # as precise as the higher rank
    return promote_types(high, low) if low.category > high.category else high


def _dtype_of_number(number: object) -> DType:
    category = CATEGORY_OF_PYTHON.get(type(number))
    if category == FLOAT:
        return _default
    if category == COMPLEX:
        return default_complex()
    return bool_ if category == BOOL else int64


def can_cast(source: Any, target: Any) -> bool:
    """Whether an in-place write may convert ``source`` to ``target`` (never down a category)."""
    source, target = of(source), of(target)
    return bool(source.category <= target.category)


class finfo:
    """Limits of a floating point dtype (of its parts, if complex), as plain Python floats."""

    def __init__(self, dtype: Any = None) -> None:
        chosen = _default if dtype is None else of(dtype)
        if chosen.category not in (FLOAT, COMPLEX):
            raise fail(
                TypeError,
                call=f"finfo({chosen})",
                cause="finfo() requires a floating point input type",
                fix="use whygrad.iinfo for integers",
            )
        info: Any
        if chosen is bfloat16:
            import ml_dtypes

            info = ml_dtypes.finfo(chosen.numpy)
        else:
            info = np.finfo(chosen.numpy)
        self.bits = int(info.bits)
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.resolution = float(f"1e-{info.precision}")
        self.smallest_normal = self.tiny = float(info.smallest_normal)
        self.dtype = str(info.dtype)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype, as plain Python integers."""

    def __init__(self, dtype: Any) -> None:
        chosen = of(dtype)
        if chosen.category != INTEGER:
            raise fail(
                TypeError,
                call=f"iinfo({chosen})",
                cause="iinfo() requires an integer input type",
                fix="use whygrad.finfo for floating point types",
            )
        info = np.iinfo(chosen.numpy)
        self.bits = int(info.bits)
        self.max = int(info.max)
        self.min = int(info.min)
        self.dtype = chosen.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def integer_or_bool(dtypes: Iterable[DType]) -> bool:
    return all(dtype.category <= INTEGER for dtype in dtypes)
