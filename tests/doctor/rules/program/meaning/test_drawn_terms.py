"""What a model draws, judged by another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

ACTOR = """
actor = nn.Linear(4, 2)
critic = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
moves = torch.optim.Adam(actor.parameters(), lr=0.01)
judges = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(12):
    acts = torch.randn(64, 1)
    judged = F.mse_loss(critic(torch.cat([x, acts], 1)), -(acts - y) ** 2)
    judges.zero_grad()
    judged.backward()
    judges.step()
    mean, spread = actor(x).chunk(2, dim=1)
    choice = torch.distributions.Normal(mean, spread.exp())
    acts = {draw}  # here
    likely = choice.log_prob(acts).sum(1)
    worth = critic(torch.cat([x, torch.tanh(acts)], 1)).squeeze(1)
    loss = {loss}
    moves.zero_grad()
    loss.backward()
    moves.step()
"""


def test_a_critic_of_a_draw_without_history(tmp_path: Path) -> None:
    script = ACTOR.format(draw="choice.sample()", loss="(0.1 * likely - worth).mean()")
    found = only(tmp_path, "detached-graph", script)
    assert "rsample()" in found.fix
    assert "actor.weight" in found.parameters


@pytest.mark.parametrize(
    ("draw", "loss"),
    [
        ("choice.rsample()", "(0.1 * likely - worth).mean()"),
        ("choice.sample()", "-(likely * worth.detach()).mean()"),
        ("choice.sample()", "-(likely * worth).mean()"),
    ],
)
def test_draws_that_are_learned_from(tmp_path: Path, draw: str, loss: str) -> None:
    assert ask(tmp_path, "detached-graph", ACTOR.format(draw=draw, loss=loss)) == []


def test_a_critic_that_learns_from_the_same_pass(tmp_path: Path) -> None:
    script = ACTOR.format(
        draw="choice.sample()",
        loss="(worth - y[:, 0]).pow(2).mean() - (likely * y[:, 0]).mean()",
    ).replace("    moves.step()", "    moves.step()\n    judges.step()")
    assert ask(tmp_path, "detached-graph", script) == []
