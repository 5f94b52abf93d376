"""Every lab: the unsolved one fails, the reference solution passes, both languages are complete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from whygrad.learn.lab.authors import complaints
from whygrad.learn.lab.catalogue import Lab, labs, read


@pytest.mark.parametrize("lab", labs(), ids=lambda lab: f"{lab.label}-{lab.name}")
def test_author_check(lab: Lab) -> None:
    if missing := lab.missing():
        pytest.skip(f"needs {', '.join(missing)}")
    assert complaints(lab) == []


def test_numbers_and_names_are_unique() -> None:
    assert len({lab.number for lab in labs()}) == len(labs())
    assert len({lab.name for lab in labs()}) == len(labs())


DESCRIPTION = """
schema: 1
number: 1
name: tiny
title: {en: Twice, es: El doble}
about: {en: A function that doubles., es: Una función que duplica.}
minutes: 5
files: [work.py]
see: [doc:why.md]
checks:
  shape: {en: It is there, es: Está}
  doubles: {en: It doubles, es: Duplica}
free: [shape]
hints:
  shape: [{en: a, es: a}, {en: b, es: b}]
  doubles: [{en: c, es: c}, {en: d, es: d}]
texts:
  about: {en: Twice the number., es: El doble del número.}
  wrong: {en: "not {number}", es: "{number} no es"}
readme: {en: Fill in work.py., es: Completa work.py.}
"""
STARTER = 'def double(number):\n    """«about»"""\n    raise NotImplementedError("double")\n'
SOLUTION = 'def double(number):\n    """«about»"""\n    return 2 * number\n'
PROBES = "def double(learner, number):\n    return learner.module('work').double(number)\n"
GRADER = """
from whygrad.learn.lab import Wrong

def grade(bench):
    yield bench.check("shape", lambda bench: bench.source("work.py"))
    yield bench.check("doubles", _doubles)

def _doubles(bench):
    number = bench.random.randint(2, 99)
    if bench.ask("double", number=number) != 2 * number:
        raise Wrong(bench.say("wrong", number=number))
"""
Write = Callable[..., list[str]]


@pytest.fixture
def complained(tmp_path: Path) -> Write:
    """The complaints about a lab, after one text of one file was replaced by another."""

    def write(file: str = "lab.yaml", before: str = "", after: str = "") -> list[str]:
        folder = tmp_path / "01_tiny"
        files = {
            "lab.yaml": DESCRIPTION, "starter/work.py": STARTER, "solution/work.py": SOLUTION,
            "probes.py": PROBES, "grader.py": GRADER,
        }  # fmt: skip
        assert before in files[file]
        files[file] = files[file].replace(before, after, 1) if before else files[file]
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return complaints(read(folder))

    return write


def test_a_good_lab_has_no_complaints(complained: Write) -> None:
    assert complained() == []


@pytest.mark.parametrize(
    ("file", "before", "after", "complaint"),
    [
        ("starter/work.py", 'raise NotImplementedError("double")', "return 2 * number", "passes"),
        ("lab.yaml", "free: [shape]", "free: []", "not listed as free: a check must fail until "),
        ("lab.yaml", "free: [shape]", "free: [shape, doubles]", "the starter fails them"),
        ("lab.yaml", "free: [shape]", "free: [form]", "do not exist: ['form']"),
        ("solution/work.py", "2 * number", "3 * number", "the solution fails doubles: "),
        ("lab.yaml", "{en: Twice, es: El doble}", "{en: Twice}", "'es' is a required"),
        ("lab.yaml", "  doubles: [{en: c, es: c}, {en: d, es: d}]\n", "", "hints are for"),
        ("lab.yaml", ", {en: d, es: d}]", "]", "lab.yaml: $.hints.doubles: at least 2 hints are"),
        ("lab.yaml", "es: Completa work.py.", "es: Completa.", "the es README does not mention"),
        ("lab.yaml", '"{number} no es"', '"{numero} no es"', "texts.wrong has other fields"),
        ("lab.yaml", "number: 1", "number: 2", "does not fit number 2"),
        ("lab.yaml", "doc:why.md", "doc:whi.md", "doc:whi.md leads nowhere; there is doc:why.md"),
        ("lab.yaml", "doc:why.md", "op:relo", "op:relo leads nowhere; there is op:relu"),
        ("lab.yaml", "doc:why.md", "lab:vale", "lab:vale leads nowhere; there is lab:value"),
        ("lab.yaml", "doc:why.md", "rule:dead-rely", "there is rule:dead-relu"),
        (
            "starter/work.py", "«about»", "«nothing»",
            "starter: the text «nothing» of lab tiny\n"
            "  cause: lab.yaml has none of this name; it has about, wrong\n"
            "  fix:   add it under texts, in both languages: nothing: {en: …, es: …}",
        ),
        ("starter/work.py", "raise NotImpl", "raise = Not", "work.py is not valid Python"),
        ("starter/work.py", '"double"', '"«about»"', "work.py is another program in Spanish"),
        ("grader.py", "bench.ask(", "bench.aks(", "grader.py:10: The grader could not"),
        ("grader.py", "yield bench", "yield benhc", "grader.py:5: NameError: name 'benhc' is not"),
        ("grader.py", "def grade(", "def grade((", "grader.py: SyntaxError: "),
        (
            "grader.py", '"doubles"', '"dobules"',
            "the grader of lab tiny\n  cause: it gave ['shape', 'dobules'], lab.yaml has "
            "['shape', 'doubles']\n  fix:   yield each check of lab.yaml once, in its order",
        ),
        (
            "grader.py", 'ask("double"', 'ask("dobule"',
            "doubles: A mistake of the lab, not yours: its probes.py cannot be used (LookupError: "
            "the grader asks for 'dobule', and probes.py has double).",
        ),
        (
            "probes.py", "def", "import nothing_such\n\ndef",
            "probes.py cannot be used (ModuleNotFoundError: No module named 'nothing_such').",
        ),
        ("grader.py", "2 * number:", "1 / 0:", "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_a_faulty_lab_is_found_out(
    complained: Write, file: str, before: str, after: str, complaint: str
) -> None:
    assert any(complaint in each for each in complained(file, before, after))


def test_a_mistake_of_the_grader_is_told_once(complained: Write) -> None:
    (only,) = complained("grader.py", "bench.random", "bench.radnom")
    assert only.startswith("grader.py:9: The grader could not make sense of the answer (Attribute")


def test_a_lab_without_probes(tmp_path: Path, complained: Write) -> None:
    complained()
    (tmp_path / "01_tiny" / "probes.py").unlink()
    assert complaints(read(tmp_path / "01_tiny")) == [
        "probes.py is missing: the functions that bench.ask and bench.compare call beside the "
        "learner's program"
    ]


def test_the_grader_speaks_the_reader_s_language(tmp_path: Path, complained: Write) -> None:
    assert complained("solution/work.py", "2 *", "3 *")[0].startswith(
        "the solution fails doubles: not "
    )
    assert "no es" in complaints(read(tmp_path / "01_tiny"), "es")[0]
