"""A run that learned nothing: the first suspect is named with its measurement."""

from __future__ import annotations

from pathlib import Path

from tests.doctor.asking import ask, only

_PLACES = """
series = torch.randn(400, 6, 3)
kinds = (series[:, 4, 0] > 0).long()
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(60):
    rows = torch.randperm(400)[:50]
    loss = F.cross_entropy(net(series[rows]){picked}, kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

_FROZEN = """
tokens = torch.randint(0, 30, (400,))
kinds = tokens % 2
table, head = nn.Embedding(30, 8), nn.Linear(8, 2)
with torch.no_grad():
    table.weight.mul_(1e-4)
table.weight.requires_grad = False
optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
for step in range(60):
    rows = torch.randperm(400)[:50]
    loss = F.cross_entropy(head(table(tokens[rows])), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_places_that_nothing_is_computed_from(tmp_path: Path) -> None:
    (found,) = ask(tmp_path, "not-learning", _PLACES.format(picked="[:, 0]"))
    assert found.title.endswith("first suspect: what is seen")
    assert any("depends on 1: 0" in each for each in found.evidence)


def test_what_is_frozen_and_was_never_loaded(tmp_path: Path) -> None:
    (found,) = ask(tmp_path, "not-learning", _FROZEN)
    assert found.title.endswith("first suspect: what is frozen")
    assert found.where is not None
    assert "requires_grad = False" in found.where.text


_RELAPSE = """
labels = (x @ torch.randn(4, 3)).argmax(1)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.99)  # here
for step in range(120):
    optimizer.zero_grad()
    F.cross_entropy(model(x), labels).backward()
    optimizer.step()
"""


def test_what_was_learned_and_lost_again_comes_first(tmp_path: Path) -> None:
    found = only(tmp_path, "not-learning", _RELAPSE)
    assert "updates that are too large" in found.title
    assert "momentum=0.9 instead of 0.99" in found.fix
    assert "what is seen" not in found.data["suspects"]
