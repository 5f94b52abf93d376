"""Questions to one statement of the program: what it writes to, and who gets what it returns."""

from __future__ import annotations

import ast

from whygrad.doctor.source.loops import loops_around
from whygrad.doctor.source.reader import called, covers, names_in, source_of, walked
from whygrad.source import Where
from whygrad.why.dataflow import statement_at

__all__ = [
    "assigned_through",
    "given_back_to",
    "renamed_at",
    "running_total",
    "set_to",
    "sets_gradients",
]


def assigned_through(where: Where | None, attribute: str) -> bool:
    """Whether a statement says ``….attribute = …``, perhaps for a part of it."""
    statement = None if where is None else statement_at(where)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    for target in targets:
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Attribute) and target.attr == attribute:
            return True
    return False


def running_total(where: Where) -> str | None:
    """What a statement adds to: ``ema`` of ``ema = 0.9 * ema + 0.1 * loss`` and of ``ema += x``."""
    match statement_at(where):
        case ast.AugAssign(target=target):
            return ast.unparse(target)
        case ast.Assign(targets=[target], value=value):
            text = ast.unparse(target)
            used = {ast.unparse(each) for each in ast.walk(value) if isinstance(each, ast.expr)}
            return text if text in used else None
    return None


def given_back_to(where: Where) -> Where | None:
    """The line that calls the function which returns there, if only one line does."""
    if not isinstance(statement_at(where), ast.Return):
        return None
    name, source = where.function.rpartition(".")[2], source_of(where)
    lines = {each.lineno for each in source.nodes(ast.Call) if called(each) == name}
    return source.place(lines.pop()) if len(lines) == 1 else None


def renamed_at(where: Where) -> Where | None:
    """The line of the same function that only gives another name to what a statement uses."""
    statement, source = statement_at(where), source_of(where)
    used = set() if statement is None else names_in(statement)
    for each in source.nodes(ast.Assign):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name()) if name in used:
                found = source.place(each.lineno)
                if found is not None and found.function == where.function:
                    return found
    return None


def set_to(where: Where, value: float) -> Where | None:
    """The assignment of this number to a variable that the statement at a place names."""
    statement, source = statement_at(where), source_of(where)
    read = [] if statement is None else list(walked(statement, ast.Name))
    names = {each.id for each in read if isinstance(each.ctx, ast.Load)}
    for each in source.nodes(ast.Assign):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=told)):
                if name in names and told == value:
                    return source.place(each.lineno)
    return None


def sets_gradients(step: Where | None, made: Where | None) -> bool:
    """Whether ``p.grad = g`` stands beside an update, for what its optimizer was ``made`` for.

    What is made of the old ones (``p.grad = p.grad * 0.9``) leaves them there.
    """
    loops = [] if step is None or made is None else loops_around(step)
    if step is None or made is None or not loops:
        return False
    source, maker = source_of(step), statement_at(made) or ast.Pass()
    held = names_in(maker)
    for each in source.nodes(ast.Assign):
        target = each.targets[0]
        if not isinstance(target, ast.Attribute) or target.attr != "grad":
            continue
        old = any(one.attr == "grad" for one in walked(each.value, ast.Attribute))
        inside = covers(loops[-1].node, each.lineno)
        if old or not inside or isinstance(each.value, ast.Constant):
            continue
        around = [one.target for one in source.nodes(ast.For) if covers(one, each.lineno)]
        in_turn = {one.id for name in around for one in walked(name, ast.Name)}
        if ast.unparse(target.value) in held | in_turn:
            return True
    return False
