"""Complex parameters: two real elements each, as PyTorch's optimizers see them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad

CASES: list[tuple[str, dict[str, Any]]] = [
    ("ASGD", {}), ("Adadelta", {}), ("Adagrad", {"initial_accumulator_value": 0.3}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", {}), ("Adamax", {}),
    ("NAdam", {}), ("RAdam", {}), ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Rprop", {}), ("SGD", {"momentum": 0.9, "nesterov": True}),
]  # fmt: skip


def _trained(library: Any, name: str, options: dict[str, Any]) -> Any:
    start = library.tensor([[1 + 2j, -0.5 + 0.3j], [0.1j, 2]], dtype=library.complex128)
    parameter = start.T.requires_grad_()  # its memory is not row by row
    optimizer = getattr(library.optim, name)([parameter], lr=0.1, **options)
    for _ in range(4):
        optimizer.zero_grad()
        (parameter - (0.3 - 0.7j)).abs().pow(3).sum().backward()
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
    return parameter.detach().numpy()


@pytest.mark.parametrize(("name", "options"), CASES, ids=[name for name, _ in CASES])
def test_they_go_where_pytorch_goes(name: str, options: dict[str, Any]) -> None:
    mine, theirs = (_trained(library, name, options) for library in (whygrad, torch))
    np.testing.assert_allclose(mine, theirs, 1e-10)


@pytest.mark.parametrize("name", ["Adafactor", "LBFGS"])
def test_the_others_refuse(name: str) -> None:
    z = whygrad.tensor([1 + 2j], requires_grad=True)
    z.grad = whygrad.ones_like(z)
    optimizer = getattr(whygrad.optim, name)([z])
    with pytest.raises(RuntimeError, match="only parameters of floating point dtype"):
        optimizer.step(lambda: whygrad.tensor(0.0))
