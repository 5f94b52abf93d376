"""Contributions add up to what PyTorch's autograd computes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import whygrad.torch
from whygrad.why.explanation import Explanation


def leaf(*shape: int, dtype: Any = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


def attention(x: torch.Tensor) -> torch.Tensor:
    query, key, value = x * 2, x + 1, x.exp()
    return (torch.softmax(query @ key.T / 2, dim=-1) @ value).square().sum()


def written(x: torch.Tensor) -> torch.Tensor:
    buffer = torch.zeros(4, 3, dtype=x.dtype)
    buffer[1:] = x[:3]
    buffer.mul_(x)
    return buffer.sum()


# Programs of one 4 × 3 tensor, and in how many places they use it.
USES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "once": (lambda x: x.exp().sum(), 1),
    "a + a": (lambda x: (x + x).square().sum(), 2),
    "x * x": (lambda x: (x * x).sum(), 2),
    "broadcast": (lambda x: (x[:1] * x).sum() + (x[:, :1] + x).square().sum(), 4),
    "attention": (attention, 3),
    "unbind": (lambda x: (x.unbind()[0] * x.unbind()[1]).sum(), 2),
    "max with indices": (lambda x: (x.max(dim=0)[0] * x.sum(0)).sum(), 2),
    "svd": (lambda x: sum(each.sum() for each in torch.linalg.svd(x, False)[:2]), 1),
    "views": (lambda x: (x.T @ x.reshape(4, 3)).diagonal().sum() + x.flatten()[3], 3),
    "cat": (lambda x: torch.cat([x, x, x.sin()]).square().sum(), 3),
    "where": (lambda x: torch.where(x > 0, x, x.exp()).sum(), 2),
    "in place": (written, 2),
    "index": (lambda x: x[torch.tensor([0, 0, 2])].square().sum(), 1),
    "custom": (lambda x: (Square.apply(x) * x).sum(), 2),
    "scaled_dot_product_attention": (
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]).square().sum(),
        3,
    ),
    "layer_norm": (lambda x: (F.layer_norm(x, (3,)) * x).sum(), 2),
    "cross_entropy": (lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2, 1])) + x.mean(), 2),
}


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
@pytest.mark.parametrize("name", USES)
def test_contributions_add_up_to_the_gradient(name: str, recorded: bool) -> None:
    program, uses = USES[name]
    torch.manual_seed(0)
    x = leaf(4, 3)
    if recorded:
        with whygrad.torch.record():
            y = program(x)
    else:
        y = program(x)
    found = whygrad.torch.explain(y, wrt=x)
    (expected,) = torch.autograd.grad(y, x)
    assert len(found.contributions) == uses
    np.testing.assert_array_equal(found.gradient, expected.numpy())
    np.testing.assert_allclose(found.total, expected.numpy(), rtol=1e-12, atol=1e-14)
    assert all((each.where is not None) is recorded for each in found.contributions)
    if recorded:
        assert {each.where.file for each in found.contributions} == {__file__}
    assert ("line not recorded" in str(found)) is not recorded
    json.dumps(found.to_dict())


@pytest.mark.parametrize("name", ["layer_norm", "attention", "views", "x * x", "in place"])
def test_one_element_and_where_it_comes_from(name: str) -> None:
    torch.manual_seed(1)
    x = leaf(4, 3)
    y = USES[name][0](x)
    found = whygrad.torch.explain(y, wrt=x, index=(1, -1))
    (expected,) = torch.autograd.grad(y, x)
    assert found.index == (1, 2)
    total = sum(each.element for each in found.contributions)
    assert total == pytest.approx(expected[1, 2].item(), rel=1e-10)
    for each in found.contributions:
        if each.terms is not None:
            largest = sum(term.product for term in each.terms.largest)
            assert largest + each.terms.left_out_sum == pytest.approx(each.element, rel=1e-10)
    assert any(each.terms is not None for each in found.contributions)


def test_the_diamond_has_two_named_paths() -> None:
    with whygrad.torch.record():
        a = torch.tensor(2.0, requires_grad=True)
        b = torch.tensor(3.0, requires_grad=True)
        c = torch.tensor(4.0, requires_grad=True)
        y = (a * b + c) * (a - c)
    found = whygrad.torch.explain(y, wrt=a)
    text = str(found)
    assert text.startswith("dy/da = 4: the sum of 2 paths")
    assert "through a * b + c: -2 × 1 × 3 = -6" in text
    assert "through a - c: 10 × 1 = 10" in text
    assert "sum: -6 + 10 = 4" in text
    assert "test_explain.py" in text


def test_parameters_of_a_module_by_name() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    unused = nn.Linear(2, 2)
    model.register_module("unused", unused)
    with whygrad.torch.record():
        hidden = model[1](model[0](torch.randn(5, 3)))
        loss = model[2](hidden).logsumexp(1).mean()
    found = whygrad.torch.explain(loss, model)
    loss.backward()
    assert list(found) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    parameters = dict(model.named_parameters())
    for name, each in found.items():
        np.testing.assert_array_equal(each.gradient, parameters[name].grad.numpy())
        np.testing.assert_allclose(each.total, parameters[name].grad.numpy(), rtol=1e-5, atol=1e-8)
    assert found["0.weight"].target.name == "model.0.weight"
    assert "linear: t" in str(found["0.weight"])


def test_what_lies_in_between_can_be_asked_about() -> None:
    x = leaf(3)
    hidden = x.exp()
    first, second = torch.stack([hidden, hidden.log()]).unbind()
    y = (first * second).sum() + hidden.sum()
    for each in (hidden, first, second):
        found = whygrad.torch.explain(y, wrt=each)
        (expected,) = torch.autograd.grad(y, each, retain_graph=True)
        np.testing.assert_allclose(found.total, expected.numpy(), rtol=1e-12)


def test_a_result_with_several_elements_takes_a_gradient() -> None:
    x = leaf(3)
    y = x * x
    seed = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    found = whygrad.torch.explain(y, wrt=x, gradient=seed)
    np.testing.assert_allclose(found.gradient, (2 * x * seed).detach().numpy())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.complex64])
def test_dtypes(dtype: Any) -> None:
    x = torch.ones(3, dtype=dtype, requires_grad=True)
    y = (x * x + x).abs().sum()
    found = whygrad.torch.explain(y, wrt=x)
    np.testing.assert_allclose(np.asarray(found.total, complex), np.full(3, 3.0 + 0j))


def test_a_sparse_gradient() -> None:
    table = torch.ones(5, 2, requires_grad=True)
    y = F.embedding(torch.tensor([1, 1, 3]), table, sparse=True).sum() + table.sum()
    found = whygrad.torch.explain(y, wrt=table)
    assert np.asarray(found.total)[:, 0].tolist() == [1, 3, 1, 2, 1]


def test_a_broadcast_is_spelled_out() -> None:
    bias = leaf(3)
    y = (torch.ones(4, 3, dtype=torch.float64) + bias).sum()
    (only,) = whygrad.torch.explain(y, wrt=bias).contributions
    assert (only.summed, only.stretched) == ((0,), (4, 3))


def test_nothing_changes() -> None:
    x, other = leaf(3), leaf(3)
    x.grad = torch.ones(3, dtype=torch.float64)
    state = torch.get_rng_state()
    y = (x * other).exp().sum()
    whygrad.torch.explain(y, wrt=x, index=1)
    assert torch.equal(x.grad, torch.ones(3, dtype=torch.float64))
    assert other.grad is None
    assert torch.equal(torch.get_rng_state(), state)
    y.backward()
    assert other.grad is not None


def test_hooks_run_and_a_changed_gradient_is_noticed() -> None:
    x = leaf(3)
    x.register_hook(lambda gradient: gradient * 10)
    found = whygrad.torch.explain((x * x).sum(), wrt=x)
    np.testing.assert_allclose(found.gradient, 20 * x.detach().numpy())
    assert "a hook has changed it" in str(found)


def test_a_deep_graph() -> None:
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(5_000):
        y = y * 1.0
    assert whygrad.torch.explain(y, wrt=x).gradient == 1.0


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "not a tensor": (
        lambda: whygrad.torch.explain(leaf(1).sum(), wrt=3.0),
        TypeError,
        "wrt is a float, not a tensor of PyTorch's",
    ),
    "no gradient wanted": (
        lambda: whygrad.torch.explain(leaf(1).sum(), wrt=torch.ones(1)),
        RuntimeError,
        "does not require grad, so backward computes no gradient for it",
    ),
    "no way": (
        lambda: whygrad.torch.explain(leaf(1).sum(), wrt=leaf(1)),
        RuntimeError,
        "so there is nothing to explain",
    ),
    "not a number": (
        lambda: whygrad.torch.explain(leaf(2) * 2, wrt=leaf(2)),
        RuntimeError,
        "grad can be implicitly created only for scalar outputs",
    ),
    "no path to show": (
        lambda: whygrad.torch.explain(leaf(1).sum(), wrt=leaf(1), max_paths=0),
        ValueError,
        "at least one path has to be shown",
    ),
    "index out of range": (
        lambda: whygrad.torch.explain(leaf(2).sum(), wrt=leaf(2), index=2),
        IndexError,
        "index 2 is out of range for axis 0 of size 2",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    call, kind, text = REFUSED[name]
    with pytest.raises(kind, match="cause: ") as refused:
        call()
    assert text in str(refused.value)
    assert "test_explain.py" in str(refused.value)


def test_a_released_graph_is_refused() -> None:
    x = leaf(2)
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="released by an earlier backward") as refused:
        whygrad.torch.explain(y, wrt=x)
    assert "retain_graph=True" in str(refused.value)


def test_several_at_once() -> None:
    a, b = leaf(1), leaf(1)
    found = whygrad.torch.explain((a * b).sum(), wrt=[a, b])
    assert [type(each) for each in found] == [Explanation, Explanation]
    assert [each.target.name for each in found] == ["a", "b"]
