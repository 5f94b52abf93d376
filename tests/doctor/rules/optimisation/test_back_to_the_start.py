"""Weights of before the training that are put back: by a mistake, or to begin once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_TRAINED = """
import copy
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

def train(rate):
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    for step in range(40):
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

def judge():
    with torch.no_grad():
        return F.mse_loss(net(x), y).item()

"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kept", ["copy.deepcopy(net.state_dict())", "copied()"])
def test_a_state_that_was_never_replaced(tmp_path: Path, kept: str, engine: str) -> None:
    text = f"""
def copied():
    return {{name: each.clone() for name, each in net.state_dict().items()}}

lowest, state = 0.0, {kept}
for round in range(3):
    train(0.01)
    if judge() < lowest:
        lowest, state = judge(), {kept}
net.load_state_dict(state)  # here
print(judge())
"""
    found = only(tmp_path, "checkpoint-state", _TRAINED + text, engine)
    assert "after 120 training passes the weights of before the first one" in found.evidence[0]
    assert "float('inf')" in found.fix


@pytest.mark.parametrize(
    "text",
    [
        # Rewound, and trained again, for each rate, as in a search or in pruning.
        """
state = copy.deepcopy(net.state_dict())
for rate in (0.003, 0.01, 0.03):
    net.load_state_dict(state)
    print(rate, train(rate), judge())
""",
        # What the training is compared with.
        """
init_state = copy.deepcopy(net.state_dict())
train(0.01)
trained = judge()
net.load_state_dict(init_state)
print(trained, judge())
""",
        # As it should be.
        """
lowest, state = float("inf"), copy.deepcopy(net.state_dict())
for round in range(3):
    train(0.01)
    if judge() < lowest:
        lowest, state = judge(), copy.deepcopy(net.state_dict())
net.load_state_dict(state)
print(judge())
""",
        # The best of the end put back after the start had been.
        """
start = copy.deepcopy(net.state_dict())
train(0.01)
best = copy.deepcopy(net.state_dict())
net.load_state_dict(start)
before = judge()
net.load_state_dict(best)
print(before, judge())
""",
    ],
)
def test_a_state_that_is_put_back_on_purpose(tmp_path: Path, text: str) -> None:
    assert ask(tmp_path, "checkpoint-state", _TRAINED + text) == []
