"""How the way of a gradient is cut, and what to do about it, in words."""

from __future__ import annotations

__all__ = ["CUTS"]

_ITSELF = "Compute with the tensor itself: a new one made from its values has no history."
_NUMBERS = "Keep the tensors: no item(), float() or torch.tensor() between the model and the loss."
_OUTSIDE = "Compute {what} outside {kind}(): keep it for evaluation only."
_SLOPE = "Use something with a slope in the loss: softmax or sigmoid instead of a choice."

# What happened on the way to the loss, and what to do about it.
CUTS = {
    "boolean": ("turned into True or False", _SLOPE),
    "copied": ("copied into a new tensor", _NUMBERS),
    "create_graph": ("taken from grad() without create_graph=True", _ITSELF),
    "data": ("read through .data", "Leave out .data, so that {what} can learn."),
    "detach": ("cut off by detach()", "Leave out .detach(), so that {what} can learn."),
    "inference_mode": ("computed inside inference_mode()", _OUTSIDE),
    "integer": ("turned into an integer", _SLOPE),
    "item": ("turned into a Python number", _NUMBERS),
    "no_grad": ("computed inside no_grad()", _OUTSIDE),
    "not differentiable": ("passed through an op without a derivative", _SLOPE),
    "numpy": (
        "sent through NumPy",
        "Use the tensor functions (torch.exp instead of np.exp), or an autograd.Function.",
    ),
    "sampled": (
        "used only to draw random numbers",
        "Draw the noise apart and compute with it: mean + std * torch.randn_like(std).",
    ),
    "shared": ("wrapped into a new leaf", _ITSELF),
}
