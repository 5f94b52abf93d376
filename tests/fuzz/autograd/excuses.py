"""The differences that are meant, each with its reason.

An excuse is a narrow question about one case; the long run reports how often each was used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tests.fuzz.autograd.ending import Ending
from tests.fuzz.autograd.program import INFERENCE, Program, Step
from tests.fuzz.autograd.session import Session
from whygrad.memory import may_overlap

__all__ = [
    "LAYOUT",
    "ONLY_PYTORCH_REFUSES",
    "ONLY_WHYGRAD_REFUSES",
    "OTHER_GRADIENTS",
    "Case",
    "cut_off_by_a_data_write",
    "hooks_of_a_view_lost",
    "leads_nowhere",
    "partial_overlap",
    "undefined",
    "view_older_than_leaf",
]


@dataclass
class Case:
    """A step, or the last backward (None), about which the libraries do not agree."""

    program: Program  # with the steps that were carried out before
    step: Step | None
    mine: Session
    theirs: Session
    error: Exception  # of the library that refused

    @property
    def text(self) -> str:
        return str(self.error)

    @property
    def target(self) -> Any:
        """PyTorch's first operand."""
        return None if self.step is None else self.theirs.operand(self.step.a)

    def rerun(self) -> tuple[Session, Any]:
        """PyTorch's answer to the program where every write to a saved value is noticed."""
        session = Session(self.program, torch, watchful=True)
        answers = [session.attempt(step) for step in self.program.steps]
        for answer in answers:
            if _overwritten(answer):
                return session, answer
        if self.step is None:
            return session, Ending.of(self.program, self.mine).gradients(session)
        if self.step in self.program.steps:
            return session, answers[-1]
        return session, session.attempt(self.step)


# Steps that are left out.


def undefined(step: Step, session: Session, theirs: Session) -> bool:
    """Steps whose result PyTorch leaves open, or gets wrong.

    Writing to a view whose elements share memory; from a view that overlaps the target, where the
    order of reads matters; ``out=`` of another shape, which leaves views over memory that is gone;
    another geometry for a value that retains its gradient, which PyTorch keeps in the old shape,
    or that has views, which PyTorch derives from the new one, or that has a history while nothing
    is recorded, which PyTorch's then does not fit; detach_() in inference_mode, where it does
    nothing, and requires_grad_() of what was made there, from which nothing follows; backward in
    inference_mode, whose gradients can never be added to again, and custom functions, func and
    duals, which PyTorch may record there, or not.
    """
    if captured_before_the_hook(step, session) or beyond_a_view(step, session):
        return True
    if other_layout(step, session, theirs):
        return True
    if step.role in ("pass", "gradient", "mark") and wants_a_leaf(step, theirs):
        return True
    if hooked_root(step, session) or at_a_derived_view(step, session):
        return True
    if "detach_" in step.line and INFERENCE in step.within:
        return True
    a, b = session.operands(step)
    if "requires_grad_" in step.line and theirs.operand(step.a).is_inference():
        return True
    if overwrites_its_operand(step, session):
        return True
    strange = (".apply", ".func.", "forward_ad")
    if INFERENCE in step.within and (
        step.role in ("pass", "gradient") or any(each in step.line for each in strange)
    ):
        return True
    if step.role != "write":
        return False
    if may_overlap(tuple(a.shape), a.stride()):
        return True
    if "out=" in step.line and a.shape != b.shape:
        return True
    if any(name in step.line for name in GEOMETRY):
        watched = a.retains_grad or any(each._base is a for each in session.pool.values())
        return watched or (a.requires_grad and not step.recorded)
    return step.uses("b") and a is not b and np.shares_memory(a._array, b._array)


def captured_before_the_hook(step: Step, session: Session) -> bool:
    """The gradient at a hooked value on the way to another input of ``autograd.grad``.

    PyTorch returns it as it was before the hook, but with the hook if nothing lies beyond.
    """
    several = "[a, b]" in step.line and step.role == "gradient"
    return several and session.is_hooked(step.b)


# What changes the geometry of a tensor in place.
GEOMETRY = ("squeeze_(", "transpose_(")
# What looks at memory itself.
LAYOUT = ("view(", "reshape(", "flatten(", "strided(", "contiguous(")


def other_layout(step: Step, session: Session, theirs: Session) -> bool:
    """What looks at memory where the libraries laid it out differently.

    Of operands with different strides whygrad follows NumPy, PyTorch the first operand.
    """
    if not any(each in step.line for each in LAYOUT):
        return False
    ours, other = session.operand(step.a), theirs.operand(step.a)
    return any(a != b for a, b, size in zip(ours.stride(), other.stride(), ours.shape) if size > 1)


