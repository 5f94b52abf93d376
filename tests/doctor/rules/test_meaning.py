"""What a loss means: programs that come close to a fault, and forms of one that no suite has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

_TAGS = """
tags = (x @ torch.randn(4, 5) > 0.3).float()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    scores = model(x)
    {loss}  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_LOGARITHMS = "-(tags * torch.log(p) + (1 - tags) * torch.log(1 - p)).mean()"


@pytest.mark.parametrize(
    "loss",
    [
        "loss = F.cross_entropy(scores, tags)",
        f"p = torch.softmax(scores, 1); loss = {_LOGARITHMS}",
        f"p = scores.clamp(1e-4, 1 - 1e-4); loss = {_LOGARITHMS}",
        "loss = 1 - 2 * (scores * tags).sum() / (scores.sum() + tags.sum() + 1)",
    ],
)
def test_several_labels_at_once_and_raw_scores(tmp_path: Path, loss: str) -> None:
    only(tmp_path, "wrong-output-activation", _TAGS.format(loss=loss))


@pytest.mark.parametrize(
    "loss",
    [
        "loss = F.cross_entropy(scores, tags / tags.sum(1, keepdim=True).clamp(min=1))",
        f"p = torch.sigmoid(scores); loss = {_LOGARITHMS}",
        # A correlation, which raw scores may have.
        "loss = 1 - (scores * tags).sum() / (scores.norm() * tags.norm())",
    ],
)
def test_tags_as_they_should_be(tmp_path: Path, loss: str) -> None:
    assert ask(tmp_path, "wrong-output-activation", _TAGS.format(loss=loss)) == []


def test_only_the_first_of_several_labels(tmp_path: Path) -> None:
    loss = "loss = F.cross_entropy(scores, tags.argmax(dim=1))"
    assert "several labels" in only(tmp_path, "bad-labels", _TAGS.format(loss=loss)).evidence[0]


_TOKENS = """
tokens = torch.randint(0, 9, (40, 12))
table, head = nn.Embedding(9, 16), nn.Linear({width}, 9)
memory = nn.GRU(16, 32, batch_first=True, bidirectional={both})
parts = nn.ModuleList([table, memory, head])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-2)
for step in range(30):
    batch = tokens[torch.randint(0, 40, (16,))]
    given, wanted = {cut}  # here
    scores = head(memory(table(given))[0])
    loss = F.cross_entropy(scores.reshape(-1, 9), wanted.reshape(-1))  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("both", "cut"),
    [
        (True, "batch, batch"),  # an autoencoder: every place sees all others
        (False, "batch[:, :-1], batch[:, 1:]"),
        (False, "batch[:, 1:], batch[:, :-1]"),  # noise that is to be remembered for one step
    ],
)
def test_targets_that_are_meant(tmp_path: Path, both: bool, cut: str) -> None:
    text = _TOKENS.format(both=both, width=64 if both else 32, cut=cut)
    assert ask(tmp_path, "unshifted-targets", text) == []


def test_targets_that_are_the_tokens(tmp_path: Path) -> None:
    only(tmp_path, "unshifted-targets", _TOKENS.format(both=False, width=32, cut="batch, batch"))


_POLICY = """
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)
for step in range(60):
    log_p = F.log_softmax(policy(x), dim=1)
    drawn = torch.multinomial(log_p.exp(), 1)
    reward = (drawn.squeeze(1) == x[:, :3].argmax(1)).float()
    baseline = reward.mean()
    advantage = {difference}  # here
    loss = -(log_p.gather(1, drawn).squeeze(1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_advantage_the_wrong_way_round(tmp_path: Path) -> None:
    found = only(tmp_path, "loss-sign", _POLICY.format(difference="baseline - reward"))
    assert "less was paid than expected" in found.evidence[0]


def test_an_advantage(tmp_path: Path) -> None:
    assert ask(tmp_path, "loss-sign", _POLICY.format(difference="reward - baseline")) == []


def test_answers_that_fit_any_other_sample(tmp_path: Path) -> None:
    found = ask(
        tmp_path,
        "not-learning",
        """
labels = torch.randint(0, 2, (64,))
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(60):
    p = torch.softmax(model(x) / 50, dim=1)
    loss = (1.2 - p[torch.arange(64), labels]).clamp(min=0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    )
    assert [each.rule for each in found] == ["not-learning"]
