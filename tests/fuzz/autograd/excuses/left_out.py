"""Steps whose result PyTorch leaves open, or gets wrong: neither library is asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.fuzz.autograd.excuses import states
from tests.fuzz.autograd.program import INFERENCE, Step
from tests.fuzz.autograd.session import Session
from whygrad.tensor.memory import may_overlap

__all__ = ["GEOMETRY", "LAYOUT", "is_left_out", "partial_overlap"]

# What changes the geometry of a tensor in place.
GEOMETRY = ("squeeze_(", "transpose_(")
# What looks at memory itself.
LAYOUT = ("view(", "reshape(", "flatten(", "strided(", "contiguous(")


def is_left_out(step: Step, mine: Session, theirs: Session) -> bool:
    return any(reason(step, mine, theirs) for reason in REASONS)


def partial_overlap(error: Exception) -> bool:
    """PyTorch refuses operands that overlap a little; whygrad reads before it writes."""
    return "some elements of the input tensor and the written-to tensor" in str(error)


def overlapping_target(step: Step, mine: Session, theirs: Session) -> bool:
    """Writing to a view whose elements share memory: which one is it?"""
    a = mine.operand(step.a)
    return step.role == "write" and may_overlap(tuple(a.shape), a.stride())


def overlapping_source(step: Step, mine: Session, theirs: Session) -> bool:
    """Writing from a view that overlaps the target: the order of reads matters."""
    if step.role != "write" or not step.uses("b"):
        return False
    a, b = mine.operands(step)
    if a is b:
        return "b[" in step.line  # a part of the target itself
    return bool(np.shares_memory(a._array, b._array))


def resized_output(step: Step, mine: Session, theirs: Session) -> bool:
    """``out=`` of another shape, deprecated, leaves views over memory that is gone."""
    a, b = mine.operands(step)
    return "out=" in step.line and a.shape != b.shape


def watched_geometry(step: Step, mine: Session, theirs: Session) -> bool:
    """Another geometry in place for a value that others rely on.

    PyTorch keeps a retained gradient in the old shape, derives views from the new one, and does not
    record the change under no_grad, so that the history does not fit any more.
    """
    if not any(name in step.line for name in GEOMETRY):
        return False
    a = mine.operand(step.a)
    if a.retains_grad or any(each._base is a for each in mine.pool.values()):
        return True
    return a.requires_grad and not step.recorded


def strange_in_inference(step: Step, mine: Session, theirs: Session) -> bool:
    """What PyTorch does not mean to be used in inference_mode.

    detach_() does nothing, gradients can never be added to again, and custom functions, func and
    duals are recorded or not, as it happens.
    """
    if INFERENCE not in step.within:
        return False
    strange = ("detach_", ".apply", ".func.", "forward_ad")
    if step.role in ("pass", "gradient"):
        return True
    return any(each in line for each in strange for line in step.all_lines)


def inference_leaf(step: Step, mine: Session, theirs: Session) -> bool:
    """requires_grad_() of what was made in inference_mode: nothing follows from it in PyTorch."""
    return "requires_grad_" in step.line and theirs.operand(step.a).is_inference()


def asks_a_constant(step: Step, mine: Session, theirs: Session) -> bool:
    """See ``states.leads_nowhere``: to whygrad the operand is a constant."""
    return step.role in ("pass", "gradient", "mark") and states.wants_a_leaf(step, theirs)


def captured_before_the_hook(step: Step, mine: Session, theirs: Session) -> bool:
    """The gradient at a hooked value on the way to another input of ``autograd.grad``.

    PyTorch returns it as it was before the hook, but with the hook if nothing lies beyond.
    """
    return step.role == "gradient" and "[a, b]" in step.line and mine.is_hooked(step.b)


def hooked_root(step: Step, mine: Session, theirs: Session) -> bool:
    """Backward from a hooked tensor itself: PyTorch may not call hooks of several tensors then."""
    roots = ("a.backward", "autograd.backward([a, b]", "get_gradient_edge(a)", "grad([a, a * b]")
    return bool(mine.hooked) and any(each in step.line for each in roots)


def at_a_derived_view(step: Step, mine: Session, theirs: Session) -> bool:
    """A gradient, or a hook, at a view whose memory was written to without a record.

    See ``Session.written_unseen``.
    """
    if step.role not in ("pass", "gradient", "mark"):
        return False
    return any(mine.written_unseen(each) for each in mine.operands(step))


def other_layout(step: Step, mine: Session, theirs: Session) -> bool:
    """What looks at memory where the libraries laid it out differently.

    Of operands with different strides whygrad follows NumPy, PyTorch the first operand.
    """
    if not any(each in step.line for each in LAYOUT):
        return False
    ours, other = mine.operand(step.a), theirs.operand(step.a)
    return any(a != b for a, b, size in zip(ours.stride(), other.stride(), ours.shape) if size > 1)


def beyond_a_view(step: Step, mine: Session, theirs: Session) -> bool:
    """``as_strided`` that shows more than the view it is called on.

    In whygrad its gradient goes to the base; PyTorch drops what lies outside the view, until a
    write makes it look at the base again.
    """
    a = mine.operand(step.a)
    if "as_strided" not in step.line or a._base is None:
        return False
    return not a.is_contiguous() or a.numel() < 3  # what the lines ask for


def overlapping_primal(step: Step, mine: Session, theirs: Session) -> bool:
    """PyTorch lays a tangent out like its primal, so elements that share memory share tangents."""
    a = mine.operand(step.a)
    made = any("jvp(" in line or "make_dual(" in line for line in step.all_lines)
    return made and may_overlap(tuple(a.shape), a.stride())


def dual_written_with_itself(step: Step, mine: Session, theirs: Session) -> bool:
    """PyTorch pushes the tangent with the value that it has just overwritten."""
    a, b = mine.operands(step)
    if step.role != "write" or a._tangent is None:
        return False
    return "_(a)" in step.line or (step.uses("b") and a is b)


REASONS: tuple[Callable[[Step, Session, Session], bool], ...] = (
    overlapping_target,
    overlapping_source,
    resized_output,
    watched_geometry,
    strange_in_inference,
    inference_leaf,
    asks_a_constant,
    captured_before_the_hook,
    hooked_root,
    at_a_derived_view,
    other_layout,
    beyond_a_view,
    overlapping_primal,
    dual_written_with_itself,
)
