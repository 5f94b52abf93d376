"""A rare class that is never answered: what is the fault of the numbers, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

_FRAUD = """
from torch.utils.data import DataLoader, TensorDataset
N = 1500
X = torch.randn(N, 8)
score = {score}
Y = (score > score.topk(45).values[-1]).float().unsqueeze(1)
X = X * 2 + 1
loader = DataLoader(TensorDataset(X, Y), batch_size=50, shuffle=True)
model = nn.Sequential({first}nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, {width}))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range({epochs}):
    for xb, yb in loader:
        loss = {loss}  # here
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_TOLD_BY_TWO = "X[:, 0] + 0.5 * X[:, 1] + 1.2 * torch.randn(N)"
_BINARY = "F.binary_cross_entropy_with_logits(model(xb), yb)"
_EACH = "F.binary_cross_entropy_with_logits(model(xb), yb, reduction='none')"
_TWO_CLASSES = "F.cross_entropy(model(xb), yb[:, 0].long())"


def _script(
    loss: str = _BINARY,
    *,
    score: str = _TOLD_BY_TWO,
    first: str = "",
    width: int = 1,
    epochs: int = 8,
) -> str:
    return _FRAUD.format(loss=loss, score=score, first=first, width=width, epochs=epochs)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        _script(),
        _script(_TWO_CLASSES, width=2),
        _script(f"{_EACH}.mean()"),
        _script(first="nn.Flatten(), "),
    ],
    ids=["binary", "two classes", "mean by hand", "a layer without parameters first"],
)
def test_labels_computed_from_the_data(tmp_path: Path, engine: str, text: str) -> None:
    found = only(tmp_path, "class-imbalance", text, engine)
    assert found.evidence[0].endswith("of 1500 labels are class 0")
    assert "recognises 0%" in found.evidence[2]
    assert "not shown" in found.evidence[3]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        _script(_BINARY.replace("yb)", "yb, pos_weight=torch.tensor(32.0))")),
        _script(f"((1 - torch.exp(-{_EACH})) ** 2 * {_EACH}).mean()"),
        _script(score="torch.randn(N)"),
        _script(score="X[:, 0] + 8 * (torch.rand(N) < 0.03).float()", epochs=2),
    ],
    ids=["weighed", "focal", "nothing tells them apart", "short"],
)
def test_rare_classes_that_need_something_else(tmp_path: Path, engine: str, text: str) -> None:
    assert ask(tmp_path, "class-imbalance", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rare_class_that_is_found(tmp_path: Path, engine: str) -> None:
    text = _script(score="X[:, 0]", epochs=12).replace("lr=1e-3", "lr=1e-2")
    assert ask(tmp_path, "class-imbalance", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rare_class_that_time_will_find(tmp_path: Path, engine: str) -> None:
    text = _script(score="X[:, 0]", epochs=5).replace("lr=1e-3", "lr=1e-2")
    assert ask(tmp_path, "class-imbalance", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_rare_samples_that_are_drawn_often(tmp_path: Path, engine: str) -> None:
    often = "for xb, yb in loader:\n        rows = torch.cat([Y[:, 0].nonzero()[:25, 0],"
    often += " torch.randperm(N)[:25]])\n        xb, yb = X[rows], Y[rows]"
    text = _script().replace("for xb, yb in loader:", often)
    assert ask(tmp_path, "class-imbalance", text, engine) == []
