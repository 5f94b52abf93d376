"""What recurrent networks have in common: parameters, layers, directions, and the loop over time.

The input's share of the gates is one product for all time steps.  What remains is the loop, with a
product and one fused op per step; each step stays a node of the graph, so one can ask how much
gradient arrived at which time.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from typing import Any, NamedTuple

from whygrad.errors import describe, fail
from whygrad.nn import functional, init
from whygrad.nn.modules.module import Module
from whygrad.nn.modules.rnn.packed import run_packed
from whygrad.nn.parameter import Parameter
from whygrad.nn.utils.rnn import PackedSequence
from whygrad.ops import functions
from whygrad.tensor import Tensor, keys, modes

__all__ = ["RNNBase"]

State = tuple[Tensor, ...]


class Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    ih: Tensor
    hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None
    hr: Tensor | None


class RNNBase(Module):
    """Layers of a recurrent network, each in one or two directions.

    Parameters are named as in PyTorch: ``weight_hh_l1_reverse`` takes the hidden state of the
    second layer, in the direction from the end, to its next gates.
    """

    mode: str
    _gates: int  # how many gates lie side by side
    _names: tuple[str, ...] = ("hx",)  # of the tensors in a state
    _keeps_precision = False  # inside autocast: compute in the precision of the input

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        _check_sizes(self.mode, hidden_size, num_layers, bias, dropout, proj_size)
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size

        def add(name: str, *shape: int) -> None:
            empty = functions["empty"](shape, device=device, dtype=dtype)
            self.register_parameter(name, Parameter(empty))

        rows = self._gates * hidden_size
        for layer, suffix in self._places():
            inputs = input_size if layer == 0 else self._output_size * self._directions
            add(f"weight_ih{suffix}", rows, inputs)
            add(f"weight_hh{suffix}", rows, self._output_size)
            if bias:
                add(f"bias_ih{suffix}", rows)
                add(f"bias_hh{suffix}", rows)
            if proj_size:
                add(f"weight_hr{suffix}", proj_size, hidden_size)
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _places(self) -> list[tuple[int, str]]:
        """Every layer and direction: the number of the layer, and the end of parameter names."""
        directions = ("", "_reverse")[: self._directions]
        return [(n, f"_l{n}{each}") for n in range(self.num_layers) for each in directions]

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters of each layer and direction."""
        return [
            [each for each in self._weights(suffix) if each is not None]
            for _, suffix in self._places()
        ]

    def reset_parameters(self) -> None:
        """Uniform in ±1/√hidden_size, all of them."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing to do here; PyTorch moves the weights together in the memory of a GPU."""

    def _weights(self, suffix: str) -> Weights:
        return Weights(*map(self._parameters.get, _parameter_names(suffix)))  # type: ignore[arg-type]

    def _first_gates(self, x: Tensor, weights: Weights) -> Tensor:
        """The input's share of the gates at every time step, with all that does not change."""
        bias = weights.bias_ih
        if bias is not None and weights.bias_hh is not None:
            bias = bias + weights.bias_hh
        return functional.linear(x, weights.ih, bias)

    @abstractmethod
    def _step(self, gates: Tensor, state: State, weights: Weights) -> State:
        """The state after one time step; its first tensor is the output."""

    def _run(
        self, x: Tensor, suffix: str, state: State, sizes: list[int] | None
    ) -> tuple[Tensor, State]:
        """One layer in one direction: its output at every time step, and its last state."""
        weights = self._weights(suffix)
        if weights.ih.dtype is not x.dtype:
            cast: Any = [None if each is None else each.to(x.dtype) for each in weights]
            weights = Weights(*cast)
        gates = self._first_gates(x, weights)
        weights = weights._replace(hh=weights.hh.t())
        backwards = suffix.endswith("_reverse")
        if sizes is not None:
            return run_packed(
                lambda part, state: self._step(part, state, weights), gates, sizes, state, backwards
            )
        steps = gates.unbind(0)
        outputs = []
        for gates in reversed(steps) if backwards else steps:
            state = self._step(gates, state, weights)
            outputs.append(state[0])
        if backwards:
            outputs.reverse()
        return functions["stack"](outputs), state

    def _run_layers(
        self, x: Tensor, states: list[State], sizes: list[int] | None = None
    ) -> tuple[Tensor, list[State]]:
        last: list[State] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = functional.dropout(x, self.dropout, self.training)
            outputs = []
            for number, suffix in self._places():
                if number == layer:
                    output, state = self._run(x, suffix, states[len(last)], sizes)
                    outputs.append(output)
                    last.append(state)
            x = outputs[0] if len(outputs) == 1 else functions["cat"](outputs, -1)
        return x, last

    def forward(self, input: Tensor | PackedSequence, hx: Any = None) -> Any:
        """The output of the last layer at every time step, and the last states of all layers.

        ``input`` is (time, batch, features), or (batch, time, features) with ``batch_first``, or
        (time, features), or packed, and then the output is.  States are (layers · directions,
        batch, features); zeros unless given.
        """
        if modes.active.count and modes.state.added & keys.AUTOCAST:
            return self._in_mixed_precision(input, hx)
        self._check_dtype(input.data if isinstance(input, PackedSequence) else input)
        return self._forward(input, hx)

    def _in_mixed_precision(self, input: Any, hx: Any) -> Any:
        """Inside ``autocast``: in half precision throughout, a GRU in that of its input."""
        from whygrad.amp.casting import cast_floats
        from whygrad.amp.state import get_autocast_dtype

        data = input.data if isinstance(input, PackedSequence) else input
        target = data.dtype if self._keeps_precision else get_autocast_dtype("cpu")
        with modes.without_autocast():
            cast = cast_floats(data, target)
            if isinstance(input, PackedSequence):
                cast = PackedSequence(cast, *input[1:])
            return self._forward(cast, cast_floats(hx, target))

    def _forward(self, input: Any, hx: Any) -> Any:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        self._check_input(input)
        given = None if hx is None else self._as_state(hx)
        batched = input.ndim == 3
        x = input if batched else input.unsqueeze(1)
        if batched and self.batch_first:
            x = x.transpose(0, 1)
        if given is None:
            given = self._zeros(x)
        else:
            self._check_state(input, given, x.shape[1])
            given = given if batched else tuple(each.unsqueeze(1) for each in given)
        states = list(zip(*(each.unbind(0) for each in given), strict=True))
        y, last = self._run_layers(x, states)
        final = tuple(functions["stack"](list(each)) for each in zip(*last, strict=True))
        if not batched:
            y, final = y.squeeze(1), tuple(each.squeeze(1) for each in final)
        elif self.batch_first:
            y = y.transpose(0, 1)
        return y, final[0] if len(self._names) == 1 else final

    def _forward_packed(self, input: PackedSequence, hx: Any) -> Any:
        x, batch_sizes, order, back = input
        sizes = batch_sizes.tolist()
        self._check_input(x)
        if hx is None:
            shapes = self._state_shapes(sizes[0])
            given: State = tuple(x.new_zeros(shape) for shape in shapes)
        else:
            given = self._as_state(hx)
            self._check_state(x.unsqueeze(1), given, sizes[0])
            if order is not None:
                given = tuple(each.index_select(1, order) for each in given)
        states = list(zip(*(each.unbind(0) for each in given), strict=True))
        y, last = self._run_layers(x, states, sizes)
        final = tuple(functions["stack"](list(each)) for each in zip(*last, strict=True))
        if back is not None:
            final = tuple(each.index_select(1, back) for each in final)
        packed = PackedSequence(y, batch_sizes, order, back)
        return packed, final[0] if len(self._names) == 1 else final

    def _state_shapes(self, batch: int) -> list[tuple[int, ...]]:
        count = self.num_layers * self._directions
        sizes = (self._output_size, self.hidden_size)[: len(self._names)]
        return [(count, batch, size) for size in sizes]

    def _zeros(self, x: Tensor) -> State:
        return tuple(x.new_zeros(shape) for shape in self._state_shapes(x.shape[1]))

    def _as_state(self, hx: Any) -> State:
        count = len(self._names)
        state = (hx,) if count == 1 else tuple(hx) if isinstance(hx, (tuple, list)) else ()
        if len(state) != count or not all(isinstance(each, Tensor) for each in state):
            raise self._refuse(
                TypeError,
                f"hx must be {'a tensor' if count == 1 else 'a pair of tensors (hx, cx)'}, not "
                f"{type(hx).__name__}",
                "pass the second result of an earlier call, or nothing",
            )
        return state

    def _check_dtype(self, input: Tensor) -> None:
        weight: Any = self._parameters["weight_ih_l0"]
        if input.dtype is not weight.dtype:
            raise self._refuse(
                ValueError,
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype})",
                f"convert the input: input.to({weight.dtype}), or the model: "
                f"model.to({input.dtype})",
                input,
            )

    def _check_input(self, input: Tensor) -> None:
        if input.ndim not in (2, 3):
            raise self._refuse(
                ValueError,
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead",
                "the last dimension has the features, another one the time steps",
                input,
            )
        if input.shape[-1] != self.input_size:
            raise self._refuse(
                RuntimeError,
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}",
                "the last dimension has the features; batch_first tells the order of the others",
                input,
            )
        if input.shape[1 if self.batch_first and input.ndim == 3 else 0] == 0:
            raise self._refuse(
                RuntimeError,
                "Expected sequence length to be larger than 0 in RNN",
                "pass at least one time step",
                input,
            )

    def _check_state(self, input: Tensor, state: State, batch: int) -> None:
        if any(each.ndim != input.ndim for each in state):
            ranks = ", ".join(f"{each.ndim}-D" for each in state)
            raise self._refuse(
                RuntimeError,
                f"For {'batched' if input.ndim == 3 else 'unbatched'} {input.ndim}-D input, "
                f"{' and '.join(self._names)} should also be {input.ndim}-D but got ({ranks}) "
                "tensors",
                "give input and state a batch dimension, or neither of them",
                input,
            )
        for place, (each, whole) in enumerate(zip(state, self._state_shapes(batch), strict=True)):
            shape = whole if input.ndim == 3 else (whole[0], whole[2])
            if each.shape != shape:
                label = "hidden" if len(state) == 1 else f"hidden[{place}]"
                raise self._refuse(
                    RuntimeError,
                    f"Expected {label} size {shape}, got {list(each.shape)}",
                    "a state is (layers · directions, batch, features), also with batch_first",
                    input,
                )

    def _refuse(
        self, kind: type[Exception], cause: str, fix: str, input: Tensor | None = None
    ) -> Exception:
        shown = "…" if input is None else describe(input)
        call = f"{self}({shown})"
        return fail(kind, call=call, cause=cause, fix=fix)

    def extra_repr(self) -> str:
        parts = [str(self.input_size), str(self.hidden_size)]
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0.0,
            "bidirectional": False,
        }
        for name, value in usual.items():
            if getattr(self, name) != value:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)


