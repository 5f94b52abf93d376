"""Transformer layers against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad
from tests.nn.layers import LIBRARIES, array, assert_same
from tests.nn.sequences import Call, Constant, cases, check, check_second_order, twins

# PyTorch says of most encoders that a fast path for inference is not open to them.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")

L, S, N, E, H = 4, 3, 2, 8, 2  # target, source, batch, features, heads
SOURCE, TARGET = array(S, N, E), array(L, N, E, seed=1)


def causal(size: int) -> Constant:
    return Constant(np.triu(np.full((size, size), -np.inf), 1))


def padding(*shape: int) -> Any:
    values = np.zeros(shape, bool)
    values[..., -1] = True
    return values


def layer(kind: str, **options: Any) -> Call:
    return Call(f"Transformer{kind}Layer", E, H, 16, dropout=0.0, **options)


class Stack(Call):
    """An encoder or decoder, whose argument is a layer."""

    def made(self, library: Any) -> Any:
        nn = library.nn
        inner = getattr(nn, f"{self.name}Layer")(E, H, 16, dropout=0.0, **self.kwargs)
        norm = nn.LayerNorm(E) if self.args[1:] else None
        return getattr(nn, self.name)(inner, self.args[0], norm)


CALLS = [
    layer("Encoder")(src=SOURCE),
    layer("Encoder", norm_first=True)(src=SOURCE),
    layer("Encoder", activation="gelu")(src=SOURCE),
    layer("Encoder", bias=False, layer_norm_eps=1e-3)(src=SOURCE),
    layer("Encoder", batch_first=True)(src=SOURCE),
    layer("Encoder")(src=SOURCE[:, 0]),
    layer("Encoder")(src=SOURCE, src_mask=causal(S)),
    layer("Encoder")(src=SOURCE, src_mask=causal(S), is_causal=True),
    layer("Encoder")(src=SOURCE, src_key_padding_mask=padding(N, S)),
    layer("Encoder", norm_first=True, batch_first=True)(
        src=SOURCE, src_mask=np.triu(np.ones((N, N), bool), 1), src_key_padding_mask=padding(S, N)
    ),
    layer("Decoder")(tgt=TARGET, memory=SOURCE),
    layer("Decoder", norm_first=True, activation="gelu")(tgt=TARGET, memory=SOURCE),
    layer("Decoder", batch_first=True)(tgt=TARGET.swapaxes(0, 1), memory=SOURCE.swapaxes(0, 1)),
    layer("Decoder", bias=False)(
        tgt=TARGET,
        memory=SOURCE,
        tgt_mask=causal(L),
        memory_mask=Constant(array(L, S)),
        tgt_key_padding_mask=Constant(array(N, L)),
        memory_key_padding_mask=Constant(array(N, S)),
    ),
    layer("Decoder")(tgt=TARGET, memory=SOURCE, tgt_mask=causal(L), tgt_is_causal=True),
    layer("Decoder")(tgt=TARGET[:, 0], memory=SOURCE[:, 0]),
    Stack("TransformerEncoder", 2)(src=SOURCE),
    Stack("TransformerEncoder", 2, "norm", norm_first=True)(src=SOURCE, mask=causal(S)),
    Stack("TransformerEncoder", 1)(src=SOURCE, mask=causal(S), is_causal=True),
    Stack("TransformerDecoder", 2, "norm")(tgt=TARGET, memory=SOURCE, tgt_mask=causal(L)),
    Call("Transformer", E, H, 1, 2, 16, dropout=0.0)(src=SOURCE, tgt=TARGET),
    Call("Transformer", E, H, 1, 1, 16, dropout=0.0, batch_first=True, norm_first=True)(
        src=SOURCE.swapaxes(0, 1),
        tgt=TARGET.swapaxes(0, 1),
        tgt_mask=causal(L),
        src_key_padding_mask=padding(N, S),
        memory_key_padding_mask=padding(N, S),
    ),
]


@pytest.mark.parametrize("call", cases(CALLS))
def test_results_and_gradients(call: Call) -> None:
    check(call)


def test_gradients_in_eval_mode() -> None:
    """With gradients PyTorch takes the same way as in training."""
    check(layer("Encoder")(src=SOURCE), training=False)


def test_second_order_is_consistent() -> None:
    """PyTorch's fused attention has no second derivative; ours is checked by differences."""
    mine, _ = twins(layer("Encoder", activation="gelu"))
    x = whygrad.from_numpy(SOURCE).requires_grad_()
    assert whygrad.autograd.gradgradcheck(lambda x: mine(x).sin(), (x,), fast_mode=True)


