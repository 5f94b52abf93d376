"""Lab 1's second half: does the learner's test notice engines with one fault in them?"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

from whygrad.learn.lab.bench import Bench, Check
from whygrad.learn.lab.catalogue import find
from whygrad.learn.lab.mutants import mutants

LAB = find("value")
SOLUTION = LAB.solution("en")
ENGINE, TESTS = SOLUTION["value.py"], SOLUTION["test_value.py"]
OTHER = (LAB.folder / "other_engine.py").read_text()
DIAMOND = """
from value import Value

def test_diamond():
    a, b, c = Value(2.0), Value(3.0), Value(4.0)
    ((a * b + c) * (a - c)).backward()
    assert (a.grad, b.grad, c.grad) == (4.0, -4.0, -12.0)
"""


@pytest.fixture(scope="module")
def grader() -> ModuleType:
    return LAB.grader()


def passes(grader: ModuleType, folder: Path, engine: str, tests: str) -> Check:
    bench = Bench(LAB, folder, seed=1).with_files({"value.py": engine, "test_value.py": tests})
    return bench.check("tests-pass", grader._tests_pass)


def catches(grader: ModuleType, folder: Path, engine: str, tests: str) -> Check:
    bench = Bench(LAB, folder, seed=1).with_files({"value.py": engine, "test_value.py": tests})
    return bench.check("tests-catch", grader._tests_catch)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.grad += out.grad", "self.grad = out.grad"),
        ("self.grad+=out.grad", "self.grad=out.grad"),
        ("self.grad -= out.grad + 1", "self.grad = -(out.grad + 1)"),
        ("self.grad -= (out.grad)  # why", "self.grad = -((out.grad))  # why"),
        ("self.grad = self.grad + out.grad", "self.grad = 0.0 + out.grad"),
        ("self.grad = out.grad + self.grad", "self.grad = out.grad + 0.0"),
        ("self.grad = math.fsum([self.grad, g])", "self.grad = math.fsum([0.0, g])"),
        ("prueba = 'añó'; self.grad += g", "prueba = 'añó'; self.grad = g"),
        ("nodes[i].grad += g  # why", "nodes[i].grad = g  # why"),
        ("for n in reversed(order): n._backward()", "for n in order: n._backward()"),
        ("for n in order[::-1]: n._backward()", "for n in order: n._backward()"),
        (
            "for n in sorted(order, key=age): n._backward()",
            "for n in list(sorted(order, key=age))[::-1]: n._backward()",
        ),
        ("while order: order.pop()._backward()", "while order: order.pop(0)._backward()"),
        ("while order: order.pop(0)._backward()", "while order: order.pop()._backward()"),
        ("while ready: ready.popleft()._backward()", "while ready: ready.pop()._backward()"),
        ("[n._backward() for n in reversed(order)]", "[n._backward() for n in order]"),
    ],
)
def test_one_change(before: str, after: str) -> None:
    (mutant,) = mutants(f"import math\n{before}\n")
    assert (mutant.line, mutant.before, mutant.after) == (2, before, after)
    assert mutant.source == f"import math\n{after}\n"


@pytest.mark.parametrize(
    "harmless",
    ["self.grad = 0.0", "self.data += 1", "total += self.grad", "self.grad = other.grad + 1.0"],
)
def test_what_is_no_accumulation_stays(harmless: str) -> None:
    assert mutants(harmless) == []


def test_lines_keep_their_numbers() -> None:
    source = "x.grad += (\n    1.0\n)\ny.grad \\\n    += 2.0\nz.grad += 3.0\n"
    found = mutants(source)
    assert [mutant.line for mutant in found] == [1, 5, 6]
    for mutant in found:
        ast.parse(mutant.source)
        assert mutant.source.count("\n") == source.count("\n")


def test_the_reference_test_kills_all_mutants(grader: ModuleType, tmp_path: Path) -> None:
    assert passes(grader, tmp_path, ENGINE, TESTS).passed
    verdict = catches(grader, tmp_path, ENGINE, TESTS)
    assert verdict.passed, (verdict.message, verdict.notes)
    faulty = grader._faulty(Bench(LAB, tmp_path).with_files(SOLUTION))
    assert len(faulty) == 11  # ten lines that add to a gradient, and the order
    assert {mutant.kind for mutant in faulty} == {"order", "overwrite"}


def test_a_weak_test_hears_of_the_survivors_by_line(grader: ModuleType, tmp_path: Path) -> None:
    assert passes(grader, tmp_path, ENGINE, DIAMOND).passed
    verdict = catches(grader, tmp_path, ENGINE, DIAMOND)
    assert not verdict.passed
    lines = ENGINE.splitlines()
    for name in ("exp", "log", "tanh", "sigmoid", "relu", "__pow__"):
        start = next(number for number, line in enumerate(lines) if f"def {name}(" in line)
        number = next(n for n in range(start, len(lines)) if "self.grad +=" in lines[n])
        was = lines[number].strip()
        note = f"value.py:{number + 1}: {was}\n  → {was.replace('+=', '=')}"
        assert note in verdict.notes
    assert f"{len(verdict.notes)} of 11" in verdict.message
    assert not any("reversed(order)" in note for note in verdict.notes)  # the diamond notices


def test_the_starters_test_catches_nothing(grader: ModuleType, tmp_path: Path) -> None:
    verdict = catches(grader, tmp_path, ENGINE, LAB.starter("es")["test_value.py"])
    assert "11 of 11" in verdict.message


def test_changes_that_change_nothing_are_not_demanded(grader: ModuleType, tmp_path: Path) -> None:
    engine = ENGINE.replace("self.grad = 1.0\n", "self.grad += 1.0\n")
    assert len(mutants(engine)) == len(mutants(ENGINE)) + 1
    assert catches(grader, tmp_path, engine, TESTS).passed


def test_engines_of_another_make(grader: ModuleType, tmp_path: Path) -> None:
    """One line for all operations, and an order that no change of one word reverses."""
    assert passes(grader, tmp_path, OTHER, TESTS).passed
    assert catches(grader, tmp_path, OTHER, TESTS).passed
    weak = catches(grader, tmp_path, OTHER, LAB.starter("en")["test_value.py"])
    assert "1 of 1 " in weak.message


CHEATS = {
    "reads the source": (
        "import inspect, value\ndef test_all():\n    text = inspect.getsource(value)\n"
        "    assert text.count('.grad +=') == 10 and 'reversed(order)' in text\n"
    ),
    "knows its file": (
        "import pathlib, value\ndef test_all():\n    text = pathlib.Path(value.__file__)\n"
        f"    assert len(text.read_bytes()) == {len(ENGINE.encode())}\n"
    ),
    "wants an own field": (
        "from value import Value\ndef test_all():\n    assert isinstance(Value(1)._prev, tuple)\n"
        "    assert Value.__add__.__code__.co_cellvars\n"
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_test_that_does_not_test_is_found_out(
    grader: ModuleType, tmp_path: Path, cheat: str
) -> None:
    verdict = passes(grader, tmp_path, ENGINE, CHEATS[cheat])
    assert not verdict.passed
    assert "another right engine" in verdict.message


@pytest.mark.parametrize(
    ("tests", "kind", "words"),
    [
        ("", "wrong", "no function whose name begins with test_"),
        ("def test_it():\n    assert False, 'always'", "wrong", "test_it fails on your own engine"),
        ("import os\nos._exit(0)", "ended", "exit code 0"),
        ("import os\ndef test_it():\n    os._exit(0)", "ended", "exit code 0"),
        ("def test_it(:", "syntax", "cannot read the file"),
        ("import whygrad", "forbidden", "does without whygrad"),
    ],
)
def test_a_test_file_that_is_none(
    grader: ModuleType, tmp_path: Path, tests: str, kind: str, words: str
) -> None:
    for verdict in (passes, catches):
        check = verdict(grader, tmp_path, ENGINE, tests)
        assert (check.passed, check.kind) == (False, kind)
        assert words in check.message


def test_the_line_of_a_failing_test_is_named(grader: ModuleType, tmp_path: Path) -> None:
    tests = "from value import Value\n\ndef test_it():\n    assert Value(1.0).data == 2.0\n"
    assert (
        passes(grader, tmp_path, ENGINE, tests).where
        == "test_value.py:4: assert Value(1.0).data == 2.0"
    )


def test_an_engine_without_such_lines_is_told(grader: ModuleType, tmp_path: Path) -> None:
    engine = re.sub(r"(\w+)\.grad \+= (.*)", r"setattr(\1, 'grad', \1.grad + \2)", ENGINE)
    assert passes(grader, tmp_path, engine, TESTS).passed
    verdict = catches(grader, tmp_path, engine, TESTS)
    assert not verdict.passed
    assert "x.grad += …" in verdict.message


def test_a_thousand_lines_do_not_take_a_thousand_processes(
    grader: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ENGINE + "\n\ndef more(x):\n" + "    x.grad += 1.0\n" * 1000
    monkeypatch.setattr(grader, "_MOST_MUTANTS", 5)
    asked = []
    bench = Bench(LAB, tmp_path).with_files({"value.py": engine, "test_value.py": TESTS})
    replies = Bench.replies
    monkeypatch.setattr(Bench, "replies", lambda *args: asked.append(args) or replies(*args))
    grader._faulty(bench)
    assert len(asked) == 6
