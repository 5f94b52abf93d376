"""What noise is multiplied by, beside what a divergence takes for the log-variance.

Of PyTorch's alone: whygrad draws by ops of its own, of which the log has none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

CODE = """
encoder, decoder = nn.Linear(4, 4), nn.Linear(2, 4)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for step in range(5):
    mean, spread = encoder(x).chunk(2, -1)
    scale = {scale}  # here
    code = mean + scale * torch.randn_like(mean)
    divergence = {divergence}
    loss = F.mse_loss(decoder(code), x) + divergence.sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
AS_ALWAYS = "-0.5 * (1 + spread - mean.pow(2) - spread.exp())"
TURNED = "0.5 * (spread.exp() + mean**2 - 1 - spread)"


@pytest.mark.parametrize("divergence", [AS_ALWAYS, TURNED])
@pytest.mark.parametrize("scale", ["spread", "spread.exp()"])
def test_no_deviation(tmp_path: Path, scale: str, divergence: str) -> None:
    text = CODE.format(scale=scale, divergence=divergence)
    assert only(tmp_path, "noise-scale", text).proof.value == "replayed"


@pytest.mark.parametrize(
    ("scale", "divergence"),
    [
        ("torch.exp(0.5 * spread)", AS_ALWAYS),
        ("(spread / 2).exp()", TURNED),
        ("spread.exp()", "0.5 * ((2 * spread).exp() + mean**2 - 1 - 2 * spread)"),
        ("F.softplus(spread)", "0.5 * (scale**2 + mean**2 - 1 - 2 * scale.log())"),
    ],
)
def test_a_deviation(tmp_path: Path, scale: str, divergence: str) -> None:
    assert ask(tmp_path, "noise-scale", CODE.format(scale=scale, divergence=divergence)) == []
