"""Rules against what is nearly the same and well: controls, turns, other models' measurements."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

STRAIGHT = """
model = nn.Sequential(
    nn.Linear(4, 32),  # here
    nn.Linear(32, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(150):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
"""
CHOSEN = """
labels = torch.randint(0, 3, (64,))
labels[::2] = -1
keep = (labels >= 0).float()
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    chosen = torch.log_softmax(model(x), 1)[torch.arange(64), labels]  # here
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_labels_below_zero_choose_the_last_class(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "bad-labels", CHOSEN.format(loss="-chosen.mean()"), engine)
    assert "50% of the labels are below zero" in found.evidence[0]
    assert "the last of 3 classes" in found.evidence[0]


def test_labels_below_zero_that_are_masked(tmp_path: Path) -> None:
    loss = "-(chosen * keep).sum() / keep.sum()"
    assert not ask(tmp_path, "bad-labels", CHOSEN.format(loss=loss))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_straight_line_around_a_bend(tmp_path: Path, engine: str) -> None:
    labels = "labels = (x[:, 0] ** 2 + x[:, 1] > 1).long()\n"
    only(tmp_path, "missing-nonlinearity", labels + STRAIGHT, engine)


def test_a_straight_line_with_noise_around_it(tmp_path: Path) -> None:
    labels = "labels = (x.sum(1) + torch.randn(64) > 0).long()\n"
    assert not ask(tmp_path, "missing-nonlinearity", labels + STRAIGHT)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_activation_whose_result_is_dropped(tmp_path: Path, engine: str) -> None:
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 32), nn.Linear(32, 1)
    def forward(self, x):
        x = self.one(x)
        F.relu(x)  # here
        return self.two(x)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(100):
    optimizer.zero_grad()
    F.mse_loss(model(x), x[:, :1].abs()).backward()
    optimizer.step()
"""
    only(tmp_path, "missing-nonlinearity", text, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("prepared", ["(0.2 * x).long().float()", "0 * x + 3"])
def test_samples_lost_before_the_model(tmp_path: Path, engine: str, prepared: str) -> None:
    text = f"""
x = 0.3 * torch.tanh(x)
data = {prepared}
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    F.mse_loss(model(data), y).backward()
    optimizer.step()
"""
    assert len(ask(tmp_path, "constant-output", text, engine)) == 1


def test_models_that_are_measured_one_after_another(tmp_path: Path) -> None:
    text = """
def error(model):
    with torch.no_grad():
        return F.mse_loss(model(x[48:]), y[48:]).item()
for width in (64, 4, 2):
    model = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(30):
        optimizer.zero_grad()
        F.mse_loss(model(x[:48]), y[:48]).backward()
        optimizer.step()
    print(error(model))
"""
    assert not ask(tmp_path, "overfitting", text)


def test_a_rate_of_positives_is_no_accuracy(tmp_path: Path) -> None:
    text = """
labels = (x[:, 0] > 1.2).float()
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(80):
    optimizer.zero_grad()
    F.binary_cross_entropy_with_logits(model(x).squeeze(1), labels).backward()
    optimizer.step()
    with torch.no_grad():
        flagged = ((model(x).squeeze(1) > 0) & (labels == 1)).float().mean().item()
"""
    assert not ask(tmp_path, "overfitting", text)


def test_players_that_are_frozen_in_turn(tmp_path: Path) -> None:
    text = """
maker, judge = nn.Linear(4, 1), nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))
one = torch.optim.Adam(maker.parameters(), lr=0.003)
two = torch.optim.Adam(judge.parameters(), lr=0.003)
zeros, ones = torch.zeros(64, 1), torch.ones(64, 1)
for _ in range(30):
    for p in judge.parameters():
        p.requires_grad_(True)
    with torch.no_grad():
        fake = maker(x)
    loss = F.binary_cross_entropy_with_logits(judge(y + 2), ones)
    loss = loss + F.binary_cross_entropy_with_logits(judge(fake), zeros)
    two.zero_grad()
    loss.backward()
    two.step()
    for p in judge.parameters():
        p.requires_grad_(False)
    one.zero_grad()
    F.binary_cross_entropy_with_logits(judge(maker(x)), ones).backward()
    one.step()
print(F.binary_cross_entropy_with_logits(judge(maker(x)), ones).item())
"""
    assert not ask(tmp_path, "under-trained", text)
