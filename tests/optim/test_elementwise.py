"""Updates in place: memory, versions, blocks, strides, dtypes, and refusals before any change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.optim.problems import (
    CASES,
    EVERY_CASE,
    LIBRARIES,
    Problem,
    case_id,
    optimizer_of,
)
from whygrad.autograd.graph import allow_mutation_on_saved_tensors
from whygrad.optim.base import arithmetic

EVERY_NAME = pytest.mark.parametrize("name", CASES)
BOTH = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


def stepped(library: Any, name: str, param: Any, gradients: Any, **options: Any) -> Any:
    """A parameter after one step per gradient."""
    optimizer = optimizer_of(library, name, [param], lr=0.01, **options)
    for gradient in gradients:
        param.grad = gradient
        optimizer.step()
    return optimizer


# --- evidence -------------------------------------------------------------------------------------


@EVERY_NAME
def test_a_step_is_one_write_by_name_and_line(name: str) -> None:
    x = whygrad.ones(3).requires_grad_()
    optimizer = optimizer_of(whygrad, name, [x], lr=0.01)
    address = x.data_ptr()
    for _ in range(2):
        x.grad = whygrad.ones(3)
        before = x._version
        optimizer.step()
        assert x._version == before + 1
    assert x.data_ptr() == address
    writer, where = x._storage.last_writer  # type: ignore[misc]
    assert writer == f"{name}.step"
    assert where.text == "optimizer.step()"
    assert x.is_leaf
    assert x.requires_grad


def test_a_graph_that_needs_the_old_value_says_who_overwrote_it() -> None:
    x = whygrad.ones(3).requires_grad_()
    optimizer = whygrad.optim.AdamW([x])
    (x * x).sum().backward()
    loss = (x * x).sum()
    optimizer.step()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation") as caught:
        loss.backward()
    assert "AdamW.step" in str(caught.value)
    assert "optimizer.step()" in str(caught.value)


def test_old_values_can_be_kept() -> None:
    x = whygrad.full((3,), 2.0).requires_grad_()
    x.grad = whygrad.ones(3)
    with allow_mutation_on_saved_tensors():
        loss = (x * x).sum()
        whygrad.optim.SGD([x], lr=1.0).step()
        x.grad = None
        loss.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4.0] * 3


def test_views_of_a_parameter_see_the_step() -> None:
    x = whygrad.ones(4).requires_grad_()
    view = x.detach()[:2]
    x.grad = whygrad.ones(4)
    whygrad.optim.SGD([x], lr=0.5).step()
    assert view.tolist() == [0.5, 0.5]
    assert view._version == x._version == 1


def test_gradients_are_only_read() -> None:
    gradient = whygrad.arange(3.0)
    x = whygrad.ones(3).requires_grad_()
    for name in CASES:
        optimizer = optimizer_of(whygrad, name, [x], **CASES[name][1])
        x.grad = gradient
        optimizer.step()
        assert gradient.tolist() == [0.0, 1.0, 2.0]
        assert gradient._version == 0


def test_the_state_of_a_graph_is_not_part_of_any() -> None:
    """A gradient with a history of its own (create_graph) leaves none in the parameter."""
    x = whygrad.ones(2).requires_grad_()
    (x**3).sum().backward(create_graph=True)
    optimizer = whygrad.optim.Adam([x])
    optimizer.step()
    assert x.is_leaf
    assert not any(each.requires_grad for each in optimizer.state[x].values())


# --- shapes and dtypes ----------------------------------------------------------------------------


def _transposed(library: Any, array: Any) -> Any:
    return library.tensor(array.T.copy()).t().detach()


def _sliced(library: Any, array: Any) -> Any:
    wide = library.zeros(array.shape[0], 2 * array.shape[1], dtype=library.float64)
    wide[:, ::2] = library.tensor(array)
    return wide[:, ::2].detach()


LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda library, array: library.tensor(array),
    "columns": _transposed,
    "every second": _sliced,
}


@EVERY_NAME
@pytest.mark.parametrize("block", [4, 10**9])
@pytest.mark.parametrize("of_gradient", LAYOUTS)
@pytest.mark.parametrize("of_param", LAYOUTS)
def test_any_layout_and_block_size(
    name: str, of_param: str, of_gradient: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arithmetic, "BLOCK", block)
    rng = np.random.default_rng(1)
    start, *gradients = rng.normal(size=(4, 3, 5))
    results = {}
    for label, library in LIBRARIES.items():
        param = LAYOUTS[of_param](library, start).requires_grad_()
        given = [LAYOUTS[of_gradient](library, each) for each in gradients]
        stepped(
            library, name, param, given, **{k: v for k, v in CASES[name][1].items() if k != "lr"}
        )
        results[label] = param.detach().numpy()
    np.testing.assert_allclose(results["whygrad"], results["torch"], rtol=1e-12)


@EVERY_NAME
def test_blocks_change_nothing(name: str) -> None:
    """A parameter of several blocks, and the same one in pieces: bit for bit."""
    rng = np.random.default_rng(2)
    size = 2 * arithmetic.BLOCK + 5
    start, gradient = rng.normal(size=(2, size)).astype(np.float32)
    cuts = [0, 7, arithmetic.BLOCK + 3, size]
    parts = list(pairwise(cuts))
    whole = whygrad.tensor(start).requires_grad_()
    pieces = [whygrad.tensor(start[a:b]).requires_grad_() for a, b in parts]
    one = optimizer_of(whygrad, name, [whole], lr=0.01)
    many = optimizer_of(whygrad, name, pieces, lr=0.01)
    for _ in range(2):
        whole.grad = whygrad.tensor(gradient)
        for piece, (a, b) in zip(pieces, parts, strict=True):
            piece.grad = whygrad.tensor(gradient[a:b])
        one.step()
        many.step()
    joined = np.concatenate([piece.detach().numpy() for piece in pieces])
    np.testing.assert_array_equal(joined, whole.detach().numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), EVERY_CASE, ids=case_id)
def test_compiled_loops_change_nothing(
    name: str, options: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large parameter, by the loop where there is one and by NumPy: bit for bit."""
    rng = np.random.default_rng(5)
    start, *gradients = rng.normal(size=(4, 2**15 + 3)).astype(dtype)
    results = []
    for offer in (arithmetic.stepped, lambda *_: False):
        monkeypatch.setattr(arithmetic, "stepped", offer)
        param = whygrad.tensor(start).requires_grad_()
        optimizer = optimizer_of(whygrad, name, [param], **options)
        for gradient in gradients:
            param.grad = whygrad.tensor(gradient)
            optimizer.step()
        state = [each.numpy() for each in optimizer.state[param].values()]
        results.append([param.detach().numpy(), *state])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@EVERY_NAME
