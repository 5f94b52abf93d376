"""``scaled_dot_product_attention`` as one op.

It saves its arguments, its result and one number per query, never the matrix of probabilities;
:mod:`.tiles` has the kernels.  Derivatives of derivatives, forward mode and batches of gradients
are rarer: there the rules are written out on whole matrices.
"""

from __future__ import annotations

import math
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.activation.dropout import dropout
from whygrad.ops.attention.tiles import attend, batch_shape, pull_back
from whygrad.ops.batching import aligned
from whygrad.ops.define import define, public_form
from whygrad.ops.namespace import raw, recorded
from whygrad.ops.products.products import add_terms
from whygrad.tensor import Tensor, dtypes

__all__ = ["scaled_dot_product_attention"]

Array = Any


def _scores(query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, scale: float) -> Tensor:
    """scale·query·keyᵀ + mask, whole."""
    scores: Tensor = recorded.matmul(query * scale, recorded.transpose(key, -2, -1))
    if mask is not None:
        hides = mask.dtype is dtypes.bool_
        scores = recorded.where(mask, scores, -math.inf) if hides else scores + mask
    return _without_later(scores) if causal else scores


def _without_later(scores: Tensor) -> Tensor:
    """−inf where the column is later than the row."""
    lower = recorded.tril(recorded.ones_like(scores), 0) > 0
    without: Tensor = recorded.where(lower, scores, -math.inf)
    return without


def _rule(
    xp: Any,
    incoming: Any,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    y: Array,
    lse: Array,
    causal: bool,
    scale: float,
    needs: tuple[bool, ...],
) -> tuple[Array, ...]:
    of_y, of_lse = incoming
    if xp is raw:
        return pull_back(
            of_y, of_lse, query, key, value, mask, y, lse, causal, scale, mask_needs_it=needs[3]
        )
    probabilities = xp.exp(_scores(query, key, mask, causal, scale) - lse)
    of_scores = of_value = None
    if of_y is not None:
        slopes = xp.matmul(of_y, xp.transpose(value, -2, -1))
        of_scores = probabilities * (slopes - xp.sum(of_y * y, (y.ndim - 1,), True))
        of_value = xp.matmul(xp.transpose(probabilities, -2, -1), of_y)
    if of_lse is not None:
        of_scores = add_terms(of_scores, probabilities * of_lse)
    of_query = xp.matmul(of_scores, key) * scale
    of_key = xp.matmul(xp.transpose(of_scores, -2, -1), query) * scale
    return of_query, of_key, of_value, of_scores if needs[3] else None


def _jvp(
    xp: Any,
    tangents: Any,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    lse: Array,
    causal: bool,
    scale: float,
) -> tuple[Array, Array | None]:
    d_query, d_key, d_value, d_mask = tangents
    probabilities = xp.exp(_scores(query, key, mask, causal, scale) - lse)
    d_y = None if d_value is None else xp.matmul(probabilities, d_value)
    d_scores = add_terms(
        None if d_query is None else xp.matmul(d_query * scale, xp.transpose(key, -2, -1)),
        None if d_key is None else xp.matmul(query * scale, xp.transpose(d_key, -2, -1)),
        d_mask,
    )
    if d_scores is None:
        return d_y, None
    weighted = probabilities * d_scores
    d_lse = xp.sum(weighted, (weighted.ndim - 1,), True)
    return add_terms(xp.matmul(weighted - probabilities * d_lse, value), d_y), d_lse


def _meta(
    query: Array, key: Array, value: Array, mask: Array | None, causal: bool, scale: float
) -> list[Any]:
    rows = (*batch_shape(query, key, value, mask), query.shape[-2])
    return [((*rows, value.shape[-1]), query.dtype), ((*rows, 1), query.dtype)]


