"""Proofs of the first ten cards of chapter 03."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

import whygrad as wg
from tests.learn.proofs import proves
from whygrad.autograd import graph

ENGINES = (torch, wg)


def _network(depth: int, width: int = 32) -> torch.nn.Sequential:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(width, width, bias=False) for _ in range(depth)]
    return torch.nn.Sequential(*(part for layer in layers for part in (layer, torch.nn.Tanh())))


@proves("d-03-01")
def a_vector_times_a_jacobian() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        weight = engine.randn(3, 4, dtype=engine.float64)

        def function(x: Any, engine: Any = engine, weight: Any = weight) -> Any:
            return engine.tanh(weight @ x)

        x = engine.randn(4, dtype=engine.float64)
        incoming = engine.randn(3, dtype=engine.float64)
        _, vjp = engine.func.vjp(function, x)
        jacobian = engine.func.jacrev(function)(x)
        leaf = x.clone().requires_grad_()
        function(leaf).backward(incoming)
        assert jacobian.shape == (3, 4)
        for found in (vjp(incoming)[0], leaf.grad):
            assert engine.allclose(found, incoming @ jacobian)


@proves("d-03-01")
def no_jacobian_is_built() -> None:
    for engine in ENGINES:
        x = engine.zeros(1_000_000, requires_grad=True)  # its Jacobian would take 4 terabytes
        engine.tanh(x).sum().backward()
        assert x.grad.min().item() == 1.0


@proves("d-03-01")
def one_pass_for_every_parameter() -> None:
    model = _network(4)
    calls = []
    for parameter in model.parameters():
        parameter.register_hook(lambda gradient: calls.append(gradient.shape))
    model(torch.ones(1, 32)).sum().backward()
    assert len(calls) == 4, "each parameter was reached, each once"


@proves("d-03-02")
def cut_off_by_detach() -> None:
    for engine in ENGINES:
        alone = engine.tensor(2.0, requires_grad=True)
        shared = engine.tensor(3.0, requires_grad=True)
        head = engine.tensor(5.0, requires_grad=True)
        hidden = (alone * shared).detach()
        loss = head * hidden + shared
        loss.backward()
        assert loss.isfinite()
        assert alone.grad is None
        assert shared.grad.item() == 1.0, "the share of the other path; it would be 5 · 2 + 1"
        assert head.grad.item() == 6.0


@proves("d-03-03")
def activations_grow_with_depth() -> None:
    def held(depth: int) -> int:
        wg.manual_seed(0)
        h = wg.randn(8, 16)
        weights = [wg.randn(16, 16).requires_grad_() for _ in range(depth)]
        for weight in weights:
            h = (h @ weight).tanh()
        return graph.memory(h.sum()).activations

    x, weight = wg.randn(8, 16), wg.randn(16, 16).requires_grad_()
    with graph.saved_bytes_peak() as saved:
        h = x
        for _ in range(20):
            h = (h @ weight).tanh()
        after_forward = saved.peak
        h.sum().backward()
    assert saved.peak == after_forward, "backward needs no more than forward left"

    one = held(1)
    assert [held(depth) for depth in (10, 20, 40, 80)] == [one * n for n in (10, 20, 40, 80)]

    def saved_by_torch(depth: int) -> int:
        sizes: dict[int, int] = {}

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            if not isinstance(tensor, torch.nn.Parameter) and tensor.dim() == 2:
                sizes[tensor.data_ptr()] = tensor.nbytes
            return tensor

        model = _network(depth)
        own = {parameter.data_ptr() for parameter in model.parameters()}
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            output = model(torch.ones(8, 32))
        assert output.requires_grad
        return sum(size for place, size in sizes.items() if place not in own)

    per_layer = 8 * 32 * 4
    assert saved_by_torch(80) == 80 * per_layer + per_layer, "and the input of the first layer"
    assert saved_by_torch(40) == 40 * per_layer + per_layer


def _products(run: Callable[[], torch.Tensor]) -> int:
    """The multiplications of a forward and a backward pass."""
    with FlopCounterMode(display=False) as counter:
        run().sum().backward()
    return counter.get_total_flops()


@proves("d-03-04")
def one_more_forward_pass() -> None:
    model = _network(6)
    x = torch.ones(8, 32, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        model(x)
    forward = counter.get_total_flops()
    plain = _products(lambda: model(x))
    halves = (model[:6], model[6:])

    def in_segments() -> torch.Tensor:
        h = x
        for half in halves:
            h = checkpoint(half, h, use_reentrant=False, early_stop=False)
        return h

    def half_of_it() -> torch.Tensor:
        return halves[1](checkpoint(halves[0], x, use_reentrant=False, early_stop=False))

    assert plain == 3 * forward
    assert _products(in_segments) == 4 * forward
    assert plain < _products(half_of_it) < 4 * forward


@proves("d-03-04")
def one_more_forward_pass_here() -> None:
    runs = []

    def region(x: wg.Tensor) -> wg.Tensor:
        runs.append("forward")
        return x.tanh()

    x = wg.ones(3, requires_grad=True)
    out = wg.utils.checkpoint.checkpoint(region, x)
    assert len(runs) == 1
    out.sum().backward()
    assert len(runs) == 2


@proves("d-03-05")
def a_right_derivative_fails_in_float32() -> None:
    defaults = inspect.signature(torch.autograd.gradcheck).parameters
    assert (defaults["eps"].default, defaults["atol"].default) == (1e-6, 1e-5)
    for engine in ENGINES:
        engine.manual_seed(0)
        x = engine.randn(5, dtype=engine.float64, requires_grad=True)
        single = x.detach().to(engine.float32).requires_grad_()
        assert engine.autograd.gradcheck(engine.sin, (x,))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(RuntimeError):
                engine.autograd.gradcheck(engine.sin, (single,))
    rounding = torch.finfo(torch.float32).eps
    assert 5e-8 < rounding / 2 < 2e-7
    assert rounding / 2 / 1e-6 > 1000 * 1e-5


@contextmanager
def _anomaly_mode() -> Iterator[None]:
    """Without an error for its warning that it is slow."""
    warnings.simplefilter("always")
    with torch.autograd.detect_anomaly():
        yield


@proves("d-03-06")
def nan_is_found_and_inf_is_not() -> None:
    with warnings.catch_warnings(record=True) as told, _anomaly_mode():
        zero = torch.zeros(1, requires_grad=True)
        root = zero.sqrt()
        assert "traceback_" in root.grad_fn.metadata, "a traceback is kept for each op"
        root.sum().backward()
        assert zero.grad.isinf().all(), "an infinite gradient passes"
        with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values"):
            (zero.sqrt() * 0).sum().backward()
    assert any("(zero.sqrt() * 0)" in str(each.message) for each in told), "the forward call"
    assert "traceback_" not in torch.ones(1, requires_grad=True).sqrt().grad_fn.metadata


class StraightThrough(torch.autograd.Function):
    """Rounds; the derivative says it did not."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.round()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


