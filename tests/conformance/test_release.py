"""Memory goes with the last reference, after a refused call as well as after one that worked.

Everything here runs with the cyclic collector off: what only the collector could free would show.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.conformance.harness import Side, whygrad_side
from whygrad.ops.define import Op, table
from whygrad.ops.samples import samples_of
from whygrad.tensor import Tensor

FAMILIES = sorted({op.family for op in table.values()})


@pytest.fixture(autouse=True)
def _without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in tensors_in(each)]
    return []


# Ways to spoil the arguments of a call: each returns new ones.
Spoil = Callable[[list[Any], dict[str, Any]], tuple[list[Any], dict[str, Any]]]
SPOILS: tuple[Spoil, ...] = (
    lambda args, kwargs: ([*args, *map(str, range(9))], kwargs),
    lambda args, kwargs: (args, {**kwargs, "nonsense": 1}),
    lambda args, kwargs: (args, {**kwargs, "dim": 99}),
    lambda args, kwargs: (["text", *args[1:]], kwargs),
    lambda args, kwargs: ([wg.ones(7, 5, 3, 2, 1, 1, 2), *args[1:]], kwargs),
    lambda args, kwargs: ([wg.tensor(1.0), *args[1:]], kwargs),
    lambda args, kwargs: ([*args[:-1], wg.ones(7, 5, 3)], kwargs),
    lambda args, kwargs: ([*args[:-1], 99], kwargs),
    lambda args, kwargs: ([*args[:-1], "text"], kwargs),
    lambda args, kwargs: ([_converted(each, wg.bool) for each in args], kwargs),
    lambda args, kwargs: ([_converted(each, wg.complex64) for each in args], kwargs),
    lambda args, kwargs: (args[:-1], kwargs),
)


def _converted(value: Any, dtype: Any) -> Any:
    return value.detach().to(dtype) if isinstance(value, Tensor) else value


def held_after_refusal(function: Callable[..., Any], side: Side, spoil: Spoil) -> str | None:
    """What was said by a refusal that kept an input alive; None if there is no such thing."""
    args, kwargs = spoil(list(side.args), dict(side.kwargs))
    watched = [weakref.ref(each) for each in tensors_in([args, kwargs])]
    said = None
    try:
        function(*args, **kwargs)
    except Exception as error:
        said = str(error)
    del args, kwargs
    side.args, side.kwargs, side.inputs = (), {}, []
    return said if said and any(each() is not None for each in watched) else None


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore")
def test_a_refused_call_keeps_nothing(family: str) -> None:
    for op in table.values():
        if op.family == family and not op.internal:
            for call in [each for each in samples_of(op) if each.around is None][:1]:
                for spoil in SPOILS:
                    said = held_after_refusal(op.public, whygrad_side(call, "float32"), spoil)
                    assert said is None, f"{op.name}: inputs live on after {said}"


def held_after_call(op: Op, side: Side) -> bool:
    results = side.run(op.public)
    watched = [weakref.ref(each) for each in [*side.inputs, *tensors_in(results)]]
    del results
    side.args, side.kwargs, side.inputs = (), {}, []
    return any(each() is not None for each in watched)


@pytest.mark.filterwarnings("ignore")
def test_a_call_keeps_nothing() -> None:
    for op in table.values():
        for call in samples_of(op)[:2]:
            assert not held_after_call(op, whygrad_side(call, "float32")), op.name


REFUSALS: dict[str, Callable[[Any], Any]] = {
    "matmul": lambda x: x @ x,
    "sum": lambda x: x.sum(9),
    "view": lambda x: x.view(7),
    "index": lambda x: x[9],
    "from_numpy": lambda x: wg.from_numpy(x),
    "cross_entropy": lambda x: wg.nn.functional.cross_entropy(x, x[:1].long()),
    "in place": lambda x: x.add_(wg.ones(7)),
    "backward": lambda x: (x * 2).requires_grad_().backward(),
    "grad": lambda x: wg.autograd.grad(x.clone().requires_grad_().sum(), x),
    "linear": lambda x: wg.nn.Linear(7, 2)(x),
    "load_state_dict": lambda x: wg.nn.Linear(7, 2).load_state_dict({"weight": x}),
    "optimizer": lambda x: wg.optim.SGD([x], lr=-1.0),
    "vmap": lambda x: wg.func.vmap(lambda row: row @ x @ row)(x),
    "item": lambda x: x.item(),
    "stack": lambda x: wg.stack([x, wg.ones(7)]),
    "tensor": lambda x: wg.tensor([x, 1.0]),
    "copy": lambda x: x.copy_(wg.ones(7)),
    "setitem": lambda x: x.__setitem__(0, wg.ones(7)),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_other_refusals_keep_nothing(name: str) -> None:
    x = wg.ones(2, 3)
    watched = weakref.ref(x)
    with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)) as caught:
        REFUSALS[name](x)
    del x, caught
    assert watched() is None


def test_a_cycle_is_seen() -> None:
    """The old fault: an error raised from itself."""

    def refuse(x: Any, *_: Any) -> Any:
        try:
            raise RuntimeError("no")
        except RuntimeError as error:
            raise error from error

    side = Side(samples_of(table["exp"])[0], lambda array, grad: wg.from_numpy(np.array(array)))
    assert held_after_refusal(refuse, side, SPOILS[-3]) == "no"
    gc.collect()
