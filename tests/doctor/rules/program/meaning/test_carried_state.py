"""A state that is handed from batch to batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only, watched

torch = pytest.importorskip("torch")

READER = """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(2, 6, batch_first=True)
        self.head = nn.Linear(6, 1)

    def forward(self, given, state=None):
        states, state = self.layer(given, state)
        return self.head(states[:, -1]), state


series = torch.randn(128, 5, 2)
wanted = series.sum((1, 2))[:, None]
model, state = Reader(), None
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
"""
PICKED = """
for epoch in range(4):
    for rows in {rows}.split(16):
        answer, state = model(series[rows], {state})  # here
        state = state.detach()
        loss = F.mse_loss(answer, wanted[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
LOADED = """
data = torch.utils.data.TensorDataset(series, wanted)
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle={shuffle})
for epoch in range(4):
    for given, answers in loader:
        answer, state = model(given, {state})  # here
        state = state.detach()
        loss = F.mse_loss(answer, answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_rows_in_random_order(tmp_path: Path) -> None:
    script = READER + PICKED.format(rows="torch.randperm(128)", state="state")
    found = only(tmp_path, "carried-state", script)
    assert "rows" in found.evidence[1]


def test_a_loader_that_shuffles(tmp_path: Path) -> None:
    only(tmp_path, "carried-state", READER + LOADED.format(shuffle="True", state="state"))


def test_a_long_run_of_which_few_steps_are_looked_at(tmp_path: Path) -> None:
    loop = PICKED.format(rows="torch.randperm(128)", state="state").replace("(4)", "(40)")
    only(tmp_path, "carried-state", READER + loop)
    fresh = loop.replace(
        "        answer, state", "        state = torch.rand(1, 16, 6)\n        answer, state"
    )
    assert ask(tmp_path, "carried-state", READER + fresh) == []


@pytest.mark.parametrize(
    "loop",
    [
        PICKED.format(rows="torch.arange(128)", state="state"),
        PICKED.format(rows="torch.randperm(128)", state="None"),
        PICKED.format(rows="torch.arange(128).reshape(16, 8).t().reshape(-1)", state="state"),
        LOADED.format(shuffle="False", state="state"),
        LOADED.format(shuffle="True", state="None"),
    ],
)
def test_pieces_in_their_order_or_no_state(tmp_path: Path, loop: str) -> None:
    assert ask(tmp_path, "carried-state", READER + loop) == []


def test_steps_with_a_state_from_before_can_be_run_again(tmp_path: Path) -> None:
    case = watched(tmp_path, READER + PICKED.format(rows="torch.arange(128)", state="state"))
    for step in (case.courses[0].earlier, case.courses[0].last):
        trace = case.trace(step)
        assert trace is not None
        assert trace.reproduced
