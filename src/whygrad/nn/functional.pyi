"""PyTorch's ``torch.nn.functional``: the functions that layers are made of, without their state."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from collections.abc import Callable, Sequence
from typing import Any

from whygrad.nn.multi_head import multi_head_attention_forward as multi_head_attention_forward
from whygrad.nn.older_functions import upsample as upsample
from whygrad.nn.older_functions import upsample_bilinear as upsample_bilinear
from whygrad.nn.older_functions import upsample_nearest as upsample_nearest
from whygrad.ops.normalization.channels import functional_batch_norm as batch_norm
from whygrad.ops.normalization.groups import functional_instance_norm as instance_norm
from whygrad.tensor._types import DTypeLike, Ints, Number, Operand
from whygrad.tensor.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of ``output_size`` windows; None keeps a size.

    y = mean of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of ``output_size`` windows; None keeps a size.

    y = mean of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of ``output_size`` windows; None keeps a size.

    y = mean of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest element of each of ``output_size`` windows; None keeps a size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, ...]:
    """The largest element and its place of each of ``output_size`` windows; None keeps a
    size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest element of each of ``output_size`` windows; None keeps a size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, ...]:
    """The largest element and its place of each of ``output_size`` windows; None keeps a
    size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest element of each of ``output_size`` windows; None keeps a size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, ...]:
    """The largest element and its place of each of ``output_size`` windows; None keeps a
    size.

    y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉
    """

def affine_grid(theta: Tensor, size: Ints, align_corners: bool | None = None) -> Tensor:
    """The places that ``theta`` (N, 2, 3) makes of the pixels of an image of ``size`` (N, C,
    H, W).

    For :func:`grid_sample`; ``theta`` (N, 3, 4) and a size (N, C, D, H, W) are for
    volumes.

    y = θ·(x, y, 1) for the center (x, y) of every pixel
    """

def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks with SELU.

    y = a·(x or −1.758…, with probability p) + b, a and b such that mean and variance stay
    """

def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of every window of the last dimension; see :func:`avg_pool2d`.

    y = Σ of every window / its number of elements
    """

def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of every window of the last 2 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``count_include_pad`` counts the zeros of the border; ``divisor_override``
    replaces the
    count.

    y = Σ of every window / its number of elements
    """

def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of every window of the last 3 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``count_include_pad`` counts the zeros of the border; ``divisor_override``
    replaces the
    count.

    y = Σ of every window / its number of elements
    """

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x₁ᵀ·A·x₂ + b, with one matrix A per output in ``weight`` (outputs, size 1, size 2).

    y = x₁ᵀ·A·x₂ + b, one matrix A per output
    """

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

def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Deal the channels (dimension 1) out to ``groups`` in turn.

    y = the channels of x, one of each group in turn
    """

def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Each output is a kernel's weighted sum of a window of the input (1D).

    ``input`` is (samples, channels, *sizes), ``weight`` (channels out, channels in /
    groups,
    *kernel).  ``padding`` is a number of zeros on either side, ``"valid"`` for none, or
    ``"same"``
    for an output as large as the input.

    y[n, o, p] = Σ x[n, c, p·stride + k·dilation − padding]·W[o, c, k] + b[o]
    """

def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Each output is a kernel's weighted sum of a window of the input (2D).

    ``input`` is (samples, channels, *sizes), ``weight`` (channels out, channels in /
    groups,
    *kernel).  ``padding`` is a number of zeros on either side, ``"valid"`` for none, or
    ``"same"``
    for an output as large as the input.

    y[n, o, p] = Σ x[n, c, p·stride + k·dilation − padding]·W[o, c, k] + b[o]
    """

def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Each output is a kernel's weighted sum of a window of the input (3D).

    ``input`` is (samples, channels, *sizes), ``weight`` (channels out, channels in /
    groups,
    *kernel).  ``padding`` is a number of zeros on either side, ``"valid"`` for none, or
    ``"same"``
    for an output as large as the input.

    y[n, o, p] = Σ x[n, c, p·stride + k·dilation − padding]·W[o, c, k] + b[o]
    """

def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """``conv1d`` of (time, samples, channels) with a weight (kernel, channels in, channels
    out).

    y[t, n, o] = Σ x[t + k − pad, n, c]·W[k, c, o] + b[o]
    """