def _samples(make: Any) -> list[Any]:
    def qkv(*batch: int, rows: int = 3, columns: int = 4, width: int = 2) -> Any:
        return (
            make(*batch, rows, width),
            make(*batch, columns, width),
            make(*batch, columns, width),
        )

    sees = make.bools(3, 4)
    sees[:, 1] = True
    blind = sees.copy()
    blind[1] = False
    return [
        make.call(*qkv(2, 2)),
        make.call(*qkv(2, 2), is_causal=True),
        make.call(*qkv(2, rows=4, columns=3), is_causal=True),
        make.call(*qkv(2, 2), sees),
        make.call(*qkv(2, 1), blind),
        make.call(*qkv(2, 2), make(3, 4)),
        make.call(*qkv(2, 2), make.constant(make(2, 1, 1, 4))),
        make.call(*qkv(2, 2), sees, is_causal=True),
        make.call(*qkv(2), make.constant(make(3, 4)), scale=0.3),
        make.call(*qkv(), scale=-1.5),
        make.call(make(2, 2, 3, 2), make(1, 2, 4, 2), make(2, 1, 4, 3)),
        make.call(make(2, 3, 2), make(4, 2), make(4, 2)),
        make.call(make(2, 4, 3, 2), make(2, 2, 4, 2), make(2, 2, 4, 2), enable_gqa=True),
        make.call(make(4, 3, 2), make(2, 4, 2), make(1, 4, 2), sees, enable_gqa=True),
        make.call(30 * make(2, 3, 2), make(2, 4, 2), make(2, 4, 2)),
        make.call(*qkv(2, columns=0)),
        make.call(*qkv(2, rows=0)),
        make.call(*qkv(0)),
        make.call(*qkv(2, 2), dropout_p=1.0),
    ]


_op = define(
    "scaled_dot_product_attention(query, key, value, mask; causal, scale)",
    "p = softmax(scale·q·kᵀ + mask), y = p·v;  ∂v = pᵀ·incoming,  "
    "∂s = p·(incoming·vᵀ − Σ incoming·y),  ∂q = scale·∂s·k,  ∂k = scale·∂sᵀ·q",
    forward=attend,
    vjp=_rule,
    jvp=_jvp,
    outputs=("y", "lse"),
    returned=1,
    meta=_meta,
    batching=aligned,
    torch="nn.functional.scaled_dot_product_attention",
    samples=_samples,
    notes="Saves q, k, v, y and the log-sum-exp of each row; backward makes the probabilities "
    "again, a tile at a time.",
    autocast="lower",
)


@public_form(_op)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Mix the rows of ``value`` for each query, by how well it matches the rows of ``key``.

    ``attn_mask`` is True where a query may look, or is added to the scores; ``is_causal`` lets
    query i see the keys up to i.  A query that may look nowhere gets zeros.
    """
    _check(query, key, value, attn_mask, dropout_p)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    if enable_gqa:
        return _grouped(query, key, value, attn_mask, dropout_p, is_causal, scale)
    return _attention(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    causal: bool,
    scale: float,
) -> Tensor:
    _check_batches(query, key, value, mask)
    if mask is not None:
        if mask.dtype is not dtypes.bool_:
            mask = mask.to(query.dtype)
        if mask.ndim < 2:
            mask = recorded.unsqueeze(mask, 0) if mask.ndim else mask.reshape(1, 1)
        if causal:
            mask, causal = _also_causal(mask, query.shape[-2], key.shape[-2]), False
    if dropout_p:
        scores = _scores(query, key, mask, causal, scale)
        return dropout(_probabilities(scores, mask), dropout_p).matmul(value)
    y: Tensor = _op.call(query, key, value, mask, causal, float(scale))[0]
    return y


def _probabilities(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax, where a row without any key is 0 and passes no gradient on."""
    if mask is None:
        return scores.softmax(-1)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    return scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)


def _also_causal(mask: Tensor, rows: int, columns: int) -> Tensor:
    whole = mask.expand(*mask.shape[:-2], rows, columns)
    if mask.dtype is dtypes.bool_:
        return whole.tril()
    return _without_later(whole)


