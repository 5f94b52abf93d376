"""The loss of a policy: with its minus, without it, and with costs in place of rewards.

Of PyTorch's alone: whygrad draws by ops of its own, of which the log has none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

BANDIT = """
best = torch.tensor([2, 0, 1, 2])
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
for episode in range(80):
    state = torch.randint(0, 4, (32,))
    logits = policy(F.one_hot(state, 4).float())
    {draw}
    reward = (action == best[state]).float()
    {worth}
    loss = {loss}  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DRAWS = {
    "by hand": "log_probs = torch.log_softmax(logits, -1)\n"
    "    action = torch.multinomial(log_probs.detach().exp(), 1).squeeze(1)\n"
    "    chosen = log_probs.gather(1, action.unsqueeze(1)).squeeze(1)",
    "by a distribution": "law = torch.distributions.Categorical(logits=logits)\n"
    "    action = law.sample()\n"
    "    chosen = law.log_prob(action)",
}
ADVANTAGE = "advantage = (reward - reward.mean()) / (reward.std() + 1e-8)"


@pytest.mark.parametrize("draw", DRAWS)
def test_a_policy_without_its_minus(tmp_path: Path, draw: str) -> None:
    text = BANDIT.format(draw=DRAWS[draw], worth=ADVANTAGE, loss="(chosen * advantage).mean()")
    found = only(tmp_path, "loss-sign", text)
    assert "times advantage, enters the loss with a plus" in found.evidence[0]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    ("worth", "loss"),
    [
        (ADVANTAGE, "-(chosen * advantage).mean()"),
        (ADVANTAGE, "-(chosen * advantage).mean() - 0.01 * (-chosen).mean()"),
        ("cost = 1 - reward", "(chosen * cost).mean()"),
        ("advantage = reward.mean() - reward", "(chosen * advantage).mean()"),
    ],
)
def test_a_policy_as_it_should_be(tmp_path: Path, draw: str, worth: str, loss: str) -> None:
    assert not ask(tmp_path, "loss-sign", BANDIT.format(draw=DRAWS[draw], worth=worth, loss=loss))


CLIPPED = """
best = torch.tensor([2, 0, 1, 2])
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(20):
    state = torch.randint(0, 4, (64,))
    with torch.no_grad():
        law = torch.distributions.Categorical(logits=policy(F.one_hot(state, 4).float()))
        action = law.sample()
        before = law.log_prob(action)
    reward = (action == best[state]).float()
    advantages = (reward - reward.mean()) / (reward.std() + 1e-8)
    for _ in range(4):
        law = torch.distributions.Categorical(logits=policy(F.one_hot(state, 4).float()))
        ratio = torch.exp(law.log_prob(action) - before)
        one, other = ratio * advantages, ratio.clamp(0.8, 1.2) * advantages  # here
        loss = {sign}torch.min(one, other).mean() - 0.01 * law.entropy().mean()  # here
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_a_clipped_ratio_without_its_minus(tmp_path: Path) -> None:
    found = only(tmp_path, "loss-sign", CLIPPED.format(sign=""))
    assert "times advantages, enters the loss with a plus" in found.evidence[0]
    assert ask(tmp_path, "loss-sign", CLIPPED.format(sign="-")) == []


def test_a_difference_without_a_name(tmp_path: Path) -> None:
    loss = "(chosen * (reward - baseline)).mean()"
    text = BANDIT.format(draw=DRAWS["by a distribution"], worth="baseline = 0.3", loss=loss)
    found = only(tmp_path, "loss-sign", text)
    assert "times reward, enters the loss with a plus" in found.evidence[0]
    assert ask(tmp_path, "loss-sign", text.replace(loss, f"-{loss}")) == []
