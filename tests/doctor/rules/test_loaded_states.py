"""States that are put into a model of which they have no name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_LOADED = """
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

net = make()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(60):
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
state = {{{prefix!r} + name: each.clone() for name, each in net.state_dict().items()}}
judged = make()
judged.load_state_dict(state, strict=False)  # here
with torch.no_grad():
    print(F.mse_loss(judged(x), y).item())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_with_other_names_loads_nothing(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "checkpoint-state", _LOADED.format(prefix="module."), engine)
    assert "of 4 parameters none was loaded" in found.evidence[0]
    assert "removeprefix('module.')" in found.fix


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_with_the_same_names(tmp_path: Path, engine: str) -> None:
    assert ask(tmp_path, "checkpoint-state", _LOADED.format(prefix=""), engine) == []
