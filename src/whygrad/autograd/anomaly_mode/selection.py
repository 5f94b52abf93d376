"""A result was thrown away, its derivative was not: who threw it away, and the double where.

``where(x > 0, sqrt(x), 0)`` is right at x = 0 on the way forward.  On the way back ``where`` sends
0 to the branch it did not choose, and 0 · inf is NaN.  The cure is to choose *before* the op, too.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from whygrad.ops.families import BOUNDS, CLAMPS, EXTREMES, MASKED_FILL, MUL, PICKS, RELU
from whygrad.source import Where
from whygrad.tensor.graph.node import Node

__all__ = ["Selection", "of", "safe_value"]

_FAR = 200  # nodes to look at between an op and the where behind it
_LIMITS = CLAMPS | RELU | BOUNDS | EXTREMES


class Selection(NamedTuple):
    """The call that dropped a result, and what to write instead."""

    call: str  # as the user wrote it
    where: Where
    branch: str | None  # of where and masked_fill: the argument that was not chosen
    fix: str


def safe_value(op: Any) -> float:
    """An input at which the op and its derivative are finite."""
    return op.undefined[0].safe if op.undefined else 1.0


def of(
    node: Node,
    place: tuple[int, ...],
    shape: tuple[int, ...],
    roots: Sequence[Node],
    conditions: dict[Node, Any],
) -> Selection | None:
    """What dropped the result of ``node`` at one element, searched towards the loss."""
    above = list(_above(node, roots))
    for user, position in above:
        if user in conditions and _drops(conditions[user], position, place, shape):
            return _by_where(node, user, position)
    for user, position in above:
        name = user.plan.op.name
        if name in _LIMITS:
            return Selection(name, user.where, None, _limit_first(node, name))
        if name in PICKS:
            return Selection(name, user.where, None, _pick_first(node))
        if name in MUL:
            return Selection(name, user.where, None, _mask_first(node, user, position))
    return None


def _above(node: Node, roots: Sequence[Node]) -> Any:
    """Who used the result, nearest first, and as which argument it came in on the way there."""
    users: dict[Node, list[tuple[Node, int]]] = {}
    seen: set[Node] = set(roots)
    stack = list(roots)
    while stack:
        user = stack.pop()
        if user.plan is None:
            continue
        for position, parent in zip(user.plan.positions, user.parents, strict=True):
            users.setdefault(parent, []).append((user, position))
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    line = deque(users.get(node, ()))
    met: set[Node] = set()
    while line and len(met) < _FAR:
        user, position = line.popleft()
        if user not in met:
            met.add(user)
            yield user, position
            line.extend(users.get(user, ()))


def _drops(condition: Any, position: int, place: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether ``where`` chose the other branch there (anywhere, if the shapes do not tell)."""
    dropped = ~np.asarray(condition, bool) if position == 1 else np.asarray(condition, bool)
    try:
        return bool(np.broadcast_to(dropped, shape)[place])
    except ValueError:
        return bool(dropped.any())


def _by_where(node: Node, user: Node, position: int) -> Selection:
    branch, name = "the second argument" if position == 1 else "the third argument", "where"
    call = _parsed(user.where)
    parts = None if call is None else _parts(call, position)
    source = _parsed(node.where)
    safe = safe_value(node.plan.op)
    if parts is not None:
        branch, name = f"`{ast.unparse(parts.branch)}`", parts.name
    operand = None if source is None else _operand(source, node)
    if parts is None or source is None or operand is None:
        fix = (
            f"choose before the op as well (double where): safe = whygrad.where(mask, x, {safe}), "
            f"then whygrad.where(mask, whygrad.{node.plan.op.name}(safe), …)"
        )
        return Selection(name, user.where, branch, fix)
    fix = _instead(source, operand, parts.choose(operand, ast.Constant(safe)))
    return Selection(name, user.where, branch, fix)


def _instead(source: ast.expr, operand: ast.expr, chosen: ast.expr) -> str:
    written = ast.unparse(source)
    better = ast.unparse(_Replace(operand, chosen).visit(source))
    return f"choose before the op as well (double where): write {better} in place of {written}"