def _parameter_names(suffix: str) -> list[str]:
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    return [f"{kind}{suffix}" for kind in kinds]


def _check_sizes(
    mode: str, hidden_size: Any, num_layers: int, bias: Any, dropout: Any, proj_size: int
) -> None:
    kind: type[Exception] = ValueError
    cause = None
    if type(bias) is not bool:
        kind, cause = TypeError, f"bias should be of type bool, got: {type(bias).__name__}"
    elif type(hidden_size) is not int:
        kind = TypeError
        cause = f"hidden_size should be of type int, got: {type(hidden_size).__name__}"
    elif isinstance(dropout, bool) or not 0 <= dropout <= 1:
        cause = (
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    elif hidden_size <= 0:
        cause = "hidden_size must be greater than zero"
    elif num_layers <= 0:
        cause = "num_layers must be greater than zero"
    elif proj_size and mode != "LSTM":
        cause = "proj_size argument is only supported for LSTM, not RNN or GRU"
    elif proj_size < 0:
        cause = "proj_size should be a positive integer or zero to disable projections"
    elif proj_size >= hidden_size:
        cause = "proj_size has to be smaller than hidden_size"
    if cause is not None:
        raise fail(
            kind,
            call=f"{mode} with hidden_size={hidden_size}, num_layers={num_layers}, bias={bias}, "
            f"dropout={dropout}, proj_size={proj_size}",
            cause=cause,
            fix="see the order of the arguments: input_size, hidden_size, num_layers, …",
        )
    if dropout and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and num_layers=1",
            stacklevel=4,
        )
