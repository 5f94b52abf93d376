"""PyTorch's ``torch.nn.functional``: the functions that layers are made of, without their state."""

from __future__ import annotations

from whygrad.nn.multi_head import multi_head_attention_forward
from whygrad.nn.older_functions import upsample, upsample_bilinear, upsample_nearest
from whygrad.ops import functions
from whygrad.ops.activation.noisy import rrelu_
from whygrad.ops.normalization.channels import functional_batch_norm as batch_norm
from whygrad.ops.normalization.groups import functional_instance_norm as instance_norm
from whygrad.ops.resampling.grid import (
    GRID_SAMPLE_INTERPOLATION_MODES as GRID_SAMPLE_INTERPOLATION_MODES,
)
from whygrad.ops.resampling.grid import GRID_SAMPLE_PADDING_MODES as GRID_SAMPLE_PADDING_MODES
from whygrad.tensor import Tensor

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

adaptive_avg_pool1d = functions["adaptive_avg_pool1d"]
adaptive_avg_pool2d = functions["adaptive_avg_pool2d"]
adaptive_avg_pool3d = functions["adaptive_avg_pool3d"]
adaptive_max_pool1d = functions["adaptive_max_pool1d"]
adaptive_max_pool1d_with_indices = functions["adaptive_max_pool1d_with_indices"]
adaptive_max_pool2d = functions["adaptive_max_pool2d"]
adaptive_max_pool2d_with_indices = functions["adaptive_max_pool2d_with_indices"]
adaptive_max_pool3d = functions["adaptive_max_pool3d"]
adaptive_max_pool3d_with_indices = functions["adaptive_max_pool3d_with_indices"]
affine_grid = functions["affine_grid"]
alpha_dropout = functions["alpha_dropout"]
avg_pool1d = functions["avg_pool1d"]
avg_pool2d = functions["avg_pool2d"]
avg_pool3d = functions["avg_pool3d"]
bilinear = functions["bilinear"]
binary_cross_entropy = functions["binary_cross_entropy"]
binary_cross_entropy_with_logits = functions["binary_cross_entropy_with_logits"]
celu = functions["celu"]
celu_ = Tensor.celu_
channel_shuffle = functions["channel_shuffle"]
conv1d = functions["conv1d"]
conv2d = functions["conv2d"]
conv3d = functions["conv3d"]
conv_tbc = functions["conv_tbc"]
conv_transpose1d = functions["conv_transpose1d"]
conv_transpose2d = functions["conv_transpose2d"]
conv_transpose3d = functions["conv_transpose3d"]
cosine_embedding_loss = functions["cosine_embedding_loss"]
cosine_similarity = functions["cosine_similarity"]
cross_entropy = functions["cross_entropy"]
ctc_loss = functions["ctc_loss"]
dropout = functions["dropout"]
dropout1d = functions["dropout1d"]
dropout2d = functions["dropout2d"]
dropout3d = functions["dropout3d"]
elu = functions["elu"]
elu_ = Tensor.elu_
embedding = functions["embedding"]
embedding_bag = functions["embedding_bag"]
feature_alpha_dropout = functions["feature_alpha_dropout"]
fold = functions["col2im"]
fractional_max_pool2d = functions["fractional_max_pool2d"]
fractional_max_pool2d_with_indices = functions["fractional_max_pool2d_with_indices"]
fractional_max_pool3d = functions["fractional_max_pool3d"]
fractional_max_pool3d_with_indices = functions["fractional_max_pool3d_with_indices"]
gaussian_nll_loss = functions["gaussian_nll_loss"]
gelu = functions["gelu"]
glu = functions["glu"]
grid_sample = functions["grid_sample"]
group_norm = functions["group_norm"]
gumbel_softmax = functions["gumbel_softmax"]
grouped_mm = functions["grouped_mm"]
hardshrink = functions["hardshrink"]
hardsigmoid = functions["hardsigmoid"]
hardswish = functions["hardswish"]
hardtanh = functions["hardtanh"]
hardtanh_ = Tensor.hardtanh_
hinge_embedding_loss = functions["hinge_embedding_loss"]
huber_loss = functions["huber_loss"]
interpolate = functions["interpolate"]
kl_div = functions["kl_div"]
l1_loss = functions["l1_loss"]
layer_norm = functions["layer_norm"]
leaky_relu = functions["leaky_relu"]
leaky_relu_ = Tensor.leaky_relu_
linear = functions["linear"]
linear_cross_entropy = functions["linear_cross_entropy"]
local_response_norm = functions["local_response_norm"]
log_softmax = functions["log_softmax"]
logsigmoid = functions["logsigmoid"]
lp_pool1d = functions["lp_pool1d"]
lp_pool2d = functions["lp_pool2d"]
lp_pool3d = functions["lp_pool3d"]
margin_ranking_loss = functions["margin_ranking_loss"]
max_pool1d = functions["max_pool1d"]
max_pool1d_with_indices = functions["max_pool1d_with_indices"]
max_pool2d = functions["max_pool2d"]
max_pool2d_with_indices = functions["max_pool2d_with_indices"]
max_pool3d = functions["max_pool3d"]
max_pool3d_with_indices = functions["max_pool3d_with_indices"]
max_unpool1d = functions["max_unpool1d"]
max_unpool2d = functions["max_unpool2d"]
max_unpool3d = functions["max_unpool3d"]
mish = functions["mish"]
mse_loss = functions["mse_loss"]
multi_margin_loss = functions["multi_margin_loss"]
multilabel_margin_loss = functions["multilabel_margin_loss"]
multilabel_soft_margin_loss = functions["multilabel_soft_margin_loss"]
native_channel_shuffle = functions["native_channel_shuffle"]
nll_loss = functions["nll_loss"]
normalize = functions["normalize"]
one_hot = functions["one_hot"]
pad = functions["pad"]
pairwise_distance = functions["pairwise_distance"]
pdist = functions["pdist"]
pixel_shuffle = functions["pixel_shuffle"]
pixel_unshuffle = functions["pixel_unshuffle"]
poisson_nll_loss = functions["poisson_nll_loss"]
prelu = functions["prelu"]
relu = functions["relu"]
relu6 = functions["relu6"]
relu_ = Tensor.relu_
rms_norm = functions["rms_norm"]
rrelu = functions["rrelu"]
scaled_dot_product_attention = functions["scaled_dot_product_attention"]
selu = functions["selu"]
selu_ = Tensor.selu_
sigmoid = functions["sigmoid"]
silu = functions["silu"]
smooth_l1_loss = functions["smooth_l1_loss"]
soft_margin_loss = functions["soft_margin_loss"]
softmax = functions["softmax"]
softmin = functions["softmin"]
softplus = functions["softplus"]
softshrink = functions["softshrink"]
softsign = functions["softsign"]
tanh = functions["tanh"]
tanhshrink = functions["tanhshrink"]
threshold = functions["threshold"]
threshold_ = Tensor.threshold_
triplet_margin_loss = functions["triplet_margin_loss"]
triplet_margin_with_distance_loss = functions["triplet_margin_with_distance_loss"]
unfold = functions["im2col"]