def hooked_root(step: Step, session: Session) -> bool:
    """Backward from a hooked tensor itself: PyTorch may not call hooks of several tensors then."""
    roots = (
        "a.backward",
        "lib.autograd.backward([a, b]",
        "get_gradient_edge(a)",
        "grad([a, a * b]",
    )
    return bool(session.hooked) and any(each in step.line for each in roots)


def at_a_derived_view(step: Step, session: Session) -> bool:
    """A gradient, or a hook, at a view whose memory was written to without a record.

    See ``Session.written_unseen``.
    """
    if step.role not in ("pass", "gradient", "mark"):
        return False
    return any(session.written_unseen(each) for each in session.operands(step))


def overwrites_its_operand(step: Step, session: Session) -> bool:
    """A dual written with itself: PyTorch pushes the tangent with the value it has overwritten."""
    a, b = session.operands(step)
    if step.role != "write" or a._tangent is None:
        return False
    return "_(a)" in step.line or (step.uses("b") and a is b)


def beyond_a_view(step: Step, session: Session) -> bool:
    """``as_strided`` that shows more than the view it is called on.

    In whygrad its gradient goes to the base; PyTorch drops what lies outside the view, until a
    write makes it look at the base again.
    """
    a = session.operand(step.a)
    if "as_strided" not in step.line or a._base is None:
        return False
    return not a.is_contiguous() or a.numel() < 3  # what the lines ask for


def partial_overlap(error: Exception) -> bool:
    """PyTorch refuses operands that overlap a little; whygrad reads before it writes."""
    return "some elements of the input tensor and the written-to tensor" in str(error)


# States that cannot be compared.


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


def view_older_than_leaf(ours: Any, other: Any) -> bool:
    """A view made before its base began to require grad.

    In whygrad it stays a constant.  In PyTorch it requires grad from then on, and whether a
    gradient flows depends on whether the memory was ever written to.
    """
    base = other._base
    return base is not None and base.is_leaf and base.requires_grad and not ours.requires_grad


def cut_off_by_a_data_write(ours: Any, other: Any) -> bool:
    """A view whose base was cut off by detach_(), after a write through .data.

    In whygrad it shows a value that its history did not compute, so it has none any more.
    """
    base = other._base
    return base is not None and not base.requires_grad and ours._storage.hidden > 0


# Only whygrad refuses.


def deprecated_in_pytorch(case: Case) -> bool:
    """PyTorch still does it, under a warning: mT of a number, writes to expanded tensors."""
    return "Got 0-D tensor" in case.text or "more than one element" in case.text


def operand_leads_nowhere(case: Case) -> bool:
    """See ``leads_nowhere`` and ``view_older_than_leaf``: to whygrad the operand is a constant."""
    if case.step is None:
        return False
    target = case.mine.operand(case.step.a)
    older = target._base is not None and target._base.requires_grad and not target.requires_grad
    return older or wants_a_leaf(case.step, case.theirs)


def overwritten_unnoticed(case: Case) -> bool:
    """A saved value was overwritten where PyTorch does not look.

    Through ``.data``, which has a version counter of its own; after pack hooks that copy nothing;
    in a checkpoint, which recomputes, past hooks that would copy.  With these holes closed PyTorch
    refuses, too.
    """
    if "allow_mutation" in case.program.around and "runs the checkpoint()" in case.text:
        return True
    return "inplace operation" in case.text and _overwritten(case.rerun()[1])


def _overwritten(answer: Any) -> bool:
    phrases = ("inplace operation", "has been modified inplace", "has been detached in-place")
    return isinstance(answer, Exception) and any(phrase in str(answer) for phrase in phrases)


def checkpoint_argument_overwritten(case: Case) -> bool:
    """Recomputing from other values is not recomputing; whether a region reads them is not known.

    PyTorch recomputes from what it finds.
    """
    return "wrote to an argument of it" in case.text


def as_strided_of_overlapping(case: Case) -> bool:
    """Elements that share memory: whose gradient is it?  PyTorch divides it by their number."""
    return "several elements of the input share memory" in case.text


def smaller_storage(case: Case) -> bool:
    """as_strided beyond the elements of a tensor: PyTorch's kernels may leave spare memory."""
    return "out of bounds for storage" in case.text


