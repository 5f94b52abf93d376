"""``register_backward_hook``, PyTorch's first kind of backward hook, against PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad

MODULES: dict[str, Callable[[Any], Any]] = {
    "one op": lambda nn: nn.Tanh(),
    "several ops": lambda nn: nn.Sequential(nn.ReLU(), nn.Tanh()),
}


@pytest.mark.parametrize("name", MODULES)
def test_sees_the_last_op(name: str) -> None:
    seen: dict[Any, Any] = {}
    for library in (whygrad, torch):
        module = MODULES[name](library.nn)
        here: list[Any] = []
        module.register_backward_hook(
            lambda module, sent, arrived, here=here: here.append(
                (type(module).__name__, [each.tolist() for each in (*sent, *arrived)])
            )
        )
        x = library.tensor([[0.5, 2.0]], requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PyTorch's, of several ops
            module(x * 1).sum().backward()
        seen[library] = here
    assert seen[whygrad][0][0] == seen[torch][0][0]
    torch.testing.assert_close(seen[whygrad][0][1], seen[torch][0][1])


def test_replaces_what_is_sent_on() -> None:
    for library in (whygrad, torch):
        module = library.nn.ReLU()
        handle = module.register_backward_hook(lambda module, sent, arrived: (sent[0] * 3,))
        x = library.ones(2, requires_grad=True)
        module(x * 1).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]
        handle.remove()
        module(x * 1).sum().backward()
        assert x.grad.tolist() == [4.0, 4.0]


def test_the_two_kinds_do_not_mix() -> None:
    for library in (whygrad, torch):
        for first, second in (
            ("register_backward_hook", "register_full_backward_hook"),
            ("register_full_backward_hook", "register_backward_hook"),
        ):
            module = library.nn.ReLU()
            getattr(module, first)(lambda *_: None)
            with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and"):
                getattr(module, second)(lambda *_: None)
