"""Questions to the program's text: which line defines, assigns, collects or switches something?

The line to blame may be one that computed nothing: the assignment of a layer that nobody calls, the
``def backward`` with the mistake in it, the ``append`` that keeps a graph.
"""

from __future__ import annotations

import ast
import dis
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from whygrad.doctor.source.reader import Source, called, covers, source_of, walked
from whygrad.ops.families import DROPOUTS
from whygrad.source import Where, program_frame
from whygrad.why.dataflow import statement_at

__all__ = [
    "asks_for_whole_rows",
    "assigned",
    "assignment_of",
    "class_of",
    "code_at",
    "collected",
    "compares",
    "defined",
    "drops_always",
    "has_return",
    "ignored_rules",
    "is_printed",
    "is_ratio_of_means",
    "loss_assigned",
    "name_assigned",
    "names_at",
    "place",
    "raised",
    "rate_set",
    "scheduler_made",
    "set_on",
    "shrinks_gradients",
    "switched_off",
    "turned_off",
    "weights_restored",
]

_OFF = ("no_grad", "inference_mode", "set_grad_enabled")
_COLLECTING = ("add", "append", "appendleft", "extend", "insert", "setdefault")
_SHRINKING = re.compile(r"clamp.*|clip.*|mul_|div_|copy_")
_IGNORED = re.compile(r"# whygrad: ignore(?:\[([^\]]*))?")


# --- one line -------------------------------------------------------------------------------------


def place(file: str, line: int) -> Where | None:
    """A line of a file."""
    return source_of(file).place(line)


def code_at(where: Where) -> str:
    """The line without a comment behind it."""
    statement = statement_at(where)
    if statement is None or statement.lineno != statement.end_lineno:
        return where.text.partition("  #")[0].strip()
    return ast.get_source_segment("".join(where.source), statement) or where.text


def drops_always(where: Where) -> bool:
    """Whether a line calls dropout without the mode: as a function, or of a layer made there."""
    statement = statement_at(where)
    for call in [] if statement is None else walked(statement, ast.Call):
        made_here = isinstance(call.func, ast.Call) and called(call.func).startswith("Dropout")
        told = len(call.args) > 2 or any(each.arg in ("training", None) for each in call.keywords)
        function = called(call) in DROPOUTS
        if made_here or (function and not told and _of_library(call.func)):
            return True
    return False


def _of_library(function: ast.expr) -> bool:
    """``F.dropout``, not ``self.dropout``."""
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else "F"
    return owner.rpartition(".")[2] in ("F", "f", "functional")


@lru_cache(maxsize=512)
def names_at(where: Where) -> tuple[str, ...]:
    """The names in the statement at a place, in the order of the text."""
    statement = statement_at(where)
    if statement is None:
        return ()
    found = [
        (
            (each.end_lineno, each.end_col_offset),
            each.id if isinstance(each, ast.Name) else each.attr,
        )
        for each in ast.walk(statement)
        if isinstance(each, (ast.Name, ast.Attribute))
    ]
    return tuple(name for _, name in sorted(found))


@lru_cache(maxsize=512)
def compares(where: Where) -> bool:
    """Whether the statement at a place asks what is equal: ``==`` or ``eq()``.

    What is equal to a number, as the weights that are zero, is no answer that is right, and what
    two sets have in common is a part of one.
    """
    statement = statement_at(where) or ast.Pass()
    if any(isinstance(each.op, (ast.BitAnd, ast.BitOr)) for each in walked(statement, ast.BinOp)):
        return False
    return any(
        isinstance(sign, ast.Eq) and not isinstance(other, ast.Constant)
        for each in walked(statement, ast.Compare)
        for sign, other in zip(each.ops, each.comparators)
    ) or any(called(each) == "eq" for each in walked(statement, ast.Call))


def is_ratio_of_means(where: Where) -> bool:
    """Whether the statement at a place divides one mean by another: neither is a loss."""
    statement = statement_at(where) or ast.Pass()
    return any(
        isinstance(each.op, ast.Div)
        and all(
            any(called(call) == "mean" for call in walked(side, ast.Call))
            for side in (each.left, each.right)
        )
        for each in walked(statement, ast.BinOp)
    )


def asks_for_whole_rows(where: Where) -> bool:
    """Whether a statement counts rows of which all answers are right: chance is far lower there."""
    return any(
        called(each) == "all" for each in walked(statement_at(where) or ast.Pass(), ast.Call)
    )


