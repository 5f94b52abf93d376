"""vmap: where batches come from and go to, nesting, and what it says when it cannot."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import whygrad as wg
from whygrad.autograd import forward_ad
from whygrad.autograd.transforms import batching
from whygrad.func import vmap


def t(*shape: int, seed: int = 0) -> wg.Tensor:
    return wg.from_numpy(np.random.default_rng(seed).normal(size=shape))


def same(mine: Any, theirs: Any) -> None:
    assert tuple(mine.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-12)


# --- where the batch is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("in_dims", "out_dims"),
    [(0, 0), (1, 0), (-1, 1), ((0, None), -1), ((None, 2), 0), ((1, -1), 2)],
)
def test_dims_are_pytorchs(in_dims: Any, out_dims: Any) -> None:
    a, b = t(3, 3, 3), t(3, 3, 3, seed=1)
    mine = vmap(lambda a, b: (a @ b).cumsum(1), in_dims, out_dims)(a, b)
    theirs = torch.vmap(lambda a, b: (a @ b).cumsum(1), in_dims, out_dims)(
        torch.from_numpy(a.numpy()), torch.from_numpy(b.numpy())
    )
    same(mine, theirs)


class Pair(NamedTuple):
    first: Any
    second: Any


def test_nested_inputs_and_outputs() -> None:
    def f(pair: Any, options: dict[str, Any]) -> Any:
        return {"sum": pair[0] + options["shift"], "both": Pair(pair[1], [pair[0]])}

    inputs = (t(4, 2), t(2, 4)), {"shift": t(2)}
    out = vmap(f, in_dims=((0, 1), {"shift": None}), out_dims={"sum": 1, "both": 0})(*inputs)
    same(out["sum"], (inputs[0][0] + inputs[1]["shift"]).T)
    assert isinstance(out["both"], Pair)
    same(out["both"].first, inputs[0][1].T)
    same(out["both"].second[0], inputs[0][0])


def test_what_does_not_depend_on_the_sample_is_repeated_or_passed_on() -> None:
    out = vmap(lambda x: (wg.ones(2), x.shape[0], x), out_dims=(0, None, 0))(t(3, 5))
    assert out[0].shape == (3, 2)
    assert out[1] == 5


def test_keyword_arguments_are_shared_by_all_samples() -> None:
    x = t(3, 4)
    same(vmap(lambda x, scale: x * scale)(x, scale=x), x[:, None] * x)


def test_a_sample_has_the_geometry_of_one() -> None:
    def f(x: wg.Tensor) -> wg.Tensor:
        assert (x.shape, x.ndim, x.numel(), len(x), x.dtype) == ((4, 5), 2, 20, 4, wg.float64)
        assert (x.stride(), x.is_contiguous()) == ((5, 1), True)
        assert not x.T.is_contiguous()
        assert not x.requires_grad
        return x.T.reshape(-1)

    x = t(3, 4, 5).requires_grad_()
    same(vmap(f)(x), x.mT.reshape(3, -1))


def test_nesting_gives_an_outer_product() -> None:
    a, b = t(3), t(4)
    outer = vmap(vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))
    same(outer(a, b), a[:, None] * b)


def test_inner_vmap_over_a_tensor_of_the_outer_one() -> None:
    x = t(2, 3, 4)
    same(vmap(vmap(lambda row: row.softmax(0)), in_dims=1, out_dims=1)(x), x.softmax(2))


def test_chunks_give_the_same() -> None:
    x = t(7, 3)
    whole = vmap(lambda x: (x.sum(), x * 2), out_dims=(0, 1))(x)
    for size in (1, 3, 7, 10):
        parts = vmap(lambda x: (x.sum(), x * 2), out_dims=(0, 1), chunk_size=size)(x)
        same(parts[0], whole[0])
        same(parts[1], whole[1])


def test_empty_batch() -> None:
    assert vmap(lambda x: x.sum(0) @ t(4, 2))(t(0, 3, 4)).shape == (0, 2)


def test_name_and_docstring_survive() -> None:
    def square(x: wg.Tensor) -> wg.Tensor:
        """x²"""
        return x * x

    assert (vmap(square).__name__, vmap(square).__doc__) == ("square", "x²")


# --- derivatives ----------------------------------------------------------------------------------


def test_gradient_of_vmap_reaches_batched_and_shared_inputs() -> None:
    x, w = t(5, 3).requires_grad_(), t(3, 2, seed=1).requires_grad_()
    vmap(lambda x: (x @ w).tanh().sum())(x).sum().backward()
    wanted_x, wanted_w = wg.autograd.grad((x @ w).tanh().sum(), [x, w])
    same(x.grad, wanted_x)
    same(w.grad, wanted_w)


def test_second_derivative_of_vmap() -> None:
    x = t(5).requires_grad_()
    (first,) = wg.autograd.grad(vmap(lambda x: x**3)(x).sum(), x, create_graph=True)
    (second,) = wg.autograd.grad(first.sum(), x)
    same(second, 6 * x)


def test_detach_inside() -> None:
    x = t(3, 2).requires_grad_()
    vmap(lambda x: (x * x.detach() + x.data).sum())(x).sum().backward()
    same(x.grad, x)


def test_forward_mode_over_vmap_and_vmap_over_forward_mode() -> None:
    x, v = t(3, 4), t(3, 4, seed=1)
    with forward_ad.dual_level():
        dual = vmap(lambda x: (x**3).sum())(forward_ad.make_dual(x, v))
        over = forward_ad.unpack_dual(dual).tangent

    def push(x: wg.Tensor, v: wg.Tensor) -> Any:
        with forward_ad.dual_level():
            return forward_ad.unpack_dual((forward_ad.make_dual(x, v) ** 3).sum()).tangent

    same(over, (3 * x**2 * v).sum(1))
    same(vmap(push)(x, v), over)
    basis = wg.eye(4, dtype=wg.float64)
    same(vmap(push, in_dims=(None, 0))(x[0], basis), 3 * x[0] ** 2)


def test_a_jacobian_in_one_backward_pass() -> None:
    x, w = t(4).requires_grad_(), t(3, 4, seed=1)
    y = (w @ x).tanh()
    rows = wg.eye(3, dtype=wg.float64)
    jacobian = vmap(lambda v: wg.autograd.grad(y, x, v, retain_graph=True)[0])(rows)
    same(jacobian, (1 - y * y)[:, None] * w)


def test_reading_lines_are_the_users() -> None:
    x = t(3).requires_grad_()
    assert "test_vmap.py" in str(vmap(lambda x: x.exp())(x).grad_fn)


# --- indices and writes ---------------------------------------------------------------------------


def test_indices_may_differ_per_sample() -> None:
    x = t(3, 4, 5)
    rows, one = wg.tensor([[0, -1], [2, 3], [1, 1]]), wg.tensor([3, 0, -2])
    for pick in (
        lambda x, i: x[i],
        lambda x, i: x[:, i],
        lambda x, i: x[i, i],
        lambda x, i: x[1:][i],
    ):
        index = rows.clamp(-1, 2)
        same(vmap(pick)(x, index), wg.stack([pick(x[n], index[n]) for n in range(3)]))
    same(vmap(lambda x, i: x[i])(x, one), wg.stack([x[n, int(one[n])] for n in range(3)]))
    with pytest.raises(IndexError, match="index 10 is out of bounds for dimension 0 with size 4"):
        vmap(lambda x, i: x[i])(x, rows + 7)


def test_writes_reach_the_batch() -> None:
    def f(x: wg.Tensor) -> wg.Tensor:
        y = wg.zeros_like(x)
        y.add_(x)
        y[0] = x[1] * 2
        y[1:].mul_(3.0)
        y.diagonal().fill_(x.sum())
        return y

    x = t(2, 3, 3)
    same(vmap(f)(x), wg.stack([f(x[0]), f(x[1])]))


def test_writing_to_an_input_changes_the_callers_tensor() -> None:
    x = t(3, 4)
    before = x.clone()
    vmap(lambda x: x.add_(1.0), in_dims=1)(x)
    same(x, before + 1)


def test_history_of_a_written_tensor() -> None:
    x = t(3, 2).requires_grad_()

    def f(x: wg.Tensor) -> wg.Tensor:
        y = wg.zeros_like(x)
        y += x * x
        y *= x
        return y

    vmap(f)(x).sum().backward()
    same(x.grad, 3 * x**2)


def test_a_shared_target_cannot_take_what_differs() -> None:
    def f(x: wg.Tensor) -> wg.Tensor:
        return wg.zeros(2, dtype=wg.float64).add_(x)

    with pytest.raises(RuntimeError, match=r"inplace arithmetic is not possible[\s\S]*new_zeros"):
        vmap(f)(t(3, 2))


# --- randomness -----------------------------------------------------------------------------------


def test_randomness() -> None:
    x = t(3, 4)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error"):
        vmap(lambda x: x + wg.randn(4))(x)
    shared = vmap(lambda x: wg.rand_like(x), randomness="same")(x)
    assert (shared == shared[0]).all()
    own = vmap(lambda x: wg.rand(4) + 0 * x, randomness="different")(x)
    assert own.unique().numel() == 12
    dropped = vmap(lambda x: wg.nn.functional.dropout(wg.ones_like(x)), randomness="different")
    assert dropped(t(50, 4)).unique(dim=0).shape[0] > 1
    masked = vmap(wg.nn.functional.dropout, randomness="same")(wg.ones(3, 64))
    assert 0 < masked[0].sum() < 128
    assert (masked == masked[0]).all()
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        vmap(wg.bernoulli, randomness="same")(wg.rand(3, 4))
    assert vmap(wg.bernoulli, randomness="different")(wg.ones(3, 4)).sum() == 12
    wg.randn(2)


def test_every_level_has_its_own_say_on_randomness() -> None:
    inner = vmap(lambda x: x + wg.rand(()), randomness="different")
    drawn = vmap(inner, randomness="same")(wg.zeros(3, 4))
    assert drawn[0].unique().numel() == 4
    assert (drawn == drawn[0]).all()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(inner)(wg.zeros(3, 4))


# --- what it cannot do ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x.sum().item(),
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: np.sin(x),
        lambda x: float(x[0]),
        lambda x: wg.tensor([x[0], 1.0]),
    ],
)
def test_numbers_of_a_sample_are_refused(f: Any) -> None:
    with pytest.raises(RuntimeError, match=r"data-dependent control flow[\s\S]*whygrad.where"):
        vmap(f)(t(3, 4))


@pytest.mark.parametrize("f", [lambda x: x.nonzero(), lambda x: x[x > 0], lambda x: x.unique()])
def test_shapes_that_depend_on_the_data(f: Any) -> None:
    with pytest.raises(RuntimeError, match="dynamic shape"):
        vmap(f)(t(3, 4))


def test_graph_work_inside() -> None:
    x = t(3, 2).requires_grad_()
    with pytest.raises(
        RuntimeError, match=r"requires_grad_\(\) inside of a function being vmapped"
    ):
        vmap(lambda x: x.requires_grad_())(x)
    with pytest.raises(RuntimeError, match=r"backward\(\) called inside a function being vmapped"):
        vmap(lambda x: x.sum().backward())(x)
    w = t(2).requires_grad_()
    with pytest.raises(RuntimeError, match=r"grad\(\) called inside a function being vmapped"):
        vmap(lambda x: wg.autograd.grad((x * w).sum(), w))(x)
    a = t(4).requires_grad_()
    with pytest.raises(RuntimeError, match=r"an input that all samples share[\s\S]*func.grad"):
        vmap(lambda x: vmap(lambda a: wg.autograd.grad((x * a).sum(), x))(a))(x)
    y = x.exp()
    with pytest.raises(RuntimeError, match=r"the gradient differs per sample[\s\S]*autograd.grad"):
        vmap(lambda v: y.backward(v))(t(5, 3, 2))
    assert x.grad is None


def test_escaped_tensors_are_recognised() -> None:
    kept: list[wg.Tensor] = []
    vmap(lambda x: kept.append(x) or x)(t(3))  # type: ignore[func-returns-value]
    with pytest.raises(RuntimeError, match="escaped from inside a function being vmapped"):
        kept[0] + 1
    with pytest.raises(RuntimeError, match="escaped"):
        vmap(lambda x: x + kept[0])(t(3))


def test_as_strided() -> None:
    with pytest.raises(RuntimeError, match="vmap does not support as_strided"):
        vmap(lambda x: x.as_strided((2,), (1,)))(t(3, 4))


def test_sparse() -> None:
    with pytest.raises(ValueError, match=r"sparse_coo[\s\S]*to_dense"):
        vmap(lambda x: x)(wg.eye(3).to_sparse())


def test_levels_close_after_an_error_and_belong_to_a_thread() -> None:
    def fails(x: wg.Tensor) -> wg.Tensor:
        raise KeyError

    with pytest.raises(KeyError):
        vmap(fails)(t(3))
    assert not batching._levels.open
    wg.randn(2)
    seen = []

    def other_thread(x: wg.Tensor) -> wg.Tensor:
        thread = threading.Thread(target=lambda: seen.append((wg.randn(2), batching._levels.open)))
        thread.start()
        thread.join()
        return x

    vmap(other_thread)(t(3))
    assert not seen[0][1]


def test_an_error_also_names_the_call_on_a_sample() -> None:
    with pytest.raises(RuntimeError) as caught:
        vmap(lambda x: x + t(5))(t(3, 4))
    assert caught.value.__notes__ == ["add(a: float64[4], b: float64[5]), inside vmap"]


def test_printing() -> None:
    shown: list[str] = []
    vmap(lambda x: shown.append(f"{x} {x.sum()}") or x)(wg.ones(2, 2))  # type: ignore[func-returns-value]
    assert shown[0].startswith("a sample of shape (2,), batched at level")


X = t(3, 4)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: vmap(lambda x: x, randomness="no"), RuntimeError, "Only allowed values"),
        (lambda: vmap(lambda x: x, chunk_size=0), ValueError, "chunk_size should be None or"),
        (lambda: vmap(lambda: X)(), ValueError, "got no inputs"),
        (lambda: vmap(lambda x: x, in_dims=1.5)(X), ValueError, "expected `in_dims` to be int"),
        (lambda: vmap(lambda x: x, in_dims=[0])(X), ValueError, "expected `in_dims` to be int"),
        (lambda: vmap(lambda x: x, in_dims=None)(X), ValueError, "expected `in_dims` to be int"),
        (lambda: vmap(lambda x: x, in_dims=(0, 0))(X), ValueError, r"structure \(\*, \*\) but"),
        (lambda: vmap(lambda x: x, in_dims=([0],))((X,)), ValueError, "not compatible with the st"),
        (lambda: vmap(lambda x: x, in_dims=(None,))(X), ValueError, "at least one Tensor to vmap"),
        (lambda: vmap(lambda x: x, in_dims=(1.5,))(X), ValueError, "must be either an integer"),
        (lambda: vmap(lambda x: x, in_dims=2)(X), ValueError, "-2 <= in_dim < 2"),
        (lambda: vmap(lambda x: x)(3.0), ValueError, "cannot vmap over non-Tensor"),
        (lambda: vmap(lambda x, y: x)(X, X[:2]), ValueError, r"got sizes \[3, 2\]"),
        (lambda: vmap(lambda x: 1)(X), ValueError, "must only return Tensors, got type int"),
        (lambda: vmap(lambda x: x, out_dims=None)(X), ValueError, "when out_dim is None"),
        (lambda: vmap(lambda x: x, out_dims="a")(X), ValueError, "must be an int, None or a py"),
        (lambda: vmap(lambda x: x, out_dims=(0, 0))(X), ValueError, "structure of `outputs`"),
        (lambda: vmap(lambda x: [x, x], out_dims=(0, 0))(X), ValueError, "structure of `outputs`"),
        (lambda: vmap(lambda x: x, out_dims=5)(X), IndexError, "Dimension out of range"),
    ],
)
def test_errors(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert "fix:" in str(caught.value)
