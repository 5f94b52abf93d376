"""Samples that are all the same before a model gets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, only

_CUT_OFF = """
pixels = torch.randint(0, 255, (256, 36))
kinds = (pixels[:, 0] > 127).long()
scaled = torch.tensor((pixels / 255).int().float().tolist())  # here
model = nn.Sequential(nn.Linear(36, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    rows = torch.randperm(256)[:32]
    loss = F.cross_entropy(model(scaled[rows]), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_what_is_the_same_everywhere(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "constant-output", _CUT_OFF, engine)
    assert found.evidence[0].startswith("the model gets 0 for each of 32 samples")
    assert "converted to integers" in found.fix
