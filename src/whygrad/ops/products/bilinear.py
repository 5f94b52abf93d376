"""The bilinear map of a layer: every output is a product x₁ᵀ·A·x₂."""

from __future__ import annotations

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.tensor import Tensor

__all__ = ["bilinear"]


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x₁ᵀ·A·x₂ + b, with one matrix A per output in ``weight`` (outputs, size 1, size 2)."""
    mistake = _mistake(input1, input2, weight, bias)
    if mistake is not None:
        cause, fix = mistake
        raise fail(
            RuntimeError,
            call=f"bilinear({describe(input1)}, {describe(input2)}, weight: {describe(weight)}, "
            f"bias: {describe(bias)})",
            cause=cause,
            fix=fix,
        )
    outputs, left, right = weight.shape
    # One product of matrices first: all of A at once, instead of one small product per output.
    halfway = input1 @ weight.permute(1, 0, 2).reshape(left, outputs * right)
    halfway = halfway.reshape(*input1.shape[:-1], outputs, right)
    y = (halfway @ input2.unsqueeze(-1)).squeeze(-1)
    return y if bias is None else y + bias


def _mistake(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[str, str] | None:
    """What is wrong with the arguments, and what to do about it."""
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    kinds = {name: each.dtype for name, each in given.items() if each is not None}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name}: {dtype.name}" for name, dtype in kinds.items())
        return f"All tensors must have the same dtype, got {listed}", "convert with .to(dtype)"
    if weight.ndim != 3 or not input1.ndim or input1.ndim != input2.ndim:
        return (
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}, "
            f"with a weight of {weight.ndim} dimensions",
            "both inputs have the same dimensions but for the last, and weight has three: "
            "(outputs, size of input1, size of input2)",
        )
    for dim, (size1, size2) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if size1 != size2:
            return (
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {size1} and "
                f"{size2}",
                "each row of input1 goes with one of input2",
            )
    for name, wanted in (("input1", 1), ("input2", 2), ("bias", 0)):
        tensor, size = given[name], weight.shape[wanted]
        if tensor is not None and (tensor.shape[-1] if tensor.ndim else 0) != size:
            return (
                f"bilinear(): {name} size does not match weight size: got {tensor.shape[-1]} but "
                f"expected {size}",
                "weight is (outputs, size of input1, size of input2)",
            )
    return None


composite(
    bilinear,
    "y = x₁ᵀ·A·x₂ + b, one matrix A per output",
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), make(3, 5), make(2, 4, 5), make(2)),
        make.call(make(2, 3, 4), make(2, 3, 5), make(2, 4, 5)),
        make.call(make(4), make(5), make(2, 4, 5), bias=make(2)),
        make.call(make(0, 4), make(0, 5), make(2, 4, 5), make(2)),
    ],
    autocast="keep",
)
