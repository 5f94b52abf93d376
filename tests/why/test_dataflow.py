"""Where a number goes, by the names it gets: enough to be useful, and no guessing."""

from __future__ import annotations

import linecache
from textwrap import dedent
from typing import Any

import pytest

from whygrad.source import Where
from whygrad.why.dataflow import statement_at, used_at

FILE = "flowing.py"


class At(Where):
    """What ``h`` does on a line, or the call at a column, without a program that runs."""

    __slots__ = ("_line", "_start")

    def __init__(self, line: int, column: int | None = None) -> None:
        self._line = line
        self._start = linecache.getline(FILE, line).find("h.") if column is None else column

    @property
    def file(self) -> str:
        return FILE

    @property
    def line(self) -> int:
        return self._line

    @property
    def columns(self) -> tuple[int, int]:
        return self._start, self._start + 1


@pytest.fixture
def program(request: Any) -> Any:
    """Make a text readable as a file; the lines marked ``out`` and ``in``."""
    text = dedent(request.param).lstrip("\n")
    lines = text.splitlines(keepends=True)
    linecache.cache[FILE] = (len(text), None, lines, FILE)
    marked = {
        mark: [number for number, line in enumerate(lines, 1) if f"# {mark}" in line]
        for mark in ("out", "in")
    }
    yield marked
    linecache.cache.pop(FILE)


REACHED = {
    "by name": """
        scale = h.item()  # out
        loss = w * scale  # in
    """,
    "through another name": """
        a = h.item()  # out
        b = a + 1
        c = b * 2
        loss = w * c  # in
    """,
    "in the same line": """
        loss = w * h.item()  # out # in
    """,
    "unpacked": """
        low, (high, _) = h.tolist()  # out
        loss = w * high  # in
    """,
    "appended to a list": """
        losses.append(h.item())  # out
        loss = w * sum(losses)  # in
    """,
    "put into a dictionary": """
        log["scale"] = h.item()  # out
        loss = w * log["scale"]  # in
    """,
    "a place in a list": """
        losses[step] = h.item()  # out
        loss = w * sum(losses)  # in
    """,
    "an attribute": """
        self.scale = h.item()  # out
        loss = w * self.scale  # in
    """,
    "added up": """
        total += h.item()  # out
        loss = w * total  # in
    """,
    "in the next round of a loop": """
        for step in range(2):
            loss = w * scale  # in
            scale = h.item()  # out
    """,
    "inside a function": """
        def forward(w):
            scale = h.item()  # out
            with record():
                loss = w * scale  # in
            return loss
    """,
    "a statement over several lines": """
        scale = (
            h.item()  # out
        )
        loss = w * (
            scale  # in
        )
    """,
    "in a comprehension": """
        losses = [h.item() for h in many]  # out
        loss = tensor(losses).mean()  # in
    """,
    "named inside a condition": """
        if (scale := h.item()) > 0:  # out
            loss = w * scale  # in
    """,
    "one number of a loop over them": """
        for scale in h.tolist():  # out
            loss = w * scale  # in
    """,
    "with a type": """
        scale: float = h.item()  # out
        loss = w * scale  # in
    """,
    "one entry of a dictionary": """
        log = {"scale": h.item(), "rate": 0.1}  # out
        loss = w * log["scale"]  # in
    """,
    "in a branch": """
        if training:
            scale = h.item()  # out
        else:
            scale = 1.0
        loss = w * other(scale)  # in
    """,
}
NOT_REACHED = {
    "only printed": """
        print(h.item())  # out
        loss = w * 2  # in
    """,
    "replaced by something else": """
        scale = h.item()  # out
        print(scale)
        scale = 2.0
        loss = w * scale  # in
    """,
    "used before it was read": """
        loss = w * scale  # in
        scale = h.item()  # out
    """,
    "the same name in another function": """
        def log():
            scale = h.item()  # out
            print(scale)

        def forward(scale):
            return w * scale  # in
    """,
    "another name": """
        scale = h.item()  # out
        loss = w * scaled  # in
    """,
    "another attribute": """
        self.logged = h.item()  # out
        loss = self.layer(w)  # in
    """,
    "the variable of a comprehension": """
        scale = h.item()  # out
        loss = sum(w * scale for scale in (1.0, 2.0))  # in
    """,
    "an argument of a lambda": """
        scale = h.item()  # out
        loss = (lambda scale: w * scale)(2.0)  # in
    """,
    "the variable of a loop": """
        scale = h.item()  # out
        for scale in (1.0, 2.0):
            loss = w * scale  # in
    """,
    "what a block opened": """
        scale = h.item()  # out
        with opened() as scale:
            loss = w * scale  # in
    """,
    "replaced, with a type": """
        scale = h.item()  # out
        scale: float = 2.0
        loss = w * scale  # in
    """,
    "replaced among others": """
        scale = h.item()  # out
        scale, rate = 2.0, 0.1
        loss = w * scale  # in
    """,
    "the other of two": """
        scale, rate = (
            h.item(),  # out
            0.1,
        )
        loss = w * rate  # in
    """,
    "another entry of a dictionary": """
        log = {
            "scale": h.item(),  # out
            "rate": 0.1,
        }
        loss = w * log["rate"]  # in
    """,
    "another key": """
        log["scale"] = h.item()  # out
        loss = w * log["rate"]  # in
    """,
}


def cases(programs: dict[str, str]) -> list[Any]:
    return [pytest.param(text, id=name) for name, text in programs.items()]


@pytest.mark.parametrize("program", cases(REACHED), indirect=True)
def test_reached(program: dict[str, list[int]]) -> None:
    (start,), (end,) = program["out"], program["in"]
    found = used_at(At(start), [At(end)])
    assert found is not None
    assert found.line == end


@pytest.mark.parametrize("program", cases(NOT_REACHED), indirect=True)
def test_not_reached(program: dict[str, list[int]]) -> None:
    (start,), (end,) = program["out"], program["in"]
    assert used_at(At(start), [At(end)]) is None


@pytest.mark.parametrize("program", ["scale = (h.item()  # out # in\n"], indirect=True)
def test_source_that_cannot_be_read(program: dict[str, list[int]]) -> None:
    assert used_at(At(1), [At(1)]) is None
    assert statement_at(At(1)) is None


@pytest.mark.parametrize("program", ["scale = h.item(); loss = w * 2\n"], indirect=True)
def test_two_statements_on_one_line(program: dict[str, list[int]]) -> None:
    assert used_at(At(1, 8), [At(1, 25)]) is None


@pytest.mark.parametrize("program", ["a = f(); b = g(a)\nc = (a +\n  b)\n"], indirect=True)
def test_the_statement_of_a_call(program: dict[str, list[int]]) -> None:
    spans = [statement_at(At(*place)) for place in ((1, 4), (1, 13), (3, 2))]
    assert [(each.lineno, each.col_offset) for each in spans if each is not None] == [
        (1, 0),
        (1, 9),
        (2, 0),
    ]
    assert statement_at(At(9)) is None