def _grouped(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    causal: bool,
    scale: float,
) -> Tensor:
    """Several heads of queries share a head of keys and values."""
    heads = query.shape[-3]
    if any(each.shape[-3] == 0 or heads % each.shape[-3] for each in (key, value)):
        raise fail(
            RuntimeError,
            call=_call(query, key, value, mask),
            cause="Number of heads in key and value must divide the number of heads in query",
            fix="heads are the third dimension from the end",
        )
    if key.shape[-3] != value.shape[-3]:
        key, value = (each.repeat_interleave(heads // each.shape[-3], -3) for each in (key, value))
    # Heads that share become a dimension of their own, along which keys and values broadcast.
    groups = (key.shape[-3], heads // key.shape[-3])
    if mask is not None and mask.ndim > 2:
        shared = mask.shape[-3] == 1
        mask = mask.unsqueeze(-3) if shared else mask.unflatten(-3, groups)
    key, value = key.unsqueeze(-3), value.unsqueeze(-3)
    query = query.unflatten(-3, groups)
    y = _attention(query, key, value, mask, dropout_p, causal, scale)
    return y.flatten(-4, -3)


def _check(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float
) -> None:
    mistake = _mistake(query, key, value, mask, dropout_p)
    if mistake is not None:
        cause, fix = mistake
        raise fail(
            RuntimeError,
            call=_call(query, key, value, mask),
            cause=cause,
            fix=fix,
        )


def _check_batches(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
    """The leading dimensions must broadcast, and the mask must not make them more."""
    if mask is None and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return
    cause = None
    try:
        batch = batch_shape(query, key, value)
    except ValueError:
        cause = (
            f"the batch dimensions {tuple(query.shape[:-2])}, {tuple(key.shape[:-2])} and "
            f"{tuple(value.shape[:-2])} of query, key and value do not broadcast"
        )
    else:
        whole = (*batch, query.shape[-2], key.shape[-2])
        if mask is not None and not _broadcasts_to(mask.shape, whole):
            cause = f"attn_mask of shape {tuple(mask.shape)} cannot be expanded to {whole}"
    if cause is not None:
        raise fail(
            RuntimeError,
            call=_call(query, key, value, mask),
            cause=cause,
            fix="sizes must be equal or 1, counted from the last dimension; a mask has one number "
            "per pair of query and key",
        )


def _broadcasts_to(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    return len(shape) <= len(whole) and all(
        mine in (1, theirs) for mine, theirs in zip(reversed(shape), reversed(whole), strict=False)
    )


def _call(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> str:
    return (
        f"scaled_dot_product_attention(query: {describe(query)}, key: {describe(key)}, "
        f"value: {describe(value)}, attn_mask: {describe(mask)})"
    )


def _mistake(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float
) -> tuple[str, str] | None:
    """What is wrong with the arguments, and what to do about it."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        return (
            "Expected query, key, and value to all be at least 2 dimensional, but they have "
            f"{query.ndim}, {key.ndim} and {value.ndim} dimensions",
            "the last two dimensions are positions and features",
        )
    if not query.dtype is key.dtype is value.dtype:
        return (
            f"Expected query, key, and value to have the same dtype, but got {query.dtype}, "
            f"{key.dtype} and {value.dtype}",
            "convert them to one dtype: .to(query.dtype)",
        )
    if not query.dtype.is_floating_point:
        return (
            f"expected scalar type Float but found {query.dtype}",
            "convert the arguments: .to(whygrad.float32)",
        )
    if query.shape[-1] != key.shape[-1]:
        return (
            f"queries have {query.shape[-1]} features and keys {key.shape[-1]}: they cannot be "
            "multiplied",
            "the last dimensions of query and key must be equal",
        )
    if key.shape[-2] != value.shape[-2]:
        return (
            f"there are {key.shape[-2]} keys and {value.shape[-2]} values: they cannot be "
            "multiplied",
            "the second to last dimensions of key and value must be equal",
        )
    if not 0.0 <= dropout_p <= 1.0:
        return (
            f"dropout probability has to be between 0 and 1, but got {dropout_p}",
            "pass the share of probabilities to drop, such as 0.1, or 0.0 outside of training",
        )
    if mask is not None and mask.dtype not in (dtypes.bool_, dtypes.float32, query.dtype):
        return (
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"{mask.dtype} with a query of {query.dtype}",
            "convert it: attn_mask.to(whygrad.bool)",
        )
    return None
