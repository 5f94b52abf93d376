"""What following costs: nothing where nothing was cut, little memory, and no wrong result."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd.crossings import crossings, is_forgetful
from whygrad.dispatch.routes import route
from whygrad.ops.define import table
from whygrad.ops.samples import Constant, samples_of
from whygrad.tensor import keys
from whygrad.tensor.graph.lineage import step_of, trips
from whygrad.tensor.graph.steps import Source, Step

OPS = [each for each in table.values() if each.kind != "composite"]


def steps_behind(tensor: Any) -> int:
    """How many steps a constant can reach."""
    waiting = [step_of(tensor)]
    seen = set(waiting)
    for step in waiting:
        for before in step.before:
            if before not in seen:
                seen.add(before)
                waiting.append(before)
    return len(waiting)


def test_ops_on_tensors_that_were_never_cut_do_not_come_here() -> None:
    for op in OPS:
        for dtype in ("float32", "float64"):
            plain = keys.CPU | keys.DTYPE_BITS[dtype]
            assert route(op, plain).layer != "lineage"
            if op.vjp is not None:
                assert route(op, plain | keys.AUTOGRAD).layer != "lineage"
            assert route(op, plain | keys.UNRECORDED).layer != "lineage"


def test_a_training_step_leaves_nothing() -> None:
    w = wg.tensor([1.0, 2.0], requires_grad=True)
    before = live(Step) + live(Source)
    for _ in range(3):
        loss = (w * w).exp().sum()
        loss.backward()
        with wg.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    assert live(Step) + live(Source) == before
    assert "_cut" not in w.__dict__


def live(kind: type) -> int:
    return sum(type(each) is kind for each in gc.get_objects())


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_a_cut_keeps_no_graph_alive(without_collector: None) -> None:
    w = leaf(1.0, 2.0)
    hidden = (w * 2).exp()
    node, saved = weakref.ref(hidden._node), weakref.ref(hidden._array)
    cut = hidden.detach() * 2
    number = hidden.sum().item()
    loss = (cut * leaf(1.0, 1.0)).sum()
    del hidden
    assert node() is None
    assert saved() is None
    assert number > 0
    assert [each.certain for each in crossings(w._node, loss)] == [True]


def test_steps_go_with_their_tensors(without_collector: None) -> None:
    w = leaf(1.0, 2.0)
    before = live(Step)
    cut = w.detach() * 2
    buffer = wg.zeros(2, dtype=wg.float64)
    buffer += cut
    loss = (buffer * leaf(1.0, 1.0)).sum()
    assert live(Step) > before
    del cut, buffer, loss
    assert live(Step) == before


def test_a_chain_of_ops_outside_the_graph_is_bounded() -> None:
    w = leaf(1.0)
    value = w.detach()
    for _ in range(10_000):
        value = value * 1.0
    assert steps_behind(value) < 100
    loss = (value * leaf(1.0)).sum()
    (crossing,) = crossings(w._node, loss)
    assert crossing.cut.kind == "detach"
    assert is_forgetful(loss)
    assert not is_forgetful((w.detach() * leaf(1.0)).sum())


@pytest.mark.parametrize("form", ["average = 0.9 * average + …", "average.mul_().add_()"])
def test_a_running_average_costs_the_same_however_long(form: str) -> None:
    w, v = leaf(1.0, 2.0), leaf(1.0, 1.0)
    average = wg.zeros(2, dtype=wg.float64)

    def run(steps: int) -> int:
        nonlocal average
        for _ in range(steps):
            hidden = w * v
            with wg.no_grad():
                if form.startswith("average ="):
                    average = 0.9 * average + 0.1 * hidden
                else:
                    average.mul_(0.9).add_(hidden, alpha=0.1)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        early, late = run(500), run(2_000)
    finally:
        tracemalloc.stop()
    run(7_500)
    assert late - early < 50_000
    assert steps_behind(average) < 500
    loss = (average * leaf(1.0, 1.0)).sum()
    assert {each.cut.kind for each in crossings(w._node, loss)} == {"no_grad"}


def test_a_table_of_many_writers_is_bounded_and_says_so() -> None:
    buffer = wg.zeros(2_000)
    writers = [wg.tensor(1.0, requires_grad=True) for _ in range(2_000)]
    for place, each in enumerate(writers):
        buffer[place] = each.detach()
    loss = (buffer * wg.ones(2_000, requires_grad=True)).sum()
    assert steps_behind(buffer) < 500
    assert [each.certain for each in crossings(writers[-1]._node, loss)] == [True]
    assert crossings(writers[0]._node, loss) == []
    assert is_forgetful(loss)


def test_what_is_not_known_is_not_claimed() -> None:
    """A large graph that is gone may have had the tensor in it, but not one made since."""
    older, w = leaf(1.0), leaf(1.0)
    hidden = w
    for _ in range(100):
        hidden = hidden * 1.0
    cut = hidden.detach()
    loss = (cut * leaf(1.0)).sum()
    assert [each.certain for each in crossings(w._node, loss)] == [True]
    assert crossings(older._node, loss) == []
    del hidden
    assert [each.certain for each in crossings(w._node, loss)] == [False]
    assert [each.certain for each in crossings(older._node, loss)] == [False]
    assert crossings(leaf(1.0)._node, loss) == []


def test_a_cut_far_inside_a_graph_that_lives_is_found() -> None:
    w, v = leaf(1.0), leaf(1.0)
    hidden = w.detach() * v
    for _ in range(100):
        hidden = hidden * 1.0
    loss = (hidden.detach() * leaf(1.0)).sum()
    assert [each.certain for each in crossings(w._node, loss)] == [True]


def test_logging_pushes_out_no_other_line() -> None:
    w = leaf(0.3, 0.4)
    scale = w.sum().item()
    for _ in range(1_000):
        w.sum().item()
    assert trips.returning(scale) is not None
    assert trips.returning(float(scale)) is not None
    assert trips.returning(scale + 0.0 * scale) is None  # another number, although equal
    array = w.detach().numpy()
    assert trips.returning(array[1:]) is not None
    assert trips.returning(array.copy()) is None


def test_memory_that_was_handed_out_is_not_kept() -> None:
    array = leaf(1.0, 2.0).detach().numpy()
    gone = weakref.ref(array)
    del array
    gc.collect()
    assert gone() is None


# Programs with a constant ``c``; the same result is due whether it was cut off or typed in.
PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda x, c: wg.func.grad(lambda t: (t * c).sin().sum())(x),
    lambda x, c: wg.func.vmap(lambda t: t * c.sum() + c[0])(x),
    lambda x, c: wg.func.vmap(lambda t, k: (t * k).exp())(x, c),
    lambda x, c: wg.func.jvp(lambda t: t * c, (x,), (c,))[1],
    lambda x, c: wg.func.jacrev(lambda t: t * c)(x),
    lambda x, c: wg.func.hessian(lambda t: (t**3 * c).sum())(x),
    lambda x, c: wg.func.vjp(lambda t: t * c, x)[1](c)[0],
    lambda x, c: wg.utils.checkpoint.checkpoint(
        lambda t: (t * c).exp(), x.requires_grad_(), use_reentrant=False
    ),
    lambda x, c: Twice.apply(x.requires_grad_() * c) * c,
    lambda x, c: Twice.apply(c) + x,
    lambda x, c: (c.to_sparse() * 2).to_dense() + x,
    lambda x, c: x.clone().add_(c).mul_(c)[c > 0.5],
    lambda x, c: wg.einsum("i,j->ij", x, c).cumsum(0).flip(1),
    lambda x, c: wg.cat([x, c]).sort(descending=True).values,
    lambda x, c: wg.where(c > 0.5, x, c.half().double()),
]


class Twice(wg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 2 * x * x

    @staticmethod
    def backward(ctx: Any, incoming: Any) -> Any:
        (x,) = ctx.saved_tensors
        return incoming * 4 * x


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_the_same_with_a_lineage(
    program: Callable[[Any, Any], Any], watched: bool
) -> None:
    numbers = [0.3, 0.6, 0.9]
    results = []
    for constant in (wg.tensor(numbers, dtype=wg.float64), leaf(*numbers).detach()):
        x = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64)
        with wg.autograd.set_detect_anomaly(watched):
            result = program(x, constant)
            if result.requires_grad and x.requires_grad:
                (gradient,) = wg.autograd.grad(result.sum(), x)
                result = wg.stack([result.detach(), gradient])
        results.append(result.detach().numpy())
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("op", OPS)
def test_every_op_computes_the_same_from_constants_that_were_cut(op: Any) -> None:
    for call in samples_of(op)[:2]:
        plain, cut = (
            call.on(op.public)(*[made(each, way) for each in call.args], **call.kwargs)
            for way in (lambda t: t, lambda t: t.requires_grad_().detach())
        )
        for one, other in zip(flat(plain), flat(cut), strict=True):
            np.testing.assert_array_equal(one, other)


def made(value: Any, way: Callable[[Any], Any]) -> Any:
    """The sample as a tensor, if it is an array."""
    value = value.array if isinstance(value, Constant) else value
    if isinstance(value, (list, tuple)):
        return type(value)(made(each, way) for each in value)
    if not isinstance(value, np.ndarray):
        return value
    tensor = wg.tensor(value)
    return way(tensor) if tensor.is_floating_point() else tensor


def flat(result: Any) -> list[Any]:
    results = result if isinstance(result, (list, tuple)) else [result]
    return [each.numpy() if isinstance(each, wg.Tensor) else each for each in results]


def test_meta_tensors() -> None:
    w = wg.ones(3, device="meta", requires_grad=True)
    with wg.no_grad():
        shape = (w * 2)[1:]
    assert shape.shape == (2,)
    assert shape.device.type == "meta"
    loss = (shape * wg.ones(2, device="meta", requires_grad=True)).sum()
    assert [each.cut.kind for each in crossings(w._node, loss)] == ["no_grad"]
    buffer = wg.zeros(4, device="meta")
    front = buffer[:2]
    with wg.no_grad():
        buffer[1:].copy_(w)
        buffer[0] = w[0]
        front.mul_(2.0)
    assert step_of(buffer) is not None
    buffer[:] = 0.0
    assert step_of(buffer) is None


def test_copies_and_pickles_carry_no_steps_of_this_process() -> None:
    cut = leaf(1.0, 2.0).detach()
    loaded = pickle.loads(pickle.dumps(cut))
    assert step_of(loaded) is None
    assert loaded.tolist() == cut.tolist()
    assert copy.deepcopy(cut).tolist() == [1.0, 2.0]


def test_threads_do_not_disturb_each_other() -> None:
    failures = []

    def work() -> None:
        for number in range(100):
            w = leaf(float(number), 1.0)
            with wg.no_grad():
                cut = w * 2
            kept = wg.tensor([w.sum().item()], dtype=wg.float64)
            loss = (cut * leaf(1.0, 1.0) + kept).sum()
            if {each.cut.kind for each in crossings(w._node, loss)} != {"no_grad", "item"}:
                failures.append(number)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
