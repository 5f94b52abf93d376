"""Errors that are averaged before they are squared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_LOOP = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    prediction = model(x)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "loss",
    [
        "loss = (prediction - y).mean() ** 2  # here",
        "loss = (y - prediction).sum().abs() / 64  # here",
        "loss = (0.5 * (prediction - y)).mean().pow(2)  # here",
    ],
)
def test_the_mean_comes_before_the_square(tmp_path: Path, engine: str, loss: str) -> None:
    found = only(tmp_path, "errors-cancel", _LOOP.format(loss=loss), engine)
    assert "brings 64 errors together, of both signs" in found.evidence[0]


@pytest.mark.parametrize(
    "loss",
    [
        "loss = ((prediction - y) ** 2).mean()",
        "loss = ((prediction - y) ** 2).mean() + 0.1 * (prediction - y).mean() ** 2",
        "error = prediction - y\n    loss = (error**2).mean() - 0.5 * error.mean() ** 2",
        "loss = (prediction.mean() - y.mean()) ** 2",
        "loss = F.mse_loss(prediction, y) + (prediction - y).mean().abs()",
        "loss = ((prediction - y).sum(1) ** 2).mean()",
    ],
    ids=["squares", "a penalty for bias", "scale-invariant", "moments", "library", "one column"],
)
def test_where_errors_are_judged_one_by_one(tmp_path: Path, loss: str) -> None:
    assert ask(tmp_path, "errors-cancel", _LOOP.format(loss=loss)) == []
