"""A view in the place of a permutation: shapes decide, so shapes are what is tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only
from whygrad.doctor.rules.scrambles import remedy_for

SCRAMBLED = {
    ((64, 8, 8, 3), (64, 3, 8, 8)): "permute(0, 3, 1, 2)",
    ((64, 20, 5), (64, 5, 20)): "permute(0, 2, 1)",
    ((8, 12, 32), (8, 4, 12, 8)): "view(8, 12, 4, 8).transpose(1, 2)",
    ((8, 4, 12, 8), (8, 12, 32)): "transpose(1, 2).reshape(8, 12, 32)",
}
ORDINARY = (
    ((64, 28, 28), (64, 1, 28, 28)),
    ((64, 8, 8), (64, 64)),
    ((64, 192), (64, 3, 8, 8)),
    ((8, 12, 32), (8, 12, 4, 8)),
    ((8, 12, 4, 8), (8, 12, 32)),
    ((8, 12, 32), (96, 32)),
    ((5, 7), (35,)),
    ((16, 1, 10), (16, 10, 1)),
    ((4, 4, 32), (4, 4, 4, 8)),  # as many heads as steps: either may be meant
)


@pytest.mark.parametrize(("shapes", "remedy"), SCRAMBLED.items())
def test_axes_in_another_order(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], remedy: str
) -> None:
    assert remedy_for(*shapes) == remedy


@pytest.mark.parametrize(("before", "after"), ORDINARY)
def test_axes_that_are_joined_or_split(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert remedy_for(before, after) is None


_STEPS = """
signals = torch.randn(256, 20, 5)
answers = signals[:, :, 0].mean(1, keepdim=True)
net = nn.Sequential(nn.Conv1d(5, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    rows = torch.randint(0, 256, (32,))
    batch = signals[rows]{turned}  # here
    loss = F.mse_loss(net(batch), answers[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_view_that_swaps_time_and_channels(tmp_path: Path) -> None:
    found = only(tmp_path, "wrong-dim", _STEPS.format(turned=".reshape(32, 5, 20)"))
    assert "permute(0, 2, 1)" in found.fix


def test_a_transposition(tmp_path: Path) -> None:
    assert ask(tmp_path, "wrong-dim", _STEPS.format(turned=".transpose(1, 2)")) == []
