"""The text of the watched program, read once: the syntax tree and the code objects of each file.

A run shows the lines that computed.  What it does not show stands in the text: how long a loop was
meant to run, which line assigns a layer that nobody calls.  The modules beside this one ask such
questions by name; nothing else in the doctor looks at source text.
"""

from __future__ import annotations

import ast
import dis
import linecache
from collections.abc import Iterator
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any, TypeVar

from whygrad.source import Where
from whygrad.why.syntax import covers, parsed

__all__ = ["Source", "called", "covers", "names_in", "source_of", "walked"]

Node = TypeVar("Node", bound=ast.AST)


class Source:
    """One file of the program; empty if it cannot be read or parsed."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.tree = parsed(text)
        self._nodes: dict[type[ast.AST], list[Any]] = {}

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """The nodes of a kind, outermost first."""
        if kind not in self._nodes:  # asked many times, and a file may be long
            self._nodes[kind] = list(walked(self.tree, kind))
        return iter(self._nodes[kind])

    def bodies(self) -> Iterator[list[ast.stmt]]:
        """The statements of the module, and those of each function."""
        yield from (each.body for each in self.nodes(ast.Module))
        yield from (each.body for each in self.nodes(ast.FunctionDef))

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """The statements of each block: of the module, of a function, of a loop."""
        for each in self.nodes(ast.AST):
            body = getattr(each, "body", None)
            if isinstance(body, list):
                yield body

    def place(self, line: int) -> Where | None:
        """A line of the file, if code stands there: in the innermost function that it is in."""
        return self._places.get(line)

    @cached_property
    def _places(self) -> dict[int, Where]:
        found: dict[int, Where] = {}
        for code in self._codes:
            first: dict[int, Where] = {}
            for each in dis.get_instructions(code):
                line = None if each.positions is None else each.positions.lineno
                if line is not None and each.opname != "RESUME":
                    first.setdefault(line, Where(code, each.offset))
            found |= first
        return found

    @property
    def _codes(self) -> Iterator[CodeType]:
        """All code objects, outermost first."""
        try:
            found = [compile(self.text, self.file, "exec", dont_inherit=True)]
        except (SyntaxError, ValueError):
            return
        for code in found:  # grows while it is walked
            yield code
            found += [each for each in code.co_consts if isinstance(each, CodeType)]


def source_of(place: Where | str) -> Source:
    """The file that a place is in, or that has this name."""
    if isinstance(place, Where):
        return _source(place.file, "".join(place.source))
    return _source(place, "".join(linecache.getlines(place)))


_source = lru_cache(maxsize=128)(Source)


def walked(node: ast.AST, kind: type[Node]) -> Iterator[Node]:
    """The nodes of a kind in another one, itself included, outermost first."""
    return (each for each in ast.walk(node) if isinstance(each, kind))


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in walked(node, ast.Name)}


def called(call: ast.Call) -> str:
    """The last name of what is called: ``shuffle`` of ``random.shuffle(x)``."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
