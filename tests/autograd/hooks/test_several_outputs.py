"""What hooks of a node with several outputs see, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

# (outputs, which of them backward starts from)
OPS: dict[str, Callable[[Any, Any], tuple[Any, int]]] = {
    "var_mean": lambda L, x: (L.var_mean(x, 0), 0),
    "mean of var_mean": lambda L, x: (L.var_mean(x, 0), 1),
    "std_mean": lambda L, x: (L.std_mean(x, 1), 1),
    "aminmax": lambda L, x: (L.aminmax(x), 1),
    "unbind": lambda L, x: (x.unbind(0), 1),
    "split": lambda L, x: (x.split(1), 0),
    "sort": lambda L, x: (x.sort(0), 0),
    "topk": lambda L, x: (x.topk(1, 0), 0),
    "max": lambda L, x: (x.max(0), 0),
    "kthvalue": lambda L, x: (x.kthvalue(1, 0), 0),
    "cummax": lambda L, x: (L.cummax(x, 0), 0),
    "svd": lambda L, x: (L.linalg.svd(x, full_matrices=False), 1),
    "qr": lambda L, x: (L.linalg.qr(x), 0),
    "slogdet": lambda L, x: (L.linalg.slogdet(x[:, :2]), 1),
    "layer_norm": lambda L, x: ([L.nn.functional.layer_norm(x, (3,))], 0),
    "batch_norm": lambda L, x: ([L.nn.functional.batch_norm(x, None, None, training=True)], 0),
    "one output": lambda L, x: ([x.exp()], 0),
}


def _told(gradients: Any) -> list[Any]:
    return [None if each is None else np.array(each.tolist()) for each in gradients]


@pytest.mark.parametrize("name", OPS)
def test_hooks_see_what_pytorch_shows(name: str) -> None:
    seen: dict[Any, list[Any]] = {}
    for library in (whygrad, torch):
        x = library.tensor([[1.0, 2.0, 4.0], [3.0, 7.0, 5.0]], requires_grad=True)
        outputs, start = OPS[name](library, x * 1)
        node = outputs[start].grad_fn
        here: list[Any] = []
        node.register_prehook(lambda incoming, here=here: here.append(_told(incoming)))
        node.register_hook(
            lambda sent, incoming, here=here: here.extend((_told(sent), _told(incoming)))
        )
        outputs[start].sum().backward()
        seen[library] = here
    for mine, theirs in zip(seen[whygrad], seen[torch], strict=True):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert (a is None) == (b is None)
            if b is not None:
                np.testing.assert_allclose(a, b, 1e-4, 1e-5)


def test_a_prehook_replaces_one_of_several() -> None:
    for library in (whygrad, torch):
        x = library.tensor([1.0, 2.0, 6.0], requires_grad=True)
        var, mean = library.var_mean(x, 0)
        var.grad_fn.register_prehook(lambda incoming: (incoming[0], incoming[1] * 3))
        (var + mean).backward()
        expected = 1.0 + (x.detach() - 3.0)  # 3/3, and 2·(x − mean)/2
        assert x.grad.tolist() == pytest.approx(expected.tolist())
