"""The loops, as Numba compiles them: one pass over memory where NumPy makes several.

All loops stand in one file because Numba looks at the file of a loop, not at those of the
functions it calls, to decide whether its compiled form on disk is still up to date.

Loops start at 0 and get slices, so that threads can share the work: Numba takes care of negative
indices wherever it cannot rule them out, and such loops are not vectorised.  Numbers are brought to
the dtype of the array (``dtype.type(0.5)``): a float64 among float32 keeps a loop from being
vectorised, too.  So does a call of the C library's ``exp``, which is why there is one here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from whygrad.fast.compiling import compiled
from whygrad.fast.threads import BLOCK

Array = Any

_float32 = np.float32
_PIECE = 2048  # numbers whose sum may be made in one go; see :mod:`whygrad.ops.totals`
_DOUBT = 2048.0  # roundings by which the mean of equal numbers may be off
_LOG2_E = math.log2(math.e)
# log 2 in two parts; the first has so few digits that its multiples are exact
_LOG_2 = (0.693359375, -2.12194440054690583e-4)
_LOG_2_IN_64 = (0.693145751953125, 1.42860682030941723212e-6)


@compiled("contract", inline=True)
def _exp32(x: Any) -> Any:
    """eˣ = 2ⁿ·eʳ with a whole n and |r| ≤ ½·log 2; 0 and inf where 2ⁿ leaves the normal range."""
    n = np.floor(x * _float32(_LOG2_E) + _float32(0.5))
    r = (x - n * _float32(_LOG_2[0])) - n * _float32(_LOG_2[1])
    power = _float32(1 / 5040) * r + _float32(1 / 720)
    power = power * r + _float32(1 / 120)
    power = power * r + _float32(1 / 24)
    power = power * r + _float32(1 / 6)
    power = power * r + _float32(0.5)
    power = power * r + _float32(1.0)
    power = power * r + _float32(1.0)
    scale = np.int32((np.int32(n) + 127) << 23).view(np.float32)
    result = power * scale if not x < _float32(-87.0) else _float32(0.0)
    return result if not x > _float32(88.3) else _float32(math.inf)


@compiled("contract", inline=True)
def _exp64(x: Any) -> Any:
    n = np.floor(x * _LOG2_E + 0.5)
    r = (x - n * _LOG_2_IN_64[0]) - n * _LOG_2_IN_64[1]
    power = r / 479001600 + 1 / 39916800
    power = power * r + 1 / 3628800
    power = power * r + 1 / 362880
    power = power * r + 1 / 40320
    power = power * r + 1 / 5040
    power = power * r + 1 / 720
    power = power * r + 1 / 120
    power = power * r + 1 / 24
    power = power * r + 1 / 6
    power = power * r + 0.5
    power = power * r + 1.0
    power = power * r + 1.0
    scale = np.int64((np.int64(n) + 1023) << 52).view(np.float64)
    result = power * scale if not x < -708.0 else 0.0
    return result if not x > 709.0 else math.inf


def _exp(x: Any) -> Any:
    """eˣ in the dtype of x, for loops."""


@overload(_exp, inline="always")  # type: ignore[untyped-decorator]
def _exp_by_dtype(x: Any) -> Any:
    def single(x: Any) -> Any:
        return _exp32(x)

    def double(x: Any) -> Any:
        return _exp64(x)

    return single if x == types.float32 else double


# With t = 1/(1 + 0.3·z), e^(z²)·erfc(z)/2 = t·polynomial(t) for z ≥ 0, to 2e-8 of its value.
_STRETCH = 0.3 * math.sqrt(0.5)
_TAIL = (
    0.0845940038561821, 0.08535763621330261, 0.07416942715644836, 0.10746358335018158,
    -0.047326572239398956, 0.2738616466522217, -0.2561403810977936, 0.24278220534324646,
    -0.06476157158613205,
)  # fmt: skip
_NEAR = (  # erf(x)/x for |x| < 1, to 2e-9
    1.1283791657266988, -0.3761262582415286, 0.11283585147706261, -0.026853811897379096,
    0.0051883276137688105, -0.0008010192993471685, 7.853859268530907e-05,
)  # fmt: skip
_SQRT_2 = math.sqrt(2.0)
_DENSITY_AT_0 = 1.0 / math.sqrt(2.0 * math.pi)
_SLOPE, _CUBIC = math.sqrt(2.0 / math.pi), 0.044715  # of the tanh approximation


@compiled("contract", inline=True)
def _tail(x: Any, bell: Any) -> Any:
    """The normal distribution function at −|x|, given bell = exp(−x²/2)."""
    t = _float32(1.0) / (_float32(1.0) + _float32(_STRETCH) * abs(x))
    tail = _float32(_TAIL[8])
    tail = tail * t + _float32(_TAIL[7])
    tail = tail * t + _float32(_TAIL[6])
    tail = tail * t + _float32(_TAIL[5])
    tail = tail * t + _float32(_TAIL[4])
    tail = tail * t + _float32(_TAIL[3])
    tail = tail * t + _float32(_TAIL[2])
    tail = tail * t + _float32(_TAIL[1])
    tail = tail * t + _float32(_TAIL[0])
    return tail * t * bell


@compiled("contract", inline=True)
def _below(x: Any, bell: Any) -> Any:
    """The normal distribution function, given bell = exp(−x²/2)."""
    tail = _tail(x, bell)
    return tail if x < _float32(0.0) else _float32(1.0) - tail


@compiled("contract")
def erf(x: Array, y: Array) -> None:
    """1 − 2Φ(−√2·|x|) with the sign of x; near 0, where that cancels, x times a polynomial in x²"""
    for i in range(x.size):
        squared = x[i] * x[i]
        near = _float32(_NEAR[6])
        near = near * squared + _float32(_NEAR[5])
        near = near * squared + _float32(_NEAR[4])
        near = near * squared + _float32(_NEAR[3])
        near = near * squared + _float32(_NEAR[2])
        near = near * squared + _float32(_NEAR[1])
        near = near * squared + _float32(_NEAR[0])
        far = _float32(1.0) - _float32(2.0) * _tail(_float32(_SQRT_2) * x[i], _exp32(-squared))
        far = -far if x[i] < _float32(0.0) else far
        y[i] = x[i] * near if squared < _float32(1.0) else far


@compiled("contract")
def gelu(x: Array, y: Array) -> None:
    """y = x·Φ(x)"""
    for i in range(x.size):
        bell = _exp32(_float32(-0.5) * (x[i] * x[i]))
        y[i] = x[i] * _below(x[i], bell)


@compiled("contract")
def gelu_backward(incoming: Array, x: Array, out: Array) -> None:
    """out = incoming·(Φ(x) + x·φ(x))"""
    for i in range(x.size):
        bell = _exp32(_float32(-0.5) * (x[i] * x[i]))
        slope = _below(x[i], bell) + x[i] * (_float32(_DENSITY_AT_0) * bell)
        out[i] = incoming[i] * slope


@compiled("contract")
def gelu_tanh(x: Array, y: Array) -> None:
    """y = x·σ(2u) with u = √(2/π)·(x + 0.044715·x³), which is x·½·(1 + tanh u)"""
    number = x.dtype.type
    for i in range(x.size):
        doubled = number(2.0 * _SLOPE) * x[i] * (number(1.0) + number(_CUBIC) * (x[i] * x[i]))
        y[i] = x[i] / (number(1.0) + _exp(-doubled))


@compiled("contract")
def gelu_tanh_backward(incoming: Array, x: Array, out: Array) -> None:
    """out = incoming·(s + x·s·(1 − s)·2u′) with s = σ(2u)"""
    number = x.dtype.type
    for i in range(x.size):
        squared = x[i] * x[i]
        doubled = number(2.0 * _SLOPE) * x[i] * (number(1.0) + number(_CUBIC) * squared)
        steepness = number(2.0 * _SLOPE) * (number(1.0) + number(3.0 * _CUBIC) * squared)
        share = number(1.0) / (number(1.0) + _exp(-doubled))
        slope = share + x[i] * ((share * (number(1.0) - share)) * steepness)
        out[i] = incoming[i] * slope


@compiled()
def adam(
    param: Array, grad: Array, average: Array, square: Array,
    decay: float, rate1: float, beta2: float, rate2: float, eps: float, step: float,
) -> None:  # fmt: skip
    """The steps of the rule in :mod:`whygrad.optim.adam`, in its order: same bits."""
    number = param.dtype.type
    decay, rate1, step = number(decay), number(rate1), number(step)
    beta2, rate2, eps = number(beta2), number(rate2), number(eps)
    for i in range(param.size):
        average[i] += (grad[i] - average[i]) * rate1
        square[i] = square[i] * beta2 + grad[i] * grad[i] * rate2
        param[i] = param[i] * decay + average[i] / (np.sqrt(square[i]) + eps) * step


@compiled()
def _all_equal(row: Array) -> bool:
    different = 0
    for j in range(row.size):
        different += row[j] != row[0]
    return different == 0


@compiled("contract", "reassoc")
def layer_norm(
    x: Array, y: Array, mean: Array, var: Array, weight: Array, bias: Array, eps: float
) -> None:
    """y = (x − mean)/√(var + ε)·weight + bias, row by row"""
    number = x.dtype.type
    doubt = number((_DOUBT * np.finfo(x.dtype).eps) ** 2)
    columns = x.shape[1]
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        total = number(0.0)
        for j in range(columns):
            total += row[j]
        center = total / number(columns)
        squares = number(0.0)
        for j in range(columns):
            squares += (row[j] - center) * (row[j] - center)
        average = squares / number(columns)
        if average <= center * center * doubt and _all_equal(row):
            center, average = row[0], number(0.0)
        mean[i], var[i] = center, average
        spread = number(1.0) / np.sqrt(var[i] + number(eps))
        for j in range(columns):
            out[j] = (row[j] - center) * spread * weight[j] + bias[j]


@compiled("contract", "reassoc")
def layer_norm_backward(
    incoming: Array, x: Array, mean: Array, var: Array, out: Array,
    of_weight: Array, of_bias: Array, weight: Array, eps: float,
) -> None:  # fmt: skip
    """The gradients: of x by row, of weight and bias summed over blocks of rows."""
    number = x.dtype.type
    columns = x.shape[1]
    for i in range(x.shape[0]):
        row, arrived, gradient = x[i], incoming[i], out[i]
        for_weight, for_bias = of_weight[i // BLOCK], of_bias[i // BLOCK]
        center, spread = mean[i], number(1.0) / np.sqrt(var[i] + number(eps))
        along = straight = number(0.0)
        for j in range(columns):
            standard = (row[j] - center) * spread
            for_weight[j] += arrived[j] * standard
            for_bias[j] += arrived[j]
            wanted = arrived[j] * weight[j]
            along += wanted * standard
            straight += wanted
        along, straight = along / number(columns), straight / number(columns)
        for j in range(columns):
            standard = (row[j] - center) * spread
            gradient[j] = (arrived[j] * weight[j] - straight - standard * along) * spread


@compiled(inline=True)
def _largest32(row: Array) -> Any:
    """The largest number of a row, or a NaN of it.

    The bits of floats are in the order of the numbers, except that those of negative ones run
    backwards: among whole numbers a processor finds the largest of sixteen at once.
    """
    bits = row.view(np.int32)
    highest = np.int32(-(2**31))
    for j in range(bits.size):
        place = np.int32(bits[j] ^ np.int32(np.int32(bits[j] >> 31) & 0x7FFFFFFF))
        highest = max(highest, place)
    return np.int32(highest ^ np.int32(np.int32(highest >> 31) & 0x7FFFFFFF)).view(np.float32)


@compiled(inline=True)
def _largest64(row: Array) -> Any:
    bits = row.view(np.int64)
    highest = np.int64(-(2**63))
    for j in range(bits.size):
        place = bits[j] ^ ((bits[j] >> 63) & 0x7FFFFFFFFFFFFFFF)
        highest = max(highest, place)
    return np.int64(highest ^ ((highest >> 63) & 0x7FFFFFFFFFFFFFFF)).view(np.float64)


def _largest(row: Array) -> Any:
    """:func:`_largest32` or the like, for loops."""


@overload(_largest, inline="always")  # type: ignore[untyped-decorator]
def _largest_by_dtype(row: Array) -> Any:
    def single(row: Array) -> Any:
        return _largest32(row)

    def double(row: Array) -> Any:
        return _largest64(row)

    return single if row.dtype == types.float32 else double


@compiled("contract", "reassoc", inline=True)
def _exp_of_row(row: Array, out: Array) -> Any:
    """out = exp(row − largest); returns the largest and the sum of what was written."""
    largest = _largest(row)
    total = row.dtype.type(0.0)
    for start in range(0, row.size, _PIECE):
        piece, powers = row[start : start + _PIECE], out[start : start + _PIECE]
        part = row.dtype.type(0.0)
        for j in range(piece.size):
            power = _exp(piece[j] - largest)
            powers[j] = power
            part += power
        total += part
    return largest, total


@compiled("contract", "reassoc")
def softmax(x: Array, y: Array) -> None:
    """y = exp(x)/Σ exp(x), row by row"""
    number = x.dtype.type
    for i in range(x.shape[0]):
        out = y[i]
        _, total = _exp_of_row(x[i], out)
        share = number(1.0) / total
        for j in range(out.size):
            out[j] *= share


@compiled("contract", "reassoc", inline=True)
def _sum_of_row(row: Array) -> Any:
    total = row.dtype.type(0.0)
    for start in range(0, row.size, _PIECE):
        piece = row[start : start + _PIECE]
        part = row.dtype.type(0.0)
        for j in range(piece.size):
            part += piece[j]
        total += part
    return total


@compiled("contract", "reassoc", inline=True)
def _dot_of_rows(a: Array, b: Array) -> Any:
    total = a.dtype.type(0.0)
    for start in range(0, a.size, _PIECE):
        left, right = a[start : start + _PIECE], b[start : start + _PIECE]
        part = a.dtype.type(0.0)
        for j in range(left.size):
            part += left[j] * right[j]
        total += part
    return total


@compiled("contract", "reassoc")
def softmax_backward(incoming: Array, y: Array, out: Array) -> None:
    """out = y·(incoming − Σ incoming·y), row by row"""
    for i in range(y.shape[0]):
        arrived, row, gradient = incoming[i], y[i], out[i]
        along = _dot_of_rows(arrived, row)
        for j in range(row.size):
            gradient[j] = row[j] * (arrived[j] - along)


@compiled("contract", "reassoc")
def log_softmax(x: Array, y: Array) -> None:
    """y = x − log Σ exp(x), row by row"""
    for i in range(x.shape[0]):
        row, out = x[i], y[i]
        largest, total = _exp_of_row(row, out)
        shift = np.log(total)
        for j in range(row.size):
            out[j] = (row[j] - largest) - shift


@compiled("contract", "reassoc")
def log_softmax_backward(incoming: Array, y: Array, out: Array) -> None:
    """out = incoming − exp(y)·Σ incoming, row by row"""
    for i in range(y.shape[0]):
        arrived, row, gradient = incoming[i], y[i], out[i]
        total = _sum_of_row(arrived)
        for j in range(row.size):
            gradient[j] = arrived[j] - _exp(row[j]) * total


@compiled("contract", "reassoc")
def cross_entropy(x: Array, target: Array, p: Array, losses: Array) -> None:
    """p = softmax(x) and −log p at the target, row by row"""
    number = x.dtype.type
    for i in range(x.shape[0]):
        row, out = x[i], p[i]
        largest, total = _exp_of_row(row, out)
        losses[i] = np.log(total) - (row[target[i]] - largest)
        share = number(1.0) / total
        for j in range(out.size):
            out[j] *= share
