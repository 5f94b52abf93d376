"""What PyTorch refuses and whygrad does not."""

from __future__ import annotations

from tests.fuzz.autograd.excuses.case import Case, Excuse, overwritten
from tests.fuzz.autograd.excuses.left_out import GEOMETRY
from tests.fuzz.autograd.excuses.only_whygrad import operand_leads_nowhere, view_of_a_temporary

__all__ = ["EXCUSES"]


def unreadable_part(case: Case) -> bool:
    """Parts of unbind() and views made under no_grad, after a write to their base.

    PyTorch cannot say what they are now; whygrad can.
    """
    return case.says("another view of its base has been modified")


def saves_more(case: Case) -> bool:
    """What PyTorch saved was overwritten; whygrad needed something else, or kept a copy.

    Where this happens in the last backward, finite differences are asked.
    """
    return case.step is not None and overwritten(case.error)


def inference_tensor_saved(case: Case) -> bool:
    """PyTorch saves a tensor made in inference_mode, or adds to such a ``.grad``; whygrad not."""
    phrases = (
        "Inference tensors cannot be saved",
        "Inference tensors do not track version counter",
        "Inplace update to inference tensor",
    )
    return case.says(*phrases)


def detached_after_saving(case: Case) -> bool:
    """detach_() of a saved value: PyTorch has lost where it came from; whygrad's edges have not."""
    return case.says("has been detached in-place")


def released_elsewhere(case: Case) -> bool:
    """A second backward: PyTorch also runs nodes that no gradient reaches, or saved something."""
    return case.says("second time")


def argument_cut_off(case: Case) -> bool:
    """A checkpoint's argument that stopped requiring grad: PyTorch recomputes less than it was."""
    return case.says("A different number of tensors was saved")


def broken_in_pytorch(case: Case) -> bool:
    """Errors of its own: an assertion, or a saved value whose geometry was changed in place."""
    if case.says("INTERNAL ASSERT FAILED"):
        return True
    changed = any(name in step.line for step in case.program.steps for name in GEOMETRY)
    return changed and case.step is not None and case.step.role in ("pass", "gradient")


def place_of_nothing(case: Case) -> bool:
    """as_strided of an empty tensor: where in memory does it lie?  NumPy says, at the beginning."""
    return case.says("out of bounds for storage") and case.target.numel() == 0


def second_derivative_missing(case: Case) -> bool:
    """whygrad has a derivative that PyTorch lacks."""
    return case.says("is not implemented")


def stricter_arguments(case: Case) -> bool:
    """whygrad converts dtypes wherever two tensors meet, broadcasts more shapes, checks less."""
    phrases = (
        "dtype",
        "shape mismatch: value tensor",
        "source tensor shape must match",
        "out of range for tensor of size [0]",  # vmap over nothing
        "all elements of target should be between 0 and 1",
        "more than one element of the written-to tensor",  # gradients that are expanded there
    )
    return case.says(*phrases)


def unsupported_together(case: Case) -> bool:
    """func and saved-tensor hooks (so checkpoints); hooks of several tensors and autograd.grad;

    levels of forward mode; sparse tensors and allow_mutation_on_saved_tensors.
    """
    phrases = (
        "don't yet support saved tensor hooks",
        "passed to _will_engine_execute_node",
        "has no attribute 'next_functions'",  # hooks of several tensors in inference_mode
        "Cannot access data pointer of Tensor that doesn't have storage",  # sparse, and copies
        "Nested forward mode AD is not supported",
        "already has a forward gradient at the same level",
    )
    return case.says(*phrases)


def sign_without_tangent(case: Case) -> bool:
    """The sign of ``slogdet`` is a step function: in PyTorch it has a tangent of zeros, for which a
    custom function needs a ``jvp``."""
    lines = [line for step in case.program.steps for line in step.all_lines]
    return case.says("You must implement the jvp") and any("slogdet" in line for line in lines)


def no_forward_rule(case: Case) -> bool:
    """Ops that PyTorch can differentiate in reverse mode only."""
    return case.says("Trying to use forward AD with")


EXCUSES: tuple[Excuse, ...] = (
    unreadable_part,
    saves_more,
    inference_tensor_saved,
    detached_after_saving,
    released_elsewhere,
    argument_cut_off,
    broken_in_pytorch,
    place_of_nothing,
    second_derivative_missing,
    no_forward_rule,
    sign_without_tangent,
    stricter_arguments,
    unsupported_together,
    operand_leads_nowhere,
    view_of_a_temporary,
)
