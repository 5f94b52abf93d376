"""Samples that a model is bad at: known by heart are the others, or these were made otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask

_RUN = """
table = torch.randn(1500, 12)
scores = (table[:, :4] * torch.tensor([2.0, -2.0, 1.5, -1.0])).sum(1)
labels = (scores + {noise} * torch.randn(1500) > 0).long()
train_x, train_y = table[:{samples}], labels[:{samples}]
val_x, val_y = table[1300:]{columns}, labels[1300:]  # here
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range({epochs}):
    for rows in torch.randperm({samples}).split({batch}):
        loss = F.cross_entropy(net(train_x[rows]), train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, F.cross_entropy(net(val_x), val_y).item())
"""
_ROTATED = ".roll(5, 1)"


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_in_another_order(tmp_path: Path, engine: str) -> None:
    text = _RUN.format(noise=0, samples=1300, batch=50, epochs=8, columns=_ROTATED)
    found = ask(tmp_path, "overfitting", text, engine)
    assert [each.rule for each in found] == ["preprocessing-mismatch"]
    assert "training samples that are not among them" in found[0].evidence[0]


@pytest.mark.parametrize("samples", [48, 96, 400])
def test_samples_that_are_learned_by_heart(tmp_path: Path, samples: int) -> None:
    """Few, with labels that are half noise: new ones of the same kind are not known either."""
    epochs = 1920 // samples + 30
    text = _RUN.format(noise=3, samples=samples, batch=16, epochs=epochs, columns="")
    assert [each.rule for each in ask(tmp_path, "overfitting", text)] == ["overfitting"]


def test_samples_of_the_same_kind(tmp_path: Path) -> None:
    text = _RUN.format(noise=0, samples=1300, batch=50, epochs=8, columns="")
    assert ask(tmp_path, "overfitting", text) == []


_KEPT = """
import copy
rows, noise = torch.randn(70, 12), torch.randn(70, 1)
answers = rows[:, :1] + noise
model = nn.Sequential(nn.Linear(12, 128), nn.ReLU(), nn.Linear(128, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

class Keeper:
    best, state = float("inf"), None
    def see(self, value):
        if value < self.best:
            self.best, self.state = value, copy.deepcopy(model.state_dict())
    def give_back(self):
        {give_back}

def validate():
    with torch.no_grad():
        return F.mse_loss(model(rows[30:]), answers[30:]).item()

keeper = Keeper()
for epoch in range(60):
    for part in torch.randperm(30).split(10):
        loss = F.mse_loss(model(rows[part]), answers[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    keeper.see(validate())
keeper.give_back()
print(validate())
"""


@pytest.mark.parametrize(
    ("give_back", "found"), [("model.load_state_dict(self.state)", False), ("pass", True)]
)
def test_weights_that_were_kept_are_put_back(tmp_path: Path, give_back: str, found: bool) -> None:
    assert bool(ask(tmp_path, "overfitting", _KEPT.format(give_back=give_back))) is found


_OVERLAP = """
pictures = torch.rand(96, 1, 8, 8)
masks = (pictures[:, 0] > 0.6).long()
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-2)
for epoch in range(8):
    for part in torch.randperm(64).split(16):
        loss = F.cross_entropy(net(pictures[part]), masks[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        pred, target = net(pictures[64:]).argmax(1), masks[64:]
        both = ((pred == target) & (target == target.max())).sum().item()
        print(both / (target == 1).sum().item())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_what_two_masks_have_in_common_is_no_accuracy(tmp_path: Path, engine: str) -> None:
    assert ask(tmp_path, "overfitting", _OVERLAP, engine) == []