class _Parts(NamedTuple):
    """A call that chooses between two values, taken apart."""

    call: ast.Call
    condition: ast.expr
    branch: ast.expr
    first: bool  # the branch that was dropped is the one for "condition holds"
    method: bool
    name: str

    def choose(self, operand: ast.expr, safe: ast.expr) -> ast.expr:
        """The same choice between the operand and a number that does no harm."""
        function = self.call.func
        if _is_fill(self.call):
            if self.method:
                assert isinstance(function, ast.Attribute)
                function = ast.Attribute(operand, function.attr)
                return ast.Call(function, [self.condition, safe], [])
            return ast.Call(function, [operand, self.condition, safe], [])
        if self.method:
            assert isinstance(function, ast.Attribute)
            condition = self.condition if self.first else ast.UnaryOp(ast.Invert(), self.condition)
            return ast.Call(ast.Attribute(operand, function.attr), [condition, safe], [])
        pair = [operand, safe] if self.first else [safe, operand]
        return ast.Call(function, [self.condition, *pair], [])


def _is_fill(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr.startswith("masked_fill")


def _parts(call: ast.expr, position: int) -> _Parts | None:
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    arguments = call.args
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "where" and len(arguments) == 3:
        return _Parts(call, arguments[0], arguments[position], position == 1, False, name)
    if not isinstance(call.func, ast.Attribute):
        return None
    if name == "where" and len(arguments) == 2:
        branch = call.func.value if position == 1 else arguments[1]
        return _Parts(call, arguments[0], branch, position == 1, True, name)
    if name == "masked_fill" and len(arguments) == 3:
        return _Parts(call, arguments[1], arguments[0], False, False, name)
    if name in MASKED_FILL and len(arguments) == 2:
        return _Parts(call, arguments[0], call.func.value, False, True, name)
    return None


def _parsed(where: Where) -> ast.expr | None:
    try:
        return ast.parse(where.whole_expression.strip(), mode="eval").body
    except SyntaxError:
        return None


def _operand(expression: ast.expr, node: Node) -> ast.expr | None:
    """The argument of the user's call at which the op misbehaves."""
    op = node.plan.op
    place = op.tensor_names.index(op.undefined[0].operand) if op.undefined else 0
    if isinstance(expression, ast.BinOp):
        return (expression.left, expression.right)[place] if place < 2 else None
    if not isinstance(expression, ast.Call) or expression.keywords:
        return None
    arguments = expression.args
    if len(arguments) < len(op.tensor_names) and isinstance(expression.func, ast.Attribute):
        arguments = [expression.func.value, *arguments]
    return arguments[place] if place < len(arguments) else None


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else super().visit(node)


def _written(node: Node) -> str:
    source = _parsed(node.where)
    return node.plan.op.name + "(x)" if source is None else ast.unparse(source)


def _limit_first(node: Node, name: str) -> str:
    return (
        f"limit what goes into {node.plan.op.name}, not what comes out of it: {name} before "
        f"{_written(node)}, with a bound at which it is finite"
    )


def _pick_first(node: Node) -> str:
    return f"pick before the op: {_written(node)} should see only the elements you keep"


def _mask_first(node: Node, user: Node, position: int) -> str:
    product, source = _parsed(user.where), _parsed(node.where)
    operand = None if source is None else _operand(source, node)
    safe = ast.Constant(safe_value(node.plan.op))
    where = ast.Attribute(ast.Name("whygrad"), "where")
    hidden = "0 · inf is nan, so a product with 0 hides nothing: "
    if source is None or operand is None or not isinstance(product, ast.BinOp):
        return f"{hidden}choose before the op, whygrad.where(mask, x, {safe_value(node.plan.op)})"
    mask = product.right if position == 0 else product.left
    if not isinstance(mask, ast.Compare):
        mask = ast.Compare(mask, [ast.NotEq()], [ast.Constant(0)])
    return hidden + _instead(source, operand, ast.Call(where, [mask, operand, safe], []))
