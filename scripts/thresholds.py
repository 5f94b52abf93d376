"""``python -m scripts.thresholds``: numbers in the doctor's rules that have no name.

A number that decides has a name, a reason and a way to change it: it stands in ``thresholds`` of
its rule, where ``--threshold rule.name=value`` reaches it.  What is left may only count and index
(-1, 0, 1, 2), or say what a text looks like.  ``make facts`` prints what is found here, and a test
holds it at nothing.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import Rule, rules

__all__ = ["RULES", "unexplained", "unnamed", "unused"]

RULES = Path(__file__).parents[1] / "src" / "whygrad" / "doctor" / "rules"
_COUNTING = (0, 1, 2)
_DEFAULTS = ("argument", "get", "group")  # places and defaults of somebody else's arguments


def unnamed(folder: Path = RULES) -> Iterator[tuple[str, int, str]]:
    """File, line and text of each number in a rule that is no threshold."""
    for path in sorted(folder.glob("*/*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {id(number) for each in ast.walk(tree) for number in _declared(each, tree)}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and type(node.value) in (int, float)
                and id(node) not in named
                and node.value not in _COUNTING
            ):
                yield f"{path.parent.name}/{path.name}", node.lineno, str(node.value)


def _declared(node: ast.AST, tree: ast.Module) -> Iterator[ast.AST]:
    """What is named, or a fact of another interface, at some node."""
    if isinstance(node, ast.Compare) and ".ndim" in ast.unparse(node.left):
        yield from ast.walk(node)  # how many axes there are decides nothing by degree
    if not isinstance(node, ast.Call):
        return
    if getattr(node.func, "attr", "") in _DEFAULTS:
        yield from (number for each in node.args for number in ast.walk(each))
    if getattr(node.func, "id", "") == "rule":
        for each in node.keywords:
            if each.arg in ("thresholds", "severity"):
                yield from ast.walk(each.value)
                yield from _shared(each.value, tree)


def _shared(thresholds: ast.expr, tree: ast.Module) -> Iterator[ast.AST]:
    """The tables of the module that a rule's thresholds include: ``**COMMON``."""
    names = {each.id for each in ast.walk(thresholds) if isinstance(each, ast.Name)}
    for each in tree.body:
        if isinstance(each, ast.Assign) and {ast.unparse(to) for to in each.targets} & names:
            yield from ast.walk(each.value)


def unused() -> Iterator[str]:
    """``rule.name`` of each threshold that its module, or one that shares it, never asks for."""
    for rule in _rules():
        text = Path(inspect.getfile(inspect.unwrap(rule.check))).read_text(encoding="utf-8")
        shared = "".join(
            file.read_text(encoding="utf-8")
            for each in re.findall(r"from whygrad\.doctor\.(\w+(?:\.\w+)+) import [\w(]", text)
            if each.startswith(("rules.", "experiments."))
            for file in _files(RULES.parent / each.replace(".", "/"))
        )
        for name in rule.thresholds:
            if not _asked(name, text + shared):
                yield f"{rule.id}.{name}"


def _files(module: Path) -> list[Path]:
    """The file of a module, or those of a package."""
    return sorted(module.glob("*.py")) if module.is_dir() else [module.with_suffix(".py")]


def _asked(name: str, text: str) -> bool:
    """Whether ``"name"``, or its words one by one, stand somewhere besides the declaration."""
    words = name.split()
    ends = [f'"{words[0]}"', f'" {words[-1]}"'] if len(words) > 1 else []
    return len(re.findall(f'"{re.escape(name)}"(?!: \\()', text)) > 0 or (
        bool(ends) and all(each in text for each in ends)
    )


def unexplained() -> Iterator[str]:
    """``rule.name`` of each threshold that gives no reason."""
    for rule in _rules():
        yield from (f"{rule.id}.{name}" for name in rule.thresholds if name not in rule.reasons)


def _rules() -> list[Rule]:
    load()
    return [rule for rule in rules.values() if rule.tier]


if __name__ == "__main__":
    for file, line, number in unnamed():
        print(f"{file}:{line}: {number} has no name")
    for threshold in unexplained():
        print(f"{threshold} gives no reason")
    for threshold in unused():
        print(f"{threshold} is asked for by nobody")
