"""What an agent did, and what it is credited with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

EPISODES = """
def returns_of(rewards):
    found, total = [], 0.0
    {loop}
        total = r + 0.9 * total
        found.{keep}
    return torch.tensor(found)

policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(12):
    logs, rewards = [], []
    for state in torch.randn(8, 4):
        law = torch.distributions.Categorical(logits=policy(state))
        action = law.sample()
        logs.append(law.log_prob({drawn}))
        rewards.append(float(action.item() == (state[0] > 0)))
    loss = -(torch.stack(logs) * returns_of(rewards)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BACKWARDS = {"loop": "for r in reversed(rewards):", "keep": "insert(0, total)"}


def test_returns_from_the_wrong_end(tmp_path: Path) -> None:
    text = EPISODES.format(loop="for r in rewards:  # here", keep="append(total)", drawn="action")
    found = only(tmp_path, "misplaced-credit", text)
    assert found.title == "Returns are summed from the wrong end"


def test_returns_in_the_opposite_order(tmp_path: Path) -> None:
    keep = "append(total)  # here"
    text = EPISODES.format(loop="for r in reversed(rewards):", keep=keep, drawn="action")
    found = only(tmp_path, "misplaced-credit", text)
    assert found.title == "Returns stand in the opposite order of the steps"
    turned = text.replace("torch.tensor(found)", "torch.tensor(found[::-1])")
    assert ask(tmp_path, "misplaced-credit", turned) == []


@pytest.mark.parametrize(
    "how",
    [
        BACKWARDS,
        {"loop": "for r in rewards[::-1]:", "keep": "insert(0, total)"},
    ],
)
def test_returns_from_the_end(tmp_path: Path, how: dict[str, str]) -> None:
    assert ask(tmp_path, "misplaced-credit", EPISODES.format(drawn="action", **how)) == []


def test_the_log_probability_of_another_draw(tmp_path: Path) -> None:
    text = EPISODES.format(drawn="law.sample()", **BACKWARDS)
    text = text.replace("law.sample()))", "law.sample()))  # here")
    found = only(tmp_path, "misplaced-credit", text)
    assert "another draw" in found.title


VALUES = """
model, target = nn.Linear(4, 2), nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
memory = [(x[k], k % 2, float(k % 3), x[(k + 1) % 64], float(k % 8 == 7)) for k in range(64)]

def learn(batch):
    states, actions, rewards, others, dones = (torch.stack([torch.as_tensor(each) for each in part])
                                               for part in zip(*batch))
    with torch.no_grad():
        best = target(others).max(1).values
    wanted = rewards + 0.9 * gamma * best{ends}  # here
    loss = F.mse_loss(model(states).gather(1, actions[:, None])[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

gamma = 0.9
for step in range(20):
    learn([memory[k] for k in torch.randperm(64)[:16].tolist()])
    target.load_state_dict(model.state_dict())
"""


def test_ends_that_are_fetched_and_not_used(tmp_path: Path) -> None:
    found = only(tmp_path, "misplaced-credit", VALUES.format(ends=""))
    assert "dones is fetched with each batch" in found.evidence[1]


def test_ends_that_are_used(tmp_path: Path) -> None:
    assert ask(tmp_path, "misplaced-credit", VALUES.format(ends=" * (1 - dones)")) == []