def is_printed(where: Where) -> bool:
    """Whether what a statement computes is only shown: names in it may be of other things."""
    return isinstance(statement_at(where), ast.Expr)


def ignored_rules(where: Where) -> list[str] | None:
    """What ``# whygrad: ignore[…]`` names on a line: none is all of them; None without it."""
    found = _IGNORED.search(where.text)
    if found is None:
        return None
    return [] if found[1] is None else [each.strip() for each in found[1].split(",")]


def raised(error: BaseException | None) -> list[Where]:
    """The user's lines that an exception came through, outermost first."""
    found = []
    traceback = None if error is None else error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if program_frame(frame) is frame and _is_the_users(frame.f_code):
            found.append(Where(frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found


# --- lines that define and assign -----------------------------------------------------------------


def defined(function: Any) -> Where | None:
    """The ``def`` line of a function, decorators aside."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    source = source_of(code.co_filename)
    for each in source.nodes(ast.stmt):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([each.lineno, *(known.lineno for known in each.decorator_list)])
            if first == code.co_firstlineno:
                return source.place(each.lineno)
    return Where(code, 0)


def class_of(kind: type) -> ast.ClassDef | None:
    """The text of a class of the program; None for one of a library."""
    methods = [each for each in vars(kind).values() if hasattr(each, "__code__")]
    if not methods or not _is_the_users(methods[0].__code__):
        return None
    line = methods[0].__code__.co_firstlineno
    found = source_of(methods[0].__code__.co_filename).nodes(ast.ClassDef)
    inside = [each for each in found if each.name == kind.__name__ and covers(each, line)]
    return inside[-1] if inside else None


def has_return(function: Any) -> bool | None:
    """Whether a function of the program returns anything; None if its text is not known."""
    where = defined(function)
    if where is None or not _is_the_users(function.__code__):
        return None
    for each in source_of(where).nodes(ast.FunctionDef):
        if each.lineno == where.line:
            ends = (ast.Return, ast.Yield, ast.Raise)
            return any(isinstance(inner, ends) for inner in ast.walk(each))
    return None


def assignment_of(where: Where, wanted: Callable[[str], bool]) -> Where | None:
    """The last assignment before a line, in its function, of a value with the wanted text."""
    lines = [
        statement.lineno
        for _, statement in _assignments(source_of(where))
        if statement.lineno <= where.line and wanted(ast.unparse(statement.value))
    ]
    return next((found for line in sorted(lines)[::-1] if (found := where.on_line(line))), None)


def name_assigned(where: Where, name: str) -> Where | None:
    """The last assignment to a name before a line, in the same function."""
    lines = [
        statement.lineno
        for target, statement in _assignments(source_of(where))
        if statement.lineno < where.line
        and any(each.id == name for each in walked(target, ast.Name))
    ]
    return next((found for line in sorted(lines)[::-1] if (found := where.on_line(line))), None)


def assigned(owner: Any, name: str) -> Where | None:
    """Where a method of ``owner``'s class assigns ``self.name``: in ``__init__`` if it does."""
    kind = type(owner)
    methods = [getattr(kind, "__init__", None), *vars(kind).values()]
    for method in methods:
        code = getattr(method, "__code__", None)
        if isinstance(code, CodeType) and _is_the_users(code):
            for each in dis.get_instructions(code):
                if each.opname == "STORE_ATTR" and each.argval == name:
                    return Where(code, each.offset)
    return None


def _is_the_users(code: CodeType) -> bool:
    return "site-packages" not in code.co_filename and bool(source_of(code.co_filename).text)


def set_on(file: str, name: str, owner: str) -> Where | None:
    """The line of a file that says ``….owner.name = …``."""
    source = source_of(file)
    for target, _ in _assignments(source):
        match target:
            case ast.Attribute(value=held, attr=attribute) if attribute == name:
                if _last_name(held) == owner:
                    return source.place(target.lineno)
    return None


def loss_assigned(backward: Where) -> Where | None:
    """The line that gives ``loss`` its value for ``loss.backward()``, if it is a single one."""
    match statement_at(backward):
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="backward"))):
            before = [
                (statement.lineno, isinstance(statement, ast.Assign))
                for target, statement in _assignments(source_of(backward))
                if isinstance(target, ast.Name) and target.id == name
                if statement.lineno < backward.line and backward.on_line(statement.lineno)
            ]
            line, whole = max(before, default=(0, False))
            return backward.on_line(line) if whole else None
    return None