def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Each input adds its multiple of the kernel to the output (1D).

    The adjoint of ``conv1d``: ``weight`` is (channels in, channels out / groups,
    *kernel),
    ``stride`` spreads the input, ``padding`` crops the output and ``output_padding``
    extends it at
    the end.

    y[n, c, p·stride + k·dilation − padding] += x[n, o, p]·W[o, c, k], then + b[c]
    """

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Each input adds its multiple of the kernel to the output (2D).

    The adjoint of ``conv2d``: ``weight`` is (channels in, channels out / groups,
    *kernel),
    ``stride`` spreads the input, ``padding`` crops the output and ``output_padding``
    extends it at
    the end.

    y[n, c, p·stride + k·dilation − padding] += x[n, o, p]·W[o, c, k], then + b[c]
    """

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Each input adds its multiple of the kernel to the output (3D).

    The adjoint of ``conv3d``: ``weight`` is (channels in, channels out / groups,
    *kernel),
    ``stride`` spreads the input, ``padding`` crops the output and ``output_padding``
    extends it at
    the end.

    y[n, c, p·stride + k·dilation − padding] += x[n, o, p]·W[o, c, k], then + b[c]
    """

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 − cosine for pairs that belong together (1), cosine above margin for the others
    (−1).

    y = 1 − cos(a, b) where t = 1, max(0, cos(a, b) − margin) where t = −1, then mean or
    sum
    """

def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along ``dim``.

    y = Σ a·b / (|a|·|b|) over dim, each length held above eps
    """

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

def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: Any = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """−log of the probability of the targets, over all ways to spread them over time.

    ``log_probs`` is (time, batch, classes) or (time, classes), from ``log_softmax``;
    ``targets``
    is (batch, longest), or all of them in one row.  ``mean`` divides each loss by the
    length of its
    target first.  ``zero_infinity`` makes losses of impossible targets, and their
    gradients, 0.

    y = −log p(targets), p = Σ over all ways to spread the targets over time;  ∂log_probs
    = exp(log_probs) − expected counts
    """

def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability ``p``, and the others grow so that the mean stays.

    y = x·noise, noise 0 with probability p and 1/(1 − p) otherwise
    """

def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L).

    y = x·noise, noise per sample and channel
    """

def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, H, W).

    y = x·noise, noise per sample and channel
    """

def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W).

    y = x·noise, noise per sample and channel
    """

def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """y = x if x > 0 else α·(eˣ − 1);  ∂y/∂x = 1 or α·eˣ"""

def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place elu: y = x if x > 0 else α·(eˣ − 1);  ∂y/∂x = 1 or α·eˣ"""

def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """y = the rows of weight at index;  ∂weight = incoming added up at index, 0 at padding"""

def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The ``sum``, ``mean`` or ``max`` of the rows of ``weight`` in every bag of indices.

    Each row of a 2-D ``input`` is a bag; a 1-D one is cut into bags that start at
    ``offsets``,
    the last of which is the end if ``include_last_offset``.  ``per_sample_weights`` scale
    the rows
    of a ``sum``.  Rows at ``padding_idx`` do not count.  The other options are those of
    ``embedding``.

    y = sum, mean or max of the rows in each bag;  ∂weight = incoming at every row of the
    bag
    """

def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Alpha dropout of whole channels (dimension 1).

    alpha_dropout of whole channels
    """

def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """y = the columns of x added where their windows lie;  ∂x = the windows of incoming as
    columns
    """

def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 2
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 2
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 3
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """The largest element of windows that begin at random places.

    ``output_size`` or ``output_ratio`` says how many windows there are over the last 3
    dimensions.

    y = max of every window, windows begin at random places;  ∂x = incoming there
    """

def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> Tensor:
    """How surprising the targets are for normal distributions of this mean and variance.

    y = (log v + (x − t)²/v)/2, plus log(2π)/2 if full, v = var held above eps, then mean
    or sum
    """

def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """y = x·Φ(x);  ∂y/∂x = Φ(x) + x·φ(x)   (Φ normal distribution, φ its density; or, with
    approximate='tanh', Φ(x) ≈ ½(1 + tanh(√(2/π)·(x + 0.044715·x³))))
    """

def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Split in two along ``dim``; the second half gates the first.

    y = a·σ(b) with a, b the halves of x along dim
    """

def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """``input`` (N, C, H, W) read at the places ``grid`` (N, …, 2); 5-D input has places in
    3-D.

    ``mode`` is ``bilinear``, ``nearest`` or ``bicubic``; ``padding_mode`` says what is
    outside:
    ``zeros``, the ``border``, or the inside by ``reflection``.  With ``align_corners`` ±1
    are the
    centers of the outermost pixels, else their outer edges.

    y = the image read at the places of the grid, interpolated
    """

def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 over each group of channels, sample by sample.

    x̂ = (x − mean)/√(var + ε) per sample and group of channels, y = x̂·weight + bias;
    with w = incoming·weight: ∂x = (w − mean(w) − x̂·mean(w·x̂))/√(var + ε),  ∂weight = Σ
    incoming·x̂,  ∂bias = Σ incoming
    """

