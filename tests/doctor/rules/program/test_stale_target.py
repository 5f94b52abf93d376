"""Targets from a copy of the model: one that follows, one that stays, one that is to stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

torch = pytest.importorskip("torch")

COPY = """
import copy

def network():
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))

model = network()
{made}
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(40):
    later = x.roll(1, 0)
    with torch.no_grad():
        {asked}
    loss = F.mse_loss(model(x), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step(){mark}
    {after}
"""
BEHIND = "wanted = y + 0.9 * target(later)"
NEVER = {
    "a copy": "target = copy.deepcopy(model)",
    "another one": "target = network()",
    "loaded once": "target = network(); target.load_state_dict(model.state_dict())",
}
WRONG = {
    "into the model": "model.load_state_dict(target.state_dict())  # here",
    "into itself": "target.load_state_dict(target.state_dict())  # here",
    "softly into the model": "with torch.no_grad():\n"
    "        for one, other in zip(model.parameters(), target.parameters()):\n"
    "            one.lerp_(other, 0.01)  # here",
}
FOLLOWS = {
    "at every step": "target.load_state_dict(model.state_dict())",
    "now and then": "if step % 10 == 9: target.load_state_dict(model.state_dict())",
    "softly": "with torch.no_grad():\n"
    "        for one, other in zip(target.parameters(), model.parameters()):\n"
    "            one.lerp_(other, 0.01)",
    "anew": "target = copy.deepcopy(model)",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", NEVER)
def test_a_copy_that_stays(tmp_path: Path, how: str, engine: str) -> None:
    text = COPY.format(made=NEVER[how], asked=BEHIND, mark="  # here", after="pass")
    found = only(tmp_path, "stale-target", text, engine)
    assert found.certainty == "likely"
    assert "4 parameters (148 values)" in found.evidence[0]


@pytest.mark.parametrize("how", WRONG)
def test_a_copy_that_is_written_from(tmp_path: Path, how: str) -> None:
    text = COPY.format(made=NEVER["a copy"], asked=BEHIND, mark="", after=WRONG[how])
    only(tmp_path, "stale-target", text)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", FOLLOWS)
def test_a_copy_that_follows(tmp_path: Path, how: str, engine: str) -> None:
    text = COPY.format(made=NEVER["a copy"], asked=BEHIND, mark="", after=FOLLOWS[how])
    assert not ask(tmp_path, "stale-target", text, engine)


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        ("target = network()", "wanted = target(x)"),  # a random network is to be predicted
        ("target = network()", "x = target(later); wanted = y"),  # a layer before the model
    ],
)
def test_a_network_that_is_to_stay(tmp_path: Path, made: str, asked: str) -> None:
    text = COPY.format(made=made, asked=asked, mark="", after="pass")
    assert not ask(tmp_path, "stale-target", text)


def test_a_reference_that_was_trained(tmp_path: Path) -> None:
    text = """
import copy

model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(40):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
before = copy.deepcopy(model)
for step in range(40):
    with torch.no_grad():
        known = before(x)
    loss = F.mse_loss(model(x.flip(1)), 2 * y) + F.mse_loss(model(x), known)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert not ask(tmp_path, "stale-target", text)
