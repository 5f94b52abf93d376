"""Recurrent networks."""

from whygrad.nn.recurrence import RNNBase
from whygrad.nn.recurrent import GRU, LSTM, RNN
from whygrad.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]
