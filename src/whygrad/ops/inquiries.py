"""Questions about tensors and shapes, as functions: ``numel(x)``, ``is_signed(x)``, …"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.tensor import Tensor, keys
from whygrad.tensor.memory import Size
from whygrad.tensor.storage_contents import Contents


def holds_somewhere(condition: Tensor) -> bool:
    """For any element of any sample, where vmap runs several; on meta there is nothing to see."""
    while condition._keys & keys.BATCHED:
        condition = condition._array.tensor
    return not condition._keys & keys.META and bool(condition.any())


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that these shapes have in common once they are broadcast."""
    sizes = [(each,) if isinstance(each, int) else tuple(each) for each in shapes]
    problem = any(size < 0 for shape in sizes for size in shape)
    try:
        return Size(np.broadcast_shapes(*sizes))
    except ValueError:
        cause = "shape mismatch: objects cannot be broadcast to a single shape"
        if problem:
            cause = "Trying to create tensor with negative dimension"
        raise fail(
            RuntimeError,
            call=f"broadcast_shapes({', '.join(map(str, sizes))})",
            cause=cause,
            fix="sizes must be equal or 1, counted from the last dimension",
        ) from None


def detach(input: Tensor) -> Tensor:
    """The same memory, cut off from the graph."""
    return input.detach()


def get_device(input: Tensor) -> int:
    """The number of the GPU: -1, for none."""
    return input.get_device()


def is_distributed(input: Tensor) -> bool:
    """Whether the tensor is spread over several processes: it is not."""
    return False


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made inside ``inference_mode``."""
    return input.is_inference()


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0."""
    count = input.numel()
    if count != 1:
        word = "no values" if not count else "more than one value"
        raise fail(
            RuntimeError,
            call=f"is_nonzero({describe(input)})",
            cause=f"Boolean value of Tensor with {word} is ambiguous",
            fix="ask x.any() or x.all()",
        )
    return bool(input.item())


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape."""
    return input.shape == other.shape


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has numbers below 0."""
    return input.dtype.is_signed


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is the memory of a tensor."""
    return isinstance(obj, Contents)


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


composite(
    broadcast_shapes,
    "the common shape after broadcasting",
    method=False,
    differentiable=False,
    samples=lambda make: [make.call((2, 1), (3,), ()), make.call(3, (1, 1))],
)
composite(
    detach,
    "y = x, cut off from the graph",
    method=False,
    differentiable=False,
    samples=lambda make: [make.call(make.constant(make(2, 3)))],
)
composite(
    is_storage,
    "whether it is the memory of a tensor",
    method=False,
    differentiable=False,
    samples=lambda make: [make.call(make.constant(make(2)))],
)
composite(
    is_same_size,
    "whether two shapes are equal",
    differentiable=False,
    samples=lambda make: [make.call(make.constant(make(2)), make.ints(2))],
)
for _function, _answer, _method in (
    (get_device, "the number of a GPU, −1 for none", False),
    (is_distributed, "always False", True),
    (is_inference, "whether x was made in inference mode", False),
    (is_nonzero, "whether the only element is not 0", True),
    (is_signed, "whether the dtype has negative numbers", True),
    (numel, "the number of elements", False),
):
    composite(
        _function,
        _answer,
        method=_method,
        differentiable=False,
        samples=lambda make: [make.call(make.constant(make(1))), make.call(make.ints(1))],
    )
