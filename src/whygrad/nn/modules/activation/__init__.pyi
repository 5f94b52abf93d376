"""Activations as layers, and attention, which PyTorch has beside them."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.nn.modules.activation.activation import CELU as CELU
from whygrad.nn.modules.activation.activation import ELU as ELU
from whygrad.nn.modules.activation.activation import GELU as GELU
from whygrad.nn.modules.activation.activation import GLU as GLU
from whygrad.nn.modules.activation.activation import SELU as SELU
from whygrad.nn.modules.activation.activation import Hardshrink as Hardshrink
from whygrad.nn.modules.activation.activation import Hardsigmoid as Hardsigmoid
from whygrad.nn.modules.activation.activation import Hardswish as Hardswish
from whygrad.nn.modules.activation.activation import Hardtanh as Hardtanh
from whygrad.nn.modules.activation.activation import LeakyReLU as LeakyReLU
from whygrad.nn.modules.activation.activation import LogSigmoid as LogSigmoid
from whygrad.nn.modules.activation.activation import LogSoftmax as LogSoftmax
from whygrad.nn.modules.activation.activation import Mish as Mish
from whygrad.nn.modules.activation.activation import PReLU as PReLU
from whygrad.nn.modules.activation.activation import ReLU as ReLU
from whygrad.nn.modules.activation.activation import ReLU6 as ReLU6
from whygrad.nn.modules.activation.activation import RReLU as RReLU
from whygrad.nn.modules.activation.activation import Sigmoid as Sigmoid
from whygrad.nn.modules.activation.activation import SiLU as SiLU
from whygrad.nn.modules.activation.activation import Softmax as Softmax
from whygrad.nn.modules.activation.activation import Softmax2d as Softmax2d
from whygrad.nn.modules.activation.activation import Softmin as Softmin
from whygrad.nn.modules.activation.activation import Softplus as Softplus
from whygrad.nn.modules.activation.activation import Softshrink as Softshrink
from whygrad.nn.modules.activation.activation import Softsign as Softsign
from whygrad.nn.modules.activation.activation import Tanh as Tanh
from whygrad.nn.modules.activation.activation import Tanhshrink as Tanhshrink
from whygrad.nn.modules.activation.activation import Threshold as Threshold
from whygrad.nn.modules.activation.attention import MultiheadAttention as MultiheadAttention

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]