def view_of_a_temporary(case: Case) -> bool:
    """detach_() of a result, or a write to one made under no_grad, that is a view in one library.

    quantile, kron and some others return a view of a value that nobody sees; in PyTorch tensordot
    and einsum do.
    """
    phrases = ("Can't detach views in-place", "A view was created in no_grad mode")
    if case.step is None or not any(phrase in case.text for phrase in phrases):
        return False
    return (case.mine.operand(case.step.a)._base is None) != (case.target._base is None)


def values_of_a_sparse_tensor(case: Case) -> bool:
    """PyTorch writes, and then its backward fails; as_strided of them is not there in whygrad."""
    phrases = ("a sparse tensor, whose history cannot be rewritten", "'CooArray' object")
    return any(phrase in case.text for phrase in phrases)


def number_released(case: Case) -> bool:
    """A second backward through an op with a number as a factor: whygrad has released that, too."""
    numbers = ("alpha=", "lerp", "op('add'", "op('sub'", "trapezoid", "matrix_power")
    steps = case.program.steps
    return "second time" in case.text and any(
        number in step.line for number in numbers for step in steps
    )


def empty_index(case: Case) -> bool:
    """PyTorch does not check indices if the result is empty anyway."""
    return "out of bounds for dimension" in case.text and case.target.numel() == 0


def twice_through_once(case: Case) -> bool:
    """A second derivative through a backward marked ``once_differentiable``.

    ``autograd.grad`` of PyTorch goes around the node that would raise, and leaves that part out.
    """
    return "marked with @once_differentiable" in case.text


def inference_memory_protected(case: Case) -> bool:
    """Memory made in inference_mode stays as it is.

    In PyTorch ``.data``, ``detach()`` and some results of func are ways around the first rule.
    """
    return "Inplace update to inference tensor" in case.text


# Nodes that keep an argument where PyTorch keeps a copy it made on the way.
KEEPS_ARGUMENT = {
    "MatmulBackward": "operands, not the copies that broadcasting needs there",
    "EinsumPairBackward": "operands, not rearranged copies",
    "CrossEntropyBackward": "logits, not their log-softmax",
    "L1LossBackward": "input and target, not their difference",
    "MseLossBackward": "input and target, not their expanded copies",
    "LinalgSvdvalsBackward": "the matrix, not its singular vectors",
}


def keeps_the_argument(case: Case) -> bool:
    """A write to an argument of which PyTorch's node had a copy, so that it does not matter."""
    return "inplace operation" in case.text and case.text.split(" saved")[0] in KEEPS_ARGUMENT


# Only PyTorch refuses.


def unreadable_part(case: Case) -> bool:
    """Parts of unbind() and views made under no_grad, after a write to their base.

    PyTorch cannot say what they are now; whygrad can.
    """
    return "another view of its base has been modified" in case.text


def cut_off_base(case: Case) -> bool:
    """A view of a leaf that stopped requiring grad: PyTorch still calls it a view of a leaf."""
    if case.target is None or "a view of a leaf" not in case.text:
        return False
    base = case.target._base
    return base is not None and not base.requires_grad


def saves_more(case: Case) -> bool:
    """What PyTorch saved was overwritten; whygrad needed something else, or kept a copy.

    Where this happens in the last backward, finite differences are asked.
    """
    return case.step is not None and _overwritten(case.error)


def released_elsewhere(case: Case) -> bool:
    """A second backward: PyTorch also runs nodes that no gradient reaches, or saved something."""
    return "second time" in case.text


def inference_tensor_saved(case: Case) -> bool:
    """PyTorch saves a tensor made in inference_mode, or adds to such a ``.grad``; whygrad not."""
    phrases = (
        "Inference tensors cannot be saved",
        "Inference tensors do not track version counter",
        "Inplace update to inference tensor",
    )
    return any(phrase in case.text for phrase in phrases)


def detached_after_saving(case: Case) -> bool:
    """detach_() of a saved value: PyTorch has lost where it came from; whygrad's edges have not."""
    return "has been detached in-place" in case.text


def broken_in_pytorch(case: Case) -> bool:
    """Errors of its own: an assertion, or a saved value whose geometry was changed in place."""
    if "INTERNAL ASSERT FAILED" in case.text:
        return True
    changed = any(name in step.line for step in case.program.steps for name in GEOMETRY)
    return changed and case.step is not None and case.step.role in ("pass", "gradient")


def argument_cut_off(case: Case) -> bool:
    """A checkpoint's argument that stopped requiring grad: PyTorch recomputes less than it was."""
    return "A different number of tensors was saved" in case.text


