"""MultiheadAttention: attention in several subspaces at once."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn import init
from whygrad.nn.modules.linear import NonDynamicallyQuantizableLinear
from whygrad.nn.modules.module import Module
from whygrad.nn.multi_head import Heads, attend
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Project into ``num_heads`` subspaces, attend in each, join and project again.

    Tensors are (positions, batch, features), or (batch, positions, features) with ``batch_first``,
    or have no batch dimension.  Masks are True where nobody may look, or are added to the scores.
    """

    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    q_proj_weight: Tensor | None
    k_proj_weight: Tensor | None
    v_proj_weight: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        _check_sizes(embed_dim, num_heads)
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn

        def empty(*shape: int) -> Parameter:
            return Parameter(functions["empty"](shape, device=device, dtype=dtype))

        stacked = self.kdim == self.vdim == embed_dim
        widths = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        for name, width in widths.items():
            own = None if stacked else empty(embed_dim, width)
            self.register_parameter(f"{name}_proj_weight", own)
        whole = empty(3 * embed_dim, embed_dim) if stacked else None
        self.register_parameter("in_proj_weight", whole)
        self.register_parameter("in_proj_bias", empty(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias, device=device, dtype=dtype
        )
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, empty(1, 1, embed_dim) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (
            self.in_proj_weight,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
        ):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The attended values, and the weights (None unless ``need_weights``)."""
        heads = Heads(
            self.num_heads,
            self.embed_dim,
            self.in_proj_weight,
            (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight),
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.out_proj.weight,
            self.out_proj.bias,
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
            self.batch_first,
        )
        return attend(
            heads, query, key, value, key_padding_mask, need_weights, attn_mask,
            average_attn_weights, is_causal,
        )  # fmt: skip


def _check_sizes(embed_dim: int, num_heads: int) -> None:
    if embed_dim > 0 and num_heads > 0 and embed_dim % num_heads == 0:
        return
    positive = embed_dim > 0 and num_heads > 0
    raise fail(
        AssertionError if positive else ValueError,
        call=f"MultiheadAttention(embed_dim={embed_dim}, num_heads={num_heads})",
        cause="embed_dim must be divisible by num_heads"
        if positive
        else "embed_dim and num_heads must be greater than 0, got "
        f"embed_dim={embed_dim} and num_heads={num_heads} instead",
        fix="each head gets embed_dim // num_heads features",
    )
