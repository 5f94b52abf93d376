"""How a program credits what an agent did, as far as its text tells.

Rewards, the ends of episodes and draws are Python's numbers for the most part, and no tensor shows
what became of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.source import Where

__all__ = [
    "Ignored",
    "drawn_again",
    "ends_ignored",
    "handed_out",
    "kept_states",
    "returns_backwards",
    "returns_forwards",
]

_REWARD = re.compile(r"^r$|rew", re.IGNORECASE)
_DISCOUNT = re.compile(r"gam|disc|^g$", re.IGNORECASE)
_ENDS = re.compile(r"^(d|ds|bd|db)$|done|termin|final|^ends?$|^end_", re.IGNORECASE)
_MASKED = re.compile(r"done|termin|final|mask|alive|cont|^nd$|^ends?$|^not_", re.IGNORECASE)
_TURNING = ("reversed", "insert", "appendleft", "reverse", "flip", "flipud", "cumsum")
_KEEPING = ("append", "push", "add", "store", "remember", "put", "save")
_STATE = re.compile(r"^s\d?_?$|stat|obs|^ns$|^nxt|^x$", re.IGNORECASE)
_Function = ast.FunctionDef | ast.Module


def returns_forwards(file: str) -> Iterator[tuple[str, Where]]:
    """Loops that add up discounted rewards from the first on, with the sum of each step kept."""
    source = source_of(file)
    for loop in source.nodes(ast.For):
        total = _total(loop)
        where = None if total is None else source.place(loop.lineno)
        if total is None or where is None or _is_turned(loop.iter):
            continue
        kept = [
            ast.unparse(call.func.value)
            for call in walked(loop, ast.Call)
            if isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
            and any(isinstance(it, ast.Name) and it.id == total for it in call.args)
        ]
        around = next(iter(_functions(source.tree, loop)), source.tree)
        if kept and not any(map(_is_turned, _uses(around, {kept[0], ast.unparse(loop.iter)}))):
            yield total, where


def returns_backwards(file: str) -> Iterator[tuple[str, Where]]:
    """Loops from the last reward to the first that keep each sum behind the one before, for good:
    nothing in the function turns them around, nor anything else.
    """
    source = source_of(file)
    for loop in source.nodes(ast.For):
        total = _total(loop)
        if total is None or not any(
            called(each) == "reversed" for each in walked(loop.iter, ast.Call)
        ):
            continue
        around = next(iter(_functions(source.tree, loop)), source.tree)
        inside = {id(each) for each in ast.walk(loop)}
        others = [each for each in walked(around, ast.stmt) if id(each) not in inside]
        plain = [each for each in others if not hasattr(each, "body")]
        heads = [each.iter for each in others if isinstance(each, ast.For) and each is not loop]
        turned = any(map(_is_turned, [*plain, *heads, *loop.body]))
        for call in walked(loop, ast.Call) if not turned else ():
            match call:
                case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Name(id=name)]) if (
                    name == total and (where := source.place(call.lineno)) is not None
                ):
                    yield total, where


def _total(loop: ast.For) -> str | None:
    """The name of ``G`` in ``for r in …: G = r + gamma * G``."""
    for each in walked(loop, ast.Assign):
        match each:
            case ast.Assign(targets=[ast.Name(id=total)], value=ast.BinOp(op=ast.Add()) as added):
                names = [it.id for it in walked(added, ast.Name)]
                times = [it for it in (added.left, added.right) if _is_discounted(it, total)]
                if times and any(map(_REWARD.search, names)):
                    return total
    return None


def _is_discounted(node: ast.expr, total: str) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    names = [ast.unparse(each) for each in (node.left, node.right)]
    return total in names and any(each != total for each in names)


def _is_turned(node: ast.AST) -> bool:
    """Whether something runs from the end: ``reversed(…)``, ``[::-1]``, ``range(n, -1, -1)``."""
    if any(called(each) in _TURNING for each in walked(node, ast.Call)):
        return True
    steps = [each.step for each in walked(node, ast.Slice)]
    steps += [each.args[2] for each in walked(node, ast.Call)
              if called(each) == "range" and len(each.args) > 2]  # fmt: skip
    return any(isinstance(each, ast.UnaryOp) for each in steps)


def _functions(tree: ast.AST, node: ast.AST) -> list[ast.FunctionDef]:
    """The functions that a node is in, innermost first."""
    return [
        each
        for each in walked(tree, ast.FunctionDef)
        if any(inner is node for inner in ast.walk(each))
    ][::-1]


def _uses(function: ast.AST, names: set[str]) -> Iterator[ast.stmt]:
    """The plain statements of a function that name one of these."""
    for each in walked(function, ast.stmt):
        if not isinstance(each, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef)) and any(
            ast.unparse(it) in names for it in walked(each, ast.Name)
        ):
            yield each


class Ignored(NamedTuple):
    """A target of the next state's value, beside a variable for ends that nothing uses."""

    where: Where
    ends: str
    target: str