def test_second_order_against_pytorch() -> None:
    check_second_order(Call("MultiheadAttention", E, H)(query=TARGET, key=SOURCE, value=SOURCE))


@pytest.mark.parametrize(
    "call",
    cases(
        [
            layer("Encoder"),
            layer("Encoder", bias=False),
            layer("Decoder"),
            Stack("TransformerEncoder", 2, "norm"),
            Stack("TransformerDecoder", 3),
            Call("Transformer", E, H, 1, 1, 16),
        ]
    ),
)
def test_state_and_repr(call: Call) -> None:
    mine, theirs = (call.made(library) for library in LIBRARIES)
    shapes = [
        [(name, tuple(each.shape)) for name, each in made.state_dict().items()]
        for made in (mine, theirs)
    ]
    assert shapes[0] == shapes[1]
    assert repr(mine) == repr(theirs)


def test_layers_are_copies_with_equal_values() -> None:
    stack = whygrad.nn.TransformerEncoder(whygrad.nn.TransformerEncoderLayer(E, H, 16), 2)
    first, second = stack.layers
    assert whygrad.equal(first.linear1.weight, second.linear1.weight)
    assert first.linear1.weight is not second.linear1.weight
    assert len(list(stack.parameters())) == 2 * len(list(first.parameters()))


def test_matrices_of_a_transformer_start_as_in_pytorch() -> None:
    mine, theirs = (library.nn.Transformer(32, 4, 1, 1, 64) for library in LIBRARIES)
    for (name, a), (_, b) in zip(mine.named_parameters(), theirs.named_parameters(), strict=True):
        if a.ndim > 1:
            assert a.abs().max().item() == pytest.approx(b.abs().max().item(), rel=0.03), name
        else:
            assert a.std().item() == pytest.approx(b.std().item(), rel=0.6, abs=1e-12), name


def test_dropout_is_for_training_only() -> None:
    whygrad.manual_seed(0)
    made = whygrad.nn.TransformerEncoderLayer(E, H, 16, dropout=0.5)
    x = whygrad.randn(5, 3, E)
    assert not whygrad.equal(made(x), made(x))
    made.eval()
    assert whygrad.equal(made(x), made(x))


def test_activations_of_ones_own() -> None:
    for choice in (whygrad.nn.functional.silu, whygrad.nn.SiLU()):
        made = whygrad.nn.TransformerEncoderLayer(E, H, 16, activation=choice)
        assert made.activation is choice
        made(whygrad.randn(5, 3, E)).sum().backward()


def test_causal_mask() -> None:
    mine, theirs = (
        library.nn.Transformer.generate_square_subsequent_mask(3) for library in LIBRARIES
    )
    assert_same(mine, theirs, "mask")


REFUSALS: list[Any] = [
    (RuntimeError, "activation should be relu/gelu, not foo",
     lambda lib: lib.nn.TransformerEncoderLayer(E, H, activation="foo")),
    (AssertionError, "embed_dim must be divisible by num_heads",
     lambda lib: lib.nn.TransformerEncoderLayer(E, 3)),
    (RuntimeError, "the batch number of src and tgt must be equal",
     lambda lib: lib.nn.Transformer(E, H, 1, 1, 16)(lib.zeros(S, 1, E), lib.zeros(L, N, E))),
    (RuntimeError, "the feature number of src and tgt must be equal to d_model",
     lambda lib: lib.nn.Transformer(E, H, 1, 1, 16)(lib.zeros(S, N, E), lib.zeros(L, N, 7))),
    (RuntimeError, "Need attn_mask if specifying the is_causal hint",
     lambda lib: lib.nn.TransformerEncoderLayer(E, H)(lib.zeros(S, N, E), is_causal=True)),
    (AssertionError, "only bool and floating types of",
     lambda lib: lib.nn.TransformerEncoderLayer(E, H)(
         lib.zeros(S, N, E), src_key_padding_mask=lib.zeros(N, S, dtype=lib.int64))),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "phrase", "call"), REFUSALS)
def test_refusals(kind: type[Exception], phrase: str, call: Any) -> None:
    for library in LIBRARIES:
        with pytest.raises(kind) as caught:
            call(library)
        assert phrase in str(caught.value)
        assert library is not whygrad or "fix:" in str(caught.value)