@proves("d-03-07")
def another_derivative_and_the_same_one_faster() -> None:
    x = torch.tensor([0.2, 1.7], requires_grad=True)
    StraightThrough.apply(x).sum().backward()
    own, x.grad = x.grad, None
    x.round().sum().backward()
    assert own.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [0.0, 0.0]

    def rounded(x: torch.Tensor) -> torch.Tensor:
        return (x.round() * x).sum()

    gradients = []
    for function in (rounded, torch.compile(rounded, backend="aot_eager")):
        x.grad = None
        function(x).backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1]


@proves("d-03-07")
def attention_weights_come_back_from_one_number_per_row() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 6, 4, dtype=torch.float64)
    scores = q @ k.T
    per_row = scores.logsumexp(1)
    assert per_row.shape == (6,)
    assert torch.allclose((scores - per_row[:, None]).exp(), scores.softmax(1))

    inputs = [torch.randn(1, 1, 6, 4, requires_grad=True) for _ in range(3)]
    node = torch.nn.functional.scaled_dot_product_attention(*inputs).grad_fn
    assert "FlashAttention" in node.name()
    saved = {name: getattr(node, name) for name in dir(node) if name.startswith("_saved_")}
    shapes = {
        name.removeprefix("_saved_"): tuple(value.shape)
        for name, value in saved.items()
        if isinstance(value, torch.Tensor)
    }
    tiles = dict.fromkeys(("query", "key", "value", "output"), (1, 1, 6, 4))
    assert shapes == {**tiles, "logsumexp": (1, 1, 6)}


