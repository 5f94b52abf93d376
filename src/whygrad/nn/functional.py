"""PyTorch's ``torch.nn.functional``: the functions that layers are made of, without their state."""

from __future__ import annotations

from whygrad.nn.multi_head import multi_head_attention_forward
from whygrad.nn.older_functions import upsample, upsample_bilinear, upsample_nearest
from whygrad.ops import functions
from whygrad.ops.activation.noisy import rrelu_
from whygrad.ops.normalization.channels import functional_batch_norm
from whygrad.ops.normalization.groups import functional_instance_norm
from whygrad.ops.resampling.grid import (
    GRID_SAMPLE_INTERPOLATION_MODES as GRID_SAMPLE_INTERPOLATION_MODES,
)
from whygrad.ops.resampling.grid import GRID_SAMPLE_PADDING_MODES as GRID_SAMPLE_PADDING_MODES
from whygrad.tensor import Tensor

_SAME_NAME = {  # in the op table
    name: functions[name]
    for name in (
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
        "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d",
        "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d",
        "adaptive_max_pool3d_with_indices", "affine_grid", "alpha_dropout", "avg_pool1d",
        "avg_pool2d", "avg_pool3d", "bilinear", "binary_cross_entropy",
        "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "conv1d", "conv2d",
        "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
        "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss", "dropout",
        "dropout1d", "dropout2d", "dropout3d", "elu", "embedding", "embedding_bag",
        "feature_alpha_dropout", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
        "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "gaussian_nll_loss", "gelu",
        "glu", "grid_sample", "group_norm", "grouped_mm", "gumbel_softmax", "hardshrink",
        "hardsigmoid", "hardswish", "hardtanh", "hinge_embedding_loss", "huber_loss",
        "interpolate", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "linear",
        "linear_cross_entropy", "local_response_norm", "log_softmax", "logsigmoid", "lp_pool1d",
        "lp_pool2d", "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool1d_with_indices",
        "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
        "max_unpool1d", "max_unpool2d", "max_unpool3d", "mish", "mse_loss", "multi_margin_loss",
        "multilabel_margin_loss", "multilabel_soft_margin_loss", "native_channel_shuffle",
        "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance", "pdist", "pixel_shuffle",
        "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu", "relu6", "rms_norm", "rrelu",
        "scaled_dot_product_attention", "selu", "sigmoid", "silu", "smooth_l1_loss",
        "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
        "tanhshrink", "threshold", "triplet_margin_loss", "triplet_margin_with_distance_loss",
    )
}  # fmt: skip
_IN_PLACE = {
    name: getattr(Tensor, name)
    for name in ("celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "selu_", "threshold_")
}
_OTHERS = {
    "batch_norm": functional_batch_norm,
    "fold": functions["col2im"],
    "instance_norm": functional_instance_norm,
    "multi_head_attention_forward": multi_head_attention_forward,
    "rrelu_": rrelu_,
    "unfold": functions["im2col"],
    "upsample": upsample,
    "upsample_bilinear": upsample_bilinear,
    "upsample_nearest": upsample_nearest,
}
_public = _SAME_NAME | _IN_PLACE | _OTHERS

globals().update(_public)
__all__ = sorted(_public)
