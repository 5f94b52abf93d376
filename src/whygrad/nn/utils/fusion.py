"""A batch norm that no longer learns, multiplied into the layer before it."""

from __future__ import annotations

import copy
from typing import TypeVar

from whygrad.errors import fail
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

M = TypeVar("M", bound=Module)


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """One convolution that does what ``bn(conv(x))`` does in ``eval()`` mode."""
    _require_eval("fuse_conv_bn_eval", conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused convolution; ``transpose`` for transposed ones."""
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """One linear layer that does what ``bn(linear(x))`` does in ``eval()`` mode."""
    _require_eval("fuse_linear_bn_eval", linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise fail(
            AssertionError,
            call=f"fuse_linear_bn_eval({linear}, {bn})",
            cause="To fuse, linear.out_features == bn.num_features or bn.num_features == 1",
            fix="fuse layers that follow each other",
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused linear layer."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _fused(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    eps: float,
    scale: Tensor | None,
    shift: Tensor | None,
    dim: int,
) -> tuple[Parameter, Parameter]:
    """w·s and (b − mean)·s + shift with s = scale/√(variance + eps), along the outputs ``dim``."""
    if bias is None:
        bias = functions["zeros_like"](mean)
    factor = (variance + eps).rsqrt()
    if scale is not None:
        factor = factor * scale
    shape = [1] * weight.ndim
    shape[dim] = -1
    new_weight = (weight * factor.reshape(shape)).to(weight.dtype)
    new_bias = (bias - mean) * factor
    if shift is not None:
        new_bias = new_bias + shift
    return (
        Parameter(new_weight, weight.requires_grad),
        Parameter(new_bias.to(bias.dtype), bias.requires_grad),
    )


def _require_eval(name: str, layer: Module, norm: Module) -> None:
    cause = None
    if layer.training or norm.training:
        cause = "Fusion only for eval!"
    elif norm.running_mean is None or norm.running_var is None:
        cause = "The batch norm keeps no running statistics"
    if cause is not None:
        raise fail(
            AssertionError,
            call=f"{name}({type(layer).__name__}, {type(norm).__name__})",
            cause=cause,
            fix="call eval() on both first; fusing is for models that are done with training",
        )
