"""Gradients that differ, and whygrad's are right, or both are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.harness import as_numpy
from tests.fuzz.autograd.ending import Ending
from tests.fuzz.autograd.excuses import states
from tests.fuzz.autograd.excuses.case import Case, Excuse, overwritten

__all__ = ["EXCUSES"]


def computed_from_overwritten(case: Case) -> bool:
    """See ``overwritten_unnoticed``; here whygrad had a copy, or a region's input is another now.

    With the holes closed PyTorch refuses, or agrees with whygrad.
    """
    if not case.program.hides_writes:
        return False
    session, answer = case.rerun()
    if isinstance(answer, Exception):
        return overwritten(answer)
    if case.step is None:
        return _agree(case.gradients or [], answer)
    numbers = Ending.of(case.program, case.mine).collecting
    ours, others = ([each.pool[n].grad for n in numbers] for each in (case.mine, session))
    return _agree(ours, others)


def _agree(ours: list[Any], others: list[Any]) -> bool:
    pairs = list(zip(ours, others, strict=True))
    if any((a is None) != (b is None) for a, b in pairs):
        return False
    arrays = [(as_numpy(a), as_numpy(b)) for a, b in pairs if a is not None]
    return all(a.shape == b.shape and np.allclose(a, b) for a, b in arrays)


def walks_on_without_a_gradient(case: Case) -> bool:
    """None in whygrad, zeros in PyTorch, where an op or a custom function sends no gradient back.

    PyTorch walks on without one, and a custom function further down makes zeros of it.
    """
    if case.program.twice and case.step is None:
        return False
    if not any(".apply" in line for step in case.program.steps for line in step.all_lines):
        return False
    numbers = case.mine.collecting()
    pairs = [(case.mine.pool[n].grad, case.theirs.pool[n].grad) for n in numbers]
    return all(not b.any() if a is None and b is not None else _agree([a], [b]) for a, b in pairs)


def saved_before_it_was_a_leaf(case: Case) -> bool:
    """A saved constant that began to require grad, and a second derivative.

    To whygrad it is what it was when it was saved; PyTorch looks at what it is now.
    """
    lines = [step.line for step in case.program.steps]
    again = case.program.twice or any("create_graph" in line for line in lines)
    return again and any("requires_grad_()" in line for line in lines)


def detached_after_it_was_saved(case: Case) -> bool:
    """What a custom function saved keeps its history here when it is detached in place later.

    PyTorch's saved input forgets it, and the second derivative loses that part.
    """
    lines = [line for step in case.program.steps for line in step.all_lines]
    again = case.program.twice or any("create_graph" in line for line in lines)
    used = any(".apply" in line for line in lines)
    return again and used and any("detach_()" in line for line in lines)


def bias_of_a_norm_without_weight(case: Case) -> bool:
    """batch_norm and layer_norm without a weight: in PyTorch the gradient of the bias does not
    depend on what came in, and a second derivative loses that part."""
    lines = [line for step in case.program.steps for line in step.all_lines]
    again = case.program.twice or any("create_graph" in line for line in lines)
    return again and any(f"'{name}'" in line for name in _NORMS for line in lines)


_NORMS = ("batch_norm", "layer_norm", "native_batch_norm", "native_layer_norm")


def at_a_view_of_a_temporary(case: Case) -> bool:
    """The gradient *at* a value that is a view in one library only, see ``view_of_a_temporary``."""
    return any(
        (case.mine.pool[number]._base is None) != (case.theirs.pool[number]._base is None)
        for number in case.mine.collecting()
    )


def mutated_through_a_view(case: Case) -> bool:
    """allow_mutation_on_saved_tensors: PyTorch keeps no copy if the write comes through a view.

    Finite differences have been asked where they can be.
    """
    return "allow_mutation" in case.program.around


# Ops whose derivative whygrad writes in terms of other values than PyTorch.
OTHER_FORMULAS = (
    "prod", "det", "linalg", "svd", "qr", "scatter_reduce", "solve", "inverse", "cholesky",
    "pinverse", "index_reduce", ".norm(",
)  # fmt: skip


def formula_in_other_terms(case: Case) -> bool:
    """A second derivative *at* a value that the first one is written with, as seen by a hook.

    The product of the others can be written as product / x, in terms of the result: then the
    result takes part in the second derivative, and a hook there sees that part.  The same holds
    for the result of a write through a view: is it the view, or what was written?
    """
    program = case.program
    lines = [line for step in program.steps for line in step.all_lines]
    if not program.twice and not any("create_graph" in line for line in lines):
        return False
    if states.derived_in_another_order(case.theirs):
        return True
    asked = case.step is not None and case.step.role == "gradient"  # maybe in the middle
    watched = asked or any("hook(" in line or "retain" in line for line in lines)
    return watched and any(name in line for name in OTHER_FORMULAS for line in lines)


EXCUSES: tuple[Excuse, ...] = (
    computed_from_overwritten,
    walks_on_without_a_gradient,
    saved_before_it_was_a_leaf,
    detached_after_it_was_saved,
    bias_of_a_norm_without_weight,
    at_a_view_of_a_temporary,
    mutated_through_a_view,
    formula_in_other_terms,
)
