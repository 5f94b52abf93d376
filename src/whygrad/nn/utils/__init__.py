"""Help with parameters and gradients: clipping, flattening, weights that are computed."""

from whygrad.nn.utils import parametrizations, parametrize, rnn
from whygrad.nn.utils.clipping import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from whygrad.nn.utils.norms import remove_weight_norm, weight_norm
from whygrad.nn.utils.vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_weight_norm",
    "rnn",
    "vector_to_parameters",
    "weight_norm",
]
