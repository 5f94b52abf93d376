"""Whatever part of the observer fails, and whenever, the program runs as it does alone."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.recording.wrapping.test_harm import same, script
from whygrad.recording.judging.lookout import Lookout
from whygrad.recording.watching.feeding import Feeding
from whygrad.recording.watching.figures import Figures
from whygrad.recording.watching.gradients import Gradients
from whygrad.recording.watching.idle import Idle
from whygrad.recording.watching.loop import Loop
from whygrad.recording.watching.metrics import Metrics
from whygrad.recording.watching.modules import Modules
from whygrad.recording.watching.parameters import Registry
from whygrad.recording.watching.retention import Retention
from whygrad.recording.watching.snapshots import Snapshots

# Recorded steps, then skipped ones; an evaluation with and one without no_grad at every few.
PROGRAM = """
import torch

torch.manual_seed(0)
x = torch.randn(16, 4)
y = (x.sum(1) > 0).long()
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(60):
    net.train()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    if step % 4 == 0:
        net.eval()
        with torch.no_grad():
            right = (net(x).argmax(1) == y).float().mean().item()
        beside = torch.nn.functional.cross_entropy(net(x), y)
print(loss.item(), right, beside.item())
"""

PARTS = (
    Feeding, Figures, Gradients, Idle, Lookout, Loop, Metrics, Modules, Registry, Retention,
    Snapshots,
)  # fmt: skip


# is_model looks into a dictionary, and is asked at every call of a module.
def _methods(part: type) -> list[tuple[type, str]]:
    own = [name for name, each in vars(part).items() if inspect.isfunction(each)]
    return [(part, name) for name in own if not name.startswith("_") and name != "is_model"]


METHODS = [each for part in PARTS for each in _methods(part)]


@pytest.mark.parametrize(
    ("part", "name"), METHODS, ids=[f"{part.__name__}.{name}" for part, name in METHODS]
)
def test_a_part_that_fails_is_not_noticed(
    part: type, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def fails(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        raise ZeroDivisionError(f"planted in {name}")

    monkeypatch.setattr(part, name, fails)
    outcome = same(script(tmp_path, PROGRAM), troubles=True)
    assert not calls or any("planted" in each for each in outcome.session.run.troubles)
