"""Recurrent networks and their cells."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.nn.modules.rnn.base import RNNBase as RNNBase
from whygrad.nn.modules.rnn.cells import GRUCell as GRUCell
from whygrad.nn.modules.rnn.cells import LSTMCell as LSTMCell
from whygrad.nn.modules.rnn.cells import RNNCell as RNNCell
from whygrad.nn.modules.rnn.cells import RNNCellBase as RNNCellBase
from whygrad.nn.modules.rnn.networks import GRU as GRU
from whygrad.nn.modules.rnn.networks import LSTM as LSTM
from whygrad.nn.modules.rnn.networks import RNN as RNN

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]
