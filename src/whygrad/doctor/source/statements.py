"""Questions to one statement of the program: what it writes to, and who gets what it returns."""

from __future__ import annotations

import ast

from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.source import Where
from whygrad.why.dataflow import statement_at

__all__ = ["assigned_through", "given_back_to", "renamed_at", "running_total", "told_at"]


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
    used = set() if statement is None else {each.id for each in walked(statement, ast.Name)}
    for each in source.nodes(ast.Assign):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name()) if name in used:
                found = source.place(each.lineno)
                if found is not None and found.function == where.function:
                    return found
    return None


def told_at(where: Where, keyword: str) -> Where | None:
    """The line of the same file that gives an argument by this name, if only one does."""
    source = source_of(where)
    lines = {
        each.value.lineno
        for call in source.nodes(ast.Call)
        for each in call.keywords
        if each.arg == keyword
    }
    return source.place(lines.pop()) if len(lines) == 1 else None
