"""A term beside the loss on the data that leaves nothing of it to learn."""

from __future__ import annotations

from pathlib import Path

from tests.doctor.asking import ask, only

_CODES = """
basis = torch.randn(3, 24)
pictures = torch.sigmoid(2 * torch.randn(640, 3) @ basis)
encoder = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 8))
decoder = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 24), nn.Sigmoid())
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
for epoch in range(30):
    for rows in torch.randperm(640).split(64):
        mean, spread = encoder(pictures[rows]).chunk(2, dim=1)
        codes = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        error = F.binary_cross_entropy(decoder(codes), pictures[rows])
        apart = -0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum() {scale}  # here
        loss = error + apart
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_a_divergence_that_is_summed_beside_a_mean(tmp_path: Path) -> None:
    found = only(tmp_path, "over-regularized", _CODES.format(scale=""))
    assert "stands a term" in found.evidence[0]


def test_a_divergence_for_each_element(tmp_path: Path) -> None:
    assert ask(tmp_path, "over-regularized", _CODES.format(scale="/ (64 * 24)")) == []


_POLICY = """
policy, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=0.01)
for step in range(30):
    logs = torch.{together}([F.log_softmax(policy(row), 0)[0] for row in x[:6]])  # here
    values = torch.stack([critic(row)[0] for row in x[:6]])
    gains = y[:6, 0] - values.detach()
    loss = -(logs * gains).mean() + F.mse_loss(values, y[:6, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_copy_is_the_cut_and_not_what_is_detached_beside_it(tmp_path: Path) -> None:
    found = only(tmp_path, "dead-loss-term", _POLICY.format(together="tensor"))
    assert "copied into a new tensor" in found.evidence[0]
    assert "torch.stack()" in found.fix
    assert ask(tmp_path, "dead-loss-term", _POLICY.format(together="stack")) == []
