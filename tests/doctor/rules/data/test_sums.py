"""Sums over batches that are compared from epoch to epoch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

torch = pytest.importorskip("torch")

STOPPING = """
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
best = float("inf")
{outside}
for epoch in range(8):
    for rows in torch.randperm(48).split(12):
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    {inside}
    with torch.no_grad():
        for rows in torch.arange(48, 64).split(4):
            val_loss += F.mse_loss(model(x[rows]), y[rows]).item() / 4
    if {test}:
        best = val_loss
    else:
        break
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("test", ["val_loss < best", "best > val_loss"])
def test_a_sum_that_is_never_set_to_zero(tmp_path: Path, test: str, engine: str) -> None:
    text = STOPPING.format(outside="val_loss = 0.0  # here", inside="pass", test=test)
    found = only(tmp_path, "metric-bug", text, engine)
    assert "compared with best it has what all epochs before added up" in found.evidence[1]


def test_a_sum_that_is_set_to_zero_in_each_epoch(tmp_path: Path) -> None:
    text = STOPPING.format(outside="pass", inside="val_loss = 0.0", test="val_loss < best")
    assert not ask(tmp_path, "metric-bug", text)


OBJECT = """
class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.train_loss = 0.0
        self.val_loss = 0.0

    def train(self):
        {train}
        for rows in torch.randperm(48).split(12):
            loss = F.mse_loss(self.model(x[rows]), y[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.train_loss += loss.item() / 4

    def validate(self):
        {validate}
        with torch.no_grad():
            for rows in torch.arange(48, 64).split(4):
                self.val_loss += F.mse_loss(self.model(x[rows]), y[rows]).item() / 4  # here

trainer = Trainer()
for epoch in range(8):
    trainer.train()
    trainer.validate()
    print(trainer.train_loss, trainer.val_loss)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sum_that_an_object_keeps(tmp_path: Path, engine: str) -> None:
    text = OBJECT.format(train="self.train_loss = 0.0", validate="pass")
    found = only(tmp_path, "metric-bug", text, engine)
    assert "self.train_loss begins anew" in found.evidence[1]


@pytest.mark.parametrize("train", ["self.train_loss = 0.0", "pass"])
def test_sums_that_an_object_treats_alike(tmp_path: Path, train: str) -> None:
    validate = train.replace("train", "val")
    assert not ask(tmp_path, "metric-bug", OBJECT.format(train=train, validate=validate))
