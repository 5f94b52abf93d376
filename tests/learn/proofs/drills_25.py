"""Proofs of the cards on PyTorch's internals."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import pytest
import torch

import whygrad as wg
from tests.learn.proofs import proves

ENGINES = (torch, wg)


@proves("d-25-01")
def where_an_element_lies() -> None:
    for engine in ENGINES:
        base = engine.arange(24.0).reshape(4, 6)
        flat = base.reshape(-1)
        view = base[1:, ::2]
        assert view.shape == (3, 3)
        assert view.storage_offset() == 6
        first, second = view.stride()
        for i in range(3):
            for j in range(3):
                place = view.storage_offset() + i * first + j * second
                assert view[i, j].item() == flat[place].item()
        view[0, 0] = -1.0
        assert flat[6].item() == -1.0


@proves("d-25-02")
def strides_of_a_transpose() -> None:
    for engine in ENGINES:
        x = engine.zeros(3, 4)
        assert tuple(x.stride()) == (4, 1)
        assert tuple(x.T.stride()) == (1, 4)
        assert x.T.data_ptr() == x.data_ptr()


@proves("d-25-03")
def reshape_copies_when_it_must() -> None:
    for engine in ENGINES:
        x = engine.zeros(3, 4)
        assert x.reshape(2, 6).data_ptr() == x.data_ptr()
        assert x.reshape(-1).data_ptr() == x.data_ptr()
        assert x.T.reshape(-1).data_ptr() != x.data_ptr()
        with pytest.raises(RuntimeError):
            x.T.view(-1)
        assert x.T.reshape(4, 3, 1).data_ptr() == x.data_ptr(), "strides can describe this one"


@proves("d-25-04")
def versions() -> None:
    for engine in ENGINES:
        w = engine.ones(3, requires_grad=True)
        h = w * 1
        loss = (h * h).sum()
        before = h._version
        part = h.detach()[:2]
        part.mul_(2)
        assert h._version == part._version == before + 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
        untouched = (w * 1).exp().sum()
        untouched.backward()


def _saved(result: torch.Tensor) -> list[str]:
    return [name for name in dir(result.grad_fn) if name.startswith("_saved_")]


@proves("d-25-05")
def what_sum_and_product_save() -> None:
    a, b = (torch.ones(3, requires_grad=True) for _ in range(2))
    tensors = [getattr((a + b).grad_fn, name) for name in _saved(a + b)]
    assert not any(isinstance(each, torch.Tensor) for each in tensors)
    product = (a * b).grad_fn
    assert (product._saved_self is a, product._saved_other is b) == (True, True)
    a, b = (wg.ones(3, requires_grad=True) for _ in range(2))
    assert not (a + b).grad_fn.saved
    assert set((a * b).grad_fn.saved) == {"a", "b"}
    fixed = torch.ones(3)
    assert torch.mul(torch.ones(3, requires_grad=True), fixed).grad_fn._saved_self is None, (
        "what is needed for no gradient is not kept"
    )


@proves("d-25-06")
def the_output_of_exp() -> None:
    for engine in ENGINES:
        w = engine.tensor([1.0], requires_grad=True)
        x = w * 1
        y = x.exp()
        loss = (y * 2).sum()
        x.zero_()
        loss.backward()
        assert w.grad.item() == pytest.approx(2 * 2.718281828, rel=1e-6)
        x = w * 1
        y = x.exp()
        loss = (y * 2).sum()
        y.zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


@proves("d-25-07")
def a_residual_in_place() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        norm, block = engine.nn.LayerNorm(4), engine.nn.Linear(4, 4)
        x = engine.randn(2, 4)
        h = x * 1
        h = h + block(norm(h))
        h.sum().backward()
        h = engine.randn(2, 4).requires_grad_() * 1
        h.add_(block(norm(h)))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            h.sum().backward()


@proves("d-25-08")
def a_leaf_in_place() -> None:
    for engine in ENGINES:
        w = engine.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="leaf"):
            w.sub_(0.5)
        with engine.no_grad():
            w.sub_(0.5)
        assert w.is_leaf
        assert w.tolist() == [0.5, 0.5, 0.5]
        w.sum().backward()
        assert w.grad.tolist() == [1.0, 1.0, 1.0]


@proves("d-25-09")
def the_node_at_a_leaf() -> None:
    for engine in ENGINES:
        w = engine.ones(3, requires_grad=True)
        first, second = (w * 2).grad_fn, (w * 3).grad_fn
        ends = [node.next_functions[0][0] for node in (first, second)]
        assert ends[0] is ends[1], "one per leaf"
        assert "AccumulateGrad" in ends[0].name()
        assert ends[0].variable is w
        (w * 2).sum().backward()
        (w * 3).sum().backward()
        assert w.grad.tolist() == [5.0, 5.0, 5.0]


@proves("d-25-10")
def gradients_of_results() -> None:
    for engine in ENGINES:
        w = engine.tensor(2.0, requires_grad=True)
        h = w * 3
        (h * h).backward()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert h.grad is None
        assert w.grad.item() == 36.0
        h = w * 3
        h.retain_grad()
        (h * h).backward()
        assert h.grad.item() == 12.0
        h = w * 3
        assert engine.autograd.grad(h * h, h)[0].item() == 12.0


@proves("d-25-11")
def keys_do_not_tell_the_dtype() -> None:
    keys = torch._C._dispatch_keys
    single = torch.zeros(2)
    assert keys(single) == keys(single.double()) == keys(single.half())
    names = repr(keys(single))
    assert "CPU" in names
    assert "AutogradCPU" in names
    assert "AutocastCPU" in names
    assert keys(single.to("meta")) != keys(single), "the device is in the key"
    assert keys(single.to_sparse()) != keys(single), "so is the layout"
    assert (single.double() + 1).dtype == torch.float64


@proves("d-25-12")
def autograd_before_the_cpu() -> None:
    calls: list[str] = []
    library = torch.library.Library("whygrad_drill", "DEF")
    try:
        library.define("twice(Tensor x) -> Tensor")

        def on_the_cpu(x: torch.Tensor) -> torch.Tensor:
            calls.append("cpu")
            return x * 2

        def recording(x: torch.Tensor) -> torch.Tensor:
            calls.append("autograd")
            with torch._C._AutoDispatchBelowAutograd():
                return torch.ops.whygrad_drill.twice(x)

        library.impl("twice", on_the_cpu, "CPU")
        library.impl("twice", recording, "AutogradCPU")
        torch.ops.whygrad_drill.twice(torch.ones(2, requires_grad=True))
    finally:
        library._destroy()
    assert calls == ["autograd", "cpu"]


@proves("d-25-13")
def inference_tensors() -> None:
    w = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        ordinary = torch.ones(2)
    (w * ordinary).sum().backward()
    with torch.inference_mode():
        inference = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        (w * inference).sum()
    with pytest.raises(RuntimeError, match="version counter"):
        _ = inference._version
    assert ordinary._version == 0


@proves("d-25-14")
def hooks_of_saved_tensors() -> None:
    for engine in ENGINES:
        kept: dict[str, Any] = {}
        calls: list[str] = []

        def pack(tensor: Any, kept: dict[str, Any] = kept, calls: list[str] = calls) -> str:
            calls.append("pack")
            name = f"file {len(kept)}"
            kept[name] = tensor.detach().clone()
            return name

        def unpack(name: str, kept: dict[str, Any] = kept, calls: list[str] = calls) -> Any:
            calls.append("unpack")
            return kept[name]

        x = engine.tensor([3.0], requires_grad=True)
        with engine.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = x.exp()
        assert calls == ["pack"]
        y.backward()
        assert calls == ["pack", "unpack"]
        assert x.grad.item() == pytest.approx(y.item())


class Square(torch.autograd.Function):
    """Keeps its input by the book, or as an attribute."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, properly: bool) -> torch.Tensor:
        ctx.properly = properly
        if properly:
            ctx.save_for_backward(x)
        else:
            ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        x = ctx.saved_tensors[0] if ctx.properly else ctx.x
        return 2 * x * gradient, None


