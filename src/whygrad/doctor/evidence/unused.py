"""Parts of a model that no training pass uses: forgotten, or left aside on purpose?

A head for another task, an auxiliary classifier that is switched off, a decoder for later: the
program has a line that would use such a part, and does not come to it; or it is handed the result
and has no use for it.  A part that is forgotten has no such line, or its result is lost inside the
model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.source.lines import class_of
from whygrad.doctor.source.reader import source_of, walked
from whygrad.ops.families import LEAVING
from whygrad.recording.calls import Produced, RecordedCall, members
from whygrad.recording.record import Parameter, Snapshot

__all__ = ["has_a_line", "is_handed_out", "is_used_in_another"]

_MADE = ("__init__", "reset_parameters", "init_weights", "_init_weights")


def has_a_line(case: Case, parameter: Parameter) -> bool:
    """Whether the program has a line that would call the layer of a parameter, of which nothing
    was computed: another task, another method, a switch that is off.
    """
    for owner, name, part in _owners(case, parameter):
        if _is_one_of_many(part) and _used(part, parameter):
            return False  # others of the same list are used one after the other
        text = class_of(type(owner))
        if text is not None and any(_calls(node, name) for node in _methods(text)):
            return True
        where = case.run.made.get(id(owner))
        file = case.run.script or (None if where is None else where.file)
        rest = (
            [] if file is None else [each for each in source_of(file).tree.body if each is not text]
        )
        if any(_calls(node, name, others=True) for node in rest):
            return True
    return False


def is_used_in_another(case: Case, parameter: Parameter) -> bool:
    """Whether the same part of another model of this class learns: a run with it, one without."""
    models = [root for _, root, _ in case.run.roots]
    for own in models:
        name = next((n for n, each in own.named_parameters() if each is parameter.tensor), None)
        for other in models if name is not None else ():
            if other is own or type(other) is not type(own):
                continue
            twin = dict(other.named_parameters()).get(name)
            known = None if twin is None else case.run.parameters.get(id(twin))
            if known is not None and (known.reached or known.changed):
                return True
    return False


def _owners(case: Case, parameter: Parameter) -> Iterator[tuple[Any, str, Any]]:
    """The modules that hold a parameter, innermost first, with the attribute and what is in it."""
    found = [
        (module, name, child)
        for _, root, _ in case.run.roots
        for module in root.modules()
        for name, child in (*module.named_children(), *module.named_parameters(recurse=False))
        if child is parameter.tensor
        or (
            hasattr(child, "parameters")
            and any(each is parameter.tensor for each in child.parameters())
        )
    ]
    return reversed(found)


def _is_one_of_many(part: Any) -> bool:
    return type(part).__name__ in ("ModuleList", "ParameterList")


def _used(part: Any, parameter: Parameter) -> bool:
    """Whether several members of a list got gradients: they follow on one another."""
    alive = [
        each
        for each in part.children()
        if any(one.grad is not None for one in each.parameters())
        and all(one is not parameter.tensor for one in each.parameters())
    ]
    return len(alive) > 1


def _methods(text: ast.ClassDef) -> Iterator[ast.stmt]:
    for each in text.body:
        if not isinstance(each, ast.FunctionDef) or each.name not in _MADE:
            yield each


def _calls(node: ast.AST, name: str, others: bool = False) -> bool:
    """Whether ``….name(…)`` or ``….name[which](…)`` stands there, or a name that is put together.

    What ``others`` call so themselves is another thing of the same name.
    """
    for call in walked(node, ast.Call):
        function = call.func
        if isinstance(function, ast.Subscript) and not isinstance(function.slice, ast.Slice):
            function = function.value
        if isinstance(function, ast.Attribute) and function.attr == name:
            own = ast.unparse(function.value) == "self"
            if not (own and others):
                return True
        if isinstance(function, ast.Call) and ast.unparse(function.func) == "getattr":
            return len(function.args) > 1 and not isinstance(function.args[1], ast.Constant)
    return False


def is_handed_out(snapshot: Snapshot | None, calls: list[RecordedCall]) -> bool:
    """Whether a model returns the last of what these calls compute, and the program drops it."""
    last = max(calls, key=lambda each: each.number, default=None)
    if snapshot is None or last is None:
        return False
    while last.op in LEAVING and len(calls) > 1:  # it is shown
        calls = [each for each in calls if each is not last]
        last = max(calls, key=lambda each: each.number)
    returned = {
        each.call
        for mark in snapshot.marks
        if mark.depth == 0
        for each in members(mark.outputs)
        if type(each) is Produced
    }
    return last.number in returned
