"""Recurrent networks as functions of their weights: PyTorch's ``lstm``, ``gru``, ``lstm_cell``, …

One loop serves sequences of one length and packed ones, whose batch shrinks (or, from the end,
grows) from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whygrad.ops.define import composite, table
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

State = tuple[Tensor, ...]
# From the gates' share of the input, that of the hidden state, and the state, to the next state.
Step = Callable[[Tensor, Tensor, State], State]


def _lstm_step(of_input: Tensor, of_hidden: Tensor, state: State) -> State:
    h, cell, _ = recorded.lstm_step(of_input, of_hidden, state[1])
    return h, cell


def _gru_step(of_input: Tensor, of_hidden: Tensor, state: State) -> State:
    return (recorded.gru_step(of_input, of_hidden, state[0])[0],)


def _tanh_step(of_input: Tensor, of_hidden: Tensor, state: State) -> State:
    return ((of_input + of_hidden).tanh(),)


def _relu_step(of_input: Tensor, of_hidden: Tensor, state: State) -> State:
    return ((of_input + of_hidden).relu(),)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return table["linear"].public(x, weight, bias)


class _Layer:
    """One layer in one direction."""

    def __init__(self, step: Step, params: Sequence[Tensor], has_biases: bool) -> None:
        self.step = step
        self.ih, self.hh = params[:2]
        self.bias_ih: Tensor | None = params[2] if has_biases else None
        self.bias_hh: Tensor | None = params[3] if has_biases else None
        rest = params[4:] if has_biases else params[2:]
        self.projection = rest[0] if rest else None

    def run(
        self, data: Tensor, sizes: list[int], start: State, backwards: bool
    ) -> tuple[list[Tensor], State]:
        """The hidden states, in the order of time, and the last state of every sequence."""
        shares = _linear(data, self.ih, self.bias_ih).split(sizes)
        outputs: list[Any] = [None] * len(sizes)
        order = range(len(sizes))
        state: State = tuple(each[: sizes[-1 if backwards else 0]] for each in start)
        ended: list[State] = []
        for time in reversed(order) if backwards else order:
            size, have = sizes[time], state[0].shape[0]
            if size < have:
                ended.append(tuple(each[size:] for each in state))
                state = tuple(each[:size] for each in state)
            elif size > have:
                state = tuple(
                    table["cat"].public([each, first[have:size]])
                    for each, first in zip(state, start, strict=True)
                )
            of_hidden = _linear(state[0], self.hh, self.bias_hh)
            state = self.step(shares[time], of_hidden, state)
            if self.projection is not None:
                state = (_linear(state[0], self.projection, None), *state[1:])
            outputs[time] = state[0]
        if ended:
            state = tuple(
                table["cat"].public([each, *(part[place] for part in reversed(ended))])
                for place, each in enumerate(state)
            )
        return outputs, state


def _network(
    step: Step,
    data: Tensor,
    sizes: list[int],
    start: State,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, State]:
    """All layers over data in which the samples of one time lie together."""
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    lasts: list[State] = []
    cat = table["cat"].public
    for layer in range(num_layers):
        sides = []
        for direction in range(directions):
            place = layer * directions + direction
            own = _Layer(step, params[place * each : (place + 1) * each], has_biases)
            first = tuple(part[place] for part in start)
            outputs, last = own.run(data, sizes, first, backwards=direction == 1)
            sides.append(cat(outputs))
            lasts.append(last)
        data = sides[0] if len(sides) == 1 else cat(sides, -1)
        if dropout and train and layer < num_layers - 1:
            data = table["dropout"].public(data, dropout, True)
    stack = table["stack"].public
    return data, tuple(stack([last[part] for last in lasts]) for part in range(len(start)))


def _called(step: Step, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Tensor, State]:
    """Sort PyTorch's two forms: ``(input, hx, params, …)`` and ``(data, batch_sizes, hx, …)``."""
    packed = "batch_sizes" in options or (len(args) > 2 and _is_state(args[1:3]))
    names = ["hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional"]
    names = ["data", "batch_sizes", *names] if packed else ["input", *names, "batch_first"]
    given = dict(zip(names, args, strict=False)) | options
    hx = given.pop("hx")
    start = (hx,) if isinstance(hx, Tensor) else tuple(hx)
    rest = {name: given[name] for name in names[-6 if not packed else -5 :] if name in given}
    params = list(given["params"])
    batch_first = bool(rest.pop("batch_first", False))
    if packed:
        sizes = [int(size) for size in given["batch_sizes"].tolist()]
        return _network(step, given["data"], sizes, start, params, **rest)
    x = given["input"].transpose(0, 1) if batch_first else given["input"]
    steps, batch = x.shape[:2]
    flat = x.reshape(steps * batch, *x.shape[2:])
    output, last = _network(step, flat, [batch] * steps, start, params, **rest)
    output = output.reshape(steps, batch, -1)
    return output.transpose(0, 1) if batch_first else output, last


