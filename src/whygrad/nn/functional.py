"""PyTorch's ``torch.nn.functional``: the functions that layers are made of, without their state."""

from __future__ import annotations

from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "cross_entropy",
    "dropout",
    "elu",
    "elu_",
    "embedding",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "l1_loss",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mish",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "pad",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

binary_cross_entropy = functions["binary_cross_entropy"]
binary_cross_entropy_with_logits = functions["binary_cross_entropy_with_logits"]
celu = functions["celu"]
celu_ = Tensor.celu_
cross_entropy = functions["cross_entropy"]
dropout = functions["dropout"]
elu = functions["elu"]
elu_ = Tensor.elu_
embedding = functions["embedding"]
gelu = functions["gelu"]
glu = functions["glu"]
hardshrink = functions["hardshrink"]
hardsigmoid = functions["hardsigmoid"]
hardswish = functions["hardswish"]
hardtanh = functions["hardtanh"]
hardtanh_ = Tensor.hardtanh_
l1_loss = functions["l1_loss"]
leaky_relu = functions["leaky_relu"]
leaky_relu_ = Tensor.leaky_relu_
linear = functions["linear"]
log_softmax = functions["log_softmax"]
logsigmoid = functions["logsigmoid"]
mish = functions["mish"]
mse_loss = functions["mse_loss"]
nll_loss = functions["nll_loss"]
one_hot = functions["one_hot"]
pad = functions["pad"]
prelu = functions["prelu"]
relu = functions["relu"]
relu6 = functions["relu6"]
relu_ = Tensor.relu_
selu = functions["selu"]
selu_ = Tensor.selu_
sigmoid = functions["sigmoid"]
silu = functions["silu"]
softmax = functions["softmax"]
softmin = functions["softmin"]
softplus = functions["softplus"]
softshrink = functions["softshrink"]
softsign = functions["softsign"]
tanh = functions["tanh"]
tanhshrink = functions["tanhshrink"]
threshold = functions["threshold"]
threshold_ = Tensor.threshold_
