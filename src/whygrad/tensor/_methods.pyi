"""The methods of ``Tensor`` that come from the op table."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Unpack, overload

from whygrad.ops.creation.creation import Options
from whygrad.ops.public import return_types
from whygrad.random import Generator
from whygrad.tensor._types import DeviceLike, DTypeLike, Ints, Number, Operand
from whygrad.tensor.devices import Layout
from whygrad.tensor.memory import MemoryFormat
from whygrad.tensor.storage_contents import Contents
from whygrad.tensor.tensor import Tensor

class OpMethods:
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Operand) -> Tensor: ...
    def __and__(self, other: Operand) -> Tensor: ...
    def __contains__(self, element: Any) -> builtins.bool:
        """Whether any element equals ``element``."""
    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: Operand) -> Tensor: ...
    def __ge__(self, other: Operand) -> Tensor: ...
    def __getitem__(self, index: Any) -> Tensor:
        """``x[index]``: a view for basic indices, a copy for arrays and masks."""
    def __gt__(self, other: Operand) -> Tensor: ...
    def __iadd__(self, other: Operand) -> Tensor: ...
    def __iand__(self, other: Operand) -> Tensor: ...
    def __ifloordiv__(self, other: Operand) -> Tensor: ...
    def __imod__(self, other: Operand) -> Tensor: ...
    def __imul__(self, other: Operand) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Operand) -> Tensor: ...
    def __ipow__(self, other: Operand) -> Tensor: ...
    def __isub__(self, other: Operand) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]:
        """The slices along the first dimension."""
    def __itruediv__(self, other: Operand) -> Tensor: ...
    def __ixor__(self, other: Operand) -> Tensor: ...
    def __le__(self, other: Operand) -> Tensor: ...
    def __len__(self) -> builtins.int:
        """The size of the first dimension."""
    def __lshift__(self, other: Operand) -> Tensor: ...
    def __lt__(self, other: Operand) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor: ...
    def __mod__(self, other: Operand) -> Tensor: ...
    def __mul__(self, other: Operand) -> Tensor: ...
    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Operand) -> Tensor: ...
    def __pos__(self) -> Tensor:
        """The tensor itself; what ``+x`` means.

        y = x
        """
    def __pow__(self, other: Operand) -> Tensor: ...
    def __radd__(self, other: Operand) -> Tensor: ...
    def __rand__(self, other: Operand) -> Tensor: ...
    def __reversed__(self) -> Tensor:
        """The slices along the first dimension in the other order, as one tensor."""
    def __rfloordiv__(self, other: Operand) -> Tensor: ...
    def __rlshift__(self, other: Operand) -> Tensor: ...
    def __rmatmul__(self, other: Tensor) -> Tensor: ...
    def __rmod__(self, other: Operand) -> Tensor: ...
    def __rmul__(self, other: Operand) -> Tensor: ...
    def __ror__(self, other: Operand) -> Tensor: ...
    def __rpow__(self, other: Operand) -> Tensor: ...
    def __rrshift__(self, other: Operand) -> Tensor: ...
    def __rshift__(self, other: Operand) -> Tensor: ...
    def __rsub__(self, other: Operand) -> Tensor: ...
    def __rtruediv__(self, other: Operand) -> Tensor: ...
    def __rxor__(self, other: Operand) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None:
        """``x[index] = value``, broadcast and converted to the dtype of ``x``."""
    def __sub__(self, other: Operand) -> Tensor: ...
    def __truediv__(self, other: Operand) -> Tensor: ...
    def __xor__(self, other: Operand) -> Tensor: ...
    def _indices(self) -> Tensor:
        """The coordinates as they are stored, also of an uncoalesced tensor."""
    def _nnz(self) -> builtins.int:
        """How many values are stored."""
    def _values(self) -> Tensor:
        """The values as they are stored, also of an uncoalesced tensor; not recorded."""
    def abs(self) -> Tensor:
        """y = |x|;  ∂y/∂x = sgn x"""
    def abs_(self) -> Tensor:
        """In-place abs: y = |x|;  ∂y/∂x = sgn x"""
    def absolute(self) -> Tensor:
        """y = |x|;  ∂y/∂x = sgn x"""
    def absolute_(self) -> Tensor:
        """In-place abs: y = |x|;  ∂y/∂x = sgn x"""
    def acos(self) -> Tensor:
        """y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""
    def acos_(self) -> Tensor:
        """In-place acos: y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""
    def acosh(self) -> Tensor:
        """y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""
    def acosh_(self) -> Tensor:
        """In-place acosh: y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""
    def add(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """y = a + b;  ∂y/∂a = 1,  ∂y/∂b = 1"""
    def add_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """In-place add: y = a + b;  ∂y/∂a = 1,  ∂y/∂b = 1"""
    def addbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor:
        """beta·input + alpha·Σ batch1 @ batch2, the sum over the batch as one long product.

        y = β·input + α·Σₙ aₙ·bₙ
        """
    def addbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor:
        """In-place addbmm: y = β·input + α·Σₙ aₙ·bₙ"""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Operand = 1) -> Tensor:
        """y = x + value·a/b;  ∂y/∂x = 1,  ∂y/∂a = value/b,  ∂y/∂b = −value·a/b²"""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Operand = 1) -> Tensor:
        """In-place addcdiv: y = x + value·a/b;  ∂y/∂x = 1,  ∂y/∂a = value/b,  ∂y/∂b =
        −value·a/b²
        """
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: Operand = 1) -> Tensor:
        """y = x + value·a·b;  ∂y/∂x = 1,  ∂y/∂a = value·b,  ∂y/∂b = value·a"""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Operand = 1) -> Tensor:
        """In-place addcmul: y = x + value·a·b;  ∂y/∂x = 1,  ∂y/∂a = value·b,  ∂y/∂b = value·a"""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b = α·aᵀ·incoming"""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place addmm: y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b
        = α·aᵀ·incoming
        """
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b = α·aᵀ·incoming"""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place addmv: y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b
        = α·aᵀ·incoming
        """
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta·input + alpha·(vec1 ⊗ vec2)

        y = β·input + α·a⊗b
        """
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place addr: y = β·input + α·a⊗b"""
    def adjoint(self) -> Tensor:
        """The last two dimensions exchanged, and complex numbers conjugated.

        y = xᴴ over the last two dimensions
        """
    def all(self, dim: Ints | None = None, keepdim: builtins.bool = False) -> Tensor:
        """y = whether every element over dim is nonzero"""
    def allclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool:
        """Whether every element of ``isclose`` is true.

        whether |a − b| ≤ atol + rtol·|b| everywhere, as a Python bool
        """
    def amax(self, dim: Ints = (), keepdim: builtins.bool = False) -> Tensor:
        """y = max x over dim;  ∂y/∂x = 1 at the maximum"""
    def amin(self, dim: Ints = (), keepdim: builtins.bool = False) -> Tensor:
        """y = min x over dim;  ∂y/∂x = 1 at the minimum"""
    def aminmax(
        self, *, dim: Ints | None = None, keepdim: builtins.bool = False
    ) -> return_types.aminmax:
        """The smallest and the largest element, as a named tuple ``(min, max)``.

        (min x, max x) over dim;  ∂y/∂x = 1 at the minimum and at the maximum
        """
    def angle(self) -> Tensor:
        """y = the direction of x in the complex plane: 0 or π for a real x;  ∂x =
        incoming·i·x/|x|²
        """
    def any(self, dim: Ints | None = None, keepdim: builtins.bool = False) -> Tensor:
        """y = whether some element over dim is nonzero"""
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it.  Slow: use ops where you
        can.
        """
    def arccos(self) -> Tensor:
        """y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""
    def arccos_(self) -> Tensor:
        """In-place acos: y = arccos x;  ∂y/∂x = −1/√(1 − x²)"""
    def arccosh(self) -> Tensor:
        """y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""
    def arccosh_(self) -> Tensor:
        """In-place acosh: y = arcosh x;  ∂y/∂x = 1/√(x² − 1)"""
    def arcsin(self) -> Tensor:
        """y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""
    def arcsin_(self) -> Tensor:
        """In-place asin: y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""
    def arcsinh(self) -> Tensor:
        """y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""
    def arcsinh_(self) -> Tensor:
        """In-place asinh: y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""
    def arctan(self) -> Tensor:
        """y = arctan x;  ∂y/∂x = 1/(1 + x²)"""
    def arctan2(self, other: Operand) -> Tensor:
        """y = the angle of the point (b, a);  ∂y/∂a = b/(a² + b²),  ∂y/∂b = −a/(a² + b²)"""
    def arctan2_(self, other: Operand) -> Tensor:
        """In-place atan2: y = the angle of the point (b, a);  ∂y/∂a = b/(a² + b²),  ∂y/∂b =
        −a/(a² + b²)
        """
    def arctan_(self) -> Tensor:
        """In-place atan: y = arctan x;  ∂y/∂x = 1/(1 + x²)"""
    def arctanh(self) -> Tensor:
        """y = artanh x;  ∂y/∂x = 1/(1 − x²)"""
    def arctanh_(self) -> Tensor:
        """In-place atanh: y = artanh x;  ∂y/∂x = 1/(1 − x²)"""
    def argmax(self, dim: Ints | None = None, keepdim: builtins.bool = False) -> Tensor:
        """y = position of the first maximum (along dim)"""
    def argmin(self, dim: Ints | None = None, keepdim: builtins.bool = False) -> Tensor:
        """y = position of the first minimum (along dim)"""
    def argsort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        *,
        stable: builtins.bool | None = None,
    ) -> Tensor:
        """y = the positions that put x in order along dim"""
    def argwhere(self) -> Tensor:
        """Coordinates of the elements that are not 0, one row each.

        y = the coordinates of the elements that are not 0, one row each
        """
    def as_strided(
        self, size: Ints, stride: builtins.int | Sequence[builtins.int], storage_offset: Any = None
    ) -> Tensor:
        """y = the memory of x with any geometry;  ∂x = Σ incoming over the elements that show x"""
    def as_strided_(
        self, size: Ints, stride: builtins.int | Sequence[builtins.int], storage_offset: Any = None
    ) -> Tensor:
        """Become what as_strided() returns."""
    def as_strided_scatter(
        self,
        src: Tensor,
        size: Ints,
        stride: builtins.int | Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Tensor:
        """``input`` with ``src`` where ``as_strided`` would look.

        y = x with src where as_strided would look;  ∂x = incoming, 0 where src is
        """
    def as_subclass(self, cls: builtins.type[Tensor]) -> Tensor:
        """The same memory and history as an object of another class."""
    def asin(self) -> Tensor:
        """y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""
    def asin_(self) -> Tensor:
        """In-place asin: y = arcsin x;  ∂y/∂x = 1/√(1 − x²)"""
    def asinh(self) -> Tensor:
        """y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""
    def asinh_(self) -> Tensor:
        """In-place asinh: y = arsinh x;  ∂y/∂x = 1/√(x² + 1)"""
    def atan(self) -> Tensor:
        """y = arctan x;  ∂y/∂x = 1/(1 + x²)"""
    def atan2(self, other: Operand) -> Tensor:
        """y = the angle of the point (b, a);  ∂y/∂a = b/(a² + b²),  ∂y/∂b = −a/(a² + b²)"""
    def atan2_(self, other: Operand) -> Tensor:
        """In-place atan2: y = the angle of the point (b, a);  ∂y/∂a = b/(a² + b²),  ∂y/∂b =
        −a/(a² + b²)
        """
    def atan_(self) -> Tensor:
        """In-place atan: y = arctan x;  ∂y/∂x = 1/(1 + x²)"""
    def atanh(self) -> Tensor:
        """y = artanh x;  ∂y/∂x = 1/(1 − x²)"""
    def atanh_(self) -> Tensor:
        """In-place atanh: y = artanh x;  ∂y/∂x = 1/(1 − x²)"""
    def baddbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor:
        """y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b = α·aᵀ·incoming"""
    def baddbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor:
        """In-place baddbmm: y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,
        ∂b = α·aᵀ·incoming
        """
    def bernoulli(
        self, p: builtins.float | None = None, *, generator: Generator | None = None
    ) -> Tensor:
        """1 with probability ``input`` (or ``p`` for all), else 0, in the dtype of ``input``.

        y ~ 1 with probability x, else 0
        """
    def bernoulli_(
        self, p: builtins.float | Tensor = 0.5, *, generator: Generator | None = None
    ) -> Tensor:
        """Write 1 with probability ``p`` (a number, or one per element), else 0."""
    def bfloat16(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.bfloat16)``"""
    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """y[k] = the number of elements equal to k, or the sum of their weights"""
    def bitwise_and(self, other: Operand) -> Tensor:
        """y = the bits set in both a and b"""
    def bitwise_and_(self, other: Operand) -> Tensor:
        """In-place bitwise_and: y = the bits set in both a and b"""
    def bitwise_left_shift(self, other: Operand) -> Tensor:
        """y = a·2ᵇ, bits beyond the width are lost"""
    def bitwise_left_shift_(self, other: Operand) -> Tensor:
        """In-place bitwise_left_shift: y = a·2ᵇ, bits beyond the width are lost"""
    def bitwise_not(self) -> Tensor:
        """y = every bit of x flipped; for bools, not x"""
    def bitwise_not_(self) -> Tensor:
        """In-place bitwise_not: y = every bit of x flipped; for bools, not x"""
    def bitwise_or(self, other: Operand) -> Tensor:
        """y = the bits set in a or b"""
    def bitwise_or_(self, other: Operand) -> Tensor:
        """In-place bitwise_or: y = the bits set in a or b"""
    def bitwise_right_shift(self, other: Operand) -> Tensor:
        """y = a / 2ᵇ rounded down"""
    def bitwise_right_shift_(self, other: Operand) -> Tensor:
        """In-place bitwise_right_shift: y = a / 2ᵇ rounded down"""
    def bitwise_xor(self, other: Operand) -> Tensor:
        """y = the bits set in exactly one of a and b"""
    def bitwise_xor_(self, other: Operand) -> Tensor:
        """In-place bitwise_xor: y = the bits set in exactly one of a and b"""
    def bmm(self, mat2: Tensor) -> Tensor:
        """The products of two equally long stacks of matrices.

        yₙ = aₙ·bₙ for two stacks of matrices
        """
    def bool(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.bool)``"""
    def broadcast_to(self, size: Ints) -> Tensor:
        """``expand`` under NumPy's name.

        y = x expanded to a shape, no copy
        """
    def byte(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.uint8)``"""
    def cauchy_(
        self,
        median: builtins.float = 0.0,
        sigma: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Write numbers with Cauchy's distribution: so wide that it has no mean."""
    def cdouble(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.complex128)``"""
    def ceil(self) -> Tensor:
        """y = ⌈x⌉;  ∂y/∂x = 0"""
    def ceil_(self) -> Tensor:
        """In-place ceil: y = ⌈x⌉;  ∂y/∂x = 0"""
    def celu_(self, alpha: builtins.float = 1.0) -> Tensor:
        """In-place celu: y = x if x > 0 else α·(exp(x/α) − 1);  ∂y/∂x = 1 or exp(x/α)"""
    def cfloat(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.complex64)``"""
    def char(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.int8)``"""
    def cholesky(self, upper: builtins.bool = False) -> Tensor:
        """``linalg.cholesky`` under its older name.

        y·yᵀ = x, y lower triangular
        """
    def cholesky_inverse(self, upper: builtins.bool = False) -> Tensor:
        """The inverse of A, given its Cholesky factor.

        y = (L·Lᵀ)⁻¹
        """
    def cholesky_solve(self, L: Tensor, upper: builtins.bool = False) -> Tensor:
        """The X with ``A @ X = B``, given the Cholesky factor of A.

        y = (L·Lᴴ)⁻¹·b by two triangular solves
        """
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` pieces of one size (the last may be smaller).

        y₁, y₂, … = pieces of equal size, same memory
        """
    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a bound gets the
        gradient where it is the value
        """
    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """In-place clamp: y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a
        bound gets the gradient where it is the value
        """
    def clamp_max(self, max: Operand) -> Tensor:
        """The smaller of ``input`` and an upper bound.

        y = min(x, high);  ∂y/∂x = 1 for x ≤ high, else 0
        """
    def clamp_max_(self, max: Operand) -> Tensor:
        """In-place clamp_max: y = min(x, high);  ∂y/∂x = 1 for x ≤ high, else 0"""
    def clamp_min(self, min: Operand) -> Tensor:
        """The larger of ``input`` and a lower bound.

        y = max(x, low);  ∂y/∂x = 1 for x ≥ low, else 0
        """
    def clamp_min_(self, min: Operand) -> Tensor:
        """In-place clamp_min: y = max(x, low);  ∂y/∂x = 1 for x ≥ low, else 0"""
    def clip(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a bound gets the
        gradient where it is the value
        """
    def clip_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """In-place clamp: y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; a
        bound gets the gradient where it is the value
        """
    def clone(self, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """y = a copy of x;  ∂y/∂x = 1"""
    def coalesce(self) -> Tensor:
        """Coordinates sorted and each once; the values of repeats added up.

        y = x with repeated coordinates added up;  ∂y/∂x = 1
        """
    def col_indices(self) -> Tensor:
        """The column of each value."""
    def conj(self) -> Tensor:
        """The conjugate of a complex tensor; a real tensor is its own.

        y = Re x − i·Im x
        """
    def conj_physical(self) -> Tensor:
        """y = Re x − i·Im x as a copy;  ∂x = the conjugate of incoming"""
    def conj_physical_(self) -> Tensor:
        """In-place conj_physical: y = Re x − i·Im x as a copy;  ∂x = the conjugate of incoming"""
    def const_data_ptr(self) -> builtins.int:
        """The address of the first element, for reading."""
    def contiguous(self, memory_format: MemoryFormat = ...) -> Tensor:
        """This tensor itself if its elements lie in row-major order, else a copy that does.

        y = x in row-major order: x itself, or a copy
        """
    def copy_(self, src: Operand, non_blocking: builtins.bool = False) -> Tensor:
        """In-place copy: y = source in the shape and dtype of x;  ∂y/∂x = 0,  ∂y/∂source = 1"""
    def copysign(self, other: Operand) -> Tensor:
        """y = |a| with the sign of b;  ∂y/∂a = ±1 (0 at a = 0),  ∂y/∂b = 0"""
    def copysign_(self, other: Operand) -> Tensor:
        """In-place copysign: y = |a| with the sign of b;  ∂y/∂a = ±1 (0 at a = 0),  ∂y/∂b = 0"""
    def corrcoef(self) -> Tensor:
        """Pearson's correlation of the rows over the columns.

        y = cov x divided by the standard deviations of rows and columns
        """
    def cos(self) -> Tensor:
        """y = cos x;  ∂y/∂x = −sin x"""
    def cos_(self) -> Tensor:
        """In-place cos: y = cos x;  ∂y/∂x = −sin x"""
    def cosh(self) -> Tensor:
        """y = cosh x;  ∂y/∂x = sinh x"""
    def cosh_(self) -> Tensor:
        """In-place cosh: y = cosh x;  ∂y/∂x = sinh x"""
    def count_nonzero(self, dim: Ints | None = None) -> Tensor:
        """y = how many elements over dim are not 0"""
    def cov(
        self,
        *,
        correction: builtins.int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Tensor:
        """The covariance of the rows, which are variables, over the columns, which are
        observations.

        ``fweights`` says how often an observation was made, ``aweights`` how much it counts.

        y = Σ w·(xᵢ − mean)(xⱼ − mean) / (Σ w − correction)
        """
    def cpu(self, memory_format: Any = None) -> Tensor:
        """This tensor on the CPU; itself if it is there already."""
    def cross(self, other: Tensor, dim: builtins.int | None = None) -> Tensor:
        """``linalg.cross``; without ``dim``, along the first dimension of size 3.

        y = a × b
        """
    def crow_indices(self) -> Tensor:
        """Where each row starts among the values, and the end."""
    def cuda(self, device: Any = None, non_blocking: builtins.bool = False, **_: Any) -> Tensor:
        """Raises: there is no CUDA here."""
    def cummax(self, dim: Ints) -> return_types.cummax:
        """values_t = max of x up to t, at indices; as a named tuple ``(values, indices)``.

        values_t = max of x up to t, at indices
        """
    def cummin(self, dim: Ints) -> return_types.cummin:
        """values_t = min of x up to t, at indices; as a named tuple ``(values, indices)``.

        values_t = min of x up to t, at indices
        """
    def cumprod(self, dim: Ints, *, dtype: DTypeLike | None = None) -> Tensor:
        """y_t = Π_{s≤t} x_s;  ∂x_t = s_t·y_{t−1} with s_t = incoming_t + x_{t+1}·s_{t+1}"""
    def cumprod_(self, dim: Ints, *, dtype: DTypeLike | None = None) -> Tensor:
        """In-place cumprod: y_t = Π_{s≤t} x_s;  ∂x_t = s_t·y_{t−1} with s_t = incoming_t +
        x_{t+1}·s_{t+1}
        """
    def cumsum(self, dim: Ints, *, dtype: DTypeLike | None = None) -> Tensor:
        """y_t = Σ_{s≤t} x_s;  ∂x_t = Σ_{s≥t} incoming_s"""
    def cumsum_(self, dim: Ints, *, dtype: DTypeLike | None = None) -> Tensor:
        """In-place cumsum: y_t = Σ_{s≤t} x_s;  ∂x_t = Σ_{s≥t} incoming_s"""
    def deg2rad(self) -> Tensor:
        """y = x·π/180;  ∂y/∂x = π/180"""
    def deg2rad_(self) -> Tensor:
        """In-place deg2rad: y = x·π/180;  ∂y/∂x = π/180"""
    def dense_dim(self) -> builtins.int:
        """How many dimensions are stored in full."""
    def det(self) -> Tensor:
        """``linalg.det``.

        y = det x
        """
    def diag(self, diagonal: builtins.int = 0) -> Tensor:
        """A vector as the diagonal of a matrix, or a copy of the diagonal of a matrix.

        y = a matrix with diagonal x, or the diagonal of x
        """
    def diag_embed(
        self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
    ) -> Tensor:
        """Matrices over ``dim1`` and ``dim2`` with the last dimension of the input as diagonal.

        y = 0, with x on the diagonals of the matrices over dim1, dim2
        """
    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """All elements as the diagonal of a matrix.

        y = a matrix with all elements of x on its diagonal
        """
    def diagonal(
        self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """y = the diagonal of x over dim1, dim2, same memory;  ∂x = incoming on the diagonal,
        else 0
        """
    def diagonal_scatter(
        self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """``input`` with ``src`` on its diagonal.

        y = x with src on its diagonal
        """
    def diff(
        self,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
    ) -> Tensor:
        """Differences of neighbours along ``dim``, taken ``n`` times.

        y_t = x_{t+1} − x_t, n times over
        """
    def digamma(self) -> Tensor:
        """y = ψ(x) = Γ′(x)/Γ(x);  ∂y/∂x = ψ′(x), polygamma of order 1"""
    def digamma_(self) -> Tensor:
        """In-place digamma: y = ψ(x) = Γ′(x)/Γ(x);  ∂y/∂x = ψ′(x), polygamma of order 1"""
    def dim_order(self, ambiguity_check: Any = False) -> tuple[builtins.int, ...]:
        """The dimensions from the one with the largest stride to the one with the smallest."""
    def dist(self, other: Tensor, p: builtins.float = 2) -> Tensor:
        """The p-norm of the difference of two tensors.

        y = |a − b| in the p-norm
        """
    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""
    def div_(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """In-place div: y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""
    def divide(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""
    def divide_(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """In-place div: y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""
    def dot(self, tensor: Tensor) -> Tensor:
        """The scalar product of two vectors.

        y = Σ a·b for two vectors
        """
    def double(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.float64)``"""
    def dsmm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices, without broadcasting.

        y = a·b for two matrices
        """
    def dsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Split along dimension 2.

        y₁, y₂, … = pieces of x along the third dimension, same memory
        """
    def elu_(self, alpha: builtins.float = 1.0) -> Tensor:
        """In-place elu: y = x if x > 0 else α·(eˣ − 1);  ∂y/∂x = 1 or α·eˣ"""
    def eq(self, other: Operand) -> Tensor:
        """y = whether a = b"""
    def eq_(self, other: Operand) -> Tensor:
        """In-place eq: y = whether a = b"""
    def equal(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape and the same elements.

        whether shapes and elements agree, as a Python bool
        """
    def erf(self) -> Tensor:
        """y = 2/√π·∫₀ˣ e^(−t²) dt;  ∂y/∂x = 2/√π·e^(−x²)"""
    def erf_(self) -> Tensor:
        """In-place erf: y = 2/√π·∫₀ˣ e^(−t²) dt;  ∂y/∂x = 2/√π·e^(−x²)"""
    def erfc(self) -> Tensor:
        """y = 1 − erf x;  ∂y/∂x = −2/√π·e^(−x²)"""
    def erfc_(self) -> Tensor:
        """In-place erfc: y = 1 − erf x;  ∂y/∂x = −2/√π·e^(−x²)"""
    def erfinv(self) -> Tensor:
        """erf y = x;  ∂y/∂x = √π/2·e^(y²)"""
    def erfinv_(self) -> Tensor:
        """In-place erfinv: erf y = x;  ∂y/∂x = √π/2·e^(y²)"""
    def exp(self) -> Tensor:
        """y = eˣ;  ∂y/∂x = y"""
    def exp2(self) -> Tensor:
        """y = 2ˣ;  ∂y/∂x = y·ln 2"""
    def exp2_(self) -> Tensor:
        """In-place exp2: y = 2ˣ;  ∂y/∂x = y·ln 2"""
    def exp_(self) -> Tensor:
        """In-place exp: y = eˣ;  ∂y/∂x = y"""
    def expand(self, *sizes: Ints, size: Ints | None = None) -> Tensor:
        """y = x repeated along new or size-1 dimensions, no copy;  ∂x = Σ incoming over the
        copies
        """
    def expand_as(self, other: Tensor) -> Tensor:
        """``expand`` to the shape of ``other``.

        y = x expanded to the shape of another tensor
        """
    def expm1(self) -> Tensor:
        """y = eˣ − 1;  ∂y/∂x = y + 1"""
    def expm1_(self) -> Tensor:
        """In-place expm1: y = eˣ − 1;  ∂y/∂x = y + 1"""
    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> Tensor:
        """Write waiting times of a process with rate ``lambd``."""
    def fill(self, value: Operand) -> Tensor:
        """y = value everywhere;  ∂y/∂x = 0,  ∂y/∂value = 1 (summed over x)"""
    def fill_(self, value: Operand) -> Tensor:
        """In-place fill: y = value everywhere;  ∂y/∂x = 0,  ∂y/∂value = 1 (summed over x)"""
    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
        """Write one value on the main diagonal; ``wrap`` starts it again below, after an empty
        row.
        """
    def fix(self) -> Tensor:
        """y = x without its fraction;  ∂y/∂x = 0"""
    def fix_(self) -> Tensor:
        """In-place trunc: y = x without its fraction;  ∂y/∂x = 0"""
    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Merge the dimensions from ``start_dim`` to ``end_dim`` into one.

        y = x with a range of dimensions merged into one
        """
    def flip(self, *dims: Ints) -> Tensor:
        """y = x backwards along dims;  ∂x = incoming backwards along dims"""
    def fliplr(self) -> Tensor:
        """Left becomes right: reversed along dimension 1.

        y = x from right to left
        """
    def flipud(self) -> Tensor:
        """Top becomes bottom: reversed along dimension 0.

        y = x from bottom to top
        """
    def float(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.float32)``"""
    def float_power(self, exponent: Operand) -> Tensor:
        """``pow`` in double precision, whatever the dtypes are.

        y = aᵇ in float64
        """
    def float_power_(self, exponent: Operand) -> Tensor:
        """In-place ``float_power``; double precision needs a tensor that holds it."""
    def floor(self) -> Tensor:
        """y = ⌊x⌋;  ∂y/∂x = 0"""
    def floor_(self) -> Tensor:
        """In-place floor: y = ⌊x⌋;  ∂y/∂x = 0"""
    def floor_divide(self, other: Operand) -> Tensor:
        """y = ⌊a/b⌋;  ∂y/∂a = 0,  ∂y/∂b = 0"""
    def floor_divide_(self, other: Operand) -> Tensor:
        """In-place floor_divide: y = ⌊a/b⌋;  ∂y/∂a = 0,  ∂y/∂b = 0"""
    def fmax(self, other: Operand) -> Tensor:
        """y = max(a, b), the other one where one is NaN;  ∂y/∂a = 1 where y is a, else 0"""
    def fmin(self, other: Operand) -> Tensor:
        """y = min(a, b), the other one where one is NaN;  ∂y/∂a = 1 where y is a, else 0"""
    def fmod(self, other: Operand) -> Tensor:
        """y = a − b·trunc(a/b), with the sign of a;  ∂y/∂a = 1,  ∂y/∂b = −trunc(a/b)"""
    def fmod_(self, other: Operand) -> Tensor:
        """In-place fmod: y = a − b·trunc(a/b), with the sign of a;  ∂y/∂a = 1,  ∂y/∂b =
        −trunc(a/b)
        """
    def frac(self) -> Tensor:
        """y = x − trunc x;  ∂y/∂x = 1"""
    def frac_(self) -> Tensor:
        """In-place frac: y = x − trunc x;  ∂y/∂x = 1"""
    def frexp(self) -> return_types.frexp:
        """The mantissa, between ½ and 1 in size, and the power of two that was taken out.

        x = mantissa·2^exponent with ½ ≤ |mantissa| < 1;  ∂mantissa/∂x = 2^−exponent
        """
    def gather(
        self, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool = False
    ) -> Tensor:
        """y = x at index along dim;  ∂x = incoming added up at index"""
    def gcd(self, other: Operand) -> Tensor:
        """y = the greatest common divisor of |a| and |b|"""
    def gcd_(self, other: Operand) -> Tensor:
        """In-place gcd: y = the greatest common divisor of |a| and |b|"""
    def ge(self, other: Operand) -> Tensor:
        """y = whether a ≥ b"""
    def ge_(self, other: Operand) -> Tensor:
        """In-place ge: y = whether a ≥ b"""
    def geometric_(self, p: builtins.float, *, generator: Generator | None = None) -> Tensor:
        """Write how many trials it takes, each with probability ``p``, until one succeeds."""
    def geqrf(self) -> return_types.geqrf:
        """A QR decomposition with Q kept as reflections; ``linalg.qr`` multiplies it out.

        a, tau = R above the diagonal, the vectors of the reflections below it, their factors;
        no gradient
        """
    def ger(self, vec2: Tensor) -> Tensor:
        """Every element of one vector times every element of another.

        yᵢⱼ = aᵢ·bⱼ for two vectors
        """
    def greater(self, other: Operand) -> Tensor:
        """y = whether a > b"""
    def greater_(self, other: Operand) -> Tensor:
        """In-place gt: y = whether a > b"""
    def greater_equal(self, other: Operand) -> Tensor:
        """y = whether a ≥ b"""
    def greater_equal_(self, other: Operand) -> Tensor:
        """In-place ge: y = whether a ≥ b"""
    def gt(self, other: Operand) -> Tensor:
        """y = whether a > b"""
    def gt_(self, other: Operand) -> Tensor:
        """In-place gt: y = whether a > b"""
    def half(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.float16)``"""
    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """y = 0 if −λ ≤ x ≤ λ else x;  ∂y/∂x = 0 or 1"""
    def hardsigmoid_(self) -> Tensor:
        """In-place hardsigmoid: y = x/6 + ½ held between 0 and 1;  ∂y/∂x = 1/6 between them, 0
        outside
        """
    def hardswish_(self) -> Tensor:
        """In-place hardswish: y = x·hardsigmoid(x);  ∂y/∂x = 0 up to −3, x/3 + ½ in between, 1
        from 3 on
        """
    def hardtanh_(self, min_val: builtins.float = -1.0, max_val: builtins.float = 1.0) -> Tensor:
        """In-place hardtanh: y = x held between min and max;  ∂y/∂x = 1 between them, 0 outside"""
    def heaviside(self, values: Tensor) -> Tensor:
        """y = 0 for x < 0, values at x = 0, 1 for x > 0;  ∂y/∂x = 0,  ∂y/∂values = 1 at x = 0"""
    def heaviside_(self, values: Tensor) -> Tensor:
        """In-place heaviside: y = 0 for x < 0, values at x = 0, 1 for x > 0;  ∂y/∂x = 0,
        ∂y/∂values = 1 at x = 0
        """
    def histc(
        self, bins: builtins.int = 100, min: builtins.float = 0, max: builtins.float = 0
    ) -> Tensor:
        """y = the number of elements per bin; those out of range count nowhere"""
    def histogram(
        self,
        bins: Any,
        *,
        range: Any = None,
        weight: Tensor | None = None,
        density: builtins.bool = False,
    ) -> return_types.histogram:
        """How many elements fall into each bin, and the borders of the bins.

        y, edges = the number (or weight) of elements per bin, the borders of the bins
        """
    def hsmm(self, mat: Tensor) -> Tensor:
        """A sparse matrix times a dense one, the result sparse.

        y = a·b, sparse
        """
    def hsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Split along dimension 1, or 0 for vectors.

        y₁, y₂, … = pieces of x from left to right, same memory
        """
    def hspmm(self, mat: Tensor) -> Tensor:
        """A sparse matrix times a dense one, the result sparse.

        y = a·b, sparse
        """
    def hypot(self, other: Operand) -> Tensor:
        """y = √(a² + b²);  ∂y/∂a = a/y,  ∂y/∂b = b/y"""
    def hypot_(self, other: Operand) -> Tensor:
        """In-place hypot: y = √(a² + b²);  ∂y/∂a = a/y,  ∂y/∂b = b/y"""
    def i0(self) -> Tensor:
        """y = I₀(x), the modified Bessel function of order 0;  ∂y/∂x = I₁(x)"""
    def i0_(self) -> Tensor:
        """In-place i0: y = I₀(x), the modified Bessel function of order 0;  ∂y/∂x = I₁(x)"""
    def igamma(self, other: Operand) -> Tensor:
        """y = the regularised lower incomplete gamma function;  ∂y/∂b = bᵃ⁻¹·e⁻ᵇ/Γ(a)"""
    def igamma_(self, other: Operand) -> Tensor:
        """In-place igamma: y = the regularised lower incomplete gamma function;  ∂y/∂b =
        bᵃ⁻¹·e⁻ᵇ/Γ(a)
        """
    def igammac(self, other: Operand) -> Tensor:
        """y = the regularised upper incomplete gamma function;  ∂y/∂b = −bᵃ⁻¹·e⁻ᵇ/Γ(a)"""
    def igammac_(self, other: Operand) -> Tensor:
        """In-place igammac: y = the regularised upper incomplete gamma function;  ∂y/∂b =
        −bᵃ⁻¹·e⁻ᵇ/Γ(a)
        """
    def index_add(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number = 1
    ) -> Tensor:
        """``input`` with ``alpha`` · the slices of ``source`` added at ``index`` along ``dim``.

        y = x with alpha·source added at index along dim;  ∂x = incoming,  ∂source = alpha ·
        incoming at index
        """
    def index_add_(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number = 1
    ) -> Tensor:
        """In-place index_add: y = x with alpha·source added at index along dim;  ∂x = incoming,
        ∂source = alpha · incoming at index
        """
    def index_copy(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """``input`` with the slices of ``source`` written at ``index`` along ``dim``.

        y = x with source written at index along dim;  ∂x = incoming, 0 where written,
        ∂source = incoming at index
        """
    def index_copy_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """In-place index_copy: y = x with source written at index along dim;  ∂x = incoming, 0
        where written,  ∂source = incoming at index
        """
    def index_fill(self, dim: builtins.int, index: Tensor, value: Operand) -> Tensor:
        """``input`` with one value in all slices at ``index`` along ``dim``.

        y = x with value in the slices at index along dim;  ∂x = incoming, 0 in these slices,
        ∂value = Σ incoming over them
        """
    def index_fill_(self, dim: builtins.int, index: Tensor, value: Operand) -> Tensor:
        """In-place index_fill: y = x with value in the slices at index along dim;  ∂x =
        incoming, 0 in these slices,  ∂value = Σ incoming over them
        """
    def index_put(self, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """y = x with value written (or added) at position;  ∂x = incoming, 0 where written,
        ∂value = incoming at position
        """
    def index_put_(self, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """In-place index_put: y = x with value written (or added) at position;  ∂x = incoming, 0
        where written,  ∂value = incoming at position
        """
    def index_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """Combine the slices of ``source`` into the slices of ``input`` that ``index`` names.

        y = input combined with the slices of source at index along dim: prod, mean, amax or
        amin
        """
    def index_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """In-place index_reduce: y = input combined with the slices of source at index along
        dim: prod, mean, amax or amin
        """
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """y = the slices of x at index along dim;  ∂x = incoming added up at index"""
    def indices(self) -> Tensor:
        """The coordinates of a coalesced tensor: one row per dimension, one column per value."""
    def inner(self, other: Tensor) -> Tensor:
        """Sum products over the last dimension of both.

        y = Σ a·b over the last dimension of both
        """
    def int(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.int32)``"""
    def inverse(self) -> Tensor:
        """``linalg.inv`` under its older name.

        y = x⁻¹
        """
    def is_coalesced(self) -> builtins.bool:
        """Whether coordinates are sorted and none repeats."""
    def is_complex(self) -> builtins.bool:
        """Whether the elements are complex.

        whether x holds complex numbers
        """
    def is_conj(self) -> builtins.bool:
        """Whether a conjugate has been put off: never.

        always False: nothing is put off
        """
    def is_distributed(self) -> builtins.bool:
        """Whether the tensor is spread over several processes: it is not.

        always False
        """
    def is_floating_point(self) -> builtins.bool:
        """Whether the elements are float16, bfloat16, float32 or float64.

        whether x holds floats
        """
    def is_neg(self) -> builtins.bool:
        """Whether a negative has been put off: never.

        always False: nothing is put off
        """
    def is_nonzero(self) -> builtins.bool:
        """Whether the only element is not 0.

        whether the only element is not 0
        """
    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Whether both have the same shape.

        whether two shapes are equal
        """
    def is_set_to(self, tensor: Tensor) -> builtins.bool:
        """Whether both look at the same memory in the same way."""
    def is_shared(self) -> builtins.bool:
        """Whether the memory is shared between processes: it is not."""
    def is_signed(self) -> builtins.bool:
        """Whether the dtype has numbers below 0.

        whether the dtype has negative numbers
        """
    @property
    def is_sparse(self) -> builtins.bool: ...
    @property
    def is_sparse_csr(self) -> builtins.bool: ...
    def isclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> Tensor:
        """y = whether |a − b| ≤ atol + rtol·|b|"""
    def isfinite(self) -> Tensor:
        """y = whether x is a number other than ±∞"""
    def isinf(self) -> Tensor:
        """y = whether x is +∞ or −∞"""
    def isnan(self) -> Tensor:
        """y = whether x is not a number"""
    def isneginf(self) -> Tensor:
        """y = whether x is −∞"""
    def isposinf(self) -> Tensor:
        """y = whether x is +∞"""
    def isreal(self) -> Tensor:
        """y = whether x has no imaginary part"""
    def istft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> Tensor:
        """The signal whose short-time spectrum ``input`` is: what overlaps is averaged.

        x = the windows' average of the inverse transforms of y
        """
    def kron(self, other: Tensor) -> Tensor:
        """Every element of ``input`` times the whole of ``other``, laid out as blocks.

        y = the blocks aᵢⱼ·b
        """
    def kthvalue(
        self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> return_types.kthvalue:
        """The ``k``-th smallest element along ``dim``, as a named tuple ``(values, indices)``.

        values = the k-th smallest x along dim, at indices;  ∂values/∂x = 1 at indices
        """
    def lcm(self, other: Operand) -> Tensor:
        """y = the least common multiple of |a| and |b|"""
    def lcm_(self, other: Operand) -> Tensor:
        """In-place lcm: y = the least common multiple of |a| and |b|"""
    def ldexp(self, other: Tensor) -> Tensor:
        """``input`` times two to the power of ``other``.

        y = a·2ᵇ
        """
    def ldexp_(self, other: Tensor) -> Tensor:
        """In-place ldexp: y = a·2ᵇ"""
    def le(self, other: Operand) -> Tensor:
        """y = whether a ≤ b"""
    def le_(self, other: Operand) -> Tensor:
        """In-place le: y = whether a ≤ b"""
    def leaky_relu_(self, negative_slope: builtins.float = 0.01) -> Tensor:
        """In-place leaky_relu: y = x if x > 0 else slope·x;  ∂y/∂x = 1 or slope"""
    def lerp(self, end: Operand, weight: Operand) -> Tensor:
        """y = x + w·(end − x);  ∂y/∂x = 1 − w,  ∂y/∂end = w,  ∂y/∂w = end − x"""
    def lerp_(self, end: Operand, weight: Operand) -> Tensor:
        """In-place lerp: y = x + w·(end − x);  ∂y/∂x = 1 − w,  ∂y/∂end = w,  ∂y/∂w = end − x"""
    def less(self, other: Operand) -> Tensor:
        """y = whether a < b"""
    def less_(self, other: Operand) -> Tensor:
        """In-place lt: y = whether a < b"""
    def less_equal(self, other: Operand) -> Tensor:
        """y = whether a ≤ b"""
    def less_equal_(self, other: Operand) -> Tensor:
        """In-place le: y = whether a ≤ b"""
    def lgamma(self) -> Tensor:
        """y = ln |Γ(x)|;  ∂y/∂x = ψ(x), the digamma function"""
    def lgamma_(self) -> Tensor:
        """In-place lgamma: y = ln |Γ(x)|;  ∂y/∂x = ψ(x), the digamma function"""
    def log(self) -> Tensor:
        """y = ln x;  ∂y/∂x = 1/x"""
    def log10(self) -> Tensor:
        """y = log₁₀ x;  ∂y/∂x = 1/(x·ln 10)"""
    def log10_(self) -> Tensor:
        """In-place log10: y = log₁₀ x;  ∂y/∂x = 1/(x·ln 10)"""
    def log1p(self) -> Tensor:
        """y = ln(1 + x);  ∂y/∂x = 1/(1 + x)"""
    def log1p_(self) -> Tensor:
        """In-place log1p: y = ln(1 + x);  ∂y/∂x = 1/(1 + x)"""
    def log2(self) -> Tensor:
        """y = log₂ x;  ∂y/∂x = 1/(x·ln 2)"""
    def log2_(self) -> Tensor:
        """In-place log2: y = log₂ x;  ∂y/∂x = 1/(x·ln 2)"""
    def log_(self) -> Tensor:
        """In-place log: y = ln x;  ∂y/∂x = 1/x"""
    def log_normal_(
        self,
        mean: builtins.float = 1.0,
        std: builtins.float = 2.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Write numbers whose logarithm is normal with this mean and standard deviation."""
    def log_softmax(
        self, dim: builtins.int | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """y = x − log Σ exp(x) over dim;  ∂x = incoming − exp(y)·Σ incoming"""
    def logaddexp(self, other: Operand) -> Tensor:
        """y = ln(eᵃ + eᵇ);  ∂y/∂a = 1/(1 + eᵇ⁻ᵃ),  ∂y/∂b = 1/(1 + eᵃ⁻ᵇ)"""
    def logaddexp2(self, other: Operand) -> Tensor:
        """y = log₂(2ᵃ + 2ᵇ);  ∂y/∂a = 1/(1 + 2ᵇ⁻ᵃ),  ∂y/∂b = 1/(1 + 2ᵃ⁻ᵇ)"""
    def logcumsumexp(self, dim: Ints) -> Tensor:
        """y_t = log Σ_{s≤t} exp x_s;  ∂x_t = Σ_{s≥t} incoming_s·exp(x_t − y_s)"""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant: −inf if that is zero, nan if it is negative.

        y = log det x
        """
    def logical_and(self, other: Operand) -> Tensor:
        """y = whether a and b are both nonzero"""
    def logical_and_(self, other: Operand) -> Tensor:
        """In-place logical_and: y = whether a and b are both nonzero"""
    def logical_not(self) -> Tensor:
        """y = whether x is zero"""
    def logical_not_(self) -> Tensor:
        """In-place logical_not: y = whether x is zero"""
    def logical_or(self, other: Operand) -> Tensor:
        """y = whether a or b is nonzero"""
    def logical_or_(self, other: Operand) -> Tensor:
        """In-place logical_or: y = whether a or b is nonzero"""
    def logical_xor(self, other: Operand) -> Tensor:
        """y = whether exactly one of a and b is nonzero"""
    def logical_xor_(self, other: Operand) -> Tensor:
        """In-place logical_xor: y = whether exactly one of a and b is nonzero"""
    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """y = ln(x/(1 − x)), x clamped to [eps, 1 − eps];  ∂y/∂x = 1/(x·(1 − x)), 0 where
        clamped
        """
    def logit_(self, eps: builtins.float | None = None) -> Tensor:
        """In-place logit: y = ln(x/(1 − x)), x clamped to [eps, 1 − eps];  ∂y/∂x = 1/(x·(1 −
        x)), 0 where clamped
        """
    def logsumexp(self, dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """y = log Σ exp x over dim, computed without overflow;  ∂y/∂x = exp(x − y)"""
    def long(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.int64)``"""
    def lt(self, other: Operand) -> Tensor:
        """y = whether a < b"""
    def lt_(self, other: Operand) -> Tensor:
        """In-place lt: y = whether a < b"""
    def lu(
        self, pivot: builtins.bool = True, get_infos: builtins.bool = False
    ) -> tuple[Tensor, ...]:
        """The older form of ``linalg.lu_factor``, which takes a singular matrix, too.

        x = P·L·U, L and U packed in one matrix
        """
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """``linalg.lu_solve`` with its arguments in the older order.

        y = U⁻¹·L⁻¹·Pᵀ·b
        """
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it and those of ``x`` and
        ``y``.
        """
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it and that of ``tensor``."""
    def masked_fill(self, mask: Tensor, value: Operand) -> Tensor:
        """``input`` with ``value`` (a number or a 0-d tensor) wherever the mask is True.

        y = value where the mask is True, x elsewhere;  ∂x = incoming, 0 under the mask
        """
    def masked_fill_(self, mask: Tensor, value: Operand) -> Tensor:
        """In-place masked_fill: y = value where the mask is True, x elsewhere;  ∂x = incoming, 0
        under the mask
        """
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """``input`` with the elements of ``source``, in order, at the places where the mask is
        True.

        y = x with source written under the mask, in order;  ∂x = incoming, 0 under the mask,
        ∂source = incoming under the mask
        """
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In-place masked_scatter: y = x with source written under the mask, in order;  ∂x =
        incoming, 0 under the mask,  ∂source = incoming under the mask
        """
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements of ``input`` under a mask, in a row.

        y = the elements of x under the mask, in a row;  ∂x = incoming under the mask, else 0
        """
    def matmul(self, other: Tensor) -> Tensor:
        """y = a·b over the last dimension of a and the rows of b, batches broadcast;  ∂a =
        incoming·bᵀ,  ∂b = aᵀ·incoming
        """
    def matrix_exp(self) -> Tensor:
        """``linalg.matrix_exp``.

        y = Σ xᵏ/k!
        """
    def matrix_power(self, n: builtins.int) -> Tensor:
        """``linalg.matrix_power``.

        y = xⁿ
        """
    @overload
    def max(self) -> Tensor:
        """``max(x)``: the maximum of all elements.  ``max(x, dim)``: along a dimension, as
        ``(values, indices)``.  ``max(x, other)``: the larger or smaller of each pair.

        values = max x along dim, at indices;  ∂values/∂x = 1 at indices
        """
    @overload
    def max(self, other: Tensor) -> Tensor:
        """``max(x)``: the maximum of all elements.  ``max(x, dim)``: along a dimension, as
        ``(values, indices)``.  ``max(x, other)``: the larger or smaller of each pair.

        values = max x along dim, at indices;  ∂values/∂x = 1 at indices
        """
    @overload
    def max(self, dim: builtins.int, keepdim: builtins.bool = False) -> return_types.max:
        """``max(x)``: the maximum of all elements.  ``max(x, dim)``: along a dimension, as
        ``(values, indices)``.  ``max(x, other)``: the larger or smaller of each pair.

        values = max x along dim, at indices;  ∂values/∂x = 1 at indices
        """
    def maximum(self, other: Operand) -> Tensor:
        """y = max(a, b);  ∂y/∂a = 1 where a > b, ½ where a = b, 0 where a < b"""
    def mean(
        self,
        dim: Ints | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """y = Σ x / n over dim;  ∂y/∂x = 1/n"""
    @overload
    def median(self) -> Tensor:
        """values = the lower median along dim, at indices.  Without ``dim`` one number, with it
        a named tuple ``(values, indices)``.

        values = the lower median along dim, at indices
        """
    @overload
    def median(self, dim: builtins.int, keepdim: builtins.bool = False) -> return_types.median:
        """values = the lower median along dim, at indices.  Without ``dim`` one number, with it
        a named tuple ``(values, indices)``.

        values = the lower median along dim, at indices
        """
    @overload
    def min(self) -> Tensor:
        """``min(x)``: the minimum of all elements.  ``min(x, dim)``: along a dimension, as
        ``(values, indices)``.  ``min(x, other)``: the larger or smaller of each pair.

        values = min x along dim, at indices;  ∂values/∂x = 1 at indices
        """
    @overload
    def min(self, other: Tensor) -> Tensor:
        """``min(x)``: the minimum of all elements.  ``min(x, dim)``: along a dimension, as
        ``(values, indices)``.  ``min(x, other)``: the larger or smaller of each pair.

        values = min x along dim, at indices;  ∂values/∂x = 1 at indices
        """
    @overload
    def min(self, dim: builtins.int, keepdim: builtins.bool = False) -> return_types.min:
        """``min(x)``: the minimum of all elements.  ``min(x, dim)``: along a dimension, as
        ``(values, indices)``.  ``min(x, other)``: the larger or smaller of each pair.

        values = min x along dim, at indices;  ∂values/∂x = 1 at indices
        """
    def minimum(self, other: Operand) -> Tensor:
        """y = min(a, b);  ∂y/∂a = 1 where a < b, ½ where a = b, 0 where a > b"""
    def mish_(self) -> Tensor:
        """In-place mish: y = x·t with t = tanh(log(1 + eˣ));  ∂y/∂x = t + x·σ(x)·(1 − t²)"""
    def mm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices, without broadcasting.

        y = a·b for two matrices
        """
    def mode(self, dim: builtins.int = -1, keepdim: builtins.bool = False) -> return_types.mode:
        """The most common element along ``dim``, as a named tuple ``(values, indices)``.

        values = the most common element along dim, the smallest of several
        """
    def moveaxis(self, source: Ints, destination: Ints) -> Tensor:
        """``movedim`` under NumPy's name.

        y = x with some dimensions moved, the others in order
        """
    def movedim(self, source: Ints, destination: Ints) -> Tensor:
        """Move dimensions to new places; the others keep their order.

        y = x with some dimensions moved, the others in order
        """
    def msort(self) -> Tensor:
        """Sorted along the first dimension.

        y = x sorted along its first dimension
        """
    def mul(self, other: Operand) -> Tensor:
        """y = a·b;  ∂y/∂a = b,  ∂y/∂b = a"""
    def mul_(self, other: Operand) -> Tensor:
        """In-place mul: y = a·b;  ∂y/∂a = b,  ∂y/∂b = a"""
    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Indices drawn per row with the probabilities (or weights) in ``input``.

        y ~ index i with probability x[i]/Σx
        """
    def multiply(self, other: Operand) -> Tensor:
        """y = a·b;  ∂y/∂a = b,  ∂y/∂b = a"""
    def multiply_(self, other: Operand) -> Tensor:
        """In-place mul: y = a·b;  ∂y/∂a = b,  ∂y/∂b = a"""
    def mv(self, vec: Tensor) -> Tensor:
        """A matrix times a vector.

        y = A·v for a matrix and a vector
        """
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension ``p``.

        y = p(p − 1)/4·log π + Σ log Γ(x − j/2), j < p
        """
    def mvlgamma_(self, p: builtins.int) -> Tensor:
        """In-place mvlgamma: y = p(p − 1)/4·log π + Σ log Γ(x − j/2), j < p"""
    def nan_to_num(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Tensor:
        """y = x with NaN and infinities replaced;  ∂y/∂x = 1 where x is finite, else 0"""
    def nan_to_num_(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Tensor:
        """In-place nan_to_num: y = x with NaN and infinities replaced;  ∂y/∂x = 1 where x is
        finite, else 0
        """
    def nanmean(
        self,
        dim: Ints | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """The mean of the elements that are not NaN.

        y = Σ x / n over the elements that are not NaN
        """
    @overload
    def nanmedian(self) -> Tensor:
        """values = the lower median along dim without NaN, at indices.  Without ``dim`` one
        number, with it a named tuple ``(values, indices)``.

        values = the lower median along dim without NaN, at indices
        """
    @overload
    def nanmedian(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> return_types.nanmedian:
        """values = the lower median along dim without NaN, at indices.  Without ``dim`` one
        number, with it a named tuple ``(values, indices)``.

        values = the lower median along dim without NaN, at indices
        """
    def nanquantile(
        self,
        q: Operand,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """``quantile`` of what is not nan.

        y = the quantile of the elements that are not nan
        """
    def nansum(
        self,
        dim: Ints | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """y = Σ x over dim, NaN counted as 0;  ∂y/∂x = 1, or 0 where x is NaN"""
    def narrow(self, dim: builtins.int, start: Operand, length: builtins.int) -> Tensor:
        """The positions ``start … start + length − 1`` of a dimension.

        y = a range of positions of dim
        """
    def narrow_copy(self, *args: Any, **kwargs: Any) -> Tensor:
        """``narrow``, with memory of its own.

        y = what narrow shows, copied
        """
    def ne(self, other: Operand) -> Tensor:
        """y = whether a ≠ b"""
    def ne_(self, other: Operand) -> Tensor:
        """In-place ne: y = whether a ≠ b"""
    def neg(self) -> Tensor:
        """y = −x;  ∂y/∂x = −1"""
    def neg_(self) -> Tensor:
        """In-place neg: y = −x;  ∂y/∂x = −1"""
    def negative(self) -> Tensor:
        """y = −x;  ∂y/∂x = −1"""
    def negative_(self) -> Tensor:
        """In-place neg: y = −x;  ∂y/∂x = −1"""
    def new(self, *data: Any, device: Any = None) -> Tensor:
        """PyTorch's first constructor, with dtype and device of this tensor: sizes, or numbers."""
    def new_empty(self, *size: Ints, **options: Unpack[Options]) -> Tensor:
        """Memory as it is found, with dtype and device of ``input``.

        y = memory as it is found, with dtype and device of x
        """
    def new_empty_strided(
        self, size: Ints, stride: builtins.int | Sequence[builtins.int], **options: Unpack[Options]
    ) -> Tensor:
        """``empty_strided`` with dtype and device of ``input``.

        y = memory as it is found, with the given strides and the dtype of x
        """
    def new_full(self, size: Ints, fill_value: Operand, **options: Unpack[Options]) -> Tensor:
        """``fill_value`` everywhere, with dtype and device of ``input``.

        y = value in the given shape, with dtype and device of x
        """
    def new_ones(self, *size: Ints, **options: Unpack[Options]) -> Tensor:
        """Ones, with dtype and device of ``input``.

        y = 1 in the given shape, with dtype and device of x
        """
    def new_tensor(self, data: Any, **options: Unpack[Options]) -> Tensor:
        """A copy of ``data``, with dtype and device of ``input``.

        y = a copy of the data, with dtype and device of x
        """
    def new_zeros(self, *size: Ints, **options: Unpack[Options]) -> Tensor:
        """Zeros, with dtype and device of ``input``.

        y = 0 in the given shape, with dtype and device of x
        """
    def nextafter(self, other: Operand) -> Tensor:
        """y = the next number after a in the direction of b;  ∂y/∂a = 1 (0 at a = b),  ∂y/∂b = 0"""
    def nextafter_(self, other: Operand) -> Tensor:
        """In-place nextafter: y = the next number after a in the direction of b;  ∂y/∂a = 1 (0
        at a = b),  ∂y/∂b = 0
        """
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor:
        """Coordinates of the elements that are not 0: one row each, or one tensor per dimension.

        y = the coordinates of the elements that are not 0, one row each
        """
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
        """Coordinates of the elements that are not 0: one row each, or one tensor per dimension.

        y = the coordinates of the elements that are not 0, one row each
        """
    def nonzero_static(self, *, size: builtins.int, fill_value: builtins.int = -1) -> Tensor:
        """y = the coordinates of the first elements that are not 0, as many rows as asked for"""
    def norm(
        self,
        p: Any = "fro",
        dim: Ints | None = None,
        keepdim: builtins.bool = False,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """y = (Σ |x|ᵖ)^(1/p);  ∂y/∂x = sign x·|x|ᵖ⁻¹·y^(1−p)"""
    def normal_(
        self,
        mean: builtins.float = 0.0,
        std: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Write normal numbers."""
    def not_equal(self, other: Operand) -> Tensor:
        """y = whether a ≠ b"""
    def not_equal_(self, other: Operand) -> Tensor:
        """In-place ne: y = whether a ≠ b"""
    def orgqr(self, input2: Tensor) -> Tensor:
        """``linalg.householder_product`` under its older name.

        y = Π (1 − tau·v·vᴴ), its first columns
        """
    def ormqr(
        self,
        tau: Tensor,
        other: Tensor,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
    ) -> Tensor:
        """Q·other (or other·Q, or with Qᴴ), Q given by its reflections.

        y = Q·other, Q given by its reflections
        """
    def outer(self, vec2: Tensor) -> Tensor:
        """Every element of one vector times every element of another.

        yᵢⱼ = aᵢ·bⱼ for two vectors
        """
    def permute(self, *order: Ints, dims: Ints | None = None) -> Tensor:
        """y = x with its dimensions in another order;  ∂x = incoming in the old order"""
    def pin_memory(self, device: Any = None) -> Tensor:
        """Raises: memory is pinned for a GPU, and there is none."""
    def pinverse(self, rcond: Any = 1e-15) -> Tensor:
        """``linalg.pinv`` under its older name.

        y = x⁺
        """
    def polygamma(self, n: builtins.int) -> Tensor:
        """y = the n-th derivative of ψ;  ∂y/∂x = polygamma of order n + 1"""
    def polygamma_(self, n: builtins.int) -> Tensor:
        """In-place polygamma: y = the n-th derivative of ψ;  ∂y/∂x = polygamma of order n + 1"""
    def positive(self) -> Tensor:
        """The tensor itself; what ``+x`` means.

        y = x
        """
    def pow(self, exponent: Operand) -> Tensor:
        """y = aᵇ;  ∂y/∂a = b·aᵇ⁻¹ (0 where b = 0),  ∂y/∂b = y·log a (0 where a = 0 and b ≥ 0)"""
    def pow_(self, exponent: Operand) -> Tensor:
        """In-place pow: y = aᵇ;  ∂y/∂a = b·aᵇ⁻¹ (0 where b = 0),  ∂y/∂b = y·log a (0 where a = 0
        and b ≥ 0)
        """
    def prelu(self, weight: Tensor) -> Tensor:
        """y = x if x > 0 else weight·x;  ∂y/∂x = 1 or weight,  ∂y/∂weight = 0 or x"""
    def prod(
        self,
        dim: Ints | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """y = Π x over dim;  ∂y/∂x_j = Π_{k≠j} x_k"""
    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """``input`` with ``source`` written (or added) at ``index``, counted as one row.

        y = x with source written (or added) at index, x seen as one row;  ∂x = incoming, 0
        where written,  ∂source = incoming at index
        """
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """In-place put: y = x with source written (or added) at index, x seen as one row;  ∂x =
        incoming, 0 where written,  ∂source = incoming at index
        """
    def qr(self, some: builtins.bool = True) -> return_types.linalg_qr:
        """The older form of ``linalg.qr``.

        q·r = x, qᵀ·q = 1, r upper triangular
        """
    def quantile(
        self,
        q: Operand,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """The ``q``-th quantiles along ``dim``; with a list of them, they come first.

        y = the value with a share q of the elements below it, between two neighbours by lerp
        """
    def rad2deg(self) -> Tensor:
        """y = x·180/π;  ∂y/∂x = 180/π"""
    def rad2deg_(self) -> Tensor:
        """In-place rad2deg: y = x·180/π;  ∂y/∂x = 180/π"""
    @overload
    def random_(self, *, generator: Generator | None = None) -> Tensor:
        """``random_(from, to)``, ``random_(to)`` or ``random_()``: write whole numbers.

        From ``from`` (or 0) up to but without ``to`` (or as far as the dtype counts without a
        gap).
        """
    @overload
    def random_(self, to: builtins.int, *, generator: Generator | None = None) -> Tensor:
        """``random_(from, to)``, ``random_(to)`` or ``random_()``: write whole numbers.

        From ``from`` (or 0) up to but without ``to`` (or as far as the dtype counts without a
        gap).
        """
    @overload
    def random_(
        self, from_: builtins.int, to: builtins.int | None, *, generator: Generator | None = None
    ) -> Tensor:
        """``random_(from, to)``, ``random_(to)`` or ``random_()``: write whole numbers.

        From ``from`` (or 0) up to but without ``to`` (or as far as the dtype counts without a
        gap).
        """
    def ravel(self) -> Tensor:
        """All elements in one dimension; a copy only if they do not lie in row-major order.

        y = x in one dimension, a view if possible, else a copy
        """
    def reciprocal(self) -> Tensor:
        """y = 1/x;  ∂y/∂x = −y²"""
    def reciprocal_(self) -> Tensor:
        """In-place reciprocal: y = 1/x;  ∂y/∂x = −y²"""
    def record_stream(self, stream: Any) -> None:
        """Nothing: there are no streams on a CPU."""
    def relu(self, inplace: builtins.bool = False) -> Tensor:
        """y = max(x, 0);  ∂y/∂x = 1 if y > 0 else 0"""
    def relu_(self) -> Tensor:
        """In-place relu: y = max(x, 0);  ∂y/∂x = 1 if y > 0 else 0"""
    def remainder(self, other: Operand) -> Tensor:
        """y = a − b·⌊a/b⌋, with the sign of b;  ∂y/∂a = 1,  ∂y/∂b = −⌊a/b⌋"""
    def remainder_(self, other: Operand) -> Tensor:
        """In-place remainder: y = a − b·⌊a/b⌋, with the sign of b;  ∂y/∂a = 1,  ∂y/∂b = −⌊a/b⌋"""
    def renorm(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
        """Slices along ``dim`` whose p-norm exceeds ``maxnorm`` are scaled down to it.

        y = x·min(1, maxnorm/|x|) per slice along dim
        """
    def renorm_(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
        """In-place renorm: y = x·min(1, maxnorm/|x|) per slice along dim"""
    def repeat(self, *sizes: Ints, repeats: Any = None) -> Tensor:
        """y = copies of x side by side;  ∂x = Σ incoming over the copies"""
    def repeat_interleave(
        self,
        repeats: Any = None,
        dim: Ints | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """Each element (or each position of ``dim``) several times in a row.

        y = each element of x several times in a row
        """
    def reshape(self, *shape: Ints, size: Ints | None = None) -> Tensor:
        """The elements in another shape: a view when strides allow it, a copy otherwise.

        y = x in another shape, a view if possible, else a copy
        """
    def reshape_as(self, other: Tensor) -> Tensor:
        """``reshape`` to the shape of ``other``.

        y = x in the shape of another tensor
        """
    def resize(self, *sizes: Any) -> Tensor:
        """``resize_`` of another view of the same memory; deprecated in PyTorch."""
    def resize_(self, *sizes: Any, memory_format: Any = None) -> Tensor:
        """Take another size, row by row over the same memory, and more memory if that is too
        small.

        Elements that were not there before have no defined value.
        """
    def resize_as(self, tensor: Tensor) -> Tensor:
        """``resize`` to the shape of ``tensor``; deprecated in PyTorch."""
    def resize_as_(self, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
        """Take the size of another tensor."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: a conjugate is computed at once here, never put off.

        y = x
        """
    def resolve_neg(self) -> Tensor:
        """The tensor itself: a negative is computed at once here, never put off.

        y = x
        """
    def roll(self, shifts: Ints, dims: Ints = ()) -> Tensor:
        """y = x moved on along dims, in a circle;  ∂x = incoming moved back"""
    def rot90(self, k: builtins.int = 1, dims: Ints = (0, 1)) -> Tensor:
        """Turn by k quarter turns in the plane of two dimensions, from the first to the second.

        y = x turned by quarter turns
        """
    def round(self, *, decimals: builtins.int = 0) -> Tensor:
        """y = x to the nearest multiple of 10^−decimals, halves to even;  ∂y/∂x = 0"""
    def round_(self, *, decimals: builtins.int = 0) -> Tensor:
        """In-place round: y = x to the nearest multiple of 10^−decimals, halves to even;  ∂y/∂x
        = 0
        """
    def rsqrt(self) -> Tensor:
        """y = 1/√x;  ∂y/∂x = −y³/2"""
    def rsqrt_(self) -> Tensor:
        """In-place rsqrt: y = 1/√x;  ∂y/∂x = −y³/2"""
    def saddmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta·input + alpha·(mat1 @ mat2)`` with ``input`` and ``mat1`` sparse, the result
        too.

        y = beta·x + alpha·a·b, sparse
        """
    def scatter(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Operand | None = None,
        *,
        value: Operand | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """``input`` with ``src`` (a tensor or a number) written at ``index`` along ``dim``.

        y = x with source written at index along dim;  ∂x = incoming, 0 where written,
        ∂source = incoming at index
        """
    def scatter_(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Operand | None = None,
        *,
        value: Operand | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """In-place scatter: y = x with source written at index along dim;  ∂x = incoming, 0
        where written,  ∂source = incoming at index
        """
    def scatter_add(self, dim: Ints, index: Operand, src: Operand) -> Tensor:
        """y = x with source added at index along dim;  ∂x = incoming,  ∂source = incoming at
        index
        """
    def scatter_add_(self, dim: Ints, index: Operand, src: Operand) -> Tensor:
        """In-place scatter_add: y = x with source added at index along dim;  ∂x = incoming,
        ∂source = incoming at index
        """
    def scatter_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """Combine ``input`` with everything in ``src`` that ``index`` sends to the same place.

        y = input combined with src at index along dim: sum, mean, prod, amax or amin
        """
    def scatter_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """In-place scatter_reduce: y = input combined with src at index along dim: sum, mean,
        prod, amax or amin
        """
    def select(self, dim: builtins.int, index: Operand) -> Tensor:
        """One position of a dimension, which disappears.

        y = x at one position of dim
        """
    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """``input`` with ``src`` at one position of a dimension.

        y = x with src at one position of dim
        """
    def selu_(self) -> Tensor:
        """In-place selu: y = λ·(x if x > 0 else α·(eˣ − 1)) with fixed λ, α;  ∂y/∂x = λ or
        λ·α·eˣ
        """
    def set_(
        self,
        source: Tensor | Contents | None = None,
        storage_offset: builtins.int = 0,
        size: Any = None,
        stride: Any = None,
    ) -> Tensor:
        """Look at the memory of ``source`` from now on; without one, at none."""
    def sgn(self) -> Tensor:
        """y = x/|x|, 0 at 0;  ∂y/∂x = 0 for real x, what turns it for complex x"""
    def sgn_(self) -> Tensor:
        """In-place sgn: y = x/|x|, 0 at 0;  ∂y/∂x = 0 for real x, what turns it for complex x"""
    def share_memory_(self) -> Tensor:
        """The tensor itself: threads share all memory, and processes of a loader get copies."""
    def short(self, memory_format: Any = None) -> Tensor:
        """``to(whygrad.int16)``"""
    def sigmoid(self) -> Tensor:
        """y = 1/(1 + e⁻ˣ);  ∂y/∂x = y·(1 − y)"""
    def sigmoid_(self) -> Tensor:
        """In-place sigmoid: y = 1/(1 + e⁻ˣ);  ∂y/∂x = y·(1 − y)"""
    def sign(self) -> Tensor:
        """y = −1, 0 or 1;  ∂y/∂x = 0"""
    def sign_(self) -> Tensor:
        """In-place sign: y = −1, 0 or 1;  ∂y/∂x = 0"""
    def signbit(self) -> Tensor:
        """y = whether x is negative, −0 included"""
    def silu_(self) -> Tensor:
        """In-place silu: y = x·σ(x);  ∂y/∂x = σ(x)·(1 + x·(1 − σ(x)))"""
    def sin(self) -> Tensor:
        """y = sin x;  ∂y/∂x = cos x"""
    def sin_(self) -> Tensor:
        """In-place sin: y = sin x;  ∂y/∂x = cos x"""
    def sinc(self) -> Tensor:
        """y = sin(πx)/(πx), 1 at 0;  ∂y/∂x = (cos(πx) − y)/x, 0 at 0"""
    def sinc_(self) -> Tensor:
        """In-place sinc: y = sin(πx)/(πx), 1 at 0;  ∂y/∂x = (cos(πx) − y)/x, 0 at 0"""
    def sinh(self) -> Tensor:
        """y = sinh x;  ∂y/∂x = cosh x"""
    def sinh_(self) -> Tensor:
        """In-place sinh: y = sinh x;  ∂y/∂x = cosh x"""
    def slice_scatter(
        self,
        src: Tensor,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> Tensor:
        """``input`` with ``src`` at the positions ``start:end:step`` of a dimension.

        y = x with src at start:end:step of dim
        """
    def slogdet(self) -> return_types.slogdet:
        """``linalg.slogdet``.

        sign, logabsdet = sign det x, log |det x|
        """
    def smm(self, mat: Tensor) -> Tensor:
        """A sparse matrix times a dense one, the result sparse.

        y = a·b, sparse
        """
    def softmax(self, dim: builtins.int | None = None, dtype: DTypeLike | None = None) -> Tensor:
        """y = exp(x) / Σ exp(x) over dim;  ∂x = y·(incoming − Σ incoming·y)"""
    def sort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        *,
        stable: builtins.bool | None = None,
    ) -> return_types.sort:
        """The elements in order along ``dim``, as a named tuple ``(values, indices)``.

        values = x in order along dim, taken from indices;  ∂x = incoming put back at indices
        """
    def sparse_dim(self) -> builtins.int:
        """How many dimensions are stored by coordinate."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """The elements of ``input`` at the coordinates that ``mask`` stores.

        y = x at the coordinates of mask;  ∂x = incoming at those, 0 elsewhere
        """
    def split(self, split_size_or_sections: Ints, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Pieces of one size (the last may be smaller), or of a list of sizes.

        y₁, y₂, … = pieces of x along dim, same memory
        """
    def split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """y₁, y₂, … = pieces of x along dim, same memory;  ∂x = the pieces of incoming joined"""
    def spmm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices, without broadcasting.

        y = a·b for two matrices
        """
    def sqrt(self) -> Tensor:
        """y = √x;  ∂y/∂x = 1/(2y)"""
    def sqrt_(self) -> Tensor:
        """In-place sqrt: y = √x;  ∂y/∂x = 1/(2y)"""
    def square(self) -> Tensor:
        """The product of a tensor with itself.

        y = x²;  ∂y/∂x = 2x
        """
    def square_(self) -> Tensor:
        """In-place square: y = x²;  ∂y/∂x = 2x"""
    def squeeze(self, dim: Ints | None = None) -> Tensor:
        """y = x without its dimensions of size 1;  ∂x = incoming in the shape of x"""
    def squeeze_(self, dim: Ints | None = None) -> Tensor:
        """Become what squeeze() returns."""
    def sspaddmm(
        self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor:
        """``beta·input + alpha·(mat1 @ mat2)`` with ``input`` and ``mat1`` sparse, the result
        too.

        y = beta·x + alpha·a·b, sparse
        """
    def std(
        self,
        dim: Ints | None = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> Tensor:
        """y = √var(x);  ∂y/∂x = (x − mean) / ((n − correction)·y)"""
    def stft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        pad_mode: str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        return_complex: builtins.bool | None = None,
        align_to_window: builtins.bool | None = None,
    ) -> Tensor:
        """The spectrum of every stretch of ``n_fft`` points, ``hop_length`` apart: (…, freq,
        time).

        y[f, t] = Σ w[j]·x[t·hop + j]·e^(−2πijf/n)
        """
    def sub(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """y = a − b;  ∂y/∂a = 1,  ∂y/∂b = −1"""
    def sub_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """In-place sub: y = a − b;  ∂y/∂a = 1,  ∂y/∂b = −1"""
    def subtract(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """y = a − b;  ∂y/∂a = 1,  ∂y/∂b = −1"""
    def subtract_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """In-place sub: y = a − b;  ∂y/∂a = 1,  ∂y/∂b = −1"""
    def sum(
        self,
        dim: Ints | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """y = Σ x over dim;  ∂y/∂x = 1"""
    def sum_to_size(self, *size: Ints) -> Tensor:
        """The sum over the dimensions that broadcasting ``size`` to this shape would repeat.

        y = Σ x over the dimensions that broadcasting would repeat
        """
    def svd(self, some: builtins.bool = True, compute_uv: builtins.bool = True) -> return_types.svd:
        """The older form of ``linalg.svd``: reduced by default, and V instead of its transpose.

        x = u·diag s·vᵀ
        """
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """``transpose`` under NumPy's name.

        y = x with two dimensions exchanged
        """
    def swapaxes_(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Become what swapaxes() returns."""
    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Another name of ``transpose``.

        y = x with two dimensions exchanged
        """
    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Become what swapdims() returns."""
    def t(self) -> Tensor:
        """The transposed matrix; vectors and 0-d tensors as they are.

        y = xᵀ
        """
    def t_(self) -> Tensor:
        """Become what t() returns."""
    def take(self, index: Tensor) -> Tensor:
        """The elements at ``index``, counted as if ``input`` were one row.

        y = the elements of x at index, x seen as one row;  ∂x = incoming added up at index
        """
    def take_along_dim(self, indices: Tensor, dim: builtins.int | None = None) -> Tensor:
        """``gather`` with broadcasting, and with negative indices.

        y = x at indices along dim, with broadcasting;  ∂x = incoming added up at indices
        """
    def tan(self) -> Tensor:
        """y = tan x;  ∂y/∂x = 1 + y²"""
    def tan_(self) -> Tensor:
        """In-place tan: y = tan x;  ∂y/∂x = 1 + y²"""
    def tanh(self) -> Tensor:
        """y = tanh x;  ∂y/∂x = 1 − y²"""
    def tanh_(self) -> Tensor:
        """In-place tanh: y = tanh x;  ∂y/∂x = 1 − y²"""
    def tensor_split(self, indices_or_sections: Any, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """A number of nearly equal pieces, or pieces that begin at the given indices.

        y₁, y₂, … = nearly equal pieces, or pieces from index to index, same memory
        """
    def threshold_(self, threshold: builtins.float, value: builtins.float) -> Tensor:
        """In-place threshold: y = x if x > threshold else value;  ∂y/∂x = 1 or 0"""
    def tile(self, *dims: Ints) -> Tensor:
        """``repeat`` that fills up missing numbers with ones in front.

        y = copies of x side by side
        """
    def to(
        self,
        *target: Any,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        memory_format: MemoryFormat | None = None,
    ) -> Tensor:
        """``to(dtype)``, ``to(device, dtype)``, ``to(other)``: the tensor itself if nothing
        changes.

        ``non_blocking`` is taken as in PyTorch and changes nothing here.

        y = x with another dtype or on another device
        """
    def to_dense(self, dtype: DTypeLike | None = None) -> Tensor:
        """The tensor with every element stored, zeros included; a strided tensor is itself.

        y = x with its zeros written out;  ∂x = incoming at the stored coordinates
        """
    def to_sparse(
        self, sparse_dim: builtins.int | None = None, *, layout: Layout | None = None
    ) -> Tensor:
        """Only the elements that are not zero, by coordinates (or in another ``layout``).

        y = the elements of x that are not 0;  ∂x = incoming at those, 0 elsewhere
        """
    def to_sparse_coo(self) -> Tensor:
        """The tensor by coordinates.

        y = x by coordinates;  ∂x = incoming at the stored ones, 0 elsewhere
        """
    def to_sparse_csr(self, dense_dim: builtins.int | None = None) -> Tensor:
        """The matrix by compressed rows.

        y = x by compressed rows;  ∂x = incoming at the stored ones, 0 elsewhere
        """
    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> return_types.topk:
        """The ``k`` largest or smallest along ``dim``, best first, as ``(values, indices)``.

        values = the k largest (smallest) x along dim, at indices;  ∂x = incoming put back
        there
        """
    def trace(self) -> Tensor:
        """The sum of the diagonal.

        y = Σ xᵢᵢ
        """
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """y = x with two dimensions exchanged;  ∂x = incoming with the same two exchanged"""
    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Become what transpose() returns."""
    def triangular_solve(
        self,
        A: Tensor,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
    ) -> return_types.triangular_solve:
        """The older form of ``linalg.solve_triangular``, which also returns a copy of A.

        y = a⁻¹·b for triangular a
        """
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """y = x on and below a diagonal, else 0;  ∂x = incoming there, else 0"""
    def tril_(self, diagonal: builtins.int = 0) -> Tensor:
        """In-place tril: y = x on and below a diagonal, else 0;  ∂x = incoming there, else 0"""
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """y = x on and above a diagonal, else 0;  ∂x = incoming there, else 0"""
    def triu_(self, diagonal: builtins.int = 0) -> Tensor:
        """In-place triu: y = x on and above a diagonal, else 0;  ∂x = incoming there, else 0"""
    def true_divide(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""
    def true_divide_(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """In-place div: y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²"""
    def trunc(self) -> Tensor:
        """y = x without its fraction;  ∂y/∂x = 0"""
    def trunc_(self) -> Tensor:
        """In-place trunc: y = x without its fraction;  ∂y/∂x = 0"""
    @overload
    def type(self) -> str:
        """The name of the tensor type, or a conversion: ``x.type(whygrad.float64)``."""
    @overload
    def type(self, dtype: DTypeLike, non_blocking: builtins.bool = False) -> Tensor:
        """The name of the tensor type, or a conversion: ``x.type(whygrad.float64)``."""
    def type_as(self, other: Tensor) -> Tensor:
        """``input`` in the dtype of ``other``.

        y = x in the dtype of another tensor
        """
    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """y₁, y₂, … = x at each position of dim, same memory;  ∂x = the pieces of incoming
        stacked
        """
    def unflatten(self, dim: builtins.int, sizes: Ints) -> Tensor:
        """Split one dimension into several.

        y = x with one dimension split into several, same memory
        """
    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """y = windows of x along a dimension, same memory;  ∂x = Σ incoming over the windows"""
    def uniform_(
        self,
        from_: builtins.float = 0.0,
        to: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Write numbers that are uniform in [from, to)."""
    @overload
    def unique(self, sorted: builtins.bool = True, *, dim: builtins.int | None = None) -> Tensor:
        """y = the distinct elements (or slices along dim) in order, on request where each
        element went and how often each occurs
        """
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """y = the distinct elements (or slices along dim) in order, on request where each
        element went and how often each occurs
        """
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        *,
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """y = the distinct elements (or slices along dim) in order, on request where each
        element went and how often each occurs
        """
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """y = the distinct elements (or slices along dim) in order, on request where each
        element went and how often each occurs
        """
    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """y = x without elements (or slices along dim) that repeat the one before, on request
        where each went and how long each run is
        """
    def unsafe_chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` pieces of one size (the last may be smaller).

        y₁, y₂, … = pieces of equal size, same memory
        """
    def unsafe_split(
        self, split_size_or_sections: Ints, dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Pieces of one size (the last may be smaller), or of a list of sizes.

        y₁, y₂, … = pieces of x along dim, same memory
        """
    def unsafe_split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """y₁, y₂, … = pieces of x along dim, same memory;  ∂x = the pieces of incoming joined"""
    def unsqueeze(self, dim: Ints) -> Tensor:
        """y = x with a new dimension of size 1 at dim;  ∂x = incoming without it"""
    def unsqueeze_(self, dim: Ints) -> Tensor:
        """Become what unsqueeze() returns."""
    def values(self) -> Tensor:
        """The stored values of a coalesced tensor, one per coordinate.

        y = the stored values of x;  ∂x = incoming at the stored coordinates
        """
    def var(
        self,
        dim: Ints | None = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> Tensor:
        """y = Σ (x − mean)² / (n − correction);  ∂y/∂x = 2 (x − mean) / (n − correction)"""
    def vdot(self, other: Tensor) -> Tensor:
        """The scalar product of two vectors, the first one conjugated.

        y = Σ ā·b for two vectors
        """
    def view(
        self, *shape: Ints, size: Ints | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """y = x in another shape, same memory;  ∂x = incoming in the shape of x"""
    def view_as(self, other: Tensor) -> Tensor:
        """``view`` in the shape of ``other``.

        y = x in the shape of another tensor, same memory
        """
    def vsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Split along dimension 0.

        y₁, y₂, … = pieces of x from top to bottom, same memory
        """
    def where(self, condition: Tensor, other: Operand) -> Tensor:
        """This tensor where the condition holds, else ``other``."""
    def xlogy(self, other: Operand) -> Tensor:
        """y = a·ln b, 0 where a = 0;  ∂y/∂a = ln b,  ∂y/∂b = a/b"""
    def xlogy_(self, other: Operand) -> Tensor:
        """In-place xlogy: y = a·ln b, 0 where a = 0;  ∂y/∂a = ln b,  ∂y/∂b = a/b"""
    def xpu(self, device: Any = None, non_blocking: builtins.bool = False, **_: Any) -> Tensor:
        """Raises: there is no XPU here."""
    def zero_(self) -> Tensor:
        """Write zeros."""
