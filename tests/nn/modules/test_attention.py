"""MultiheadAttention and scaled_dot_product_attention against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.nn.layers import LIBRARIES, array
from tests.nn.sequences import Call, Constant, cases, check, check_second_order, twins
from whygrad.autograd.graph import memory

L, S, N, E, H = 3, 4, 2, 8, 2  # queries, keys, batch, features, heads
QUERY, KEY, VALUE = array(L, N, E), array(S, N, E, seed=1), array(S, N, E, seed=2)
ONE = array(S, N, E, seed=3)
THREE = {"query": QUERY, "key": KEY, "value": VALUE}
SELF = dict.fromkeys(("query", "key", "value"), ONE)


def bools(*shape: int) -> Any:
    """Some True, the first column False."""
    values = np.random.default_rng(shape).integers(0, 2, shape).astype(bool)
    values[..., 0] = False
    return values


def causal(size: int) -> Any:
    return np.triu(np.full((size, size), -np.inf), 1)


def attention(**options: Any) -> Call:
    return Call("MultiheadAttention", E, H, **options)


CALLS = [
    attention()(**THREE),
    attention()(**THREE, need_weights=False),
    attention()(**THREE, average_attn_weights=False),
    attention()(**SELF),
    attention(bias=False)(**SELF, need_weights=False),
    attention()(query=QUERY, key=KEY, value=KEY, need_weights=False),
    attention(batch_first=True)(**{name: each.swapaxes(0, 1) for name, each in THREE.items()}),
    attention(batch_first=True)(**SELF, need_weights=False),
    attention()(**{name: each[:, 0] for name, each in THREE.items()}),
    attention(batch_first=True)(**dict.fromkeys(SELF, ONE[:, 0]), need_weights=False),
    attention(kdim=6, vdim=5)(query=QUERY, key=array(S, N, 6), value=array(S, N, 5)),
    attention(kdim=6, vdim=5)(
        query=QUERY, key=array(S, N, 6), value=array(S, N, 5), need_weights=False
    ),
    attention()(**THREE, attn_mask=bools(L, S)),
    attention()(**THREE, attn_mask=bools(L, S), need_weights=False),
    attention()(**THREE, attn_mask=array(L, S)),
    attention()(**THREE, attn_mask=array(L, S), need_weights=False),
    attention()(**THREE, attn_mask=bools(N * H, L, S), need_weights=False),
    attention()(**THREE, attn_mask=Constant(array(N * H, L, S))),
    attention()(**THREE, key_padding_mask=bools(N, S)),
    attention()(**THREE, key_padding_mask=bools(N, S), need_weights=False),
    attention()(**THREE, key_padding_mask=array(N, S), need_weights=False),
    attention()(**THREE, key_padding_mask=bools(N, S), attn_mask=bools(L, S)),
    attention()(**THREE, key_padding_mask=Constant(array(N, S)), attn_mask=array(L, S)),
    attention()(
        **THREE, key_padding_mask=bools(N, S), attn_mask=bools(N * H, L, S), need_weights=False
    ),
    attention()(query=QUERY[:, 0], key=KEY[:, 0], value=VALUE[:, 0], key_padding_mask=bools(S)),
    attention()(**SELF, attn_mask=Constant(causal(S)), is_causal=True, need_weights=False),
    attention()(**SELF, attn_mask=Constant(causal(S)), is_causal=True),
    attention()(
        **SELF,
        attn_mask=Constant(causal(S)),
        key_padding_mask=Constant(array(N, S)),
        is_causal=True,
        need_weights=False,
    ),
    attention(add_bias_kv=True)(**THREE),
    attention(add_bias_kv=True)(**THREE, attn_mask=bools(L, S), need_weights=False),
    attention(add_zero_attn=True)(**THREE, key_padding_mask=bools(N, S)),
    attention(add_bias_kv=True, add_zero_attn=True, batch_first=True)(
        **{name: each.swapaxes(0, 1) for name, each in THREE.items()},
        attn_mask=array(L, S),
        key_padding_mask=Constant(array(N, S)),
        need_weights=False,
    ),
]


@pytest.mark.parametrize("call", cases(CALLS))
def test_results_and_gradients(call: Call) -> None:
    check(call)
    check(call, training=False)


@pytest.mark.parametrize("call", cases([attention()(**THREE), attention(add_bias_kv=True)(**SELF)]))
def test_second_order(call: Call) -> None:
    check_second_order(call)


def test_second_order_without_weights() -> None:
    """PyTorch's fused kernel has no second derivative: the result with weights is the reference."""
    found = []
    for need_weights in (True, False):
        mine, _ = twins(attention())
        x = whygrad.from_numpy(ONE).requires_grad_()
        y, _ = mine(x, x, x, need_weights=need_weights)
        (slope,) = whygrad.autograd.grad(y.square().sum(), x, create_graph=True)
        found.append(whygrad.autograd.grad(slope.square().sum(), x)[0].numpy())
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [{}, {"bias": False}, {"kdim": 6, "vdim": 5}, {"add_bias_kv": True}, {"dropout": 0.1}],
    ids=str,
)
def test_state_and_repr(options: dict[str, Any]) -> None:
    mine, theirs = (attention(**options).made(library) for library in LIBRARIES)
    shapes = [
        {name: tuple(each.shape) for name, each in made.state_dict().items()}
        for made in (mine, theirs)
    ]
    assert list(shapes[0].items()) == list(shapes[1].items())
    assert repr(mine) == repr(theirs)