def _is_state(pair: tuple[Any, Any]) -> bool:
    """Whether sizes and a state come here, and not a state and parameters."""
    sizes, state = pair
    if not isinstance(sizes, Tensor):
        return False
    return isinstance(state, Tensor) or not sizes.dtype.is_floating_point


def lstm(*args: Any, **options: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Layers of LSTM: the hidden states, and the last hidden states and cells."""
    output, (h, cell) = _called(_lstm_step, args, options)
    return output, h, cell


def gru(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of GRU: the hidden states, and the last ones."""
    output, (h,) = _called(_gru_step, args, options)
    return output, h


def rnn_tanh(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of a plain recurrent network with tanh: the hidden states, and the last ones."""
    output, (h,) = _called(_tanh_step, args, options)
    return output, h


def rnn_relu(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of a plain recurrent network with relu: the hidden states, and the last ones."""
    output, (h,) = _called(_relu_step, args, options)
    return output, h


def _cell(step: Step, input: Tensor, state: State, weights: tuple[Any, ...]) -> State:
    w_ih, w_hh, b_ih, b_hh = weights
    return step(_linear(input, w_ih, b_ih), _linear(state[0], w_hh, b_hh), state)


def lstm_cell(
    input: Tensor,
    hx: Any,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the next hidden state and cell."""
    h, cell = _cell(_lstm_step, input, tuple(hx), (w_ih, w_hh, b_ih, b_hh))
    return h, cell


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a GRU: the next hidden state."""
    return _cell(_gru_step, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a plain recurrent network with tanh."""
    return _cell(_tanh_step, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a plain recurrent network with relu."""
    return _cell(_relu_step, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def _weights(make: Any, gates: int, layers: int, directions: int, biases: bool) -> list[Any]:
    """For samples: 2 inputs, 2 hidden units."""
    made = []
    for layer in range(layers):
        for _ in range(directions):
            inputs = 2 if layer == 0 else 2 * directions
            made += [make(2 * gates, inputs), make(2 * gates, 2)]
            made += [make(2 * gates), make(2 * gates)] if biases else []
    return made


def _samples(gates: int, parts: int) -> Callable[[Any], list[Any]]:
    def state(make: Any, places: int) -> Any:
        each = tuple(make(places, 2, 2) for _ in range(parts))
        return each if parts > 1 else each[0]

    def calls(make: Any) -> list[Any]:
        one, deep = _weights(make, gates, 1, 1, True), _weights(make, gates, 2, 1, False)
        both, sizes = _weights(make, gates, 1, 2, False), np.array([2, 2, 1])
        return [
            make.call(make(3, 2, 2), state(make, 1), one, True, 1, 0.0, False, False, False),
            make.call(make(2, 2, 2), state(make, 2), deep, False, 2, 0.0, False, False, True),
            make.call(make(5, 2), sizes, state(make, 2), both, False, 1, 0.0, False, True),
        ]

    return calls


def _cell_samples(gates: int, parts: int) -> Callable[[Any], list[Any]]:
    def calls(make: Any) -> list[Any]:
        state = tuple(make(3, 2) for _ in range(parts))
        weights = (make(2 * gates, 4), make(2 * gates, 2))
        hx = state if parts > 1 else state[0]
        return [
            make.call(make(3, 4), hx, *weights, make(2 * gates), make(2 * gates)),
            make.call(make(3, 4), hx, *weights),
        ]

    return calls


for _function, _formula, _gates, _parts in (
    (lstm, "cell = f·cell + i·g, h = o·tanh(cell), step by step", 4, 2),
    (gru, "h = (1 − z)·n + z·h, step by step", 3, 1),
    (rnn_tanh, "h = tanh(W·x + b + V·h + c), step by step", 1, 1),
    (rnn_relu, "h = relu(W·x + b + V·h + c), step by step", 1, 1),
):
    composite(
        _function,
        _formula,
        method=False,
        samples=_samples(_gates, _parts),
        autocast="keep" if _function is gru else None,
    )
for _cell_function, _formula, _gates, _parts in (
    (lstm_cell, "cell = f·cell + i·g, h = o·tanh(cell)", 4, 2),
    (gru_cell, "h = (1 − z)·n + z·h", 3, 1),
    (rnn_tanh_cell, "h = tanh(W·x + b + V·h + c)", 1, 1),
    (rnn_relu_cell, "h = relu(W·x + b + V·h + c)", 1, 1),
):
    composite(
        _cell_function,
        _formula,
        method=False,
        samples=_cell_samples(_gates, _parts),
        autocast="keep" if _gates > 1 else None,
    )