def rate_set(where: Where) -> Where | None:
    """The line of the same function that sets a rate by hand: ``group["lr"] = …``."""
    return _first_line_of(
        where,
        (statement for target, statement in _assignments(source_of(where)) if _is_rate(target)),
    )


def _is_rate(target: ast.expr) -> bool:
    """``group["lr"]``"""
    index = target.slice if isinstance(target, ast.Subscript) else None
    return isinstance(index, ast.Constant) and index.value == "lr"


def scheduler_made(where: Where) -> Where | None:
    """The line that makes an object of the program whose class sets a rate by hand."""
    source = source_of(where)
    rates = [statement.lineno for target, statement in _assignments(source) if _is_rate(target)]
    classes = [
        each.name
        for each in source.nodes(ast.ClassDef)
        if any(covers(each, line) for line in rates)
    ]
    made = (each.lineno for each in source.nodes(ast.Call) if called(each) in classes)
    return next((found for line in made if (found := source.place(line))), None)


def shrinks_gradients(where: Where) -> Where | None:
    """The line of the same function that makes gradients smaller by hand."""
    source = source_of(where)
    calls = (
        each
        for each in source.nodes(ast.Call)
        if _SHRINKING.fullmatch(called(each)) and _has_grad(each.func)
    )
    assignments = (
        statement
        for target, statement in _assignments(source)
        if _has_grad(target)
        and (
            isinstance(statement.op, (ast.Mult, ast.Div))
            if isinstance(statement, ast.AugAssign)
            else _last_name(target) in ("grad", "data") and _has_grad(statement.value)
        )
    )
    return _first_line_of(where, (*calls, *assignments))


def _has_grad(node: ast.AST) -> bool:
    return any(each.attr == "grad" for each in walked(node, ast.Attribute))


def _assignments(source: Source) -> Iterator[tuple[ast.expr, ast.Assign | ast.AugAssign]]:
    """What is assigned to, with the statement that does."""
    for each in source.nodes(ast.stmt):
        if isinstance(each, ast.Assign):
            yield from ((target, each) for target in each.targets)
        elif isinstance(each, ast.AugAssign):
            yield each.target, each


def _first_line_of(where: Where, nodes: Iterable[ast.stmt | ast.expr]) -> Where | None:
    """The first of these lines that belongs to the function of ``where``."""
    lines = sorted({each.lineno for each in nodes})
    return next((found for line in lines if (found := where.on_line(line))), None)


# --- lines that switch and collect ----------------------------------------------------------------


def switched_off(where: Where) -> Where | None:
    """The ``with no_grad():`` that a line stands in, or the decorator of its function."""
    source = source_of(where.file)
    found: list[ast.expr] = []
    for node in source.nodes(ast.stmt):
        if not covers(node, where.line):
            continue
        if isinstance(node, (ast.With, ast.AsyncWith)):
            found += [item.context_expr for item in node.items]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found += node.decorator_list
    off = [each for each in found if any(word in ast.unparse(each) for word in _OFF)]
    return source.place(off[-1].lineno) if off else None


def turned_off(file: str) -> Where | None:
    """The line that says ``set_grad_enabled(False)`` as a statement: nothing switches it back."""
    source = source_of(file)
    for node in source.nodes(ast.Expr):
        match node.value:
            case ast.Call(args=[ast.Constant(value=False), *_]) as call:
                if called(call) == "set_grad_enabled":
                    return source.place(node.lineno)
    return None


def weights_restored(loop: Where) -> bool:
    """Whether ``load_state_dict()`` is called further down in the file."""
    calls = source_of(loop.file).nodes(ast.Call)
    return any(called(each) == "load_state_dict" and each.lineno > loop.line for each in calls)


def collected(file: str, names: list[str]) -> Where | None:
    """The line that puts something into one of the collections with these names."""
    source = source_of(file)
    for node in source.nodes(ast.AST):
        if any(_last_name(each) in names for each in _collections(node)):
            return source.place(node.lineno)  # type: ignore[attr-defined]
    return None


def _collections(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement or a call adds something to."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _COLLECTING:
            yield node.func.value
    elif isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                yield target.value


def _last_name(node: ast.expr) -> str | None:
    """``history`` of ``self.history``, of ``history`` and of ``log['history']``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return None
