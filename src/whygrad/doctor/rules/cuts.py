"""How the way of a gradient is cut, and what to do about it, in words."""

from __future__ import annotations

from whygrad.doctor.experiments.changes import left_out
from whygrad.doctor.experiments.remedies import Remedy
from whygrad.doctor.rules.words import listed
from whygrad.doctor.source.statements import assigned_through
from whygrad.ops.families import DETACHES
from whygrad.recording.record import Snapshot
from whygrad.source import Where

__all__ = ["CUTS", "connected", "way_out"]

_ITSELF = "Compute with the tensor itself: a new one made from its values has no history."
_NUMBERS = (
    "Keep the tensors: no item(), float() or torch.tensor() between the model and the loss; "
    "torch.stack() joins a list of them."
)
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


def way_out(kind: str, where: Where | None, names: list[str]) -> str:
    """What to do about a cut, so that what was before it can learn."""
    if kind == "data" and assigned_through(where, "data"):
        # Without .data it would be refused: a Parameter takes no tensor that was computed.
        return (
            f"Do not write into .data: that copies numbers. Hand what is computed from "
            f"{listed(names)} to the computation itself: F.linear(x, weight, bias), or "
            "torch.func.functional_call(module, {'weight': weight}, (x,))."
        )
    return CUTS[kind][1].format(what=listed(names), kind=kind)


def connected(snapshot: Snapshot | None, where: Where | None) -> Remedy | str:
    """The step without what cuts the graph on a line; or why that cannot be tried."""
    calls = {} if snapshot is None or where is None else snapshot.calls
    found = [
        number
        for number, call in calls.items()
        if (call.op == "data" or call.op in DETACHES)
        and where is not None
        and (call.where.file, call.where.line) == (where.file, where.line)
    ]
    if not found or snapshot is None:
        return "what is computed outside of the graph is not recorded"
    return left_out(snapshot, *found)
