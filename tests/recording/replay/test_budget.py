"""The budget counts work: every replay, the same on every machine."""

from __future__ import annotations

import ast
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import whygrad
from whygrad.doctor import watch
from whygrad.doctor.evidence.case import Case
from whygrad.recording.replay.budget import LEAST, MOST, SECOND, SHARE, Budget, work_of
from whygrad.recording.replay.trial import Trial

ROOT = Path(whygrad.__file__).parent
# Faults of level, which only experiments tell: a rate, and the scale of the inputs.
PROGRAMS = {
    "rate": "lr=3.0",
    "scale": "lr=0.05",
}
PROGRAM = """
import whygrad as torch

torch.manual_seed(0)
x = torch.randn(64, 5) * (1000.0 if {scale} else 1.0)
y = (x / x.std()).sum(1, keepdim=True)
model = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), {rate})
for _ in range(60):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
"""


def run_of(width: int = 4, steps: int = 4) -> Any:
    """A case and its course: linear regression."""
    whygrad.manual_seed(0)
    x = whygrad.randn(32, width)
    model = whygrad.nn.Linear(width, 1)
    optimizer = whygrad.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, optimizer) as doc:
        for _ in range(steps):
            optimizer.zero_grad()
            ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
            optimizer.step()
    return Case(doc.run), doc.run.courses[0]


def test_nothing_in_the_doctor_asks_the_clock() -> None:
    rooms = [(ROOT / name).rglob("*.py") for name in ("doctor", "recording")]
    for path in chain(*rooms):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"time", "datetime", "timeit"} & set(names), path


def test_every_replay_counts() -> None:
    _, course = run_of()
    budget = Budget()
    trace = budget.replay(course.first, backward=False)
    once = LEAST - budget.left
    assert once == pytest.approx(sum(map(work_of, trace.calls)))
    trace.again(backward=False)
    assert LEAST - budget.left == pytest.approx(2 * once)
    trace.again()
    assert LEAST - budget.left == pytest.approx(5 * once)  # a backward pass is two forward ones
    left = budget.left
    trial = Trial(course, course.first, budget)
    trial.descend(steps=3)
    assert left - budget.left > 3 * 3 * 0.9 * once
    left = budget.left
    trial.descend(steps=3)
    assert budget.left == left  # what is known is not done again


def test_a_long_run_is_granted_a_part_of_its_own_work() -> None:
    _, course = run_of()
    budget = Budget(0.0)
    budget.replay(course.first)
    spent = -budget.left
    budget.add_passes(course.first, 1000)
    assert budget.left == pytest.approx((1000 * SHARE - 1) * spent)
    assert budget.allows(course.first, int(1000 * SHARE) - 1)
    assert not budget.allows(course.first, int(1000 * SHARE))
    budget.add_passes(course.first, 10**9)
    assert budget.left == pytest.approx(MOST - spent)


def test_a_limit_of_the_users_is_the_limit() -> None:
    _, course = run_of()
    budget = Budget(most=20 * SECOND)
    budget.add_passes(course.first, 10**9)
    assert budget.left == 20 * SECOND


def test_a_step_that_needs_more_memory_is_given_up() -> None:
    _, course = run_of()
    large = Budget(memory=100).replay(course.first)
    assert isinstance(large.error, MemoryError)
    assert not large.reproduced
    assert Budget().replay(course.first).reproduced


def test_of_large_replays_only_the_latest_are_kept() -> None:
    case, course = run_of(steps=40)
    held = [case.trace(each) for each in (course.first, course.earlier, course.last)]
    assert len(case._traces) == 3
    assert held[0] is not None
    tight = Case(case.run, memory=1.5 * held[0].bytes)
    for each in (course.first, course.earlier, course.last):
        tight.trace(each)
    assert list(tight._traces) == [id(course.earlier), id(course.last)]


def test_larger_tensors_are_more_work() -> None:
    works = []
    for width in (4, 4000):
        case, course = run_of(width)
        works.append(sum(map(work_of, case.trace(course.first).calls)))
    assert works[1] > 2 * works[0]


# The command on a machine where everything takes a thousand times as long, as far as clocks tell.
BUSY = """
import runpy, sys, time

def slowed(clock):
    begun = clock()
    return lambda: begun + 1000 * (clock() - begun)

for name in ("monotonic", "perf_counter", "process_time", "thread_time", "time"):
    for each in (name, name + "_ns"):
        setattr(time, each, slowed(getattr(time, each)))
sys.argv[0] = "whygrad"
runpy.run_module("whygrad", run_name="__main__", alter_sys=True)
"""


def report_of(path: Path, *start: str) -> str:
    """What the doctor says in a process of its own, where sets have another order too."""
    command = [sys.executable, *start, "doctor", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300).stderr


@pytest.mark.parametrize("fault", PROGRAMS)
def test_the_same_report_on_a_busy_machine(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(scale=fault == "scale", rate=PROGRAMS[fault]))
    idle = report_of(path, "-m", "whygrad")
    assert "train.py" in idle
    assert report_of(path, "-c", BUSY) == idle


def test_a_step_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bool] = []
    whole = Budget.replay

    def counted(self: Budget, *given: Any, look: bool = False, **how: Any) -> Any:
        looks.append(look)
        return whole(self, *given, look=look, **how)

    monkeypatch.setattr(Budget, "replay", counted)
    case, course = run_of()
    first = case.trace(course.first)
    assert case.trace(course.first) is first
    assert looks.count(True) == 1


def test_looks_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whygrad.recording.replay.budget._BEYOND", 0.0)
    _, course = run_of()
    budget = Budget(0.0)
    assert budget.replay(course.first).reproduced
    refused = budget.replay(course.first)
    assert isinstance(refused.error, TimeoutError)
    assert not refused.reproduced
    assert not refused.calls
