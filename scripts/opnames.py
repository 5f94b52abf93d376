"""Names of ops that stand outside the op table, where they would drift from it.

``python -m scripts.opnames`` prints each literal collection of op names and each comparison of a
call's op with a name, in the doctor and in what watches for it: those are questions for
:mod:`whygrad.ops.families`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from whygrad.ops.define import aliases, table

__all__ = ["main", "offenders"]

PACKAGE = Path(__file__).parents[1] / "src" / "whygrad"
ROOMS = (PACKAGE / "doctor", PACKAGE / "recording")
_STEPS = ("getitem", "item", "rdiv", "rpow", "setitem")  # what tapes call ops that have no row


def offenders(*folders: Path) -> list[str]:
    """``file:line: what stands there``, for every file of the folders; of both rooms by default."""
    known = {*table, *aliases, *_STEPS}
    return [
        f"{path.relative_to(folder)}:{line}: {text}"
        for folder in folders or ROOMS
        for path in sorted(folder.rglob("*.py"))
        for line, text in _in_file(ast.parse(path.read_text(encoding="utf-8")), known)
    ]


def _in_file(tree: ast.AST, known: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            members = node.keys if isinstance(node, ast.Dict) else node.elts
            ops = sum(_is_op(each, known) for each in members)
            if ops > 1 and 2 * ops > len(members):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_op(each, known) for each in sides) and any(map(_is_called, sides)):
                yield node.lineno, ast.unparse(node)


def _is_op(node: ast.expr | None, known: set[str]) -> bool:
    """Whether it is the name of an op, perhaps of one that writes in place."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and (value in known or value.rstrip("_") in known)


def _is_called(node: ast.expr) -> bool:
    """``op`` or ``call.op``"""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    return name == "op"


def main() -> int:
    found = offenders()
    print("\n".join(found) or "no op names outside the op table")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