def test_empty_and_single_numbers(name: str) -> None:
    for shape in ((), (0, 3), (1, 1)):
        param = whygrad.ones(shape).requires_grad_()
        stepped(whygrad, name, param, [whygrad.ones(shape)] * 2)
        assert param.shape == shape


@EVERY_NAME
def test_meta(name: str) -> None:
    param = whygrad.ones(3, 2, device="meta").requires_grad_()
    optimizer = stepped(whygrad, name, param, [whygrad.ones(3, 2, device="meta")] * 2)
    buffers = [each for each in optimizer.state[param].values() if each.ndim]
    assert all(each.device.type == "meta" and each.shape == (3, 2) for each in buffers)
    assert param._version >= 2


@EVERY_NAME
def test_infinities_pass_without_warnings(name: str) -> None:
    param = whygrad.tensor([1.0, 2.0, 3.0]).requires_grad_()
    gradients = [whygrad.tensor([float("inf"), float("nan"), 0.0])] * 2
    stepped(whygrad, name, param, gradients)
    assert param[2].item() == pytest.approx(3.0, rel=1e-3)


def test_threads_do_not_share_scratch_memory() -> None:
    results: list[Any] = [None, None]

    def train(place: int) -> None:
        problem = Problem(whygrad)
        problem.train(whygrad.optim.Adam(problem.parameters, lr=0.03, weight_decay=0.1), 100)
        results[place] = problem.values()

    threads = [threading.Thread(target=train, args=(place,)) for place in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


# --- sparse gradients -----------------------------------------------------------------------------


SPARSE = pytest.mark.filterwarnings("ignore:Sparse invariant checks")  # PyTorch's own affair


@SPARSE
@pytest.mark.parametrize(
    ("name", "options"),
    [("SGD", {}), ("SGD", {"momentum": 0.9}), ("Adagrad", {"lr_decay": 0.1})],
)
def test_sparse_gradients(name: str, options: dict[str, Any]) -> None:
    results = {}
    for label, library in LIBRARIES.items():
        param = library.arange(4.0).requires_grad_()
        optimizer = optimizer_of(library, name, [param], lr=0.1, **options)
        for _ in range(3):
            indices, values = library.tensor([[1, 3, 1]]), library.tensor([1.0, 2.0, 0.5])
            param.grad = library.sparse_coo_tensor(indices, values, (4,))
            optimizer.step()
        results[label] = param.detach().numpy()
    np.testing.assert_allclose(results["whygrad"], results["torch"], rtol=1e-5)


@SPARSE
@BOTH
def test_sparse_gradients_refused(library: Any) -> None:
    for name, options, phrase in [
        ("Adam", {}, "does not support sparse gradients"),
        ("Adagrad", {"weight_decay": 0.1}, "not compatible with sparse gradients"),
    ]:
        param = library.arange(4.0).requires_grad_()
        indices, values = library.tensor([[1]]), library.tensor([1.0])
        param.grad = library.sparse_coo_tensor(indices, values, (4,))
        with pytest.raises(RuntimeError, match=phrase):
            optimizer_of(library, name, [param], **options).step()


# --- nothing is half done -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (lambda: whygrad.ones(2, dtype=whygrad.int64), "only parameters of floating point dtype"),
        (lambda: whygrad.ones(1).expand(2), "more than one element of the written-to tensor"),
    ],
)
def test_refused_before_anything_has_changed(make: Callable[[], Any], phrase: str) -> None:
    good, bad = whygrad.ones(2).requires_grad_(), make()
    good.grad, bad.grad = whygrad.ones(2), whygrad.ones(2, dtype=bad.dtype)
    optimizer = whygrad.optim.Adam([good, bad])
    with pytest.raises(RuntimeError, match=rf"Adam.step[^\0]*{phrase}"):
        optimizer.step()
    assert good.tolist() == [1.0, 1.0]
    assert good._version == 0
    assert not optimizer.state


