"""Questions are answered by forks of a template, or by processes that load all by themselves."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from whygrad.learn.lab import processes
from whygrad.learn.lab.bench import Bench
from whygrad.learn.lab.catalogue import Lab
from whygrad.learn.lab.grading import Report

Run = Callable[..., Report]
HONEST = "def double(number):\n    return 2 * number\n"
forks = pytest.mark.skipif(not processes._FORKS, reason="processes are not forked here")


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> list[type]:
    """Of the processes that are started."""
    seen: list[type] = []

    def started(*given: object) -> object:
        process = start(*given)
        seen.append(type(process))
        return process

    start: Callable[..., object] = processes.start
    monkeypatch.setattr("whygrad.learn.lab.sandbox.start", started)
    return seen


def answers(tiny: Lab, folder: Path, source: str) -> Callable[[], object]:
    folder.mkdir(exist_ok=True)
    (folder / "work.py").write_text(source)
    return lambda: Bench(tiny, folder).ask("anything")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (HONEST, ""),
        ("def double(number):\n    return number\n", "wrong"),
        ("open('/valuable', 'w')\n" + HONEST, "forbidden"),
        ("import os\nos.fork()\n" + HONEST, "forbidden"),
        ("import os\nos.kill(os.getpid(), 9)", "killed"),
        ("import os\nos._exit(3)", "ended"),
        ("while True: pass", "timeout"),
        ("b = []\nwhile True: b.append(bytearray(1 << 24))", "exception"),
    ],
)
def test_a_process_that_is_not_forked_is_judged_alike(
    run: Run, kinds: list[type], monkeypatch: pytest.MonkeyPatch, source: str, kind: str
) -> None:
    monkeypatch.setattr(processes, "_FORKS", False)
    (check,) = run(source, seconds=0.5 if kind == "timeout" else 5.0).checks
    assert (check.passed, check.kind) == (not kind, kind)
    assert kinds == [processes.Spawned]


@forks
def test_forks_have_numbers_surroundings_and_random_numbers_of_their_own(
    tiny: Lab, tmp_path: Path, kinds: list[type]
) -> None:
    (tiny.folder / "probes.py").write_text(
        "import numpy\nimport whygrad\n"
        "def anything(learner):\n    return learner.module('work').answer()\n"
    )
    asked = answers(tiny, tmp_path / "learner", (
        "import os, random, sys, tempfile\nimport numpy, whygrad\n"
        "def answer():\n"
        "    return [os.getpid(), os.getcwd(), os.environ['HOME'], tempfile.gettempdir(),\n"
        "            random.random(), numpy.random.random(), whygrad.rand(1).item()]\n"
    ))  # fmt: skip
    one, other = asked(), asked()
    assert isinstance(one, list)
    assert isinstance(other, list)
    assert all(mine != theirs for mine, theirs in zip(one, other, strict=True))
    assert kinds == [processes.Forked] * 2


@forks
def test_a_fork_leads_its_session_and_has_nothing_of_the_template(
    tiny: Lab, tmp_path: Path, kinds: list[type]
) -> None:
    asked = answers(tiny, tmp_path / "learner", (
        "import os, stat, sys\n"
        "def answer():\n"
        "    kinds = [stat.S_IFMT(os.fstat(n).st_mode) for n in range(20) if is_open(n)]\n"
        "    return [os.getsid(0) == os.getpid(), stat.S_IFSOCK in kinds, len(sys.argv)]\n"
        "def is_open(number):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: return False\n"
        "    return True\n"
    ))  # fmt: skip
    assert asked() == [True, False, 1]
    assert kinds == [processes.Forked]


@forks
def test_a_template_that_was_ended_is_replaced(
    tiny: Lab, tmp_path: Path, kinds: list[type]
) -> None:
    asked = answers(tiny, tmp_path / "learner", "def answer():\n    return 7\n")
    assert asked() == 7
    template = processes._latest._template
    assert template is not None
    os.kill(template._process.pid, signal.SIGKILL)
    template._process.wait()
    assert [asked(), asked()] == [7, 7]
    assert kinds == [processes.Forked, processes.Spawned, processes.Forked]


@forks
def test_a_lab_that_was_changed_is_loaded_anew(tiny: Lab, tmp_path: Path) -> None:
    asked = answers(tiny, tmp_path / "learner", "")
    for number in (1, 2):
        (tiny.folder / "probes.py").write_text(f"def anything(learner):\n    return {number}\n")
        os.utime(tiny.folder / "probes.py", ns=(number, number))
        assert asked() == number


@forks
def test_while_a_template_has_a_fork_others_load_themselves(
    tiny: Lab, tmp_path: Path, kinds: list[type]
) -> None:
    asked = answers(tiny, tmp_path / "learner", "def answer():\n    return 7\n")
    assert asked() == 7
    template = processes._latest._template
    assert template is not None
    with template.free:
        assert asked() == 7
    assert kinds == [processes.Forked, processes.Spawned]


@forks
def test_probes_that_cannot_be_loaded_are_told_by_a_process_of_its_own(
    tiny: Lab, run: Run, kinds: list[type]
) -> None:
    (tiny.folder / "probes.py").write_text("1 / 0")
    (check,) = run(HONEST).checks
    assert check.kind == "probes"
    assert "ZeroDivisionError" in check.message + check.printed
    assert kinds == [processes.Spawned]