def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Tensor:
    """One matrix product per group.

    A matrix with two dimensions is cut where ``offs`` says that groups end: ``mat_a``
    into rows or
    ``mat_b`` into columns if the other has a matrix per group, both along what is summed
    if
    neither has.  What lies behind the last group is left out, and 0 in the result.

    y = a[group]·b[group], group by group
    """

def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A category drawn with the probabilities ``softmax(logits)``, in a way gradients can
    follow.

    ``tau`` is the temperature: the lower, the closer to a single 1.  ``hard`` rounds the
    result to
    exactly that and keeps the gradient of the soft one.

    y = softmax((x + g)/τ) along dim, g ~ Gumbel;  hard: its one-hot maximum, with y's
    gradient
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

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances should be 0 where the target is 1, and at least ``margin`` where it is −1.

    y = x where t = 1, max(0, margin − x) where t = −1, then mean or sum
    """

def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """y = (a − b)²/2 where |a − b| ≤ δ, else δ·(|a − b| − δ/2), then mean or sum;  ∂y/∂a = a
    − b held between −δ and δ
    """

def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """A signal, image or volume (samples, channels, *sizes) brought to another size.

    Give ``size`` or ``scale_factor``, one number or one per dimension.  ``mode`` is
    ``nearest``,
    ``nearest-exact``, ``linear`` (3-D input), ``bilinear`` or ``bicubic`` (4-D),
    ``trilinear``
    (5-D) or ``area``.  ``align_corners`` puts the outermost elements of input and output
    at the
    same place, not their outer edges.  ``antialias`` averages where the output is
    smaller.

    y = x brought to another size: the nearest element, or a mean of those around
    """

def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """How many nats the log-probabilities ``input`` waste on what is distributed as
    ``target``.

    y = t·(log t − x) per element, then sum, mean, or sum per example (batchmean)
    """

def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """y = |a − b|, then mean or sum;  ∂y/∂a = sign(a − b),  ∂y/∂b = −sign(a − b)"""

def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, which ``normalized_shape`` repeats.

    x̂ = (x − mean)/√(var + ε) over the last dimensions, y = x̂·weight + bias;  with w =
    incoming·weight: ∂x = (w − mean(w) − x̂·mean(w·x̂))/√(var + ε),  ∂weight =
    incoming·x̂,  ∂bias = incoming
    """

def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """y = x if x > 0 else slope·x;  ∂y/∂x = 1 or slope"""

def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place leaky_relu: y = x if x > 0 else slope·x;  ∂y/∂x = 1 or slope"""

def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """y = x·Wᵀ + b;  ∂x = incoming·W,  ∂W = incomingᵀ·x,  ∂b = incoming"""

def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    ``linear_weight`` is (classes, …, features); dimensions between are those of a target
    with
    several classes per sample.  ``options``, which tells PyTorch how to save memory,
    changes
    nothing here.

    y = cross_entropy(x·Wᵀ + b, target)
    """

def local_response_norm(
    input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by (k + alpha·mean of the squares of ``size`` neighbouring channels) to
    ``beta``.

    y = x / (k + α·mean(x² of neighbouring channels))^β
    """

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

def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) over every window of the last 1 dimensions.

    y = (Σ xᵖ)^(1/p) over every window
    """

def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) over every window of the last 2 dimensions.

    y = (Σ xᵖ)^(1/p) over every window
    """

def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) over every window of the last 3 dimensions.

    y = (Σ xᵖ)^(1/p) over every window
    """

def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """input1 should be larger by ``margin`` where target is 1, smaller where it is −1.

    y = max(0, margin − t·(a − b)), then mean or sum
    """

def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window of the last 1 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of every window of the last 1 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window of the last 2 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of every window of the last 2 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window of the last 3 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of every window of the last 3 dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach
    beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled
    dimensions.

    y = max of every window;  ∂x = incoming at the maximum
    """

def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values put where ``max_pool1d`` found them, zeros elsewhere.

    ``indices`` are what the pooling returned with ``return_indices=True``; several sizes
    can lead
    to the same pooled size, ``output_size`` says which one it was.

    y[indices] = x, 0 elsewhere;  ∂x = incoming[indices]
    """