def test_first_values_are_distributed_as_in_pytorch() -> None:
    mine, theirs = (library.nn.MultiheadAttention(64, 4, add_bias_kv=True) for library in LIBRARIES)
    for (name, a), (_, b) in zip(mine.named_parameters(), theirs.named_parameters(), strict=True):
        assert a.std().item() == pytest.approx(b.std().item(), rel=0.35, abs=1e-12), name
        if name.endswith("weight"):
            assert a.abs().max().item() == pytest.approx(b.abs().max().item(), rel=0.02), name


@pytest.mark.parametrize("need_weights", [True, False])
def test_dropout_is_for_training_only(need_weights: bool) -> None:
    whygrad.manual_seed(0)
    layer = whygrad.nn.MultiheadAttention(E, H, dropout=0.5)
    x = whygrad.randn(64, 16, E)
    first, weights = layer(x, x, x, need_weights=need_weights, average_attn_weights=False)
    assert not whygrad.equal(first, layer(x, x, x, need_weights=need_weights)[0])
    if weights is not None:
        assert (weights == 0).float().mean().item() == pytest.approx(0.5, abs=0.01)
        assert weights.sum(-1).mean().item() == pytest.approx(1.0, abs=0.02)
    layer.eval()
    plain, _ = layer(x, x, x, need_weights=need_weights)
    assert whygrad.equal(plain, layer(x, x, x, need_weights=need_weights)[0])


def test_a_query_that_sees_nothing() -> None:
    """NaN where the weights are asked for, as in PyTorch; else 0 before the last projection."""
    padding = np.zeros((N, S), bool)
    padding[0] = True
    for need_weights in (True, False):
        found = []
        for made, library in zip(twins(attention()), LIBRARIES, strict=True):
            arguments = [library.from_numpy(each) for each in (QUERY, KEY, VALUE, padding)]
            found.append(made(*arguments, need_weights=need_weights)[0].detach().numpy())
        np.testing.assert_allclose(*found, rtol=1e-9)
        assert np.isnan(found[0]).any() is np.bool_(need_weights)


