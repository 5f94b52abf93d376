"""Values whose place in the graph is another one in PyTorch."""

from __future__ import annotations

from typing import Any

from tests.fuzz.autograd.program import Step
from tests.fuzz.autograd.session import Session

__all__ = [
    "constant_derivative",
    "cut_off_by_a_data_write",
    "derived_in_another_order",
    "hooks_of_a_view_lost",
    "leads_nowhere",
    "tangent_dropped",
    "view_older_than_leaf",
    "wants_a_leaf",
]


def leads_nowhere(tensor: Any) -> bool:
    """Whether a PyTorch tensor "requires grad" without any leaf to give it to.

    A view made under no_grad says so there, and so does everything computed from it; in whygrad
    it is a constant, like what detach() gives.
    """
    node = _node(tensor)
    if node is None and not tensor._is_view():
        return False
    seen, stack = set(), [node]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        if hasattr(node, "variable"):
            return False
        seen.add(node)
        stack += [parent for parent, _ in node.next_functions]
    return True


def _node(tensor: Any) -> Any:
    try:
        return tensor.grad_fn
    except RuntimeError:  # see unreadable_part
        return None


def wants_a_leaf(step: Step, theirs: Session) -> bool:
    """See ``leads_nowhere``: to whygrad the operand is a constant."""
    operands = zip("ab", theirs.operands(step), strict=True)
    used = [each for name, each in operands if step.uses(name)]
    return any(each.requires_grad and leads_nowhere(each) for each in used)


def hooks_of_a_view_lost(theirs: Session) -> bool:
    """Whether PyTorch forgot a hook because the memory of the view was written to.

    The view gets a new node there, and hooks stay with the old one, which nothing leads to any
    more.  In whygrad a hook keeps seeing the gradient of the value the view had.
    """
    return any(tensor._is_view() and _node(tensor) is not node for tensor, node in theirs.hooked)


def derived_in_another_order(theirs: Session) -> bool:
    """Hooks on views whose memory was written to: PyTorch derives each when it is next looked at.

    whygrad derives all of them at once; independent nodes then run in another order.
    """
    return any(tensor._is_view() and tensor._version for tensor, _ in theirs.hooked)


def view_older_than_leaf(ours: Any, other: Any) -> bool:
    """A view made before its base began to require grad.

    In whygrad it stays a constant.  In PyTorch it requires grad from then on, and whether a
    gradient flows depends on whether the memory was ever written to.
    """
    base = other._base
    return base is not None and base.is_leaf and base.requires_grad and not ours.requires_grad


def tangent_dropped(step: Step, tangent: Any) -> bool:
    """PyTorch's scatter_reduce lets go of a tangent, without an error."""
    return tangent is None and "scatter_reduce" in step.line


def constant_derivative(step: Step, ours: Any, other: Any) -> bool:
    """A tangent that depends on nothing, a gradient of zeros: PyTorch may say it requires grad."""
    if not other.requires_grad or ours.requires_grad:
        return False
    return "tangent" in step.line or (step.role == "gradient" and not other.any())


def cut_off_by_a_data_write(ours: Any, other: Any) -> bool:
    """A view whose base was cut off by detach_(), after a write through .data.

    In whygrad it shows a value that its history did not compute, so it has none any more.
    """
    base = other._base
    return base is not None and not base.requires_grad and ours._storage.hidden > 0
