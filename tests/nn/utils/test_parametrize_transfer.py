"""Moving parametrizations from one module to another."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import whygrad


@pytest.mark.parametrize("present", [True, False])
def test_transfer(present: bool) -> None:
    """Both modules compute from the same parameters afterwards, in both libraries."""
    found = []
    for library in (whygrad, torch):
        nn, tools = library.nn, library.nn.utils.parametrize

        class Doubled(nn.Module):  # type: ignore[name-defined, misc]
            def forward(self, x: Any) -> Any:
                return x * 2

        source, target = nn.Linear(2, 2), nn.Linear(2, 2) if present else nn.Identity()
        assert tools.transfer_parametrizations_and_params(source, target) is target
        assert not tools.is_parametrized(target)
        with library.no_grad():
            source.weight.fill_(3.0)
        tools.register_parametrization(source, "weight", Doubled())
        tools.transfer_parametrizations_and_params(source, target, "weight")
        shared = target.parametrizations.weight.original is source.parametrizations.weight.original
        names = [name for name, _ in target.named_parameters()]
        found.append((target.weight.tolist(), shared, names))
    assert found[0] == found[1]