def test_a_parameter_of_another_dtype_than_its_state() -> None:
    """``model.double()`` after some steps: the state stays as precise as it was."""
    x = whygrad.ones(2).requires_grad_()
    optimizer = stepped(whygrad, "Adam", x, [whygrad.ones(2)])
    x.data = x.data.double()
    x.grad = whygrad.ones(2, dtype=whygrad.float64)
    optimizer.step()
    assert x.dtype is whygrad.float64
    assert optimizer.state[x]["exp_avg"].dtype is whygrad.float32
    np.testing.assert_allclose(x.detach().numpy(), 0.98, rtol=1e-5)


@BOTH
def test_a_step_inside_backward(library: Any) -> None:
    """An optimizer per parameter, run as soon as its gradient is there, so none is kept."""
    problem = Problem(library)
    optimizers = {each: library.optim.Adam([each], lr=0.1) for each in problem.parameters}

    def update(leaf: Any) -> None:
        optimizers[leaf].step()
        optimizers[leaf].zero_grad()

    for each in problem.parameters:
        each.register_post_accumulate_grad_hook(update)
    first = problem.loss().item()
    for _ in range(20):
        problem.loss().backward()
    assert all(each.grad is None for each in problem.parameters)
    assert problem.loss().item() < first / 2


def test_a_loop_without_zero_grad() -> None:
    """Without zero_grad the effective step grows linearly: 1, 2, 3, … times the gradient."""
    x = whygrad.zeros(1).requires_grad_()
    optimizer = whygrad.optim.SGD([x], lr=1.0)
    moves = []
    for _ in range(4):
        before = x.item()
        x.sum().backward()
        optimizer.step()
        moves.append(before - x.item())
    assert moves == [1.0, 2.0, 3.0, 4.0]


def test_torch_is_the_reference_for_fresh_state() -> None:
    """State appears with the first step, except Adagrad's, which is there from the start."""
    for name in CASES:
        counts = []
        for library in LIBRARIES.values():
            optimizer = optimizer_of(library, name, Problem(library).parameters)
            counts.append(len(optimizer.state_dict()["state"]))
        assert counts[0] == counts[1], name
    assert torch.optim.Adagrad([torch.ones(1)]).state
