"""A training that stops, is saved, loaded by another program and goes on as if nothing was."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import whygrad
from whygrad import nn, optim
from whygrad.data import DataLoader, TensorDataset

STEPS, PASS = 24, 7  # a pass over the data is no divisor of the training


class Training:
    """Everything that has a state, with a loop that can start and stop at any step."""

    def __init__(self, seed: int) -> None:
        whygrad.manual_seed(seed)
        self.model = nn.Sequential(
            nn.Linear(6, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout(0.3), nn.Linear(16, 3)
        )
        self.optimizer = optim.AdamW(self.model.parameters(), lr=0.02, amsgrad=True)
        self.scheduler = optim.lr_scheduler.OneCycleLR(self.optimizer, 0.05, total_steps=STEPS)
        self.shuffling = whygrad.Generator().manual_seed(seed)
        self.step = 0

        source = whygrad.Generator().manual_seed(0)
        inputs = whygrad.randn(4 * PASS - 1, 6, generator=source)
        dataset = TensorDataset(inputs, inputs[:, :3].argmax(dim=1))
        self.loader = DataLoader(dataset, batch_size=4, shuffle=True, generator=self.shuffling)
        self.order = self.shuffling.get_state()  # as it was before the current pass

    def state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "rng": whygrad.get_rng_state(),
            "order": self.order,
            "step": self.step,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        whygrad.set_rng_state(state["rng"])
        self.order = state["order"]
        self.shuffling.set_state(self.order)
        self.step = state["step"]

    def losses(self, until: int) -> list[float]:
        found = []
        for inputs, labels in self._batches(until):
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(inputs), labels)
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            found.append(loss.item())
        return found

    def _batches(self, until: int) -> Iterator[Any]:
        while self.step < until:
            done = self.step % PASS
            for batch in itertools.islice(self.loader, done, done + until - self.step):
                self.step += 1
                yield batch
            if self.step % PASS == 0:
                self.order = self.shuffling.get_state()


@pytest.mark.parametrize("stop", [1, PASS, PASS + 3, 3 * PASS - 1])
def test_the_losses_are_the_same_bit_for_bit(stop: int, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    whole = Training(seed=1)
    expected = whole.losses(STEPS)
    assert expected[-1] < expected[0]

    stopped = Training(seed=1)
    before = stopped.losses(stop)
    whygrad.save(stopped.state(), path)

    resumed = Training(seed=2)
    resumed.load_state(whygrad.load(path))
    assert before + resumed.losses(STEPS) == expected
    for name, tensor in whole.model.state_dict().items():
        assert whygrad.equal(tensor, resumed.model.state_dict()[name]), name
