"""RNNCell, LSTMCell and GRUCell: one time step, for loops of one's own."""

from __future__ import annotations

import math
from typing import Any

from whygrad.errors import describe, fail
from whygrad.nn import functional, init
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, keys

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """The parameters, and what a cell checks before a step."""

    _gates: int  # how many gates lie side by side
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = self._gates * hidden_size

        def empty(*shape: int) -> Parameter:
            return Parameter(functions["empty"](shape, device=device, dtype=dtype))

        self.weight_ih = empty(rows, input_size)
        self.weight_hh = empty(rows, hidden_size)
        self.register_parameter("bias_ih", empty(rows) if bias else None)
        self.register_parameter("bias_hh", empty(rows) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in ±1/√hidden_size, all of them."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _products(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """The shares of input and hidden state in the gates."""
        return (
            functional.linear(x, self.weight_ih, self.bias_ih),
            functional.linear(h, self.weight_hh, self.bias_hh),
        )

    def _fitting_products(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """The same in the precision of the state, which they may not have inside autocast."""
        of_x, of_h = self._products(x, h)
        if (of_x._keys ^ h._keys) & keys.DTYPES:
            return of_x.to(h.dtype), of_h.to(h.dtype)
        return of_x, of_h

    def _ready(self, input: Tensor, states: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
        """Input and states with a batch dimension, zeros for states that were not given."""
        self._check(input, states)
        x = input if input.ndim == 2 else input.unsqueeze(0)
        zeros = None
        ready = [x]
        for each in states:
            if each is None:
                zeros = x.new_zeros(x.shape[0], self.hidden_size) if zeros is None else zeros
                ready.append(zeros)
            else:
                ready.append(each if input.ndim == 2 else each.unsqueeze(0))
        return tuple(ready)

    def _check(self, input: Tensor, states: tuple[Tensor | None, ...]) -> None:
        if input.ndim not in (1, 2):
            raise self._refuse(
                input,
                ValueError,
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead",
                "a cell makes one step: loop over the time steps, or use the layer without Cell",
            )
        if input.shape[-1] != self.input_size:
            raise self._refuse(
                input,
                RuntimeError,
                f"input has inconsistent input_size: got {input.shape[-1]} expected "
                f"{self.input_size}",
                "the last dimension has the features",
            )
        for place, state in enumerate(states):
            if state is None:
                continue
            if state.ndim != input.ndim or state.shape[:-1] != input.shape[:-1]:
                raise self._refuse(
                    input,
                    RuntimeError,
                    f"Input batch size {list(input.shape[:-1])} doesn't match hidden{place} batch "
                    f"size {list(state.shape[:-1])}",
                    "give every sample a state, or pass none to begin with zeros",
                )
            if state.shape[-1] != self.hidden_size:
                raise self._refuse(
                    input,
                    RuntimeError,
                    f"hidden{place} has inconsistent hidden_size: got {state.shape[-1]}, expected "
                    f"{self.hidden_size}",
                    "pass what an earlier step returned",
                )

    def _refuse(self, input: Tensor, kind: type[Exception], cause: str, fix: str) -> Exception:
        call = f"{self}({describe(input)})"
        return fail(kind, call=call, cause=cause, fix=fix)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else f"{text}, bias=False"


class RNNCell(RNNCellBase):
    """h = tanh(W_ih·x + b_ih + W_hh·h + b_hh), or with relu."""

    _gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next hidden state."""
        x, h = self._ready(input, (hx,))
        if self.nonlinearity not in ("tanh", "relu"):
            raise self._refuse(
                input,
                RuntimeError,
                f"Unknown nonlinearity: {self.nonlinearity}",
                "choose 'tanh' or 'relu'",
            )
        first, second = self._products(x, h)
        pushed = first + second
        y = pushed.tanh() if self.nonlinearity == "tanh" else pushed.relu()
        return y if input.ndim == 2 else y.squeeze(0)

    def extra_repr(self) -> str:
        text = super().extra_repr()
        usual = self.nonlinearity == "tanh"
        return text if usual else f"{text}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """cell = f·cell + i·g, h = o·tanh(cell), with gates i, f, g, o made from input and h."""

    _gates = 4

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The next hidden state and cell."""
        x, h, c = self._ready(input, (None, None) if hx is None else hx)
        h, cell, _ = recorded.lstm_step(*self._fitting_products(x, h), c)
        return (h, cell) if input.ndim == 2 else (h.squeeze(0), cell.squeeze(0))


class GRUCell(RNNCellBase):
    """h = (1 − z)·n + z·h, with gates r, z and the candidate n made from input and r·h."""

    _gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next hidden state."""
        x, h = self._ready(input, (hx,))
        y: Tensor = recorded.gru_step(*self._fitting_products(x, h), h)[0]
        return y if input.ndim == 2 else y.squeeze(0)
