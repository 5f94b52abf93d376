"""``record(values=False)``: connections are known, values are not looked at."""

from __future__ import annotations

import torch

import whygrad.torch


def test_connections_without_values() -> None:
    with whygrad.torch.record(values=False):
        w = torch.ones(3, requires_grad=True)
        cut = (w * 2).detach()
        loss = torch.log(cut - 2).sum() + torch.ones(1, requires_grad=True).sum()
    assert "cut off by detach()" in str(whygrad.torch.why_none(w, loss))


def test_no_result_is_looked_at(monkeypatch) -> None:
    looked = []
    monkeypatch.setattr("whygrad.torch.finite.trouble", lambda tensor: looked.append(tensor))
    with whygrad.torch.record(values=False):
        torch.log(torch.zeros(3))
    assert looked == []
    with whygrad.torch.record():
        torch.log(torch.zeros(3))
    assert looked
