"""Likelihoods in a loss: their sign, and what such a loss says about progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only
from whygrad.recording.replay.trainer import is_below

pytest.importorskip("torch")

POLICY = """
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(120):
    state = torch.randn(64, 4)
    log_p = F.log_softmax(policy(state), dim=1)
    action = torch.multinomial(log_p.exp(), 1)
    {name} = (action == state[:, :3].argmax(1, keepdim=True)).float()
    {name} = {name}{baseline}
    loss = {sign}(log_p.gather(1, action) * {name}).mean()  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PAIRS = """
left, right = nn.Linear(16, 8), nn.Linear(12, 8)
mixed, also = torch.randn(6, 16), torch.randn(6, 12)
optimizer = torch.optim.Adam([*left.parameters(), *right.parameters()], lr=0.01)
for step in range(40):
    z = torch.randn(32, 6)
    logits = F.normalize(left(z @ mixed), dim=1) @ F.normalize(right(z @ also), dim=1).T / 0.1
    loss = {sign}F.log_softmax(logits, dim=1).diagonal().mean()  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _policy(name: str = "reward", sign: str = "", baseline: str = "") -> str:
    return POLICY.format(name=name, sign=sign, baseline=baseline.format(name))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("baseline", ["", " - {}.mean()"])
@pytest.mark.parametrize("rule", ["loss-sign", "oscillation", "lr-too-low", "under-trained"])
def test_a_policy_that_learns(tmp_path: Path, engine: str, baseline: str, rule: str) -> None:
    assert not ask(tmp_path, rule, _policy(sign="-", baseline=baseline), engine)


@pytest.mark.parametrize("name", ["cost", "weight"])
def test_what_is_not_called_a_reward_may_be_a_cost(tmp_path: Path, name: str) -> None:
    assert not ask(tmp_path, "loss-sign", _policy(name=name))


def test_what_is_called_a_reward_and_falls(tmp_path: Path) -> None:
    (found,) = ask(tmp_path, "loss-sign", _policy(name="reward"))
    assert found.certainty == "likely"
    assert found.evidence[1].startswith("what was paid went from")


GAUSSIAN = """
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(40):
    log_scale = torch.zeros(64, 1)
    error = (model(x) - y) ** 2
    score = -error / (2 * log_scale.exp() ** 2) - {logarithm}
    loss = {sign}score.mean()  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("logarithm", ["log_scale.exp().log()", "0.919"])
def test_the_minus_of_a_density_is_right(tmp_path: Path, engine: str, logarithm: str) -> None:
    found = only(tmp_path, "loss-sign", GAUSSIAN.format(sign="", logarithm=logarithm), engine)
    assert "the log-likelihood" in found.evidence[0]
    right = GAUSSIAN.format(sign="-", logarithm=logarithm)
    assert not ask(tmp_path, "loss-sign", right, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_are_to_find_their_own_columns(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "loss-sign", PAIRS.format(sign=""), engine)
    assert "the log-likelihood" in found.evidence[0]
    assert not ask(tmp_path, "loss-sign", PAIRS.format(sign="-"), engine)


@pytest.mark.parametrize(
    ("loss", "other", "answer"),
    [
        (0.3, 1.0, True), (0.6, 1.0, False), (-0.6, -1.0, False), (-1.4, -1.0, False),
        (-1.6, -1.0, True), (0.0, 0.0, True), (1e9, float("inf"), True),
        (float("nan"), 1.0, False), (1.0, float("nan"), False), (float("nan"), float("inf"), False),
    ],
)  # fmt: skip
def test_half_of_a_loss(loss: float, other: float, answer: bool) -> None:
    assert is_below(loss, 0.5, other) is answer


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "lines",
    [
        "def log_likelihood(x):\n    return F.log_softmax(model(x), 1).gather(1, y).mean()\n"
        "def loss_of(x):\n    return log_likelihood(x)\n{}    loss = log_likelihood(x)  # here",
        "def nll(x):\n    return F.log_softmax(model(x), 1).gather(1, y).mean()  # here\n"
        "{}    loss = nll(x)",
        "{}    likely = F.log_softmax(model(x), 1).gather(1, y).mean()\n    loss = likely  # here",
        "{}    loss = 0\n    loss += F.log_softmax(model(x), 1).gather(1, y).mean()  # here",
    ],
)
def test_the_line_where_the_minus_belongs(tmp_path: Path, engine: str, lines: str) -> None:
    text = "y = (x[:, :1] > 0).long()\nmodel = nn.Linear(4, 2)\n" + lines.format(
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\nfor step in range(20):\n"
    )
    text += "\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    assert "log-likelihood" in only(tmp_path, "loss-sign", text, engine).evidence[0]


VAE = """
basis = torch.randn(3, 16)
encoder, decoder = nn.Linear(16, 8), nn.Linear(4, 16)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.02)
for step in range(300):
    data = torch.randn(64, 3) @ basis
    code = encoder(data)
    mu, logvar = code[:, :4], code[:, 4:].clamp(-8, 8)
    drawn = mu + torch.randn(64, 4) * torch.exp(0.5 * logvar)
    divergence = {sign}0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()  # here
    loss = F.mse_loss(decoder(drawn), data) + 0.1 * divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_penalty_that_falls_without_end(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "loss-sign", VAE.format(sign=""), engine)
    assert "has no lower end" in found.evidence[0]
    assert not ask(tmp_path, "loss-sign", VAE.format(sign="-"), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_penalty_that_fell_as_far_as_numbers_go(tmp_path: Path, engine: str) -> None:
    deep = VAE.replace(".clamp(-8, 8)", ".clamp(-8, 60)").replace("0.1 * divergence", "divergence")
    found = only(tmp_path, "loss-sign", deep.format(sign=""), engine)
    assert "has no lower end" in found.evidence[0]
