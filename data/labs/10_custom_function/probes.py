"""What is asked of the learner's attention, as plain data."""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING, Any

import whygrad
from whygrad.autograd import Function
from whygrad.autograd.graph import memory
from whygrad.dispatch.interception import intercepting

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def values(learner: Learner, arguments: dict[str, Any], causal: bool) -> Any:
    return learner.plain(learner.module("attention").attention(*_tensors(arguments), causal))


def gradients(
    learner: Learner, arguments: dict[str, Any], incoming: list[Any], causal: bool
) -> dict[str, Any]:
    tensors = _tensors(arguments, "qkv")
    out = learner.module("attention").attention(*tensors, causal)
    out.backward(whygrad.tensor(incoming, dtype=whygrad.float64))
    grads = {f"{name}.grad": learner.plain(each.grad) for name, each in zip("qkv", tensors)}
    return {"out": learner.plain(out), **grads}


def graph(learner: Learner, arguments: dict[str, Any]) -> dict[str, Any]:
    """What one call leaves behind."""
    module = learner.module("attention")
    out = module.attention(*_tensors(arguments, "qkv"))
    kind = module.Attention
    return {
        "Attention is a Function": isinstance(kind, type) and issubclass(kind, Function),
        "nodes": memory(out).nodes,
        "the node": out.grad_fn.name(),
    }


def saved(learner: Learner, length: int, width: int, causal: bool) -> dict[str, Any]:
    """What is alive after forward: by name what the graph holds, and the growth of all memory."""
    attention = learner.module("attention").attention
    tensors = [
        whygrad.ones(length, width, dtype=whygrad.float64, requires_grad=True) for _ in "qkv"
    ]
    attention(*tensors, causal)  # whatever is made once and for all is made now
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    out = attention(*tensors, causal)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = {row.name: row.bytes for row in memory(out).rows}
    return {"held": rows, "growth": after - before}


def needs(learner: Learner, arguments: dict[str, Any], wanted: str) -> dict[str, Any]:
    """Which gradients backward returned, and how many ops it took."""
    module = learner.module("attention")
    returned: list[Any] = []
    original = module.Attention.backward

    def watched(ctx: Any, *incoming: Any) -> Any:
        answer = original(ctx, *incoming)
        returned.extend(answer if isinstance(answer, (tuple, list)) else [answer])
        return answer

    module.Attention.backward = staticmethod(watched)
    calls = 0

    def count(op: Any, below: Any, args: tuple[Any, ...]) -> Any:
        nonlocal calls
        calls += 1
        return below(*args)

    try:
        out = module.attention(*_tensors(arguments, wanted)).sum()
        with intercepting(count):
            out.backward()
    finally:
        module.Attention.backward = staticmethod(original)
    given = [name for name, each in zip("qkv", returned) if each is not None]
    return {"returned": given, "operations": calls}


def verdicts(learner: Learner, faults: list[str]) -> dict[str, Any]:
    """What ``checked`` says of the learner's own attention, of a right one, and of faulty ones."""
    module = learner.module("attention")
    said = {
        "own": module.checked(module.attention),
        "own causal": module.checked(lambda q, k, v: module.attention(q, k, v, True)),
    }
    for fault in faults:
        said[fault] = module.checked(lambda q, k, v, fault=fault: _Faulty.apply(q, k, v, fault))
    return {name: learner.plain(each) for name, each in said.items()}


class _Faulty(Function):
    """Attention whose gradient of one argument is a twentieth too large."""

    @staticmethod
    def forward(ctx: Any, q: Any, k: Any, v: Any, fault: str) -> Any:
        ctx.save_for_backward(q, k, v)
        ctx.fault = fault
        return _plain(q, k, v)

    @staticmethod
    def backward(ctx: Any, incoming: Any) -> Any:
        inputs = [each.detach().requires_grad_() for each in ctx.saved_tensors]
        with whygrad.enable_grad():
            out = _plain(*inputs)
        grads = whygrad.autograd.grad(out, inputs, incoming)
        factors = [1.05 if name == ctx.fault else 1.0 for name in "qkv"]
        return (*(grad * factor for grad, factor in zip(grads, factors)), None)


def _plain(q: Any, k: Any, v: Any) -> Any:
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


def _tensors(arguments: dict[str, Any], wanted: str = "") -> list[Any]:
    return [
        whygrad.tensor(arguments[name], dtype=whygrad.float64, requires_grad=name in wanted)
        for name in "qkv"
    ]