def second_derivative_missing(case: Case) -> bool:
    """whygrad has a derivative that PyTorch lacks."""
    return "is not implemented" in case.text


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
    return any(phrase in case.text for phrase in phrases)


def stricter_arguments(case: Case) -> bool:
    """whygrad converts dtypes wherever two tensors meet, and broadcasts more shapes."""
    phrases = (
        "dtype",
        "shape mismatch: value tensor",
        "source tensor shape must match",
        "out of range for tensor of size [0]",  # vmap over nothing
        "more than one element of the written-to tensor",  # gradients that are expanded there
    )
    return any(phrase in case.text for phrase in phrases)


# Other gradients.


def computed_from_overwritten(case: Case) -> bool:
    """See ``overwritten_unnoticed``; here whygrad had a copy, or the region's input is another now.

    With the holes closed PyTorch refuses, or agrees with whygrad.
    """
    program = case.program
    if not program.hides_writes:
        return False
    session, answer = case.rerun()
    if isinstance(answer, Exception):
        return _overwritten(answer)
    pairs = [
        (case.mine.pool[number].grad, session.pool[number].grad)
        for number in Ending.of(program, case.mine).collecting
    ]
    return all(
        np.allclose(ours.detach().numpy(), other.detach().numpy())
        for ours, other in pairs
        if ours is not None and other is not None
    )


def saved_before_it_was_a_leaf(case: Case) -> bool:
    """A saved constant that began to require grad, and a second derivative.

    To whygrad it is what it was when it was saved; PyTorch looks at what it is now.
    """
    lines = [step.line for step in case.program.steps]
    again = case.program.twice or any("create_graph" in line for line in lines)
    return again and any("requires_grad_()" in line for line in lines)


def mutated_through_a_view(case: Case) -> bool:
    """allow_mutation_on_saved_tensors: PyTorch keeps no copy if the write comes through a view.

    Finite differences have been asked where they can be.
    """
    return "allow_mutation" in case.program.around


# Ops whose derivative whygrad writes in terms of other values than PyTorch.
OTHER_FORMULAS = (
    "prod", "det", "linalg", "svd", "scatter_reduce", "solve", "inverse", "cholesky", "pinverse",
)  # fmt: skip


def formula_in_other_terms(case: Case) -> bool:
    """What a hook sees in a second derivative at a value that the first one is written with.

    The product of the others can be written as product / x, in terms of the result: then the
    result takes part in the second derivative, and a hook there sees that part.  The same holds
    for the result of a write through a view: is it the view, or what was written?
    """
    program = case.program
    steps = [*program.steps, *(inner for step in program.steps for inner in step.body)]
    if not program.twice and not any("create_graph" in step.line for step in steps):
        return False
    if any(tensor._is_view() and tensor._version for tensor, _ in case.theirs.hooked):
        return True
    watched = any("hook(" in step.line or "retain" in step.line for step in steps)
    return watched and any(name in step.line for name in OTHER_FORMULAS for step in steps)


def at_a_view_of_a_temporary(case: Case) -> bool:
    """The gradient *at* a value that is a view in one library only, see ``view_of_a_temporary``."""
    return any(
        (case.mine.pool[number]._base is None) != (case.theirs.pool[number]._base is None)
        for number in case.mine.collecting()
    )


ONLY_WHYGRAD_REFUSES: tuple[Callable[[Case], bool], ...] = (
    deprecated_in_pytorch,
    operand_leads_nowhere,
    overwritten_unnoticed,
    checkpoint_argument_overwritten,
    as_strided_of_overlapping,
    smaller_storage,
    view_of_a_temporary,
    values_of_a_sparse_tensor,
    number_released,
    empty_index,
    keeps_the_argument,
    twice_through_once,
    inference_memory_protected,
)
ONLY_PYTORCH_REFUSES: tuple[Callable[[Case], bool], ...] = (
    cut_off_base,
    view_of_a_temporary,
    unreadable_part,
    operand_leads_nowhere,
    saves_more,
    inference_tensor_saved,
    detached_after_saving,
    released_elsewhere,
    argument_cut_off,
    broken_in_pytorch,
    second_derivative_missing,
    stricter_arguments,
    unsupported_together,
)
OTHER_GRADIENTS: tuple[Callable[[Case], bool], ...] = (
    computed_from_overwritten,
    saved_before_it_was_a_leaf,
    at_a_view_of_a_temporary,
    mutated_through_a_view,
    formula_in_other_terms,
)
