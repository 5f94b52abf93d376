"""What a figure is about: some of the answers, places without one, a function for two uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_JUDGED_BY_A_FUNCTION = """
labels = (x[:, 0] > 0).float()
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

def accuracy(scores, answers):
    return ((scores > 0).float() == answers).float().mean().item()

for epoch in range(4):
    for start in range(0, 48, 8):
        some, one = x[start : start + 8], labels[start : start + 8].unsqueeze(1)
        scores = model(some)
        loss = F.binary_cross_entropy_with_logits(scores, one)
        right = accuracy(scores, one)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(accuracy(model(x[48:]), labels[48:]{}))  # here
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_function_that_judges_in_training_and_elsewhere(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "metric-bug", _JUDGED_BY_A_FUNCTION.format(""), engine)
    assert "make [16, 16]" in found.evidence[0]
    (tmp_path / "right").mkdir()
    right = _JUDGED_BY_A_FUNCTION.format(".unsqueeze(1)")
    assert not ask(tmp_path / "right", "metric-bug", right, engine)


_NODES = """
import numpy as np
edges = torch.eye(64).to_sparse()
labels = (x[:, 0] > 0).long()
weight = torch.randn(4, 2) * 0.1
order = np.random.RandomState(0).permutation(64)
idx_train, idx_test = order[:32], order[32:]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, nodes):
        return torch.sparse.mm(edges, nodes @ self.weight)

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(20):
    loss = F.cross_entropy(model(x)[idx_train], labels[idx_train])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    out = model(x)[idx_test]
print((out.argmax(1) == labels[idx_test]).float().mean().item())
"""


def test_nodes_of_a_graph_are_split_among_the_answers(tmp_path: Path) -> None:
    assert not ask(tmp_path, "data-leakage", _NODES)


_GAPS = """
labels = (x[:, 0] > 0).long()
labels = torch.stack([{known}, {known}, {known}, {gap}, {gap}], 1)
model = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 10), nn.Unflatten(1, (2, 5)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(200):
    loss = F.cross_entropy(model(x[:40]), labels[:40], ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch < 20:
        continue
    with torch.no_grad():
        pred = model(x[40:]).argmax(1)
        correct = (pred == labels[40:]).sum().item()
        accuracy = (pred == labels[40:]).float().mean().item()
"""


def test_places_without_an_answer_are_no_mistakes(tmp_path: Path) -> None:
    assert not ask(
        tmp_path, "overfitting", _GAPS.format(known="labels", gap="torch.full((64,), -100)")
    )
    (tmp_path / "known").mkdir()
    noise = "torch.randint(0, 2, (64,))"  # which is learned by heart
    assert ask(tmp_path / "known", "overfitting", _GAPS.format(known=noise, gap=noise))
