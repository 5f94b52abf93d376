"""Values that leave the graph are followed: every way out, and every way back."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd.crossings import crossings
from whygrad.tensor.graph.lineage import step_of

F = wg.nn.functional
Way = Callable[[Any], Any]


def kinds(w: Any, loss: Any) -> list[str | None]:
    return [crossing.cut.kind for crossing in crossings(w._node, loss)]


def used(constant: Any) -> Any:
    """A loss in another parameter, which uses a constant."""
    other = wg.ones(constant.shape, requires_grad=True)
    return (constant.float() + other).sum()


def without_recording(mode: Any, compute: Way = lambda w: w * 2) -> Way:
    def way(w: Any) -> Any:
        with mode():
            return compute(w)

    return way


def energy(x: Any) -> Any:
    return x.square().sum()


def cut_in_place(w: Any) -> Any:
    hidden = w * 2
    return hidden.detach_()


def switched_off(w: Any) -> Any:
    before = wg.is_grad_enabled()
    wg.set_grad_enabled(False)
    try:
        return w * 2
    finally:
        wg.set_grad_enabled(before)


# by kind: ways out of the graph
WAYS: dict[str, list[Way]] = {
    "detach": [
        lambda w: w.detach(),
        lambda w: (w * 2).exp().detach(),
        cut_in_place,
        lambda w: w.detach().requires_grad_(),
        lambda w: w.detach().requires_grad_().detach(),
        lambda w: wg.func.grad(energy)(w.detach()),
        lambda w: wg.func.grad_and_value(energy)(w.detach())[1],
        lambda w: wg.func.vjp(wg.exp, w.detach())[0],
        lambda w: wg.func.jacrev(wg.exp)(w.detach()),
        lambda w: wg.func.vmap(wg.exp)(w.detach()),
        lambda w: w.detach().requires_grad_().requires_grad_(False),
    ],
    "data": [lambda w: w.data, lambda w: w.data.exp(), lambda w: (w * 2).data],
    "no_grad": [
        without_recording(wg.no_grad),
        wg.no_grad()(lambda w: w + 1),
        switched_off,
        without_recording(wg.no_grad, lambda w: w[1:]),
        without_recording(wg.no_grad, lambda w: wg.stack([w, w])),
    ],
    "inference_mode": [without_recording(wg.inference_mode)],
    "numpy": [
        lambda w: wg.from_numpy(w.detach().numpy()),
        lambda w: wg.tensor(w.detach().numpy()[:1]),
        lambda w: wg.as_tensor(np.asarray(w.detach())),
    ],
    "item": [
        lambda w: wg.tensor(w.sum().item()),
        lambda w: wg.tensor([w.sum().item(), 1.0]),
        lambda w: wg.tensor(float(w.mean())),
        lambda w: wg.tensor(w.tolist()),
        lambda w: wg.tensor([[each.item()] for each in w]),
    ],
    "copied": [
        lambda w: wg.tensor([w.sum(), w.mean()]),
        lambda w: wg.tensor([[w.sum()], [1.0]]),
        copy.deepcopy,
        copy.copy,
        lambda w: wg.zeros(3).new_tensor(w),
        lambda w: wg.zeros(3).new_tensor([w.sum()]),
    ],
    "integer": [
        lambda w: w.long(),
        lambda w: w.to(wg.int32),
        lambda w: w.argmax(),
        lambda w: w.max(0).indices,
        lambda w: w.topk(2).indices,
        lambda w: w.sort().indices,
        lambda w: w.argsort(),
        lambda w: w.nonzero(),
        lambda w: wg.count_nonzero(w),
        lambda w: wg.bucketize(w, wg.tensor([0.5])),
        lambda w: F.one_hot(w.long(), 4),
        lambda w: wg.multinomial(w, 1),
        lambda w: wg.linalg.matrix_rank(w[None]),
    ],
    "boolean": [
        lambda w: w > 0.5,
        lambda w: w.isnan(),
        lambda w: w.bool(),
        lambda w: wg.logical_not(w),
        lambda w: (w == 1).all(),
    ],
    "not differentiable": [lambda w: w.unique()],
    "sampled": [lambda w: wg.bernoulli(w.sigmoid()), lambda w: wg.normal(w, 1.0)],
    "create_graph": [lambda w: wg.autograd.grad((w * w).sum(), w)[0]],
}
CASES = [
    pytest.param(kind, way, id=f"{kind}-{number}")
    for kind, ways in WAYS.items()
    for number, way in enumerate(ways)
]


@pytest.mark.parametrize(("kind", "way"), CASES)
@pytest.mark.filterwarnings("ignore:.*copies the values")
def test_the_way_out_is_known(kind: str, way: Way) -> None:
    w = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    constant = way(w)
    names = {"numpy": "detach", "item": "item"}  # who leaves for NumPy detaches first
    found = crossings(w._node, used(constant))
    assert [each.cut.kind for each in found][:1] == [names.get(kind, kind)]
    assert found[0].certain
    assert found[0].cut.where.file == __file__
    if kind == "numpy":
        assert "numpy" in [step.op for step in found[0].steps]


def test_what_follows_outside_is_kept_in_order() -> None:
    w = leaf(1.0, 2.0)
    outside = (w.detach() * 3).exp().reshape(2, 1)
    (crossing,) = crossings(w._node, used(outside))
    assert [step.op for step in crossing.steps][:4] == ["detach", "mul", "exp", "view"]
    assert crossing.entered is not None
    assert crossing.entered.op.name == "add"


def test_a_loss_that_is_itself_a_constant() -> None:
    w = leaf(1.0)
    (crossing,) = crossings(w._node, w.detach().sum())
    assert crossing.entered is None


def test_cut_recorded_with_another_parameter_and_cut_again() -> None:
    w, v, u = leaf(1.0), leaf(2.0), leaf(3.0)
    inner = (w.detach() * v).detach()
    loss = (inner * u).sum()
    assert kinds(w, loss) == ["detach"]
    assert kinds(v, loss) == ["detach"]
    assert kinds(u, loss) == []
    (crossing,) = crossings(w._node, loss)
    assert [step.op for step in crossing.steps] == ["detach", "detach"]


def test_two_cuts_of_one_tensor_are_two() -> None:
    w = leaf(1.0, 2.0)
    assert sorted(map(str, kinds(w, used(w.detach() + w.data)))) == ["data", "detach"]


SHAPE_ONLY: list[Way] = [
    wg.zeros_like,
    wg.ones_like,
    wg.empty_like,
    wg.rand_like,
    lambda w: wg.full_like(w, 2.0),
    lambda w: w.new_zeros(3),
    lambda w: w.new_ones(3),
    lambda w: wg.tensor(float(w.numel())),
    lambda w: wg.tensor([0.5, 0.25]),  # equal to what was logged, and not the same
]


@pytest.mark.parametrize("make", SHAPE_ONLY)
def test_what_takes_no_values_has_no_lineage(make: Way) -> None:
    w = wg.tensor([0.5, 0.25, 0.75], requires_grad=True)
    logged = [w[0].item(), w.mean().item(), w.tolist()]
    assert kinds(w, used(make(w))) == []
    assert logged[1] == 0.5


WRITES: list[tuple[str | None, Callable[[Any, Any], Any]]] = [
    ("detach", lambda buffer, w: buffer.copy_(w.detach())),
    ("detach", lambda buffer, w: buffer.add_(w.detach())),
    ("detach", lambda buffer, w: buffer.__setitem__(0, w.detach()[1])),
    ("detach", lambda buffer, w: buffer.__setitem__(slice(1, 3), w.detach()[:2])),
    ("detach", lambda buffer, w: buffer.index_put_((wg.tensor([0]),), w.detach()[:1])),
    ("detach", lambda buffer, w: buffer[:2].copy_(w.detach()[:2])),
    ("detach", lambda buffer, w: wg.add(w.detach(), 1.0, out=buffer)),
    ("data", lambda buffer, w: buffer.data.copy_(w.data)),
    ("data", lambda buffer, w: setattr(buffer, "data", w.data)),
    ("no_grad", lambda buffer, w: buffer.copy_(w)),
    ("no_grad", lambda buffer, w: buffer.__setitem__(slice(None), w)),
    ("no_grad", lambda buffer, w: buffer.__iadd__(w)),
    ("no_grad", lambda buffer, w: buffer.lerp_(w, 0.1)),
    ("no_grad", lambda buffer, w: buffer.__setitem__(w > 1.5, 1.0)),
    ("no_grad", lambda buffer, w: buffer.__setitem__(w.argmax(), 1.0)),
    (None, lambda buffer, w: buffer.copy_(w.detach()).zero_()),
    (None, lambda buffer, w: buffer.copy_(w.detach()).fill_(2.0)),
    (None, lambda buffer, w: buffer.copy_(w.detach()).copy_(wg.ones(3))),
    (None, lambda buffer, w: buffer.copy_(w.detach()).__setitem__(slice(None), 1.0)),
    ("detach", lambda buffer, w: buffer.copy_(w.detach()).mul_(2.0)),
    ("detach", lambda buffer, w: buffer.copy_(w.detach()).__setitem__(0, 1.0)),
]


@pytest.mark.parametrize("place", ["buffer", "parameter"])
@pytest.mark.parametrize(("kind", "write"), WRITES)
def test_writes_carry_it_and_overwriting_ends_it(
    kind: str | None, write: Callable[[Any, Any], Any], place: str
) -> None:
    w = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    target = wg.zeros(3, requires_grad=place == "parameter")
    with wg.no_grad():
        write(target, w)
    assert kinds(w, used(target)) == ([] if kind is None else [kind])


def test_a_view_taken_before_the_write_sees_it() -> None:
    w = leaf(1.0, 2.0, 3.0)
    buffer = wg.zeros(3, dtype=wg.float64)
    front, back = buffer[:2], buffer[2:]
    buffer[:2].copy_(w.detach()[:2])
    assert kinds(w, used(front)) == ["detach"]
    assert kinds(w, used(back)) == []


def test_one_buffer_remembers_all_who_wrote_to_it() -> None:
    w, v = leaf(1.0), leaf(2.0)
    total = wg.zeros(1, dtype=wg.float64)
    for each in (w, v):
        total += each.detach()
    assert kinds(w, used(total)) == ["detach"]
    assert kinds(v, used(total)) == ["detach"]


def test_an_update_with_its_own_value_is_none_of_its_business() -> None:
    """Every optimizer writes to its leaves; that must not pile up."""
    w = wg.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        (gradient,) = wg.autograd.grad((w * w).sum(), w)
        with wg.no_grad():
            w.mul_(0.99)
            w.sub_(0.1 * gradient)
            w.add_(w * w, alpha=-0.1)
    w.data -= 0.1 * w.data
    w.data = w.data - 0.1 * gradient
    assert step_of(w) is None
    assert w._node._extras is None


PICKS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("integer", lambda v, w: v[w.argmax()]),
    ("integer", lambda v, w: v[w.argsort()]),
    ("integer", lambda v, w: v[w.long() - 1, None]),
    ("integer", lambda v, w: v.gather(0, w.argsort())),
    ("integer", lambda v, w: v.index_select(0, w.argsort())),
    ("boolean", lambda v, w: v[w > 1.5]),
    ("boolean", lambda v, w: v.masked_select(w > 1.5)),
    ("boolean", lambda v, w: v.masked_fill(w > 1.5, 0.0)),
    ("boolean", lambda v, w: wg.where(w > 1.5, v, -v)),
]


@pytest.mark.parametrize(("kind", "pick"), PICKS)
@pytest.mark.parametrize("recorded", [True, False])
def test_an_index_counts_as_a_use(
    kind: str, pick: Callable[[Any, Any], Any], recorded: bool
) -> None:
    w = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    values = wg.tensor([4.0, 5.0, 6.0], requires_grad=recorded)
    assert kinds(w, used(pick(values, w))) == [kind]
