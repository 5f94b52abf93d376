"""A device and a layout from outside the package: forward and backward, without editing an op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad
from whygrad import dispatch
from whygrad.tensor import Tensor, keys, wrap

launched: Counter[str] = Counter()


class ToyBuffer:
    """Memory of an imaginary accelerator: nothing in NumPy knows what to do with it."""

    def __init__(self, secret: Any) -> None:
        self.secret = np.array(secret)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.secret.shape

    @property
    def ndim(self) -> int:
        return self.secret.ndim

    @property
    def dtype(self) -> Any:
        return self.secret.dtype


toy = dispatch.register_device(
    "toy", ToyBuffer, from_numpy=ToyBuffer, to_numpy=lambda buffer: buffer.secret.copy()
)


def launch(name: str) -> Callable[..., ToyBuffer]:
    """A toy kernel: the reference, run on the hidden memory, and counted."""
    forward = whygrad.ops.table[name].forward

    def kernel(*args: Any) -> ToyBuffer:
        launched[name] += 1
        return ToyBuffer(forward(*(getattr(arg, "secret", arg) for arg in args)))

    return kernel


for _name in ("add", "sub", "mul", "tanh", "sum", "matmul", "transpose", "view", "expand", "cast"):
    dispatch.register(whygrad.ops.table[_name], "toy", launch(_name))


class Diagonal:
    """A square matrix that stores its diagonal only."""

    def __init__(self, entries: Any) -> None:
        self.entries = entries

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.entries), len(self.entries))

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> Any:
        return self.entries.dtype


diagonal = dispatch.register_layout("diagonal", Diagonal)


@dispatch.register(whygrad.mul, "diagonal")
def scale(a: Any, b: Any) -> Diagonal:
    if isinstance(a, Diagonal) and isinstance(b, Diagonal):
        return Diagonal(a.entries * b.entries)
    return Diagonal(a.entries * b) if isinstance(a, Diagonal) else Diagonal(a * b.entries)


@dispatch.register(whygrad.add, "diagonal")
def add_diagonals(a: Diagonal, b: Diagonal) -> Diagonal:
    return Diagonal(a.entries + b.entries)


@dispatch.register(whygrad.sum, "diagonal")
def trace(x: Diagonal, dim: tuple[int, ...], keepdim: bool) -> Any:
    return x.entries.sum()


@dispatch.register(whygrad.expand, "diagonal")
def keep(x: Diagonal, shape: tuple[int, ...]) -> Diagonal:
    return x


def diagonal_matrix(*entries: float) -> Tensor:
    return wrap(Diagonal(np.array(entries)))


def on_toy(values: Any) -> Tensor:
    moved: Tensor = whygrad.tensor(values).to("toy")
    return moved


def test_names_and_keys() -> None:
    x = on_toy([1.0, 2.0])
    assert x.device == "toy"
    assert x.device is toy
    assert whygrad.device("toy") is toy
    assert keys.describe(x._keys) == ["float32", "toy"]
    assert (x.shape, x.dtype) == ((2,), whygrad.float32)
    np.testing.assert_array_equal(x.to("cpu").numpy(), [1.0, 2.0])
    assert x.to("toy") is x


def test_kernels_of_the_device_run() -> None:
    launched.clear()
    x = on_toy([[1.0, 2.0]])
    y = (x * 3.0 + x).tanh()
    assert y.device == "toy"
    assert launched == {"mul": 1, "add": 1, "tanh": 1}
    np.testing.assert_allclose(y.to("cpu").numpy(), np.tanh([[4.0, 8.0]]), rtol=1e-6)


def test_backward_on_the_device() -> None:
    w, x = on_toy([[0.5], [-1.0]]).requires_grad_(), on_toy([[1.0, 2.0], [3.0, 4.0]])
    launched.clear()
    loss = ((x @ w).tanh() * w).sum()
    loss.backward()
    assert w.grad is not None
    assert w.grad.device == "toy"
    assert launched["matmul"] == 2  # one forward, one in the rule for w
    a = whygrad.tensor([[0.5], [-1.0]]).requires_grad_()
    ((whygrad.tensor([[1.0, 2.0], [3.0, 4.0]]) @ a).tanh() * a).sum().backward()
    np.testing.assert_allclose(w.grad.to("cpu").numpy(), a.grad.numpy(), rtol=1e-5)


def test_gradients_cross_to_cpu_and_back() -> None:
    """The walk starts on cpu, passes through the device, broadcasting included, ends on cpu."""
    a = whygrad.tensor([[1.0], [2.0]], requires_grad=True)
    b = whygrad.tensor([3.0, 4.0, 5.0], requires_grad=True)
    product = (a.to("toy") * b.to("toy")).to("cpu")
    (product * product).sum().backward()
    c = whygrad.tensor([[1.0], [2.0]], requires_grad=True)
    d = whygrad.tensor([3.0, 4.0, 5.0], requires_grad=True)
    ((c * d) * (c * d)).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), c.grad.numpy())
    np.testing.assert_allclose(b.grad.numpy(), d.grad.numpy())


def test_contributions_meet_on_the_device() -> None:
    x = whygrad.tensor([1.0, 2.0], requires_grad=True)
    moved = x.to("toy")
    (moved * 2.0 + moved * 3.0 + moved).to("cpu").sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [6.0, 6.0])


def test_gradients_accumulate_on_the_device() -> None:
    x = on_toy([1.0, 2.0]).requires_grad_()
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to("cpu").numpy(), [4.0, 8.0])


def test_second_order_on_the_device() -> None:
    x = on_toy([0.5, -0.25]).requires_grad_()
    (first,) = whygrad.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (second,) = whygrad.autograd.grad((first * on_toy([1.0, 1.0])).sum(), x)
    np.testing.assert_allclose(second.to("cpu").numpy(), [3.0, -1.5])


def test_promotion_on_the_device() -> None:
    x = on_toy([1, 2]) * 1.5
    assert (x.device, x.dtype) == ("toy", whygrad.float32)
    np.testing.assert_array_equal(x.to("cpu").numpy(), [1.5, 3.0])


def test_names_are_unique() -> None:
    for again in (
        lambda: dispatch.register_layout("toy", Diagonal),
        lambda: dispatch.register_device("cpu", Diagonal, from_numpy=Diagonal, to_numpy=np.array),
    ):
        with pytest.raises(ValueError, match="a dispatch key of this name exists already"):
            again()


def test_missing_kernel() -> None:
    with pytest.raises(RuntimeError, match="exp has no kernel for toy") as caught:
        whygrad.exp(on_toy([1.0]))
    assert ".to('cpu')" in str(caught.value)
    assert "whygrad.dispatch.register" in str(caught.value)


def test_mixed_devices() -> None:
    with pytest.raises(RuntimeError, match="a is on toy, b is on cpu"):
        on_toy([1.0, 2.0]) + whygrad.ones(2)
    moved = on_toy([1.0, 2.0]) + whygrad.tensor(1.0)
    np.testing.assert_array_equal(moved.to("cpu").numpy(), [2.0, 3.0])


def test_created_on_the_device() -> None:
    x = whygrad.ones(2, device="toy")
    assert x.device == "toy"
    np.testing.assert_array_equal(x.to("cpu").numpy(), [1.0, 1.0])


def test_reading_copies_the_data() -> None:
    assert on_toy([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert on_toy([1.5]).item() == 1.5
    assert repr(on_toy([1.5])) == "tensor([1.5000], device='toy')"


def test_explain_names_the_toy_kernel() -> None:
    report = str(dispatch.explain(whygrad.add, on_toy([1.0]), on_toy([1.0])))
    assert "registered for toy: tests.dispatch.test_backend.kernel" in report


def test_layout_from_outside() -> None:
    m = diagonal_matrix(1.0, 2.0, 3.0)
    assert m.layout is diagonal
    assert m.device == "cpu"
    assert keys.describe(m._keys) == ["float64", "cpu", "diagonal"]
    assert (m * 2.0).layout is diagonal
    assert (m * m + m).sum().item() == 20.0
    with pytest.raises(RuntimeError, match="exp has no kernel for diagonal"):
        whygrad.exp(m)


def test_gradients_through_the_layout() -> None:
    """The sum is dense, so the walk starts on plain arrays and meets the layout on its way."""
    m = diagonal_matrix(1.0, 2.0, 3.0).requires_grad_()
    (m * m * 0.5).backward(diagonal_matrix(1.0, 1.0, 1.0))
    assert m.grad is not None
    assert m.grad.layout is diagonal
    np.testing.assert_array_equal(m.grad._array.entries, [1.0, 2.0, 3.0])
