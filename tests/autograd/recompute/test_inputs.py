"""What a checkpointed function reads must not change before backward runs it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.utils.checkpoint import CheckpointError, checkpoint

W = leaf(0.1, 0.2)
MODIFIED = (
    r"one of the variables needed for gradient computation has been modified by an inplace "
    r"operation: {writer} at .*test_inputs\.py:\d+: .*wrote to {what}"
)


def after_the_call(h: Any) -> Any:
    y = checkpoint(lambda t: (t * W).exp(), h)
    h.add_(1.0)
    return y


def as_residual(h: Any) -> Any:
    return h.add_(checkpoint(lambda t: (t * W).exp(), h))


def inside(h: Any) -> Any:
    return checkpoint(lambda t: t.add_(1.0).exp() * W, h)


def in_a_list(h: Any) -> Any:
    y = checkpoint(lambda parts: (parts["all"][0] * W).exp(), {"all": [h]})
    h.add_(1.0)
    return y


def by_keyword(h: Any) -> Any:
    y = checkpoint(lambda *, t: (t * W).exp(), t=h)
    h.add_(1.0)
    return y


def through_a_view(h: Any) -> Any:
    y = checkpoint(lambda t: (t * W).exp(), h)
    h[:1].add_(1.0)
    return y


@pytest.mark.parametrize(
    "write", [after_the_call, as_residual, inside, in_a_list, by_keyword, through_a_view]
)
def test_an_argument_is_overwritten(write: Callable[[Any], Any]) -> None:
    y = write(leaf(1.0, 2.0) * 1.0)
    what = MODIFIED.format(writer="add_", what=r"an argument of it, float64\[2\]")
    with pytest.raises(CheckpointError, match=what):
        y.sum().backward()


def test_an_argument_is_overwritten_through_data() -> None:
    h = leaf(1.0, 2.0) * 1.0
    y = checkpoint(lambda t: (t * W).exp(), h)
    h.data.mul_(2.0)
    with pytest.raises(CheckpointError, match=MODIFIED.format(writer=r"\.data\.mul_", what="an")):
        y.sum().backward()


@pytest.mark.parametrize(
    "read", [lambda w: w, lambda w: w.detach(), lambda w: w.data, lambda w: w[:]]
)
def test_a_parameter_is_overwritten(read: Callable[[Any], Any]) -> None:
    """As by ``optimizer.step()`` between forward and backward; PyTorch says nothing."""
    w = leaf(1.0, 2.0)
    y = checkpoint(lambda t: (t + read(w)).exp(), leaf(3.0, 4.0))
    with wg.no_grad():
        w.sub_(0.1)
    what = MODIFIED.format(writer="sub_", what=r"float64\[2\], which (add|slice) reads at .*inputs")
    with pytest.raises(CheckpointError, match=what) as caught:
        y.sum().backward()
    assert "call backward() before the write" in str(caught.value)
    assert w.grad is None


def test_a_scratch_buffer_is_written_by_the_function_itself() -> None:
    buffer = wg.zeros(2, dtype=wg.float64)

    def function(t: Any) -> Any:
        with wg.no_grad():
            buffer.add_(1.0)
        return t * buffer

    with pytest.raises(CheckpointError, match=MODIFIED.format(writer="add_", what="float64")):
        checkpoint(function, leaf(3.0, 4.0)).sum().backward()


def test_a_counter_that_nobody_reads_may_count() -> None:
    runs, x = wg.zeros(()), leaf(1.0, 2.0)

    def function(t: Any) -> Any:
        with wg.no_grad():
            runs.add_(1.0)
        return t.exp()

    y = checkpoint(function, x)
    y.sum().backward()
    assert (x.grad == y.detach()).all()
    assert runs.item() == 2.0


def test_a_captured_tensor_is_overwritten_by_the_function() -> None:
    h = leaf(1.0, 2.0) * 1.0

    def function(t: Any) -> Any:
        return h.mul_(t)

    with pytest.raises(CheckpointError, match="Recomputed values differ"):
        checkpoint(function, leaf(3.0, 4.0)).sum().backward()


def test_a_value_is_overwritten_within_the_function() -> None:
    def function(t: Any) -> Any:
        a = t.exp()
        b = a * a
        a.add_(1.0)
        return (a * b).sin()

    what = MODIFIED.format(writer="add_", what=r"what became '\w' of MulBackward, float64\[2\]")
    with pytest.raises(CheckpointError, match=what):
        checkpoint(function, leaf(1.0, 2.0)).sum().backward()


def test_the_data_of_a_leaf_is_exchanged() -> None:
    x = leaf(1.0, 2.0)
    y = checkpoint(lambda t: (t * t).exp(), x)
    (expected,) = wg.autograd.grad(y.sum(), x, retain_graph=True)
    x.data = x.data * 1.001
    y.sum().backward()
    assert (x.grad == expected).all(), "the argument is the memory, not the name"

    w = leaf(1.0, 2.0)
    y = checkpoint(lambda t: (t * w).exp(), leaf(3.0, 4.0))
    w.data = w.data * 1.001
    with pytest.raises(CheckpointError, match="Recomputed values differ"):
        y.sum().backward()


def test_writes_that_are_allowed_elsewhere() -> None:
    x = leaf(1.0, 2.0)
    h = x * 1.0
    with wg.autograd.graph.allow_mutation_on_saved_tensors():
        y = checkpoint(lambda t: (t * t).exp(), h)
    (expected,) = wg.autograd.grad((x * x).exp().sum(), x)
    h.add_(1.0)
    y.sum().backward()
    assert (x.grad == expected).all()


def test_results_may_be_overwritten() -> None:
    x = leaf(1.0, 2.0)
    y = checkpoint(lambda t: (t.exp() * t).sin(), x)
    (expected,) = wg.autograd.grad(y.sum(), x, retain_graph=True)
    (y + 0.0).mul_(2.0)
    y.mul_(2.0)
    y.sum().backward()
    assert (x.grad == 2 * expected).all()


def test_writes_between_two_derivatives_are_noticed() -> None:
    w, x = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = checkpoint(lambda t: (t * w).exp(), x)
    (first,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    with wg.no_grad():
        w.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: mul_"):
        first.sum().backward()


def test_inference_tensors_may_be_read() -> None:
    with wg.inference_mode():
        offset = wg.ones(2, dtype=wg.float64)
    x = leaf(1.0, 2.0)
    y = checkpoint(lambda t, o: (t + o).exp(), x, offset)
    y.sum().backward()
    assert (x.grad == y.detach()).all()


def test_arguments_keep_their_attributes_and_identity() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2.0
    h.name = "hidden"
    seen: list[Any] = []

    def function(t: Any, leaf: Any) -> Any:
        seen.append((t.name, leaf is x, t.grad_fn is h.grad_fn))
        return t.exp().sin()

    checkpoint(function, h, x).sum().backward()
    assert seen == [("hidden", True, True)] * 2