@proves("d-25-15")
def a_tensor_kept_beside_the_checks() -> None:
    def gradient(*, properly: bool) -> float:
        w = torch.tensor([3.0], requires_grad=True)
        h = w * 1
        loss = Square.apply(h, properly).sum()
        h.fill_(100.0)
        loss.backward()
        return w.grad.item()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        gradient(properly=True)
    assert gradient(properly=False) == 200.0, "wrong: 2 · 3 is 6"

    seen: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        seen.append(tensor)
        return tensor

    for properly in (False, True):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
            Square.apply(torch.tensor([3.0], requires_grad=True), properly)
        assert bool(seen) == properly


@proves("d-25-16")
def losses_that_keep_their_graphs() -> None:
    def alive_after(*, keep_tensor: bool, record: bool) -> int:
        weight = torch.ones(4, 4, requires_grad=True)
        activations: list[Any] = []
        history: list[Any] = []
        for _ in range(5):
            with torch.set_grad_enabled(record):
                hidden = (torch.ones(2, 4) @ weight).tanh()
                loss = hidden.square().mean()
            activations.append(weakref.ref(hidden.untyped_storage()))
            history.append(loss if keep_tensor else loss.item())
            del hidden, loss
        gc.collect()
        return sum(each() is not None for each in activations)

    assert alive_after(keep_tensor=True, record=True) == 5
    assert alive_after(keep_tensor=False, record=True) == 0
    assert alive_after(keep_tensor=True, record=False) == 0
