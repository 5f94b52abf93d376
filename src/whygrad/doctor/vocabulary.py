"""Families of ops, by the names that both engines' calls have on the tape."""

from __future__ import annotations

__all__ = [
    "ACTIVATIONS",
    "DOMAIN",
    "LABELLED",
    "LEAVING",
    "LINEAR",
    "LOGITS_LOSSES",
    "LOOKED_AT",
    "LOSSES",
    "NORMALIZERS",
    "RANDOM",
    "RECTIFIERS",
    "RESHAPING",
]

# Values that leave the engine.
LEAVING = frozenset(
    ("array", "bool", "complex", "float", "index", "int", "item", "numpy", "tolist", "dlpack")
)
RANDOM = frozenset(
    (
        "bernoulli", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_dropout",
        "alpha_dropout", "multinomial", "normal", "poisson", "rand_like", "randn_like",
        "randint_like", "rrelu", "gumbel_softmax", "scaled_dot_product_attention",
        "multi_head_attention_forward", "lstm", "gru", "rnn_tanh", "rnn_relu", "uniform_",
        "normal_", "bernoulli_", "exponential_",
    )
)  # fmt: skip
LOSSES = frozenset(
    (
        "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
        "cross_entropy", "ctc_loss", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss",
        "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss", "multi_margin_loss",
        "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "poisson_nll_loss",
        "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
    )
)  # fmt: skip
# Losses whose targets are classes.
LABELLED = frozenset(("cross_entropy", "nll_loss"))
# Losses that apply the softmax or sigmoid themselves.
LOGITS_LOSSES = frozenset(("cross_entropy", "binary_cross_entropy_with_logits"))

RECTIFIERS = frozenset(("relu", "relu_", "relu6", "threshold", "hardtanh"))
ACTIVATIONS = RECTIFIERS | frozenset(
    (
        "sigmoid", "sigmoid_", "tanh", "tanh_", "gelu", "silu", "leaky_relu", "elu", "selu", "celu",
        "softplus", "softsign", "hardsigmoid", "hardswish", "mish", "prelu", "glu", "logsigmoid",
    )
)  # fmt: skip
LINEAR = frozenset(
    (
        "linear", "matmul", "addmm", "convolution", "conv1d", "conv2d", "conv3d",
        "conv_transpose2d", "bilinear",
    )
)  # fmt: skip
NORMALIZERS = frozenset(("batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"))
LOOKED_AT = ACTIVATIONS | LINEAR | NORMALIZERS | frozenset(("embedding", "softmax"))
# What passes values on, arranged differently.
RESHAPING = frozenset(
    (
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "contiguous",
        "expand", "t", "T", "view_as", "reshape_as", "expand_as", "clone", "cast", "float",
        "double", "to", "type", "swapaxes", "movedim", "unflatten", "broadcast_to",
    )
)  # fmt: skip
# Ops that have no finite value, or no finite slope, somewhere: the rule they belong to.
DOMAIN = {
    "log": "nan-from-log", "log2": "nan-from-log", "log10": "nan-from-log",
    "log1p": "nan-from-log", "logit": "nan-from-log", "xlogy": "nan-from-log",
    "div": "nan-from-division", "rdiv": "nan-from-division", "reciprocal": "nan-from-division",
    "fmod": "nan-from-division", "remainder": "nan-from-division", "div_": "nan-from-division",
    "sqrt": "nan-from-sqrt", "rsqrt": "nan-from-sqrt", "norm": "nan-from-sqrt",
    "std": "nan-from-sqrt", "cdist": "nan-from-sqrt", "pow": "nan-from-sqrt",
    "exp": "overflow-in-exp", "expm1": "overflow-in-exp", "exp2": "overflow-in-exp",
    "sinh": "overflow-in-exp", "cosh": "overflow-in-exp", "rpow": "overflow-in-exp",
}  # fmt: skip
