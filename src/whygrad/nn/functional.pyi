"""PyTorch's ``torch.nn.functional``: the functions that layers are made of, without their state."""
# Written by scripts/stubs.py from the op table: run `make stubs` instead of editing.

from collections.abc import Sequence

from whygrad._types import DTypeLike, Number, Operand
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

def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """y = −(t·log x + (1 − t)·log(1 − x)), then mean or sum;  ∂y/∂x = (x − t) / (x·(1 − x)),
    ∂y/∂t = log(1 − x) − log x
    """

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """y = (1 − t)·x + (1 + (w − 1)·t)·log(1 + exp(−x)), then mean or sum, w = pos_weight;
    ∂y/∂x = σ(x) − t (for w = 1),  ∂y/∂t = −x + (w − 1)·log(1 + exp(−x))
    """

def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """y = x if x > 0 else α·(exp(x/α) − 1);  ∂y/∂x = 1 or exp(x/α)"""

def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place celu: y = x if x > 0 else α·(exp(x/α) − 1);  ∂y/∂x = 1 or exp(x/α)"""

def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """y = −Σ q·log softmax(x) over classes, q the weights the target gives them, then mean
    or sum;  ∂x = (softmax(x)·Σq − q)·incoming, for a plain mean (softmax(x) −
    one_hot(target)) / batch
    """

def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability ``p``, and the others grow so that the mean stays.

    y = x·noise, noise 0 with probability p and 1/(1 − p) otherwise
    """

def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """y = x if x > 0 else α·(eˣ − 1);  ∂y/∂x = 1 or α·eˣ"""

def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place elu: y = x if x > 0 else α·(eˣ − 1);  ∂y/∂x = 1 or α·eˣ"""

def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """y = the rows of weight at index;  ∂weight = incoming added up at index, 0 at padding"""

def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """y = x·Φ(x);  ∂y/∂x = Φ(x) + x·φ(x)   (Φ normal distribution, φ its density; or, with
    approximate='tanh', Φ(x) ≈ ½(1 + tanh(√(2/π)·(x + 0.044715·x³))))
    """

def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Split in two along ``dim``; the second half gates the first.

    y = a·σ(b) with a, b the halves of x along dim
    """

def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """y = 0 if −λ ≤ x ≤ λ else x;  ∂y/∂x = 0 or 1"""

def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """y = x/6 + ½ held between 0 and 1;  ∂y/∂x = 1/6 between them, 0 outside"""

def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """y = x·hardsigmoid(x);  ∂y/∂x = 0 up to −3, x/3 + ½ in between, 1 from 3 on"""

def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """y = x held between min and max;  ∂y/∂x = 1 between them, 0 outside"""

def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In-place hardtanh: y = x held between min and max;  ∂y/∂x = 1 between them, 0 outside"""

def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """y = |a − b|, then mean or sum;  ∂y/∂a = sign(a − b),  ∂y/∂b = −sign(a − b)"""

def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """y = x if x > 0 else slope·x;  ∂y/∂x = 1 or slope"""

def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place leaky_relu: y = x if x > 0 else slope·x;  ∂y/∂x = 1 or slope"""

def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """y = x·Wᵀ + b;  ∂x = incoming·W,  ∂W = incomingᵀ·x,  ∂b = incoming"""

def log_softmax(
    input: Tensor,
    dim: int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = x − log Σ exp(x) over dim;  ∂x = incoming − exp(y)·Σ incoming"""

def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log σ(x) = min(x, 0) − log(1 + exp(−|x|));  ∂y/∂x = σ(−x)"""

def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """y = x·t with t = tanh(log(1 + eˣ));  ∂y/∂x = t + x·σ(x)·(1 − t²)"""

def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """y = (a − b)², then mean or sum;  ∂y/∂a = 2·(a − b),  ∂y/∂b = −2·(a − b)"""

def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """y = −weight[t]·x[t] per target t, then mean (over the total weight) or sum;  ∂x =
    −q·incoming
    """

def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """y = 1 at the class each element names, 0 at the others, along a new last dimension"""

def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: Operand | None = None
) -> Tensor:
    """A border around the last dimensions, given from the last one backwards as (before,
    after).

    Negative numbers crop.  ``mode`` is ``constant`` (with ``value``), ``reflect`` (the
    border
    mirrors the inside), ``replicate`` (repeats the edge) or ``circular`` (continues at
    the other
    end).

    y = x with a border: constant, reflected, replicated or circular
    """

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """y = x if x > 0 else weight·x;  ∂y/∂x = 1 or weight,  ∂y/∂weight = 0 or x"""

def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """y = max(x, 0);  ∂y/∂x = 1 if y > 0 else 0"""

def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x held between 0 and 6.

    y = min(max(x, 0), 6)
    """

def relu_(input: Tensor) -> Tensor:
    """In-place relu: y = max(x, 0);  ∂y/∂x = 1 if y > 0 else 0"""

def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """y = λ·(x if x > 0 else α·(eˣ − 1)) with fixed λ, α;  ∂y/∂x = λ or λ·α·eˣ"""

def selu_(input: Tensor) -> Tensor:
    """In-place selu: y = λ·(x if x > 0 else α·(eˣ − 1)) with fixed λ, α;  ∂y/∂x = λ or
    λ·α·eˣ
    """

def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1/(1 + e⁻ˣ);  ∂y/∂x = y·(1 − y)"""

def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """y = x·σ(x);  ∂y/∂x = σ(x)·(1 + x·(1 − σ(x)))"""

def softmax(
    input: Tensor,
    dim: int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """y = exp(x) / Σ exp(x) over dim;  ∂x = y·(incoming − Σ incoming·y)"""

def softmin(input: Tensor, dim: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Softmax of −x: the smallest number gets the largest share.

    y = softmax(−x)
    """

def softplus(
    input: Tensor, beta: Number = 1.0, threshold: float = 20.0, *, out: Tensor | None = None
) -> Tensor:
    """y = log(1 + exp(β·x)) / β, and x itself where β·x > threshold;  ∂y/∂x = σ(β·x) or 1"""

def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """y = x moved by λ towards 0;  ∂y/∂x = 0 if −λ ≤ x ≤ λ else 1"""

def softsign(input: Tensor) -> Tensor:
    """y = x / (1 + |x|);  ∂y/∂x = 1 / (1 + |x|)²"""

def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = tanh x;  ∂y/∂x = 1 − y²"""

def tanhshrink(input: Tensor) -> Tensor:
    """What tanh takes away: x − tanh(x).

    y = x − tanh x
    """

def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """y = x if x > threshold else value;  ∂y/∂x = 1 or 0"""

def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """In-place threshold: y = x if x > threshold else value;  ∂y/∂x = 1 or 0"""
