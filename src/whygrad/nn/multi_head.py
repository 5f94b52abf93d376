"""Multi-head attention as a function: project, split into heads, attend, join, project.

Batches come first or positions come first; either way the heads are views of the projections, and
what attention returns lies in memory so that the heads join without a copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.tensor import Tensor, dtypes

__all__ = ["Heads", "attend", "multi_head_attention_forward"]

_attention = functions["scaled_dot_product_attention"]
_cat = functions["cat"]
_dropout = functions["dropout"]
_linear = functions["linear"]
_pad = functions["pad"]

Three = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Heads:
    """How many heads there are, and the parameters they share."""

    count: int
    features: int
    stacked: Tensor | None  # weights for queries, keys and values above each other
    separate: tuple[Tensor | None, ...]  # or one by one, where their inputs differ in width
    bias: Tensor | None
    extra_key: Tensor | None  # a key and a value that everybody sees
    extra_value: Tensor | None
    out_weight: Tensor
    out_bias: Tensor | None
    extra_zero: bool = False  # a key and a value of zeros that everybody sees
    dropout_p: float = 0.0
    batch_first: bool = False
    fixed: tuple[Tensor | None, Tensor | None] = (None, None)  # keys and values as they shall be

    @property
    def batch_dim(self) -> int:
        return 0 if self.batch_first else 1

    @property
    def position_dim(self) -> int:
        return 1 - self.batch_dim

    def project(self, query: Tensor, key: Tensor, value: Tensor) -> Three:
        """Queries, keys and values of all heads; in one product if all come from one tensor."""
        if self.stacked is not None and query is key is value:
            q, k, v = _linear(query, self.stacked, self.bias).chunk(3, -1)
            return q, k, v
        weights = self.separate if self.stacked is None else self.stacked.chunk(3)
        biases = (None,) * 3 if self.bias is None else self.bias.chunk(3)
        q, k, v = map(_linear, (query, key, value), weights, biases)
        return q, k, v

    def with_extra(self, projected: Tensor, extra: Tensor | None) -> Tensor:
        """One more position, the same for the whole batch."""
        if extra is None:
            return projected
        shape = [1, 1, self.features]
        shape[self.batch_dim] = projected.shape[self.batch_dim]
        longer: Tensor = _cat([projected, extra.expand(*shape)], self.position_dim)
        return longer

    def split(self, projected: Tensor) -> Tensor:
        """(batch, heads, positions, features of a head), as a view."""
        apart = projected.unflatten(-1, (self.count, self.features // self.count))
        return apart.transpose(1, 2) if self.batch_first else apart.permute(1, 2, 0, 3)

    def join(self, y: Tensor) -> Tensor:
        together = y.transpose(1, 2) if self.batch_first else y.permute(2, 0, 1, 3)
        out: Tensor = _linear(together.flatten(2), self.out_weight, self.out_bias)
        return out


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention in several subspaces at once, over tensors of (positions, batch, features).

    ``static_k`` and ``static_v``, of (batch · heads, positions, features of a head), take the
    place of the projected keys and values.
    """
    heads = Heads(
        num_heads,
        embed_dim_to_check,
        None if use_separate_proj_weight else in_proj_weight,
        (q_proj_weight, k_proj_weight, v_proj_weight),
        in_proj_bias,
        bias_k,
        bias_v,
        out_proj_weight,
        out_proj_bias,
        add_zero_attn,
        dropout_p if training else 0.0,
        fixed=(static_k, static_v),
    )
    return attend(
        heads,
        query,
        key,
        value,
        key_padding_mask,
        need_weights,
        attn_mask,
        average_attn_weights,
        is_causal,
    )


def attend(
    heads: Heads,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    need_weights: bool,
    attn_mask: Tensor | None,
    average_attn_weights: bool,
    is_causal: bool,
) -> tuple[Tensor, Tensor | None]:
    """The new value of each query, and the weights it was mixed with if they are asked for."""
    _check(heads, query, key, value, key_padding_mask, attn_mask, is_causal)
    batched = query.ndim == 3
    if not batched:
        query, key, value = _with_batch(query, key, value, heads.batch_dim)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    # A causal mask need not be read: attention knows what it looks like.
    causal = is_causal and not need_weights and key_padding_mask is None
    mask = None if causal else _joint_mask(heads.count, query.dtype, key_padding_mask, attn_mask)
    q, k, v = heads.project(query, key, value)
    k, v = heads.with_extra(k, heads.extra_key), heads.with_extra(v, heads.extra_value)
    q, k, v = map(heads.split, (q, k, v))
    k, v = map(_unless_fixed, (k, v), heads.fixed)
    if heads.extra_zero:
        k, v = _pad(k, (0, 0, 0, 1)), _pad(v, (0, 0, 0, 1))
    if mask is not None and mask.shape[-1] < k.shape[2]:
        mask = _pad(mask, (0, k.shape[2] - mask.shape[-1]))
    weights = None
    if need_weights:
        weights = _dropout(_weights(q, k, mask), heads.dropout_p)
        y = weights.matmul(v)
        weights = weights.mean(1) if average_attn_weights else weights
    else:
        allowed = ~mask if mask is not None and mask.dtype is dtypes.bool_ else mask
        y = _attention(q, k, v, allowed, heads.dropout_p, causal)
    out = heads.join(y)
    if batched:
        return out, weights
    return out.squeeze(heads.batch_dim), None if weights is None else weights.squeeze(0)


def _with_batch(query: Tensor, key: Tensor, value: Tensor, dim: int) -> Three:
    """A batch of one; what was one tensor stays one, for the sake of the joint projection."""
    if query is key is value:
        query = query.unsqueeze(dim)
        return query, query, query
    return query.unsqueeze(dim), key.unsqueeze(dim), value.unsqueeze(dim)