def test_function_with_fixed_keys_and_values() -> None:
    weights = [array(3 * E, E, seed=5), array(3 * E, seed=6), array(E, E, seed=7), array(E, seed=8)]
    fixed = [array(N * H, 5, E // H, seed=seed) for seed in (3, 4)]
    found = []
    for library in LIBRARIES:
        q, k, v, *own = (library.from_numpy(each) for each in (QUERY, KEY, VALUE, *weights))
        static = dict(zip(("static_k", "static_v"), map(library.from_numpy, fixed), strict=True))
        y, mixture = library.nn.functional.multi_head_attention_forward(
            q, k, v, E, H, own[0], own[1], None, None, False, 0.5, own[2], own[3],
            training=False, **static,
        )  # fmt: skip
        found.append((y.numpy(), mixture.numpy()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(
    ("length", "causal"), [(1024, False), (1024, True)], ids=["full", "causal"]
)
def test_no_matrix_of_probabilities_is_kept(length: int, causal: bool) -> None:
    q, k, v = (whygrad.zeros(2, length, 16, requires_grad=True) for _ in range(3))
    y = whygrad.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    held = memory(y).activations
    assert held <= 4 * 2 * length * (16 + 1)  # the result and one number per query
    y.sum().backward()


@pytest.mark.parametrize("mask", ["none", "causal", "bool", "float", "huge"])
@pytest.mark.parametrize("shape", [(2, 3, 300, 8), (5, 700, 4), (3, 2, 1, 9), (1, 20000, 2)])
def test_tiles_fit_together(shape: tuple[int, ...], mask: str) -> None:
    """Lengths that take several tiles, in float32 and against PyTorch in float64."""
    if shape[-2] > 1000 and mask in ("bool", "float"):
        pytest.skip("the mask itself would be large")
    rng = np.random.default_rng(0)
    rows, columns = shape[-2] if shape[-2] < 1000 else 100, shape[-2]
    arrays = [rng.normal(size=(*shape[:-2], each, shape[-1])) for each in (rows, columns, columns)]
    if mask == "huge":
        arrays[0] *= 50
    options: dict[str, Any] = {"is_causal": mask == "causal"}
    if mask in ("bool", "float"):
        numbers = rng.normal(size=(rows, columns))
        options["attn_mask"] = numbers > 0 if mask == "bool" else numbers
    found = []
    for library in LIBRARIES:
        inputs = [library.from_numpy(each).requires_grad_() for each in arrays]
        given = {
            name: library.from_numpy(value) if isinstance(value, np.ndarray) else value
            for name, value in options.items()
        }
        y = library.nn.functional.scaled_dot_product_attention(*inputs, **given)
        y.backward(library.from_numpy(np.cos(np.arange(y.numel())).reshape(tuple(y.shape))))
        found.append([y.detach().numpy(), *(each.grad.numpy() for each in inputs)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


def refusals() -> list[Any]:
    def layer(nn: Any, **options: Any) -> Any:
        return nn.MultiheadAttention(E, H, **options)

    def on(change: dict[str, Any]) -> Any:
        def call(library: Any) -> Any:
            arrays = {**THREE, **change}
            tensors = {
                name: library.from_numpy(each) if isinstance(each, np.ndarray) else each
                for name, each in arrays.items()
            }
            return layer(library.nn).double()(**tensors)

        return call

    return [
        pytest.param(kind, phrase, call, id=phrase[:40])
        for kind, phrase, call in [
            (AssertionError, "embed_dim must be divisible by num_heads",
             lambda lib: lib.nn.MultiheadAttention(7, 2)),
            (ValueError, "embed_dim and num_heads must be greater than 0",
             lambda lib: lib.nn.MultiheadAttention(0, 2)),
            (AssertionError, "was expecting embedding dimension of 8, but got 7",
             on({"query": array(L, N, 7)})),
            (AssertionError, "query should be unbatched 2D or batched 3D tensor",
             on({"query": array(1, L, N, E)})),
            (AssertionError, "to be 3-D but found 2-D and 2-D tensors respectively",
             on({"key": array(S, E), "value": array(S, E)})),
            (AssertionError, "does not match value shape", on({"value": array(5, N, E)})),
            (RuntimeError, "invalid", on({"key": array(S, 1, E), "value": array(S, 1, E)})),
            (RuntimeError, "The shape of the 2D attn_mask is",
             on({"attn_mask": array(L, 5)})),
            (RuntimeError, "The shape of the 3D attn_mask is",
             on({"attn_mask": array(3, L, S)})),
            (AssertionError, "2-D or 3-D but found 4-D tensor instead",
             on({"attn_mask": array(1, 4, L, S)})),
            (AssertionError, "Expected key_padd", on({"key_padding_mask": bools(N, 3)})),
            (AssertionError, "only bool and floating types of key_padding_mask are supported",
             on({"key_padding_mask": np.zeros((N, S), np.int64)})),
            (AssertionError, "only bool and floating types of attn_mask are supported",
             on({"attn_mask": np.zeros((L, S), np.int64)})),
            (RuntimeError, "Need attn_mask if specifying the is_causal hint",
             on({"is_causal": True})),
        ]
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "phrase", "call"), refusals())
def test_refusals(kind: type[Exception], phrase: str, call: Any) -> None:
    for library in LIBRARIES:
        with pytest.raises(kind) as caught:
            call(library)
        assert phrase in str(caught.value)
        assert library is not whygrad or "fix:" in str(caught.value)


def qkv(library: Any, *shapes: tuple[int, ...]) -> list[Any]:
    return [library.from_numpy(array(*each)) for each in shapes]


FUNCTION_REFUSALS: list[Any] = [
    ("at least 2 dimensional", ((4,), (4,), (4,)), {}),
    ("queries have 4 features and keys 3", ((2, 3, 4), (2, 5, 3), (2, 5, 4)), {}),
    ("there are 5 keys and 6 values", ((2, 3, 4), (2, 5, 4), (2, 6, 4)), {}),
    ("(2,), (3,) and (3,) of query, key and value do not broadcast",
     ((2, 3, 4), (3, 5, 4), (3, 5, 4)), {}),
    ("must divide the number of heads", ((4, 3, 4), (3, 5, 4), (3, 5, 4)), {"enable_gqa": True}),
    ("dropout probability has to be between 0 and 1, but got 1.5", ((3, 4),) * 3,
     {"dropout_p": 1.5}),
    ("Expected attn_mask dtype to be bool or float", ((3, 4),) * 3,
     {"attn_mask": np.zeros((3, 3), np.int64)}),
    ("(3, 2) cannot be expanded to (3, 3)", ((3, 4),) * 3, {"attn_mask": np.zeros((3, 2))}),
    ("cannot be expanded", ((3, 4),) * 3, {"attn_mask": np.zeros((6, 3, 3))}),
]  # fmt: skip


@pytest.mark.parametrize(("phrase", "shapes", "options"), FUNCTION_REFUSALS)
def test_refusals_of_the_function(phrase: str, shapes: Any, options: dict[str, Any]) -> None:
    for library in LIBRARIES:
        given = {
            name: library.from_numpy(each) if isinstance(each, np.ndarray) else each
            for name, each in options.items()
        }
        with pytest.raises(RuntimeError) as caught:
            library.nn.functional.scaled_dot_product_attention(*qkv(library, *shapes), **given)
        assert phrase in str(caught.value) or library is torch  # which has other words for some


def test_mixed_kinds_are_refused() -> None:
    for library in LIBRARIES:
        attend = library.nn.functional.scaled_dot_product_attention
        q, k, v = qkv(library, (3, 4), (3, 4), (3, 4))
        with pytest.raises(RuntimeError, match="same dtype"):
            attend(q, k.float(), v)
        with pytest.raises(RuntimeError, match="expected"):
            attend(q.long(), k.long(), v.long())


def test_masks_on_top_of_causal_ones() -> None:
    """PyTorch takes both in one of its kernels and refuses them in the other."""
    q, k, v = qkv(whygrad, (2, 3, 4), (2, 5, 4), (2, 5, 4))
    attend = whygrad.nn.functional.scaled_dot_product_attention
    numbers = whygrad.from_numpy(array(3, 5))
    triangle = whygrad.ones(3, 5, dtype=whygrad.bool).tril()
    expected = attend(q, k, v, numbers.masked_fill(~triangle, float("-inf")))
    assert whygrad.allclose(attend(q, k, v, numbers, is_causal=True), expected)
    assert whygrad.allclose(
        attend(q, k, v, numbers > 0, is_causal=True), attend(q, k, v, (numbers > 0) & triangle)
    )


def test_dropout_of_the_function() -> None:
    whygrad.manual_seed(0)
    q, k = whygrad.zeros(200, 4), whygrad.zeros(500, 4)
    v = whygrad.ones(500, 3)
    y = whygrad.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.25)
    assert y.mean().item() == pytest.approx(1.0, abs=0.01)
    # each probability is 1/500, kept with 3/4 and then 4/3 as large: a binomial sum
    assert y.std().item() == pytest.approx((0.25 / 0.75 / 500) ** 0.5, rel=0.15)


@pytest.mark.parametrize("adds", [False, True], ids=["bool", "float"])
def test_dropout_and_a_query_that_sees_nothing(adds: bool) -> None:
    q, k, v = (each.requires_grad_() for each in qkv(whygrad, (2, 4), (5, 4), (5, 3)))
    mask = whygrad.tensor([[False] * 5, [True] * 5])
    if adds:
        mask = whygrad.zeros(2, 5, dtype=whygrad.float64).masked_fill(~mask, float("-inf"))
    y = whygrad.nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p=0.1)
    assert (y[0] == 0).all()
    y.sum().backward()
    assert (q.grad[0] == 0).all()
    assert k.grad.isfinite().all()


def test_memory_order_follows_the_query() -> None:
    """Heads cut from one tensor join again without a copy, as in PyTorch."""
    for library in LIBRARIES:
        x = library.zeros(2, 5, 12, dtype=library.float32)
        heads = x.view(2, 5, 3, 4).transpose(1, 2)
        y = library.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        assert y.stride() == heads.stride()


def test_half_precision() -> None:
    arrays = [array(2, 3, 4, seed=seed) for seed in range(3)]
    mine, theirs = (
        library.nn.functional.scaled_dot_product_attention(
            *(library.from_numpy(each).to(library.float16) for each in arrays)
        )
        for library in LIBRARIES
    )
    assert mine.dtype is whygrad.float16
    np.testing.assert_allclose(
        mine.float().numpy(), theirs.to(torch.float32).numpy(), rtol=2e-3, atol=2e-3
    )
