"""A memory of references to one array that is written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

AGENT = """
import random
import numpy as np

random.seed(0)
state, memory = np.zeros(3, dtype=np.float32), []
model = nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    action = random.randrange(2)
    state += np.random.default_rng(step).normal(size=3).astype(np.float32)
    memory.append((state{copied}, action, float(state[0])))  # here
    if len(memory) > 16:
        states, actions, rewards = zip(*random.sample(memory, 12))
        answers = model(torch.tensor(np.stack(states)))
        chosen = answers.gather(1, torch.tensor(actions)[:, None])[:, 0]
        loss = F.mse_loss(chosen, torch.tensor(rewards))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_references(tmp_path: Path) -> None:
    found = only(tmp_path, "one-state", AGENT.format(copied=""))
    assert "state is kept as it is" in found.evidence[1]


def test_copies(tmp_path: Path) -> None:
    assert ask(tmp_path, "one-state", AGENT.format(copied=".copy()")) == []
