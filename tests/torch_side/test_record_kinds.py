"""Tensors and transforms that are not ordinary go through a recording as if it were not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import whygrad.torch


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(*shape, requires_grad=True)


def nested() -> Any:
    both = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged)
    return (both * 2).to_padded_tensor(0.0)


def sparse() -> Any:
    diagonal = torch.eye(3).to_sparse().requires_grad_()
    return (diagonal @ torch.ones(3, 3)).sum()


def quantized() -> Any:
    return torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8).dequantize()


def fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return (torch.ones(3) * 2).log_().sum().shape


def transformed() -> Any:
    def of(x: Any) -> Any:
        return (x.log() * x).sum()

    gradients = torch.func.vmap(torch.func.grad(of))(torch.ones(3, 2))
    _, tangent = torch.func.jvp(of, (torch.ones(2),), (torch.ones(2),))
    return torch.func.hessian(of)(torch.ones(2)) + gradients.sum() + tangent


def compiled() -> Any:
    double = torch.compile(lambda x: (x.sin() * 2).sum(), backend="eager")
    return double(ones(3))


def traced() -> Any:
    return torch.jit.trace(lambda x: x.sin() * 2, (torch.ones(3),), check_trace=False)(ones(3))


def complex_numbers() -> Any:
    return torch.fft.fft(torch.ones(3, dtype=torch.complex64, requires_grad=True)).abs().sum()


def narrow() -> Any:
    return torch.ones(3).to(torch.float8_e4m3fn).float()


def subclass() -> Any:
    class Labelled(torch.Tensor):
        pass

    return (ones(3).as_subclass(Labelled) * 2).log().sum().as_subclass(torch.Tensor)


def reparametrised() -> Any:
    torch.manual_seed(0)
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    return layer(torch.ones(1, 2)).sum()


def many_optimizers() -> Any:
    torch.manual_seed(0)
    layer = nn.Linear(2, 2)
    for kind in (torch.optim.Adam, torch.optim.Adagrad, torch.optim.LBFGS, torch.optim.Rprop):
        optimizer = kind(layer.parameters())

        def closure() -> Any:
            layer.zero_grad()
            loss = layer(torch.ones(1, 2)).square().sum()
            loss.backward()
            return loss

        optimizer.step(closure)
    return layer(torch.ones(1, 2)).sum()


def mixed_precision() -> Any:
    with torch.autocast("cpu"):
        return (ones(2, 2) @ ones(2, 2)).sum().float()


PROGRAMS: list[Callable[[], Any]] = [
    nested,
    sparse,
    quantized,
    fake,
    transformed,
    compiled,
    traced,
    complex_numbers,
    narrow,
    subclass,
    reparametrised,
    many_optimizers,
    mixed_precision,
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_result_is_the_same(program: Callable[[], Any]) -> None:
    plain = program()
    with whygrad.torch.record():
        recorded = program()
    if isinstance(plain, torch.Tensor):
        assert torch.equal(plain, recorded)
        assert (plain.grad_fn is None) == (recorded.grad_fn is None)
    else:
        assert plain == recorded


def test_meta_tensors_are_followed_without_numbers() -> None:
    with whygrad.torch.record():
        x = torch.ones(3, device="meta", requires_grad=True)
        w = torch.ones(3, device="meta", requires_grad=True)
        loss = (x.detach() * w).sum()
    assert whygrad.torch.why_none(x, loss).cause == "detach"
