"""RNN, LSTM and GRU over whole sequences."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn import functional
from whygrad.nn.modules.rnn.base import RNNBase, State, Weights
from whygrad.ops import functions
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

__all__ = ["GRU", "LSTM", "RNN"]


class RNN(RNNBase):
    """h = tanh(W_ih·x + b_ih + W_hh·h + b_hh), or with relu."""

    mode = "RNN_TANH"
    _gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """All further arguments are those of LSTM and GRU: ``bias``, ``batch_first``, …"""
        if nonlinearity not in ("tanh", "relu"):
            raise fail(
                ValueError,
                call=f"RNN({input_size}, {hidden_size}, nonlinearity={nonlinearity!r})",
                cause=f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.",
                fix="for any other, write the loop yourself: h = f(linear(x) + linear(h))",
            )
        super().__init__(input_size, hidden_size, num_layers, *args, **kwargs)
        self.mode = f"RNN_{nonlinearity.upper()}"
        self.nonlinearity = nonlinearity

    def _step(self, gates: Tensor, state: State, weights: Weights) -> State:
        pushed: Tensor = functions["addmm"](gates, state[0], weights.hh)
        return (pushed.tanh() if self.nonlinearity == "tanh" else pushed.relu(),)


class LSTM(RNNBase):
    """cell = f·cell + i·g, h = o·tanh(cell), with gates i, f, g, o made from input and h.

    With ``proj_size`` the output is a projection of h to fewer features.
    """

    mode = "LSTM"
    _gates = 4
    _names = ("hx", "cx")

    def _step(self, gates: Tensor, state: State, weights: Weights) -> State:
        h, cell = state
        h, cell, _ = recorded.lstm_step(gates, h.matmul(weights.hh), cell)
        return (h if weights.hr is None else functional.linear(h, weights.hr)), cell


class GRU(RNNBase):
    """h = (1 − z)·n + z·h, with gates r, z and the candidate n made from input and r·h."""

    mode = "GRU"
    _gates = 3
    _keeps_precision = True

    def _first_gates(self, x: Tensor, weights: Weights) -> Tensor:
        # The other bias belongs to what the gate r scales, so it cannot be added here.
        return functional.linear(x, weights.ih, weights.bias_ih)

    def _step(self, gates: Tensor, state: State, weights: Weights) -> State:
        (h,) = state
        product = h.matmul(weights.hh)
        if weights.bias_hh is not None:
            product = product + weights.bias_hh
        return (recorded.gru_step(gates, product, h)[0],)
