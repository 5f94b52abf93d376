"""Batches of one class each, in the order of the labels."""

from __future__ import annotations

from pathlib import Path

from tests.doctor.asking import ask, only

_CLASSES = """
kinds = torch.arange(5).repeat_interleave(40)
points = torch.randn(200, 4) + 0.3 * kinds.unsqueeze(1)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 5))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    order = {order}
    for rows in order.split(20):  # here
        loss = F.cross_entropy(net(points[rows]), kinds[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_each_batch_holds_one_class(tmp_path: Path) -> None:
    found = only(tmp_path, "sorted-samples", _CLASSES.format(order="torch.arange(200)"))
    assert "hold one class only, of 5" in found.evidence[0]


def test_shuffled_batches_are_well(tmp_path: Path) -> None:
    assert ask(tmp_path, "sorted-samples", _CLASSES.format(order="torch.randperm(200)")) == []
