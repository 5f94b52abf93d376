"""The ratio of a policy to the one that acted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

ACTING = """
policy = nn.Linear(4, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
for round in range(8):
    with torch.no_grad():
        choice = torch.distributions.Categorical(logits=policy(x))
        action = choice.sample()
        old = choice.log_prob(action)
    paid = (action == 0).float() - 0.5
    for epoch in range({epochs}):
        new = torch.distributions.Categorical(logits=policy(x)).log_prob(action)
        {anew}
        ratio = (new - old).exp()
        loss = -torch.min(ratio * paid, ratio.clamp(0.8, 1.2) * paid).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
CUT = "old = new.detach()  # here"
ASKED = """with torch.no_grad():
            now = policy(x)
            old = torch.distributions.Categorical(logits=now).log_prob(action)  # here"""


@pytest.mark.parametrize("anew", [CUT, ASKED])
def test_a_policy_that_is_compared_with_itself(tmp_path: Path, anew: str) -> None:
    found = only(tmp_path, "misplaced-credit", ACTING.format(epochs=4, anew=anew))
    assert "compared with itself" in found.title


@pytest.mark.parametrize("epochs", [1, 4])
def test_a_policy_that_is_compared_with_the_one_that_acted(tmp_path: Path, epochs: int) -> None:
    assert ask(tmp_path, "misplaced-credit", ACTING.format(epochs=epochs, anew="pass")) == []
