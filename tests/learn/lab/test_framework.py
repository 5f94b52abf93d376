"""What graders rely on: comparisons, verdicts, seeds, texts, records."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from whygrad.learn.content import phrases
from whygrad.learn.lab import progress
from whygrad.learn.lab.bench import Bench, Case, Check, Wrong
from whygrad.learn.lab.catalogue import Lab, UnknownLab, find, labs
from whygrad.learn.lab.compare import Difference, shown, worst
from whygrad.learn.lab.grading import Report, grade
from whygrad.learn.lab.sandbox import Trouble
from whygrad.learn.lab.troubles import explained, harmless
from whygrad.learn.lab.workspace import enclosing, make, opened, reset

Run = Callable[..., Report]


@pytest.fixture
def bench(tiny: Lab, tmp_path: Path) -> Bench:
    folder = tmp_path / "learner"
    folder.mkdir()
    (folder / "work.py").write_text("def double(number):\n    return 2 * number\n")
    return Bench(tiny, folder)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYGRAD_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("target", "yours"),
    [
        (1.0, 1),
        (1.0, 1.0 + 1e-10),
        (math.nan, math.nan),
        (-math.inf, -math.inf),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]),
        ({"a": "x", "b": None, "c": True}, {"c": True, "b": None, "a": "x"}),
        ([], []),
    ],
)
def test_what_agrees(target: object, yours: object) -> None:
    assert worst(target, yours, relative=1e-9) is None


@pytest.mark.parametrize(
    ("target", "yours", "place", "kind"),
    [
        (1.0, 2.0, "", "value"),
        (1.0, math.nan, "", "value"),
        (math.inf, 1e308, "", "value"),
        (1.0, -(10**400), "", "value"),
        (1, True, "", "type"),
        (True, 1, "", "type"),
        (1.0, "1.0", "", "type"),
        (1.0, [1.0], "", "type"),
        (None, 0, "", "type"),
        ([1.0, 2.0], [1.0], "", "length"),
        ([[1.0], [2.0]], [[1.0], []], "[1]", "length"),
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}, "", "keys"),
        ({"a": {"x": [1.0, 2.0]}}, {"a": {"x": [1.0, 3.0]}}, "a.x[1]", "value"),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.1], [3.0, 9.0]], "[1, 1]", "value"),
        ("yes", "no", "", "value"),
    ],
)
def test_what_differs(target: object, yours: object, place: str, kind: str) -> None:
    found = worst(target, yours, relative=1e-9, absolute=1e-12)
    assert found is not None
    assert (found.place, found.kind) == (place, kind)


def test_the_worst_is_the_furthest_off_its_own_tolerance() -> None:
    found = worst([1e6, 1.0], [1e6 + 1.0, 1.5], relative=1e-3)
    assert found == Difference("[1]", 1.0, 1.5, 0.5)


def test_the_shape_is_said_where_lengths_differ() -> None:
    found = worst([[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]])
    assert found is not None
    assert (found.target, found.yours) == ([1, 2], [2, 2])


def test_values_are_shown_short() -> None:
    assert shown({"a": 0.1 + 0.2}) == "{'a': 0.3}"
    assert shown(math.nan) == "nan"
    assert len(shown([1.0] * 1000)) <= 71


def test_the_smallest_failing_case_is_reported_in_full(bench: Bench) -> None:
    wrong = "def double(number):\n    print('got', number)\n    return 2 * number + (number > 10)\n"
    cases = [Case({"number": n}, 2 * n, f"print(double({n}))", size=n) for n in (90, 5, 20, 50)]
    check = bench.with_files({"work.py": wrong}).check(
        "doubles", lambda bench: bench.compare("double", cases)
    )
    assert check == Check(
        "doubles",
        False,
        "wrong",
        phrases("lab", "en")["unequal_value"],
        difference=Difference("", 40, 41, 1.0),
        target=40,
        yours=41,
        compared=True,
        example="print(double(20))",
        printed="got 5\ngot 20\ngot 50\ngot 90\n",
    )


def test_trouble_in_one_case_leaves_the_others(bench: Bench) -> None:
    source = "def double(number):\n    return 2 * number if number < 10 else 1 / 0\n"
    replies = bench.with_files({"work.py": source}).replies(
        "double", [{"number": 1}, {"number": 11}, {"number": 2}]
    )
    assert [reply.value for reply in replies] == [2, None, 4]
    trouble = replies[1].trouble
    assert trouble is not None
    assert trouble.kind == "exception"
    assert trouble.facts["line"] == 2


def test_what_was_answered_before_the_end_counts(bench: Bench) -> None:
    source = (
        "import os\ndef double(number):\n    return 2 * number if number < 10 else os._exit(3)\n"
    )
    replies = bench.with_files({"work.py": source}).replies(
        "double", [{"number": 1}, {"number": 11}, {"number": 2}]
    )
    assert replies[0].value == 2
    assert [each.trouble.facts for each in replies[1:] if each.trouble] == [{"code": 3}] * 2


def test_each_question_has_a_fresh_process(bench: Bench) -> None:
    source = "calls = []\ndef double(number):\n    calls.append(1)\n    return len(calls)\n"
    bench = bench.with_files({"work.py": source})
    assert [bench.ask("double", number=1) for _ in range(2)] == [1, 1]
    assert [each.value for each in bench.replies("double", [{"number": 1}] * 2)] == [1, 2]


def test_the_learners_line_is_shown(run: Run) -> None:
    (check,) = run("def double(number):\n    half = number / 0  # oh\n    return half\n").checks
    assert check.where == "work.py:2: half = number / 0  # oh"
    assert "ZeroDivisionError" in check.message


def test_a_syntax_error_has_its_line(run: Run) -> None:
    (check,) = run("def double(number):\n    return (2 *\n").checks
    assert check.kind == "syntax"
    assert check.where == "work.py:2: return (2 *"


def test_what_is_not_written_yet_is_said_so(run: Run) -> None:
    (check,) = run("def double(number):\n    raise NotImplementedError('double')\n").checks
    assert (check.kind, check.message) == ("todo", "Not written yet: double")


def test_a_missing_file_is_said(tiny: Lab, tmp_path: Path) -> None:
    (check,) = grade(tiny, tmp_path).checks
    assert check.kind == "missing"
    assert "work.py" in check.message


@pytest.mark.parametrize(
    "text", ["grâd = 1", "# «x»\ndef double(number):\n    return 2 * number\n"]
)
def test_any_text_may_stand_in_a_file(bench: Bench, text: str) -> None:
    assert bench.with_files({"work.py": text}).source("work.py") == text


def test_a_file_that_is_not_utf8(bench: Bench) -> None:
    (bench.folder / "work.py").write_bytes(b"x = '\xff'")
    with pytest.raises(Trouble) as raised:
        bench.source("work.py")
    assert raised.value.kind == "syntax"


def test_the_seed_decides_what_is_asked(tiny: Lab, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text("def double(number):\n    return 0\n")
    examples = {grade(tiny, tmp_path, seed=seed).checks[0].example for seed in (1, 1, 2)}
    assert len(examples) == 2


def test_checks_draw_independently(bench: Bench) -> None:
    drawn: list[float] = []
    for name in ("one", "other", "one"):
        bench.check(name, lambda bench: drawn.append(bench.random.random()))
    assert drawn[0] == drawn[2] != drawn[1]
    bench.check("one", lambda bench: drawn.append(bench.generator().random()))
    bench.check("one", lambda bench: drawn.append(bench.generator().random()))
    assert drawn[3] == drawn[4]


def test_a_mistake_of_the_grader_fails_the_check_and_no_more(bench: Bench) -> None:
    check = bench.check("doubles", lambda bench: bench.ask("double", number=1)["no"])
    assert (check.passed, check.kind) == (False, "grader")
    assert "TypeError" in check.message


def test_wrong_carries_notes_and_place(bench: Bench) -> None:
    def refuse(bench: Bench) -> None:
        raise Wrong("no", notes=["a", "b"], where="work.py:3", example="x = 1")

    check = bench.check("doubles", refuse)
    assert (check.message, check.notes, check.where, check.example) == (
        "no", ("a", "b"), "work.py:3", "x = 1",
    )  # fmt: skip


def test_a_grader_must_give_the_checks_of_the_lab(tiny: Lab, tmp_path: Path) -> None:
    words = {"en": "a", "es": "a"}
    with pytest.raises(RuntimeError, match=r"yield each check of lab.yaml once"):
        grade(replace(tiny, checks={"doubles": words, "more": words}), tmp_path)


def test_a_lab_without_its_library_says_what_to_install(tiny: Lab, tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="pip install no_such_library"):
        grade(replace(tiny, needs=("no_such_library",)), tmp_path)


def test_every_trouble_has_words() -> None:
    kinds = (
        "answer", "ended", "exception", "exit", "forbidden", "garbled", "grader", "killed", "large",
        "missing", "output", "syntax", "timeout", "todo",
    )  # fmt: skip
    for kind in kinds:
        english, spanish = (explained(Trouble(kind, {}), each) for each in ("en", "es"))
        assert english
        assert english != spanish


def test_every_forbidden_act_has_words() -> None:
    acts = ("import", "limit", "network", "process", "reach", "read", "signal", "write")
    general = explained(Trouble("forbidden", {"act": "os.remove", "detail": "x"}), "en")
    for act in acts:
        facts = {"act": act, "detail": "x"}
        assert explained(Trouble("forbidden", facts), "en") != general.replace("os.remove", act)


def test_harmless_keeps_lines_and_accents() -> None:
    assert harmless("año\n\tfin\x1b[31m\x9b") == "año\n\tfin�[31m�"


def test_placeholders_take_the_indentation_of_their_line(tmp_path: Path, tiny: Lab) -> None:
    (tmp_path / "starter").mkdir()
    (tmp_path / "starter" / "work.py").write_text(
        'def double(number):\n    """«about»"""\n    # «todo»\n    return 0  # «tail»\n'
    )
    text = {"en": "One.\n\nTwo.", "es": "Uno."}
    lab = replace(tiny, folder=tmp_path, texts=dict.fromkeys(("about", "todo", "tail"), text))
    assert lab.starter("en")["work.py"] == (
        'def double(number):\n    """One.\n\n    Two.\n    """\n    # One.\n    #\n    # Two.\n'
        "    # One.\n    #\n    # Two.\n    return 0\n"
    )
    assert "# Uno." in lab.starter("es")["work.py"]


@pytest.mark.parametrize("wish", ["1", "01", "value", "01_value"])
def test_labs_are_found_by_number_and_name(wish: str) -> None:
    assert find(wish).name == "value"


def test_close_names_are_offered() -> None:
    with pytest.raises(UnknownLab) as raised:
        find("vlaue")
    assert raised.value.close[0] == "value"
    with pytest.raises(UnknownLab):
        find("99")


def test_a_workspace_is_made_once(tmp_path: Path) -> None:
    lab = find("value")
    assert make(lab, tmp_path, "es") == ["README.md", "value.py", "test_value.py"]
    (tmp_path / "value.py").write_text("mine")
    (tmp_path / "README.md").unlink()
    assert make(lab, tmp_path, "es") == ["README.md"]
    assert (tmp_path / "value.py").read_text() == "mine"
    work = opened(tmp_path)
    assert work is not None
    assert (work.lab, work.language) == (lab, "es")
    (tmp_path / "deeper").mkdir()
    assert enclosing(tmp_path / "deeper") == work


def test_reset_keeps_a_backup(tmp_path: Path) -> None:
    lab = find("value")
    make(lab, tmp_path, "en")
    work = opened(tmp_path)
    assert work is not None
    backups = []
    for text in ("first", "second"):
        (tmp_path / "value.py").write_text(text)
        backups.append(reset(work))
        assert (tmp_path / "value.py").read_text() == lab.starter("en")["value.py"]
    assert [(each / "value.py").read_text() for each in backups] == ["first", "second"]


@pytest.mark.parametrize("marker", ["", "{", "[]", '{"lab": "value"}', '{"lab": 3, "language": 1}'])
def test_a_broken_marker_is_no_lab(tmp_path: Path, marker: str) -> None:
    (tmp_path / ".whygrad-lab.json").write_text(marker)
    assert opened(tmp_path) is None


def test_progress_is_what_the_log_says(tmp_path: Path) -> None:
    lab = find("value")
    assert progress.of(lab).state == "new"
    progress.note("start", lab, folder=str(tmp_path))
    progress.note("check", lab, failing=["deep", "tests-catch"], seed=1, folder=str(tmp_path))
    progress.note("hint", lab, check="deep", given=1)
    progress.note("hint", lab, check="deep", given=2)
    now = progress.of(lab)
    assert (now.state, now.first_failing, now.hints) == ("started", "deep", {"deep": 2})
    assert progress.folders()[0] == tmp_path
    for failing in ([], ["deep"]):
        progress.note("check", lab, failing=failing, seed=1, folder=str(tmp_path))
    now = progress.of(lab)
    assert (now.state, now.first_failing) == ("passed", "deep")  # once passed stays passed


def test_a_torn_log_is_still_read(tmp_path: Path) -> None:
    lab = find("value")
    progress.note("start", lab, folder=str(tmp_path))
    log = tmp_path / "home" / "labs.jsonl"
    whole = log.read_text()
    log.write_text(whole + '{"event": "check", "lab": "val')
    assert progress.of(lab).state == "started"
    progress.note("hint", lab, check="deep", given=1)
    assert progress.of(lab).hints == {"deep": 1}


def test_the_report_is_json(run: Run) -> None:
    report = run("def double(number):\n    return float('nan')\n", language="es")
    content = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert content["passed"] is False
    assert content["language"] == "es"
    (check,) = content["checks"]
    assert check["title"] == "duplica"
    assert check["difference"]["yours"] == "nan"


def test_labs_are_in_order() -> None:
    assert [lab.number for lab in labs()] == sorted(lab.number for lab in labs())