def ends_ignored(file: str) -> Iterator[Ignored]:
    """Targets ``r + gamma * value`` without the ends of episodes, which are fetched for nothing."""
    source = source_of(file)
    scopes: list[_Function] = [*source.nodes(ast.FunctionDef), source.tree]
    for scope in scopes:
        own = list(_own_statements(scope))
        ends = _fetched(own)
        for each in own:
            if isinstance(each, ast.Assign) and ends is not None and _is_bootstrapped(each, own):
                where = source.place(each.lineno)
                if where is not None:
                    yield Ignored(where, ends, ast.unparse(each.targets[0]))
                    return


def _own_statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, without those of functions and classes inside of it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _own_statements(child)


def _fetched(own: list[ast.stmt]) -> str | None:
    """A variable for the ends of episodes that is unpacked from a batch, or converted, only."""
    plain = [each for each in own if isinstance(each, (ast.Assign, ast.AugAssign, ast.Expr,
                                                       ast.Return, ast.AnnAssign))]  # fmt: skip
    heads = [each.test for each in own if isinstance(each, (ast.If, ast.While))]
    heads += [each.iter for each in own if isinstance(each, ast.For)]
    for each in plain:
        if not isinstance(each, ast.Assign):
            continue
        for name in _assigned(each):
            others = [it for it in (*plain, *heads)
                      if not (isinstance(it, ast.Assign) and name in _assigned(it))]  # fmt: skip
            used = any(name == it.id for other in others for it in walked(other, ast.Name))
            together = len(_assigned(each)) > 2 or "batch" in ast.unparse(each.value)
            if _ENDS.search(name) and together and not used:
                return name
    return None


def _assigned(statement: ast.Assign) -> list[str]:
    return [it.id for target in statement.targets for it in walked(target, ast.Name)]


def _is_bootstrapped(statement: ast.Assign, own: list[ast.stmt]) -> bool:
    """Whether it adds a discounted value to a reward, and nothing behind it knows of ends."""
    value = statement.value
    sums = [each for each in walked(value, ast.BinOp) if isinstance(each.op, ast.Add)]
    found = [
        each
        for each in sums
        for part in (each.left, each.right)
        if any(isinstance(it.op, ast.Mult) for it in walked(part, ast.BinOp))
        and any(map(_DISCOUNT.search, _names(part)))
    ]
    if not found or not any(_REWARD.search(each) for each in _names(value)):
        return False
    behind = set(_names(value))
    made = [it for it in own if isinstance(it, (ast.Assign, ast.AugAssign))
            and behind & set(_changed(it))]  # fmt: skip
    return not any(_MASKED.search(name) for it in (statement, *made) for name in _names(it))


def _changed(statement: ast.Assign | ast.AugAssign) -> list[str]:
    """What a statement is about; one that unpacks several is about none of them."""
    if isinstance(statement, ast.AugAssign):
        return _names(statement.target)
    return _names(statement.targets[0]) if len(_assigned(statement)) == 1 else []


def _names(node: ast.AST) -> list[str]:
    return [each.id if isinstance(each, ast.Name) else each.attr
            for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute))]  # fmt: skip


def drawn_again(file: str) -> Iterator[tuple[str, Where]]:
    """``dist.log_prob(dist.sample())`` beside a draw of the same distribution that is kept."""
    source = source_of(file)
    for call in source.nodes(ast.Call):
        inner = call.args[0] if called(call) == "log_prob" and call.args else None
        if not isinstance(inner, ast.Call) or called(inner) != "sample":
            continue
        assert isinstance(call.func, ast.Attribute)
        scope = next(iter(_functions(source.tree, call)), source.tree)
        kept = [
            each
            for each in walked(scope, ast.Assign)
            if isinstance(each.value, ast.Call)
            and called(each.value) == "sample"
            and isinstance(each.value.func, ast.Attribute)
            and ast.unparse(each.value.func.value) == ast.unparse(call.func.value)
        ]
        where = source.place(call.lineno)
        if kept and where is not None:
            yield ast.unparse(kept[0].targets[0]), where


def kept_states(file: str) -> Iterator[tuple[str, Where]]:
    """Lines that keep a state of an episode for later: ``buffer.push(s, a, r, s2)``."""
    source = source_of(file)
    for call in source.nodes(ast.Call):
        if called(call) not in _KEEPING or not isinstance(call.func, ast.Attribute):
            continue
        parts = (
            call.args[0].elts if call.args and isinstance(call.args[0], ast.Tuple) else call.args
        )
        states = [each.id for each in parts
                  if isinstance(each, ast.Name) and _STATE.search(each.id)]  # fmt: skip
        where = source.place(call.lineno)
        if len(parts) > 2 and states and where is not None:
            yield states[0], where


def handed_out(file: str) -> Where | None:
    """The last line that returns ``self.state`` of a class that writes to it in place."""
    source, found = source_of(file), None
    for owner in source.nodes(ast.ClassDef):
        written = {
            ast.unparse(target.value)
            for each in walked(owner, ast.stmt)
            for target in _targets(each)
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute)
        }
        for each in walked(owner, ast.Return):
            value = each.value.elts[0] if isinstance(each.value, ast.Tuple) else each.value
            if value is not None and ast.unparse(value) in written:
                found = source.place(each.lineno) or found
    return found


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.AugAssign):
        return [statement.target]
    return statement.targets if isinstance(statement, ast.Assign) else []
