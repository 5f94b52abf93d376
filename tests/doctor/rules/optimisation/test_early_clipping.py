"""Clipping before there is anything to clip."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_LOOP = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    {calls}
    optimizer.step()
"""
_CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_limit_finds_no_gradients(tmp_path: Path, engine: str) -> None:
    text = _LOOP.format(calls=f"{_CLIP}  # here\n    loss.backward()")
    found = only(tmp_path, "clipped-too-early", text, engine)
    assert "the norm was 0 at each of 10 calls" in found.evidence[0]
    assert "the limit 0.5" in found.fix


@pytest.mark.parametrize("engine", ENGINES)
def test_after_backward_it_does(tmp_path: Path, engine: str) -> None:
    text = _LOOP.format(calls=f"loss.backward()\n    {_CLIP}")
    assert ask(tmp_path, "clipped-too-early", text, engine) == []
