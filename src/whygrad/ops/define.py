"""How an op is declared.

One call of :func:`define` is one row of the op table: the NumPy kernel, the reverse rule, the
forward rule, the formula in words and the sample inputs stand together.  Everything else is
derived from that row: the public function, the method, what backward saves, the tests.  What a row
may say is said in :class:`~whygrad.ops.op.Op`, field by field.

A rule is written once, against an array namespace ``xp``: in ordinary backward it runs on raw
arrays; under ``create_graph=True`` the very same rule runs on tensors and is recorded in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ParamSpec

from whygrad.ops import late
from whygrad.ops.namespace import raw, recorded
from whygrad.ops.op import Op, unbound

__all__ = [
    "Op",
    "alias",
    "aliases",
    "composite",
    "creation",
    "define",
    "elementwise",
    "public_form",
    "table",
]

P = ParamSpec("P")

# Every op by name, in order of declaration.
table: Table

# Second names that PyTorch has for some ops.
aliases: dict[str, str] = {}


def _declaring(row: Callable[P, Op]) -> Callable[P, Op]:
    """A function that makes a row and enters it in the table; it takes the fields of the row."""

    def define(*args: P.args, **fields: P.kwargs) -> Op:
        from whygrad.dispatch import bind

        op = row(*args, **fields)
        _add(op)
        bind(op, None if op.public is unbound else op.public)
        setattr(raw, op.name, op.forward)
        setattr(recorded, op.name, op.call)
        return op

    return define


define = _declaring(Op)  # declares a primitive op


def elementwise(signature: str, formula: str, **row: Any) -> Op:
    """Declare an op that works on each element alone (after broadcasting)."""
    row.setdefault("promote", "float")
    return define(signature, formula, kind="elementwise", **row)


def composite(
    function: Callable[..., Any],
    formula: str,
    *,
    differentiable: bool = True,
    kernel: Callable[..., Any] | None = None,
    **row: Any,
) -> Callable[..., Any]:
    """Declare an op built from other ops: its derivative is theirs, by the chain rule.

    ``kernel`` makes it usable inside rules: the same function on raw arrays.
    """
    from whygrad.dispatch.arguments import guarded

    name = function.__name__.rstrip("_")
    op = Op(
        name, formula, kind="composite", forward=function, vjp=None,
        differentiable=differentiable, **row,
    )  # fmt: skip
    function.op = op  # type: ignore[attr-defined]
    op.call = function
    op.public = guarded(op, function, op.takes_out)
    if kernel is not None:
        setattr(raw, op.name, kernel)
        setattr(recorded, op.name, function)
    _add(op)
    return function


# Declares a function that makes tensors: no tensor has it as a method, and no gradient flows.
creation = partial(composite, method=False, differentiable=False)


def alias(name: str, original: str) -> None:
    """Let an op answer to a second name as well, as ``clip`` does for ``clamp``."""
    aliases[name] = original


def public_form(op: Op) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the decorated function the op's public face.

    For ops whose arguments decide more than the kernel's parameters (``max`` has three
    overloads) or whose results have names (``sort``).
    """

    from whygrad.dispatch.arguments import guarded

    def attach(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = op.name
        function.op = op  # type: ignore[attr-defined]
        op.public = guarded(op, function, op.takes_out)
        return op.public

    return attach


class Table(dict[str, Op]):
    """Every op by name.  What is looked for, or all if somebody looks at all, is declared first."""

    def __missing__(self, name: str) -> Op:
        if late.load(name) and dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        return dict.__getitem__(self, name) if name in self else default

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or (
            isinstance(name, str) and late.load(name) and dict.__contains__(self, name)
        )

    def home(self, name: str) -> str | None:
        """The file that declares an op, which need not be loaded yet; None if none does."""
        row = dict.get(self, name)
        return late.home(name) if row is None else row.module

    def __iter__(self) -> Iterator[str]:
        late.load_all()
        return dict.__iter__(self)

    def __len__(self) -> int:
        late.load_all()
        return dict.__len__(self)

    def keys(self) -> Any:
        late.load_all()
        return dict.keys(self)

    def values(self) -> Any:
        late.load_all()
        return dict.values(self)

    def items(self) -> Any:
        late.load_all()
        return dict.items(self)


table = Table()


def _add(op: Op) -> None:
    before = dict.get(table, op.name)
    if before is not None:
        raise TypeError(f"op {op.name} is declared twice: {before.module}, {op.module}")
    dict.__setitem__(table, op.name, op)
