"""Proofs of the cards of chapter 03 on training, from the eleventh on."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

import whygrad as wg
from tests.learn.proofs import proves
from whygrad.autograd.graph import saved_bytes_peak
from whygrad.utils.checkpoint import checkpoint_sequential

ENGINES = (torch, wg)


def _leaf(engine: Any, *shape: int) -> Any:
    return engine.randn(*shape, dtype=engine.float64).requires_grad_()


@proves("d-03-11")
def none_and_zeros() -> None:
    for engine in ENGINES:
        unused = engine.ones(3, requires_grad=True)
        frozen = engine.ones(3)
        bias = engine.full((3,), -100.0, requires_grad=True)
        batch = engine.rand(8, 3)
        engine.relu(batch * frozen + bias).sum().backward()
        assert unused.grad is None
        assert frozen.grad is None
        assert bias.grad.tolist() == [0.0, 0.0, 0.0]


@proves("d-03-12")
def gradients_add_up() -> None:
    for engine in ENGINES:
        w = engine.tensor([1.0, 2.0], requires_grad=True)
        first, second = engine.tensor([3.0, 4.0]), engine.tensor([10.0, 20.0])
        (w * first).sum().backward()
        (w * second).sum().backward()
        assert w.grad.tolist() == [13.0, 24.0]


@proves("d-03-13")
def four_parts_of_a_batch() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        x, target = engine.randn(2, 32, 5, dtype=engine.float64)
        w = _leaf(engine, 5)

        def loss(x: Any, target: Any, w: Any = w) -> Any:
            return ((x * w).tanh() - target).square().mean()

        loss(x, target).backward()
        whole, w.grad = w.grad, None
        for part in range(0, 32, 8):
            (loss(x[part : part + 8], target[part : part + 8]) / 4).backward()
        assert engine.allclose(w.grad, whole)


@proves("d-03-13")
def batch_normalization_sees_the_parts() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        x = engine.randn(32, 5, dtype=engine.float64)
        w = _leaf(engine, 5)

        def loss(x: Any, engine: Any = engine, w: Any = w) -> Any:
            normal = engine.nn.functional.batch_norm(x * w, None, None, training=True, eps=1.0)
            return normal.tanh().square().mean()

        loss(x).backward()
        whole, w.grad = w.grad, None
        for part in range(0, 32, 8):
            (loss(x[part : part + 8]) / 4).backward()
        assert not engine.allclose(w.grad, whole, rtol=0.01)


@proves("d-03-14")
def what_is_left_out() -> None:
    for engine in ENGINES:
        w = engine.tensor(2.0, requires_grad=True)
        v = engine.tensor(5.0, requires_grad=True)
        with engine.no_grad():
            inside = w * v * 3
        assert inside.grad_fn is None
        hidden = w * w
        cut = hidden.detach()
        assert cut.grad_fn is None
        assert hidden.grad_fn is not None, "what came before stays recorded"
        assert (cut * 3).grad_fn is None
        again = cut * v
        assert again.grad_fn is not None
        (again + hidden).backward()
        assert (w.grad.item(), v.grad.item()) == (4.0, 4.0)


@proves("d-03-15")
def detach_shares_memory() -> None:
    for engine in ENGINES:
        w = engine.tensor([1.0, 2.0], requires_grad=True)
        hidden = w * 1
        loss = (hidden * hidden).sum()
        hidden.detach().clone().zero_()
        assert hidden.tolist() == [1.0, 2.0]
        hidden.detach().zero_()
        assert hidden.tolist() == [0.0, 0.0]
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def _clipped(engine: Any, gradients: list[Any], **how: float) -> list[Any]:
    leaves = [engine.zeros_like(gradient).requires_grad_() for gradient in gradients]
    for leaf, gradient in zip(leaves, gradients, strict=True):
        leaf.grad = gradient.clone()
    if "norm" in how:
        engine.nn.utils.clip_grad_norm_(leaves, how["norm"])
    else:
        engine.nn.utils.clip_grad_value_(leaves, how["value"])
    return [leaf.grad for leaf in leaves]


@proves("d-03-16")
def one_norm_for_all() -> None:
    for engine in ENGINES:
        gradients = [engine.tensor([3.0, 0.0]), engine.tensor([4.0])]
        clipped = _clipped(engine, gradients, norm=0.5)
        flat = engine.cat(clipped)
        assert flat.norm().item() == pytest.approx(0.5, rel=1e-4)
        assert flat.tolist() == pytest.approx([0.3, 0.0, 0.4], rel=1e-4)


@proves("d-03-17")
def each_component_on_its_own() -> None:
    for engine in ENGINES:
        gradient = engine.tensor([10.0, 1.0])
        (by_value,) = _clipped(engine, [gradient], value=1.0)
        (by_norm,) = _clipped(engine, [gradient], norm=1.0)
        assert by_value.tolist() == [1.0, 1.0]
        assert by_norm[0].item() / by_norm[1].item() == pytest.approx(10.0)


@proves("d-03-18")
def the_steepest_place_of_the_sigmoid() -> None:
    x = wg.linspace(-20, 20, 4001, dtype=wg.float64).requires_grad_()
    x.sigmoid().sum().backward()
    assert x.grad.max().item() == 0.25
    assert x[x.grad.argmax()].item() == pytest.approx(0.0, abs=1e-12)
    assert 4.0**-10 < 1e-6

    def slope(depth: int, weight: float) -> float:
        value = first = wg.tensor(0.3, dtype=wg.float64, requires_grad=True)
        for _ in range(depth):
            value = (value * weight).sigmoid()
        value.backward()
        return first.grad.item()

    assert 0 < slope(10, 1.0) <= 4.0**-10
    assert slope(1, 20.0) > 0.25 / 10, "a large weight makes up for it"


@proves("d-03-19")
def logits_stay_finite() -> None:
    for engine in ENGINES:
        logits = engine.tensor([[0.0, 200.0]])
        label = engine.tensor([0])
        assert engine.softmax(logits, 1)[0, 0].item() == 0.0
        assert engine.softmax(logits, 1).log()[0, 0].item() == -math.inf
        assert engine.nn.functional.cross_entropy(logits, label).item() == 200.0
        shifted = logits[0] - logits.max()
        by_hand = shifted[0] - shifted.exp().sum().log()
        assert by_hand.item() == -200.0


@proves("d-03-20")
def zero_times_infinity() -> None:
    for engine in ENGINES:
        x = engine.tensor([0.0, 4.0], requires_grad=True)
        engine.where(x > 0, engine.sqrt(x), 0.0).sum().backward()
        assert x.grad[0].isnan()
        x.grad = None
        safe = engine.where(x > 0, x, 1.0)
        engine.where(x > 0, engine.sqrt(safe), 0.0).sum().backward()
        assert x.grad.tolist() == [0.0, 0.25]


@proves("d-03-21")
def segments_of_a_chain() -> None:
    def peak(layers: int, segments: int) -> int:
        wg.manual_seed(0)
        x = wg.randn(16, 32)
        weights = [(wg.randn(32, 32) / 6).requires_grad_() for _ in range(layers)]
        functions = [lambda h, weight=weight: (h @ weight).tanh() for weight in weights]
        with saved_bytes_peak() as saved:
            checkpoint_sequential(functions, segments, x).square().mean().backward()
        return saved.peak

    layer = 16 * 32 * 4
    peaks = {segments: peak(64, segments) for segments in (1, 2, 4, 8, 16, 32, 64)}
    assert min(peaks, key=lambda segments: peaks[segments]) == 8
    assert peaks[1] >= 64 * layer
    assert peaks[8] <= (2 * 8 + 2) * layer, "about 2√n layers' worth"
    ratio = peak(256, 16) / peaks[8]
    assert 1.7 < ratio < 2.2, "four times the layers, twice the memory"


@proves("d-03-22")
def the_second_run_repeats_the_first() -> None:
    def mask_and_gradient(*, keep_state: bool) -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(0)
        x = torch.ones(64, requires_grad=True)

        def region(x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.dropout(x * x, 0.5) ** 2

        out = checkpoint(region, x, use_reentrant=False, preserve_rng_state=keep_state)
        torch.rand(7)  # other random numbers are drawn before backward
        out.sum().backward()
        return out != 0, x.grad != 0

    kept, gradient = mask_and_gradient(keep_state=True)
    assert torch.equal(kept, gradient)
    kept, gradient = mask_and_gradient(keep_state=False)
    assert not torch.equal(kept, gradient)


@proves("d-03-23")
def four_numbers_per_parameter() -> None:
    for engine in ENGINES:
        w = engine.ones(10, requires_grad=True)
        optimizer = engine.optim.Adam([w])
        (w * w).sum().backward()
        optimizer.step()
        averages = [
            value for name, value in optimizer.state[w].items() if name.startswith("exp_avg")
        ]
        kept = [w, w.grad, *averages]
        assert len(kept) == 4
        assert sum(each.numel() * each.element_size() for each in kept) == 16 * w.numel()


@proves("d-03-24")
def two_products_for_one() -> None:
    x = torch.ones(8, 16, requires_grad=True)
    w = torch.ones(16, 32, requires_grad=True)
    with FlopCounterMode(display=False) as forward:
        y = x @ w
    with FlopCounterMode(display=False) as backward:
        y.sum().backward()
    assert backward.get_total_flops() == 2 * forward.get_total_flops()
    for engine in ENGINES:
        engine.manual_seed(0)
        x, w = _leaf(engine, 8, 16), _leaf(engine, 16, 32)
        incoming = engine.randn(8, 32, dtype=engine.float64)
        (x @ w).backward(incoming)
        assert engine.allclose(w.grad, x.detach().T @ incoming)
        assert engine.allclose(x.grad, incoming @ w.detach().T)


@proves("d-03-25")
def small_gradients_in_float16() -> None:
    smallest = 2.0**-24
    assert 5.9e-8 < smallest < 6.0e-8
    for engine in ENGINES:
        assert engine.tensor(smallest, dtype=engine.float16).item() == smallest
        assert engine.tensor(smallest / 2, dtype=engine.float16).item() == 0.0
        assert engine.tensor(smallest * 0.51, dtype=engine.float16).item() == smallest
        w = engine.tensor(1.0, dtype=engine.float16, requires_grad=True)
        scale = 1024.0
        tiny = engine.tensor(1e-4, dtype=engine.float16)
        ((w * tiny) * tiny).backward()
        assert w.grad.item() == 0.0
        w.grad = None
        (((w * tiny) * tiny) * scale).backward()
        assert w.grad.to(engine.float32).item() / scale == pytest.approx(1e-8, rel=0.02)


@proves("d-03-26")
def one_nan_spreads_by_clipping() -> None:
    for engine in ENGINES:
        gradients = [engine.tensor([math.nan]), engine.tensor([1.0, 2.0])]
        assert all(each.isnan().all() for each in _clipped(engine, gradients, norm=1.0))
        leaf = engine.zeros(1, requires_grad=True)
        leaf.grad = engine.tensor([math.nan])
        with pytest.raises(RuntimeError, match="non-finite"):
            engine.nn.utils.clip_grad_norm_([leaf], 1.0, error_if_nonfinite=True)


@proves("d-03-27")
def sums_grow_with_the_batch() -> None:
    for engine in ENGINES:
        engine.manual_seed(0)
        x, target = engine.randn(2, 16, dtype=engine.float64)
        w = engine.tensor(0.5, dtype=engine.float64, requires_grad=True)
        found = {}
        for reduction in ("sum", "mean"):
            for copies in (1, 2):
                w.grad = None
                batch, wanted = engine.cat([x] * copies), engine.cat([target] * copies)
                engine.nn.functional.mse_loss(w * batch, wanted, reduction=reduction).backward()
                found[reduction, copies] = w.grad.item()
        assert found["sum", 2] == pytest.approx(2 * found["sum", 1])
        assert found["mean", 2] == pytest.approx(found["mean", 1])