@proves("d-03-08")
def twice_through_a_graph() -> None:
    for engine in ENGINES:
        x = engine.tensor(3.0, requires_grad=True)
        shared = x * x
        first, second = shared * 2, shared * 5
        first.backward()
        with pytest.raises(RuntimeError, match="second time"):
            second.backward()
        x.grad = None
        shared = x * x
        first, second = shared * 2, shared * 5
        first.backward(retain_graph=True)
        second.backward()
        assert x.grad.item() == 2 * 3 * (2 + 5)

        cube = x**3
        (retained,) = engine.autograd.grad(cube, x, retain_graph=True)
        assert not retained.requires_grad, "no derivative of the derivative"
        (slope,) = engine.autograd.grad(cube, x, create_graph=True)
        assert slope.item() == 27.0
        (curvature,) = engine.autograd.grad(slope, x, retain_graph=True)
        assert curvature.item() == 18.0
        cube.backward(), "create_graph kept the first graph as well"


@proves("d-03-09", "d-07-14")
def passes_of_each_mode() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        weight = engine.randn(2, 5, dtype=engine.float64)
        x = engine.randn(5, dtype=engine.float64)

        def function(x: Any, engine: Any = engine, weight: Any = weight) -> Any:
            return engine.tanh(weight @ x)

        jacobian = engine.func.jacrev(function)(x)
        columns = [
            engine.func.jvp(function, (x,), (direction,))[1]
            for direction in engine.eye(5, dtype=engine.float64)
        ]
        pull = engine.func.vjp(function, x)[1]
        rows = [pull(direction)[0] for direction in engine.eye(2, dtype=engine.float64)]
        assert (len(columns), len(rows)) == (5, 2)
        assert engine.allclose(engine.stack(columns, 1), jacobian)
        assert engine.allclose(engine.stack(rows, 0), jacobian)


@proves("d-03-10")
def a_softmax_that_overflows() -> None:
    for engine in ENGINES:
        scores = engine.tensor([100.0, 1.0])
        naive = scores.exp() / scores.exp().sum()
        shifted = (scores - scores.max()).exp()
        assert scores.exp()[0].isinf()
        assert naive[0].isnan()
        assert (shifted / shifted.sum()).isfinite().all()


@proves("d-03-10")
def gradients_that_explode() -> None:
    def train(*, normalize: bool = False, clip: bool = False) -> torch.Tensor:
        torch.manual_seed(0)
        layers = [torch.nn.Linear(16, 16) for _ in range(24)]
        weights = [weight for layer in layers for weight in layer.parameters()]
        optimizer = torch.optim.SGD(weights, lr=0.05)
        x, target = torch.randn(2, 32, 16)
        for _ in range(20):
            h = x
            for layer in layers:
                h = h + layer(torch.nn.functional.layer_norm(h, (16,)) if normalize else h)
            loss = (h - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            if clip:
                torch.nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()
        return loss

    assert train().isnan()
    assert train(clip=True).isfinite()
    assert train(normalize=True).isfinite()
    assert (torch.tensor(torch.inf) - torch.inf).isnan()