def _unless_fixed(projected: Tensor, fixed: Tensor | None) -> Tensor:
    return projected if fixed is None else fixed.unflatten(0, projected.shape[:2])


def _weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    scores = (q * (1.0 / math.sqrt(q.shape[-1]))).matmul(k.transpose(-2, -1))
    if mask is not None:
        hides = mask.dtype is dtypes.bool_
        scores = scores.masked_fill(mask, -math.inf) if hides else scores + mask
    return scores.softmax(-1)


def _joint_mask(
    heads: int, dtype: dtypes.DType, padding: Tensor | None, mask: Tensor | None
) -> Tensor | None:
    """Both masks as one, for scores of (batch, heads, queries, keys).

    Where both are bool so is the result, True where nobody may look; else it is to be added.
    """
    if mask is not None and mask.ndim == 3:
        mask = mask.unflatten(0, (mask.shape[0] // heads, heads))
    if padding is not None:
        padding = padding.unsqueeze(1).unsqueeze(1)
    if mask is None or padding is None:
        return mask if padding is None else padding
    if mask.dtype is padding.dtype is dtypes.bool_:
        return mask | padding
    return _to_add(mask, dtype) + _to_add(padding, dtype)


def _to_add(mask: Tensor, dtype: dtypes.DType) -> Tensor:
    if mask.dtype is not dtypes.bool_:
        return mask
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf)


def _check(
    heads: Heads,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    padding: Tensor | None,
    mask: Tensor | None,
    is_causal: bool,
) -> None:
    """Refuse what does not fit together, in PyTorch's words."""
    mistake = _shape_mistake(heads, query, key, value) or _mask_mistake(
        heads, query, key, padding, mask
    )
    if mistake is None and is_causal and mask is None:
        mistake = (
            RuntimeError,
            "Need attn_mask if specifying the is_causal hint",
            "pass nn.Transformer.generate_square_subsequent_mask(length) as attn_mask",
        )
    if mistake is not None:
        kind, cause, fix = mistake
        raise fail(
            kind,
            call=f"multi-head attention(query: {describe(query)}, key: {describe(key)}, value: "
            f"{describe(value)}, key_padding_mask: {describe(padding)}, "
            f"attn_mask: {describe(mask)})",
            cause=cause,
            fix=fix,
        )


Mistake = tuple[type[Exception], str, str]


def _shape_mistake(heads: Heads, query: Tensor, key: Tensor, value: Tensor) -> Mistake | None:
    if query.ndim not in (2, 3):
        return (
            AssertionError,
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.ndim}-D query tensor",
            "the last dimension has the features, another one the positions",
        )
    if not query.ndim == key.ndim == value.ndim:
        return (
            AssertionError,
            f"For {'batched' if query.ndim == 3 else 'unbatched'} ({query.ndim}-D) query, expected "
            f"key and value to be {query.ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors "
            "respectively",
            "give all three a batch dimension, or none of them",
        )
    if query.shape[-1] != heads.features:
        return (
            AssertionError,
            f"was expecting embedding dimension of {heads.features}, but got {query.shape[-1]}",
            "the last dimension of query must be embed_dim",
        )
    if heads.stacked is not None:
        same = key.shape == value.shape and key.shape[-1] == heads.features
    else:
        same = key.shape[:-1] == value.shape[:-1]
    if not same:
        return (
            AssertionError,
            f"key shape {tuple(key.shape)} does not match value shape {tuple(value.shape)} for "
            f"embed_dim={heads.features}",
            "every key needs a value, both with embed_dim features (or kdim and vdim if given)",
        )
    if query.ndim == 3 and query.shape[heads.batch_dim] != key.shape[heads.batch_dim]:
        return (
            RuntimeError,
            f"the shape of query {tuple(query.shape)} and of key {tuple(key.shape)} is invalid: "
            f"the batches in dimension {heads.batch_dim} differ in size",
            "batch_first=True expects (batch, positions, features)",
        )
    return None


def _mask_mistake(
    heads: Heads, query: Tensor, key: Tensor, padding: Tensor | None, mask: Tensor | None
) -> Mistake | None:
    for name, each in (("key_padding_mask", padding), ("attn_mask", mask)):
        if each is not None and not (each.dtype is dtypes.bool_ or each.dtype.is_floating_point):
            return (
                AssertionError,
                f"only bool and floating types of {name} are supported",
                f"convert it: {name}.to(whygrad.bool), True where nobody may look",
            )
    batched = query.ndim == 3
    batch = query.shape[heads.batch_dim] if batched else 1
    rows, columns = (each.shape[heads.position_dim if batched else 0] for each in (query, key))
    if padding is not None:
        expected = (batch, columns) if batched else (columns,)
        if padding.shape != expected:
            return (
                AssertionError,
                f"Expected key_padding_mask of shape {expected}, but got {tuple(padding.shape)}",
                "pass one number per key and batch element",
            )
    if mask is None:
        return None
    allowed = {2: (rows, columns), 3: (batch * heads.count, rows, columns)}
    if mask.ndim not in allowed:
        return (
            AssertionError,
            f"expected attn_mask to be None, 2-D or 3-D but found {mask.ndim}-D tensor instead",
            "pass (queries, keys), or (batch · heads, queries, keys)",
        )
    if mask.shape != allowed[mask.ndim]:
        return (
            RuntimeError,
            f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be "
            f"{allowed[mask.ndim]}",
            "pass one number per pair of query and key",
        )
    return None