def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values put where ``max_pool2d`` found them, zeros elsewhere.

    ``indices`` are what the pooling returned with ``return_indices=True``; several sizes
    can lead
    to the same pooled size, ``output_size`` says which one it was.

    y[indices] = x, 0 elsewhere;  ∂x = incoming[indices]
    """

def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values put where ``max_pool3d`` found them, zeros elsewhere.

    ``indices`` are what the pooling returned with ``return_indices=True``; several sizes
    can lead
    to the same pooled size, ``output_size`` says which one it was.

    y[indices] = x, 0 elsewhere;  ∂x = incoming[indices]
    """

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

def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The right class should lead every other one by ``margin``.

    y = Σ max(0, margin − x[t] + x[i])^p / classes over the classes i ≠ t, times
    weight[t], then mean or sum
    """

def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Each class that is listed should lead every class that is not by 1.

    The list of an example ends at its first −1.

    y = Σ max(0, 1 − x[j] + x[i]) / classes over listed classes j and classes i not
    listed, then mean or sum
    """

def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of logits, averaged over the classes (the last dimension).

    y = −Σ weight·(t·log σ(x) + (1 − t)·log σ(−x)) / classes, then mean or sum
    """

def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Deal the channels (dimension 1) out to ``groups`` in turn.

    y = the channels of x, one of each group in turn
    """

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

def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | tuple[int, ...] = 1,
    eps: float = 1e-12,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Divide by the p-norm along ``dim``, or by ``eps`` where the norm is smaller.

    y = x / max(‖x‖ₚ, ε) along dim
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

def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 − x2 + eps along the last dimension.

    y = |a − b + ε| in the p-norm of the last dimension
    """

def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows, as one vector: (0, 1), (0, 2), …, (1, 2), …

    y = |xᵢ − xⱼ| in the p-norm, for i < j
    """

def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(…, C·r², H, W) as (…, C, H·r, W·r): r² channels fill a square of pixels.

    y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w]
    """

def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(…, C, H·r, W·r) as (…, C·r², H, W): the inverse of ``pixel_shuffle``.

    y[c·r² + i·r + j, h, w] = x[c, h·r + i, w·r + j]
    """

def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-08,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How surprising the counts ``target`` are, given their rates (or logarithms of rates).

    y = exp(x) − t·x, or x − t·log(x + ε) if x is no logarithm, plus Stirling's log t! if
    full, then mean or sum
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

def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Root mean square 1 over the last dimensions, which ``normalized_shape`` repeats.

    ``eps`` is the precision of the dtype unless given.

    x̂ = x/√(mean(x²) + ε) over the last dimensions, y = x̂·weight;  with w =
    incoming·weight: ∂x = (w − x̂·mean(w·x̂))/√(mean(x²) + ε),  ∂weight = incoming·x̂
    """

def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x where positive, slope·x elsewhere: a slope drawn per element, or the average one.

    y = x if x > 0 else slope·x, slope ~ U(lower, upper) in training, else their average
    """

def rrelu_(
    input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False
) -> Tensor:
    """``rrelu`` written into ``input`` itself."""

def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Mix the rows of ``value`` for each query, by how well it matches the rows of ``key``.

    ``attn_mask`` is True where a query may look, or is added to the scores; ``is_causal``
    lets
    query i see the keys up to i.  A query that may look nowhere gets zeros.

    p = softmax(scale·q·kᵀ + mask), y = p·v;  ∂v = pᵀ·incoming,  ∂s = p·(incoming·vᵀ − Σ
    incoming·y),  ∂q = scale·∂s·k,  ∂k = scale·∂sᵀ·q
    """

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

def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """y = (a − b)²/(2β) where |a − b| < β, else |a − b| − β/2, then mean or sum;  ∂y/∂a = (a
    − b)/β held between −1 and 1
    """

def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy for logits with targets −1 and 1.

    y = log(1 + exp(−t·x)), then mean or sum
    """

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

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much too near the negative is, compared with the positive, in the p-norm.

    y = max(0, margin + |a − p| − |a − n|), then mean or sum; swap: n is measured from p
    where that is nearer
    """

def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """``triplet_margin_loss`` with a distance of one's own.

    y = max(0, margin + distance(a, p) − distance(a, n)), then mean or sum
    """

def unfold(
    input: Tensor,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """y = every window of x as a column;  ∂x = the columns of incoming added where they were"""
