"""What whygrad refuses and PyTorch does not."""

from __future__ import annotations

from tests.fuzz.autograd.excuses import states
from tests.fuzz.autograd.excuses.case import Case, Excuse, overwritten

__all__ = ["EXCUSES", "operand_leads_nowhere", "view_of_a_temporary"]


def deprecated_in_pytorch(case: Case) -> bool:
    """PyTorch still does it, under a warning: mT of a number, writes to expanded tensors."""
    return case.says("Got 0-D tensor", "more than one element")


def operand_leads_nowhere(case: Case) -> bool:
    """See ``states.leads_nowhere``: to whygrad the operand is a constant."""
    return case.step is not None and states.wants_a_leaf(case.step, case.theirs)


def overwritten_unnoticed(case: Case) -> bool:
    """A saved value was overwritten where PyTorch does not look.

    Through ``.data``, which has a version counter of its own; after pack hooks that copy nothing;
    in a checkpoint, which recomputes, past hooks that would copy.  With these holes closed PyTorch
    refuses, too.
    """
    if "allow_mutation" in case.program.around and case.says("runs the checkpoint()"):
        return True
    return case.says("inplace operation") and overwritten(case.rerun()[1])


def checkpoint_argument_overwritten(case: Case) -> bool:
    """Recomputing from other values is not recomputing; whether a region reads them is not known.

    PyTorch recomputes from what it finds.
    """
    return case.says("wrote to an argument of it")


def as_strided_of_overlapping(case: Case) -> bool:
    """Elements that share memory: whose gradient is it?  PyTorch divides it by their number."""
    return case.says("several elements of the input share memory")


def smaller_storage(case: Case) -> bool:
    """as_strided beyond the elements of a tensor: PyTorch's kernels may leave spare memory."""
    return case.says("out of bounds for storage")


def view_of_a_temporary(case: Case) -> bool:
    """detach_() of a result, or a write to one made under no_grad, that is a view in one library.

    quantile, kron and some others return a view of a value that nobody sees; in PyTorch tensordot
    and einsum do.
    """
    phrases = ("Can't detach views in-place", "A view was created in no_grad mode")
    if case.step is None or not any(phrase in case.text for phrase in phrases):
        return False
    return (case.mine.operand(case.step.a)._base is None) != (case.target._base is None)


def number_released(case: Case) -> bool:
    """A second backward through an op with a number as a factor: whygrad has released that, too."""
    numbers = ("alpha=", "lerp", "op('add'", "op('sub'", "trapezoid", "matrix_power")
    lines = [line for step in case.program.steps for line in step.all_lines]
    return case.says("second time") and any(each in line for each in numbers for line in lines)


def tangent_not_copied(case: Case) -> bool:
    """A tangent that was written to after jvp: PyTorch copies one with other strides first."""
    lines = [line for step in case.program.steps for line in step.all_lines]
    return case.says("inplace operation") and any("jvp(" in line for line in lines)


def empty_index(case: Case) -> bool:
    """PyTorch does not check indices if the result is empty anyway."""
    return case.says("out of bounds for dimension") and case.target.numel() == 0


def twice_through_once(case: Case) -> bool:
    """A second derivative through a backward marked ``once_differentiable``.

    ``autograd.grad`` of PyTorch goes around the node that would raise, and leaves that part out.
    """
    return case.says("marked with @once_differentiable")


def inference_memory_protected(case: Case) -> bool:
    """Memory made in inference_mode stays as it is.

    In PyTorch ``.data``, ``detach()`` and some results of func are ways around the first rule.
    """
    return case.says("Inplace update to inference tensor")


# Nodes that keep an argument or a result where PyTorch keeps a copy it made on the way.
KEEPS_ARGUMENT = {
    "ScaledDotProductAttentionBackward": "the result, not the weights",
    "LstmStepBackward": "the new cell, not its tanh",
    "MatmulBackward": "operands, not the copies that broadcasting needs there",
    "EinsumPairBackward": "operands, not rearranged copies",
    "CrossEntropyBackward": "logits, not their log-softmax",
    "L1LossBackward": "input and target, not their difference",
    "MseLossBackward": "input and target, not their expanded copies",
    "LinalgSvdvalsBackward": "the matrix, not its singular vectors",
}


def keeps_the_argument(case: Case) -> bool:
    """A write to an argument of which PyTorch's node had a copy, so that it does not matter.

    Nor does it matter then that the argument was made in inference_mode.
    """
    if case.says("inference_mode is needed as a saved value") and case.step is not None:
        return any(
            each in line for each in (" @ ", "matmul", "func.") for line in case.step.all_lines
        )
    return case.says("inplace operation") and case.text.split(" saved")[0] in KEEPS_ARGUMENT


EXCUSES: tuple[Excuse, ...] = (
    deprecated_in_pytorch,
    operand_leads_nowhere,
    overwritten_unnoticed,
    checkpoint_argument_overwritten,
    as_strided_of_overlapping,
    smaller_storage,
    view_of_a_temporary,
    number_released,
    tangent_not_copied,
    empty_index,
    twice_through_once,
    inference_memory_protected,
    keeps_the_argument,
)
