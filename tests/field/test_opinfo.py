"""A part of the field run that fits into the suite: the first samples of PyTorch's op tests."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from tests.field.opinfo.running import Run, pytorchs_ops
from whygrad.ops.define import table

# Samples that are large; the whole run has them.
SLOW = ("conv", "gradient", "grid_sample", "interpolate", "pool", "upsample", "lstsq", "svd")


def differing(infos: list[Any], run: Run) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [info.name for info in infos if not run.agrees(info)]


def test_pytorchs_own_samples_agree() -> None:
    run = Run(torch.float64, 2)
    quick = [info for info in pytorchs_ops() if not any(word in info.name for word in SLOW)]
    assert differing(quick[::14], run) == []
    assert run.ops["clean"] > 30
    assert run.compared["second gradients"] > 15
    assert run.compared["forward mode"] > 15
    assert run.compared["in place"] > 3


def test_a_wrong_slope_is_caught(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    op = table["sinh"]
    monkeypatch.setattr(op, "vjp", {"x": lambda xp, incoming, x: incoming * xp.sinh(x)})
    monkeypatch.setattr(op, "_plans", {})
    op.table.clear()
    try:
        infos = [info for info in pytorchs_ops() if info.name == "sinh"]
        assert differing(infos, Run(torch.float64, 2)) == ["sinh"]
    finally:
        op.table.clear()
    assert "gradient 0" in capsys.readouterr().out
