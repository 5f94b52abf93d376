"""Training and evaluation mode; batches of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

MODEL = """
inner = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
model = nn.Sequential(*inner, nn.Dropout(0.5), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def train():
    for xb, yb in zip(x.split(16), y.split(16)):
        loss = F.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


"""


@pytest.mark.parametrize("engine", ENGINES)
def test_eval_and_never_back(tmp_path: Path, engine: str) -> None:
    text = (
        MODEL
        + """
for epoch in range(3):
    train()
    model.eval()  # here
    with torch.no_grad():
        print(F.mse_loss(model(x), y).item())
"""
    )
    found = only(tmp_path, "wrong-mode", text, engine)
    assert found.step == 4
    assert "8 training passes after eval()" in found.evidence[0]
    assert "1 Dropout layer" in found.evidence[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_evaluated_with_dropout(tmp_path: Path, engine: str) -> None:
    text = (
        MODEL
        + """
for epoch in range(3):
    train()
    with torch.no_grad():
        print(F.mse_loss(model(x), y).item())  # here
"""
    )
    assert "3 calls under no_grad()" in only(tmp_path, "wrong-mode", text, engine).evidence[0]


@pytest.mark.parametrize(
    "loop",
    [
        # as it should be
        """
for epoch in range(3):
    model.train()
    train()
    model.eval()
    with torch.no_grad():
        print(F.mse_loss(model(x), y).item())
""",
        # Monte Carlo dropout
        """
train()
with torch.no_grad():
    print(torch.stack([model(x) for _ in range(10)]).std())
""",
        # dropout alone is switched on again
        """
train()
model.eval()
model[3].train()
with torch.no_grad():
    print(model(x).mean())
""",
        # labels for the next pass
        """
for step in range(6):
    with torch.no_grad():
        wanted = model(x) * 0.5 + y
    loss = F.mse_loss(model(x), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    ],
)
def test_modes_that_are_right(tmp_path: Path, loop: str) -> None:
    assert not ask(tmp_path, "wrong-mode", MODEL + loop)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_single_sample_is_left_over(tmp_path: Path, engine: str) -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.body(x))))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in torch.arange(49).split(16):
    loss = F.mse_loss(model(x[rows]), y[rows])  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found = only(tmp_path, "batchnorm-single-sample", text, engine)
    assert found.step == 3
    assert "[1, 8]" in found.evidence[0]
    assert "drop_last" in found.fix
    assert not ask(tmp_path, "batchnorm-single-sample", text.replace("49", "50"), engine)


TWO_PARTS = """
encoder = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5))
head = nn.Linear(8, 1)
optimizer = torch.optim.SGD([*head.parameters()], lr=0.05)
for epoch in range(6):
    loss = F.mse_loss(head(encoder(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {mode}
    with torch.no_grad():
        print(F.mse_loss(head(encoder(x)), y).item())  # here
    encoder.train()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_dropout_in_a_part_that_feeds_another(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "wrong-mode", TWO_PARTS.format(mode=""), engine)
    assert "1 Dropout layer" in found.evidence[1]
    assert found.severity == 1  # what is learned is not touched
    assert not ask(tmp_path, "wrong-mode", TWO_PARTS.format(mode="encoder.eval()"), engine)


ONE_BY_ONE = """
model = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(),  # here
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2),
)
labels = torch.arange(120) % 2
images = 0.2 * torch.randn(120, 1, 5, 5) + 2 * labels.reshape(-1, 1, 1, 1).float()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in torch.randperm(120).split({size}):
    loss = F.cross_entropy(model(images[rows]), labels[rows])  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_pictures_normalised_one_by_one(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "batchnorm-single-sample", ONE_BY_ONE.format(size=1), engine)
    assert "[1, 4, 3, 3]" in found.evidence[0]
    assert not ask(tmp_path, "batchnorm-single-sample", ONE_BY_ONE.format(size=8), engine)
