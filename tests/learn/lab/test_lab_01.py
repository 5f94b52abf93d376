"""Lab 1: what its README claims, and that engines of many makes are graded rightly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import whygrad
from scripts.documents import refreshed
from whygrad.learn.lab.bench import Bench
from whygrad.learn.lab.catalogue import find
from whygrad.learn.lab.grading import grade
from whygrad.learn.lab.workspace import make
from whygrad.learn.markup import parse

LAB = find("value")
DOCS = Path(__file__).parents[3] / "docs"
ENGINE = LAB.solution("en")["value.py"]
ROW = re.compile(r"\| `(.+?)` +\| (\w = .+?) +\| (-?\d+) +\| (.+?) +\|")


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_table_of_expressions(language: str) -> None:
    rows = ROW.findall(LAB.readme[language])
    assert len(rows) == 4
    for expression, at, result, gradients in rows:
        values = {
            name: whygrad.Value(float(data)) for name, data in re.findall(r"(\w) = (\d+)", at)
        }
        out = eval(expression, dict(values))
        out.backward()
        assert out.data == float(result)
        claimed = dict(re.findall(r"(\w) (-?\d+)", gradients))
        assert {name: value.grad for name, value in values.items()} == {
            name: float(number) for name, number in claimed.items()
        }


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_operation_that_shows_the_pattern(language: str) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", LAB.readme[language], re.S)
    names: dict[str, object] = {}
    exec(ENGINE, names)
    exec(block, names)
    x = names["Value"](3.0)
    out = names["square"](x)
    out.backward()
    assert (out.data, x.grad) == (9.0, 6.0)


def test_the_walk_by_hand() -> None:
    a, b, c = whygrad.Value(2.0), whygrad.Value(3.0), whygrad.Value(4.0)
    product = a * b
    y = product + c
    y.backward()
    assert (y.grad, product.grad, c.grad, a.grad, b.grad) == (1.0, 1.0, 1.0, 3.0, 2.0)


def test_hints_keep_their_code() -> None:
    """No ``**`` of Python is taken for bold type."""
    for hints in LAB.hints.values():
        for words in hints:
            for text in words.values():
                styles = {span.style for block in parse(text) for span in block.spans}
                assert styles <= {"plain", "code"}, text


# Faults that a learner could make, and the first check that must fail for each.
FAULTS = {
    "grad starts at one": ("self.grad = 0.0", "self.grad = 1.0", "fields"),
    "no float": ("self.data = float(data)", "self.data = str(data)", "fields"),
    "no inputs kept": ("(self, other), \"+\"", "(), \"+\"", "operations"),
    "adds in place": (
        "out = Value(self.data + other.data, (self, other), \"+\")",
        "out = self; out.data += other.data",
        "operations",
    ),
    "difference the wrong way": (
        "return _as_value(other) - self", "return self - _as_value(other)", "numbers",
    ),
    "log of zero": (
        "raise ValueError(f\"log({self.data})\")",
        "return Value(-1000, (self,), \"log\")",
        "log-domain",
    ),
    "slope of tanh": ("(1 - out.data**2)", "(1 - self.data**2)", "slopes"),
    "slope of relu at zero": ("if self.data > 0:", "if self.data >= 0:", "slopes"),
    "no chain": ("self.grad += out.data * out.grad", "self.grad += out.data", "chain"),
    "overwrites in tanh": (
        "self.grad += (1 - out.data**2)", "self.grad = (1 - out.data**2)", "shared",
    ),
    "forward order": ("reversed(order)", "order", "order"),
    "exp of the size": ("math.exp(self.data)", "math.exp(abs(self.data))", "operations"),
    "slope of tanh where x is negative": (
        "(1 - out.data**2)", "(1 - out.data**2 if self.data > -0.5 else 0.3)", "slopes",
    ),
    "relu of one and more": ("if self.data > 0:", "if 0 < self.data < 1:", "slopes"),
    "square instead of power": (
        "Value(self.data**exponent,", "Value(abs(self.data)**exponent,", "operations",
    ),
    "a set of visited values that is never asked": ("elif node not in seen:", "else:", "order"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_the_check_that_names_it(fault: str, tmp_path: Path) -> None:
    before, after, name = FAULTS[fault]
    assert before in ENGINE
    bench = Bench(LAB, tmp_path, seed=3).with_files(
        {"value.py": ENGINE.replace(before, after), "test_value.py": "def test_it(): pass"}
    )
    for check in LAB.grader().grade(bench):
        if not check.passed:
            assert check.id == name, check
            assert check.message
            break
    else:
        pytest.fail("nothing failed")


BREADTH_FIRST = """
    def backward(self):
        order = [self]
        for node in order:
            order.extend(parent for parent in node._prev if parent not in order)
        self.grad = 1.0
        for node in order:
            node._backward()
"""
RECURSIVE = """
    def backward(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for parent in node._prev:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node._backward()
"""


def with_backward(method: str) -> str:
    return re.sub(r"\n    def backward.*?\n\n\n", f"{method}\n\n", ENGINE, flags=re.S)


@pytest.mark.parametrize(
    ("method", "failing"), [(BREADTH_FIRST, "order"), (RECURSIVE, "deep")], ids=["breadth", "calls"]
)
def test_walks_that_are_almost_right(method: str, failing: str, tmp_path: Path) -> None:
    files = {"value.py": with_backward(method), "test_value.py": "def test_it(): pass"}
    bench = Bench(LAB, tmp_path, seed=3).with_files(files)
    grader = LAB.grader()
    assert bench.check("slopes", grader._slopes).passed
    check = bench.check(failing, getattr(grader, f"_{failing}"))
    assert not check.passed
    if failing == "deep":
        assert "RecursionError" in check.message


def test_whygrads_own_value_cannot_be_handed_in(tmp_path: Path) -> None:
    (tmp_path / "test_value.py").write_text("")
    for source in ("from whygrad import Value", f"exec(open({whygrad.scalar.__file__!r}).read())"):
        (tmp_path / "value.py").write_text(source)
        report = grade(LAB, tmp_path)
        assert {check.kind for check in report.checks[:10]} == {"forbidden"}


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_started_lab_is_in_its_language(language: str, tmp_path: Path) -> None:
    make(LAB, tmp_path, language)  # type: ignore[arg-type]
    text = "".join(path.read_text() for path in tmp_path.glob("*.*"))
    assert "«" not in text
    assert ("entradas" in text) == (language == "es")


@pytest.mark.parametrize("guide", ["labs.md", "labs.es.md"])
def test_the_guide_shows_what_is_printed(guide: str) -> None:
    text = (DOCS / guide).read_text()
    assert "<!-- lab sample" in text
    assert "<!-- whygrad lab" in text
    assert refreshed(text) == text, "run `make docs`"
