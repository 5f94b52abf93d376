"""Which package imports which, and whether any two import each other.

An import inside a function counts like one at the top of a module: it is the same knot, only later.
What stands under ``if TYPE_CHECKING`` does not: at run time it is not there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["cycles", "graph", "imports_between", "main"]

Graph = dict[str, set[str]]  # packages (or modules at the root) and what they import

_SOURCE = Path(__file__).parent.parent / "src" / "whygrad"
_ROOT = "whygrad"


@cache
def _modules() -> dict[str, Path]:
    """Every module by its dotted name, apart from the root itself, which collects all."""
    found = {}
    for path in sorted(_SOURCE.rglob("*.py")):
        parts = path.relative_to(_SOURCE.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    del found[_ROOT]
    return found


# Where a statement, a handler or a case holds others: an import stands nowhere else.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements that run, in functions too."""
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            yield each
        elif isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test):
            waiting += each.orelse
        elif not isinstance(each, ast.expr):
            for block in _BLOCKS:
                waiting += getattr(each, block, ())


@cache
def _imported(path: Path) -> tuple[str, ...]:
    """Full names of the modules of this package that a module imports."""
    return tuple(_names(path))


def _names(path: Path) -> Iterator[str]:
    for statement in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            names = [each.name for each in statement.names]
        elif statement.level or statement.module is None:
            raise ValueError(f"{path}: a relative import")
        else:
            inside = [f"{statement.module}.{each.name}" for each in statement.names]
            names = [name if name in _modules() else statement.module for name in inside]
        yield from (name for name in names if name.startswith(f"{_ROOT}."))


def _package(module: str) -> str:
    return module.split(".")[1]


@cache
def imports_between(importer: str, imported: str) -> list[str]:
    """Each import from one package to another: ``"dispatch.paths imports autograd.node"``."""
    return sorted(
        {
            f"{module} imports {name}".replace(f"{_ROOT}.", "")
            for module, path in _modules().items()
            if _package(module) == importer
            for name in _imported(path)
            if _package(name) == imported
        }
    )


@cache
def graph() -> Graph:
    """The packages that each package imports."""
    found: Graph = {_package(module): set() for module in _modules()}
    for module, path in _modules().items():
        found[_package(module)] |= {_package(name) for name in _imported(path)}
    return {package: others - {package} for package, others in found.items()}


def cycles() -> list[set[str]]:
    """Sets of packages that all reach each other."""
    reached = {package: _reached(package) for package in graph()}
    knots: list[set[str]] = []
    for package, there in reached.items():
        knot = {other for other in there if package in reached.get(other, ())}
        if knot and knot not in knots:
            knots.append(knot)
    return knots


def _reached(package: str) -> set[str]:
    found: set[str] = set()
    waiting = [package]
    while waiting:
        new = graph().get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def main() -> int:
    """Print the graph, then every knot; fails if there is one."""
    for package, others in sorted(graph().items()):
        print(f"{package:<14} {' '.join(sorted(others))}")
    for knot in cycles():
        print(f"\nimport each other: {', '.join(sorted(knot))}")
    return int(bool(cycles()))


if __name__ == "__main__":
    raise SystemExit(main())
