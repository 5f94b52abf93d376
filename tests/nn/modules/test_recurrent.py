"""RNN, LSTM, GRU and their cells against PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.nn.layers import LIBRARIES, array
from tests.nn.sequences import Call, cases, check, check_second_order, twins

T, N, F, H, P = 5, 3, 2, 4, 3  # steps, batch, inputs, hidden, projected
X = array(T, N, F)
KINDS = ("RNN", "LSTM", "GRU")


def state(kind: str, *shape: int, projected: int | None = None) -> Any:
    h = array(*shape, H if projected is None else projected, seed=1)
    return (h, array(*shape, H, seed=2)) if kind == "LSTM" else h


def for_each_kind() -> list[Call]:
    calls = []
    for kind in KINDS:
        calls += [
            Call(kind, F, H)(input=X),
            Call(kind, F, H)(input=X, hx=state(kind, 1, N)),
            Call(kind, F, H, 2)(input=X, hx=state(kind, 2, N)),
            Call(kind, F, H, bias=False)(input=X),
            Call(kind, F, H, batch_first=True)(input=X, hx=state(kind, 1, T)),
            Call(kind, F, H, bidirectional=True)(input=X, hx=state(kind, 2, N)),
            Call(kind, F, H, 2, bidirectional=True, bias=False, batch_first=True)(input=X),
            Call(kind, F, H)(input=X[:, 0]),
            Call(kind, F, H, 2, batch_first=True)(input=X[:, 0], hx=state(kind, 2)),
            Call(kind, F, H)(input=X[:1]),
            Call(kind, F, H)(input=array(T, 0, F)),
            Call(kind, F, H, 2, dropout=1.0)(input=X),
        ]
    return calls


CALLS = [
    *for_each_kind(),
    Call("RNN", F, H, 2, "relu")(input=X),
    Call("RNN", F, H, nonlinearity="relu", bidirectional=True)(input=X),
    Call("LSTM", F, H, proj_size=P)(input=X),
    Call("LSTM", F, H, 2, bidirectional=True, proj_size=P)(
        input=X, hx=state("LSTM", 4, N, projected=P)
    ),
]
CELLS = [
    call
    for kind in KINDS
    for call in (
        Call(f"{kind}Cell", F, H)(input=X[0]),
        Call(f"{kind}Cell", F, H)(input=X[0], hx=state(kind, N)),
        Call(f"{kind}Cell", F, H, False)(input=X[0, 0], hx=state(kind)),
        Call(f"{kind}Cell", F, H)(input=X[0, 0]),
    )
] + [Call("RNNCell", F, H, nonlinearity="relu")(input=X[0], hx=state("RNN", N))]


@pytest.mark.parametrize("call", cases([*CALLS, *CELLS]))
def test_results_and_gradients(call: Call) -> None:
    check(call)


@pytest.mark.parametrize(
    "call", cases([Call(kind, F, H, bidirectional=True)(input=X[:3]) for kind in KINDS])
)
def test_second_order(call: Call) -> None:
    check_second_order(call)


@pytest.mark.parametrize("call", cases([*CALLS, *CELLS]))
def test_state_and_repr(call: Call) -> None:
    mine, theirs = (call.made(library) for library in LIBRARIES)
    shapes = [
        [(name, tuple(each.shape)) for name, each in made.state_dict().items()]
        for made in (mine, theirs)
    ]
    assert shapes[0] == shapes[1]
    assert repr(mine) == repr(theirs)
    for name in ("mode", "nonlinearity", "bias", "hidden_size"):
        assert getattr(mine, name, None) == getattr(theirs, name, None)
    groups = [
        [[tuple(each.shape) for each in group] for group in getattr(made, "all_weights", [])]
        for made in (mine, theirs)
    ]
    assert groups[0] == groups[1]


@pytest.mark.parametrize("name", ["LSTM", "GRUCell"])
def test_first_values(name: str) -> None:
    made = getattr(whygrad.nn, name)(30, 25)
    for each in made.parameters():
        assert each.abs().max().item() <= 0.2
        assert each.std().item() == pytest.approx(0.2 / math.sqrt(3), rel=0.2)


def test_a_layer_is_its_cell_in_a_loop() -> None:
    for kind in KINDS:
        layer, _ = twins(Call(kind, F, H))
        cell = getattr(whygrad.nn, f"{kind}Cell")(F, H).double()
        cell.load_state_dict(
            {name.removesuffix("_l0"): each for name, each in layer.state_dict().items()}
        )
        x = whygrad.from_numpy(X)
        outputs, last = [], None
        for step in x:
            last = cell(step, last)
            outputs.append(last[0] if kind == "LSTM" else last)
        y, _ = layer(x)
        assert whygrad.allclose(y, whygrad.stack(outputs))


def test_dropout_between_layers() -> None:
    whygrad.manual_seed(0)
    layer = whygrad.nn.GRU(F, H, 2, dropout=0.5)
    x = whygrad.randn(T, N, F)
    first, second = layer(x)[0], layer(x)[0]
    assert not whygrad.equal(first, second)
    layer.eval()
    assert whygrad.equal(layer(x)[0], layer(x)[0])


def test_a_step_is_two_nodes() -> None:
    """The product and the gates: a loop over time is as cheap as it can be op by op."""
    y, _ = whygrad.nn.LSTM(F, H)(whygrad.randn(T, N, F))
    names = []
    waiting, seen = [y.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            names.append(node.name())
            waiting.extend(parent for parent, _ in node.next_functions)
    assert names.count("LstmStepBackward") == T
    assert names.count("MatmulBackward") <= T


def test_flatten_parameters_is_there_to_be_called() -> None:
    layer = whygrad.nn.LSTM(F, H)
    before = [id(each) for each in layer.parameters()]
    layer.flatten_parameters()
    assert [id(each) for each in layer.parameters()] == before


def test_vmap_over_models() -> None:
    layer, _ = twins(Call("GRU", F, H))
    weights = dict(layer.named_parameters())
    stacked = {
        name: whygrad.stack([each.detach(), 2 * each.detach()]) for name, each in weights.items()
    }
    x = whygrad.from_numpy(X)

    def run(own: Any) -> Any:
        return whygrad.func.functional_call(layer, own, (x,))[0]

    both = whygrad.func.vmap(run)(stacked)
    for place in range(2):
        alone = run({name: each[place] for name, each in stacked.items()})
        assert whygrad.allclose(both[place], alone)


REFUSALS: list[Any] = [
    (ValueError, "dropout should be a number in range [0, 1]",
     lambda lib: lib.nn.LSTM(F, H, dropout=1.5)),
    (ValueError, "Unknown nonlinearity 'foo'. Select from 'tanh' or 'relu'.",
     lambda lib: lib.nn.RNN(F, H, nonlinearity="foo")),
    (ValueError, "num_layers must be greater than zero", lambda lib: lib.nn.GRU(F, H, 0)),
    (ValueError, "hidden_size must be greater than zero", lambda lib: lib.nn.GRU(F, 0)),
    (ValueError, "proj_size argument is only supported for LSTM, not RNN or GRU",
     lambda lib: lib.nn.GRU(F, H, proj_size=2)),
    (ValueError, "proj_size argument is only supported for LSTM, not RNN or GRU",
     lambda lib: lib.nn.RNN(F, H, proj_size=2)),
    (ValueError, "proj_size has to be smaller than hidden_size",
     lambda lib: lib.nn.LSTM(F, H, proj_size=H)),
    (ValueError, "proj_size should be a positive integer or zero to disable projections",
     lambda lib: lib.nn.LSTM(F, H, proj_size=-1)),
    (TypeError, "hidden_size should be of type int, got: float", lambda lib: lib.nn.GRU(F, 4.0)),
    (TypeError, "bias should be of type bool, got: int", lambda lib: lib.nn.GRU(F, H, bias=1)),
    (RuntimeError, "input.size(-1) must be equal to input_size. Expected 2, got 7",
     lambda lib: lib.nn.LSTM(F, H)(lib.zeros(T, N, 7))),
    (ValueError, "LSTM: Expected input to be 2D or 3D, got 4D instead",
     lambda lib: lib.nn.LSTM(F, H)(lib.zeros(1, T, N, F))),
    (ValueError, "does not match weight dtype",
     lambda lib: lib.nn.GRU(F, H)(lib.zeros(T, N, F, dtype=lib.float64))),
    (RuntimeError, "Expected sequence length to be larger than 0 in RNN",
     lambda lib: lib.nn.GRU(F, H)(lib.zeros(0, N, F))),
    (RuntimeError, "Expected hidden[1] size (1, 3, 4), got [1, 7, 4]",
     lambda lib: lib.nn.LSTM(F, H)(
         lib.zeros(T, N, F), (lib.zeros(1, N, H), lib.zeros(1, 7, H)))),
    (RuntimeError, "Expected hidden size (1, 3, 4), got [1, 7, 4]",
     lambda lib: lib.nn.GRU(F, H)(lib.zeros(T, N, F), lib.zeros(1, 7, H))),
    (RuntimeError, "For batched 3-D input, hx and cx should also be 3-D but got (2-D, 2-D) tensors",
     lambda lib: lib.nn.LSTM(F, H)(lib.zeros(T, N, F), (lib.zeros(1, H), lib.zeros(1, H)))),
    (RuntimeError, "For unbatched 2-D input, hx should also be 2-D but got",
     lambda lib: lib.nn.GRU(F, H)(lib.zeros(T, F), lib.zeros(1, N, H))),
    (ValueError, "LSTMCell: Expected input to be 1D or 2D, got 3D instead",
     lambda lib: lib.nn.LSTMCell(F, H)(lib.zeros(T, N, F))),
    (RuntimeError, "input has inconsistent input_size: got 7 expected 2",
     lambda lib: lib.nn.GRUCell(F, H)(lib.zeros(N, 7))),
    (RuntimeError, "doesn't match hidden0 batch size",
     lambda lib: lib.nn.RNNCell(F, H)(lib.zeros(N, F), lib.zeros(7, H))),
    (RuntimeError, "hidden0 has inconsistent hidden_size: got 7, expected 4",
     lambda lib: lib.nn.LSTMCell(F, H)(lib.zeros(N, F), (lib.zeros(N, 7), lib.zeros(N, H)))),
    (RuntimeError, "Unknown nonlinearity: foo",
     lambda lib: lib.nn.RNNCell(F, H, nonlinearity="foo")(lib.zeros(N, F))),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "phrase", "call"), REFUSALS)
def test_refusals(kind: type[Exception], phrase: str, call: Any) -> None:
    for library in LIBRARIES:
        with pytest.raises(kind) as caught:
            call(library)
        assert phrase in str(caught.value)
        assert library is not whygrad or "fix:" in str(caught.value)


@pytest.mark.parametrize("hx", [np.zeros(3), (), None], ids=["array", "empty", "tensor"])
def test_a_state_of_the_wrong_kind(hx: Any) -> None:
    state = whygrad.zeros(1, N, H) if hx is None else hx
    with pytest.raises(TypeError, match="hx must be a pair of tensors"):
        whygrad.nn.LSTM(F, H)(whygrad.zeros(T, N, F), state)


def test_dropout_without_a_second_layer_is_noticed() -> None:
    for library in LIBRARIES:
        with pytest.warns(UserWarning, match="non-zero dropout expects num_layers greater than 1"):
            library.nn.GRU(F, H, dropout=0.5)
