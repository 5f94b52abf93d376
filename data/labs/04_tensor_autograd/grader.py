"""Grades rules for arrays against whygrad's tensors in double precision: shapes first, then values.

Small whole numbers make the smallest failing example one that can be followed by hand.  Empty
arrays come last: who forgets about them has most of the rule right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import whygrad
from whygrad.learn.lab import Bench, Check, Wrong
from whygrad.learn.lab.compare import worst
from whygrad.nn import functional as F

__all__ = ["grade"]

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None
_SIZES = ((1, 2), (2, 2), (2, 3), (3, 1), (4, 3), (5, 4))  # of batches: rows, classes


@dataclass(frozen=True)
class Task:
    """One call, with what it should give and what classic mistakes make of it."""

    probe: str
    inputs: Mapping[str, Any]
    targets: Mapping[str, np.ndarray]
    code: str
    size: int
    mistakes: Sequence[tuple[str, str, np.ndarray]] = ()  # what to say, of which result, its value


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("unbroadcast", _unbroadcast)
    yield bench.check("matmul", _matmul)
    yield bench.check("matmul-batched", _matmul_batched)
    yield bench.check("sum", _sum)
    yield bench.check("mean", _mean)
    yield bench.check("cross-entropy", _cross_entropy)
    yield bench.check("stable", _stable)
    yield bench.check("cross-entropy-backward", _cross_entropy_backward)
    yield bench.check("engine", _engine)
    yield bench.check("shared", _shared)
    yield bench.check("network", _network)


def _unbroadcast(bench: Bench) -> None:
    pairs: list[tuple[Shape, Shape]] = [
        ((3,), (3,)), ((2,), ()), ((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 3), (2, 1)),
        ((2, 2), (2, 1)), ((2, 3), (1, 1)), ((2, 3), ()), ((1, 3), (3,)), ((1, 3), (1, 3)),
        ((4, 2, 3), (2, 1)), ((4, 2, 3), (4, 1, 3)), ((), ()),
        ((0, 3), (3,)), ((0, 3), (1, 3)), ((2, 0), (2, 1)), ((2, 0), (0,)), ((2, 0), (1, 0)),
    ]  # fmt: skip
    for _ in range(12):
        full = tuple(bench.random.choices((1, 2, 3), k=bench.random.randint(1, 4)))
        kept = full[bench.random.randint(0, len(full)) :]
        pairs.append((full, tuple(bench.random.choice((1, length)) for length in kept)))
    _run(bench, [_undone(_whole_numbers(bench, full), shape) for full, shape in pairs])


def _undone(grad: np.ndarray, shape: Shape) -> Task:
    (target,) = _pulled_back(lambda x: whygrad.broadcast_to(x, grad.shape), [np.zeros(shape)], grad)
    mistakes = []
    if grad.size:
        first = grad[(0,) * (grad.ndim - len(shape))][tuple(map(slice, shape))]
        averaged = target * (target.size / grad.size)
        mistakes = [("one_copy", "grad", first), ("averaged", "grad", averaged)]
    return _rule("unbroadcast", {"grad": grad, "shape": shape}, {"grad": target}, mistakes)


def _matmul(bench: Bench) -> None:
    sizes = [(1, 1, 1), (2, 1, 3), (1, 3, 1), (2, 3, 4), (2, 2, 2), (0, 2, 3), (2, 0, 3), (2, 3, 0)]
    sizes += [(_small(bench), _small(bench), _small(bench)) for _ in range(6)]
    _run(bench, [_product(bench, (m, k), (k, n)) for m, k, n in sizes])


def _matmul_batched(bench: Bench) -> None:
    pairs: list[tuple[Shape, Shape]] = [
        ((2, 1, 2), (2, 2, 3)), ((2, 1, 2), (2, 3)), ((1, 2), (2, 2, 3)), ((1, 1, 2), (3, 2, 1)),
        ((2, 2, 2), (2, 2)), ((2, 1, 2, 3), (3, 3, 2)), ((0, 2, 3), (3, 2)), ((2, 0, 3), (3, 2)),
    ]  # fmt: skip
    for _ in range(6):
        m, k, n, *batch = (_small(bench) for _ in range(5))
        one, other = ([bench.random.choice((1, length)) for length in batch] for _ in range(2))
        pairs.append(((*one, m, k), (*other[bench.random.randint(0, 2) :], k, n)))
    _run(bench, [_product(bench, *pair) for pair in pairs], shape_note=bench.say("batch_shared"))


def _product(bench: Bench, one: Shape, other: Shape) -> Task:
    a, b = _whole_numbers(bench, one), _whole_numbers(bench, other)
    grad = _whole_numbers(bench, (a @ b).shape)
    grad_a, grad_b = _pulled_back(lambda a, b: a @ b, [a, b], grad)
    mistakes = [("swapped_results", "grad_a", grad_b)]
    arguments = {"grad": grad, "a": a, "b": b}
    return _rule("matmul_backward", arguments, {"grad_a": grad_a, "grad_b": grad_b}, mistakes)


def _sum(bench: Bench) -> None:
    _run(bench, [_reduction(bench, "sum", *each) for each in _reductions(bench)])


def _mean(bench: Bench) -> None:
    """The mean of no numbers is not asked for."""
    cases = [each for each in _reductions(bench) if 0 not in each[0] or each[:2] == ((0, 3), 1)]
    _run(bench, [_reduction(bench, "mean", *each) for each in cases])


def _reductions(bench: Bench) -> list[tuple[Shape, Axis, bool]]:
    pairs: list[tuple[Shape, Axis]] = [
        ((2,), None), ((2, 3), 0), ((2, 3), 1), ((2, 2), 1), ((3, 3), 0), ((2, 3), -1),
        ((2, 3), None), ((2, 3, 2), (0, 2)), ((2, 3, 2), (-1, 1)), ((1, 3), 0), ((), None),
        ((0, 3), 0), ((0, 3), 1), ((2, 0), None),
    ]  # fmt: skip
    for _ in range(6):
        shape = tuple(_small(bench) for _ in range(bench.random.randint(1, 4)))
        axes = bench.random.sample(range(len(shape)), bench.random.randint(1, len(shape)))
        pairs.append((shape, tuple(axes) if len(axes) > 1 else axes[0]))
    return [(*pair, keepdims) for pair in pairs for keepdims in (False, True)]


def _reduction(bench: Bench, op: str, shape: Shape, axis: Axis, keepdims: bool) -> Task:
    x = _whole_numbers(bench, shape)
    grad = _whole_numbers(bench, x.sum(axis=axis, keepdims=keepdims).shape)
    (target,) = _pulled_back(
        lambda x: getattr(whygrad, op)(x, axis=axis, keepdims=keepdims), [x], grad
    )
    count = x.size / grad.size if op == "mean" and grad.size else 1
    mistakes = [("only_ones", "grad", np.ones(shape) / count)]
    if op == "mean" and x.size:
        mistakes.append(("not_divided", "grad", target * count))
        mistakes.append(("divided_by_all", "grad", target * count / x.size))
    if grad.shape == shape[len(shape) - grad.ndim :]:  # NumPy lines up the last axes
        mistakes.append(("wrong_axis", "grad", np.broadcast_to(grad, shape) / count))
    arguments = {"grad": grad, "shape": shape, "axis": axis, "keepdims": keepdims}
    return _rule(f"{op}_backward", arguments, {"grad": target}, mistakes)


def _cross_entropy(bench: Bench) -> None:
    _run(bench, [_entropy(*each) for each in _ordinary_scores(bench)])


def _stable(bench: Bench) -> None:
    tasks = [_entropy(*each) for each in _large_scores(bench)]
    _run(bench, tasks, message=bench.say("not_stable"))


def _cross_entropy_backward(bench: Bench) -> None:
    scores = (*_ordinary_scores(bench), *_large_scores(bench))
    _run(bench, [_entropy_gradient(*each) for each in scores])


def _entropy(logits: np.ndarray, labels: np.ndarray) -> Task:
    loss = F.cross_entropy(whygrad.tensor(logits), whygrad.tensor(labels)).numpy()
    rows, classes = logits.shape
    mistakes = [
        ("summed", "loss", loss * rows),
        ("over_all", "loss", loss / classes),
        ("sign", "loss", -loss),
        ("infinite", "loss", np.array(np.inf)),
    ]
    return _rule("cross_entropy", {"logits": logits, "labels": labels}, {"loss": loss}, mistakes)


def _entropy_gradient(logits: np.ndarray, labels: np.ndarray) -> Task:
    (target,) = _pulled_back(lambda z: F.cross_entropy(z, whygrad.tensor(labels)), [logits])
    rows, classes = logits.shape
    mistakes = [
        ("summed", "grad", target * rows),
        ("over_all", "grad", target / classes),
        ("sign", "grad", -target),
        ("no_one_hot", "grad", target + np.eye(classes)[labels] / rows),
    ]
    arguments = {"logits": logits, "labels": labels}
    return _rule("cross_entropy_backward", arguments, {"grad": target}, mistakes)


def _ordinary_scores(bench: Bench) -> list[tuple[np.ndarray, np.ndarray]]:
    """The first has both signs, a zero and more than one label; the others are drawn."""
    fixed = np.array([[0.0, -1.5, 2.0], [1.0, -0.5, -2.0]]), np.array([2, 1])
    return [fixed, *(_scores(bench, *size) for size in _SIZES)]


def _scores(bench: Bench, rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    generator = bench.generator()
    return generator.normal(size=(rows, classes)).round(1), generator.integers(0, classes, rows)


def _large_scores(bench: Bench) -> list[tuple[np.ndarray, np.ndarray]]:
    thousand = 1000.0
    found = [
        (np.array([[thousand, 0]]), np.array([0])),
        (np.array([[thousand, 0]]), np.array([1])),
        (np.array([[0, -thousand]]), np.array([1])),
        (np.array([[thousand, thousand, thousand]]), np.array([2])),
        (np.array([[-thousand, -thousand]]), np.array([0])),
    ]
    logits, labels = _scores(bench, 3, 4)
    return [*found, ((logits * thousand).round(), labels)]


def _engine(bench: Bench) -> None:
    """Each operation, with and without broadcasting, below another that scales its gradient."""
    tasks = [
        _expression(bench, "(x * y).sum()", x=(2,), y=(2,)),
        _expression(bench, "(x * y).sum()", x=(2, 3), y=(3,)),
        _expression(bench, "(x * y).sum()", x=(2, 1), y=(1, 3)),
        _expression(bench, "(x * y).mean()", x=(), y=(2, 3)),
        _expression(bench, "(x @ y * c).sum()", x=(2, 3), y=(3, 2), c=(2, 2)),
        _expression(bench, "(x @ y * c).sum()", x=(2, 1, 2), y=(2, 3), c=(3,)),
        _expression(bench, "(x.sum(axis=0) * c).sum()", x=(2, 3), c=(3,)),
        _expression(bench, "(x.sum(axis=1, keepdims=True) * c).sum()", x=(2, 3), c=(2, 1)),
        _expression(bench, "(x.mean(axis=-1) * c).sum()", x=(2, 3), c=(2,)),
        _expression(bench, "x.mean() * c", x=(2, 2), c=()),
    ]
    _run(bench, tasks)


def _shared(bench: Bench) -> None:
    tasks = [
        _expression(bench, "(x * x).sum()", x=(2,)),
        _expression(bench, "(x * x + x).sum()", x=(2, 2)),
        _expression(bench, "(x @ x).sum()", x=(2, 2)),
        _expression(bench, "(x.sum(axis=0) * x).sum()", x=(2, 3)),
        _expression(bench, "(x * x.mean(axis=1, keepdims=True)).sum()", x=(2, 3)),
        _expression(bench, "((x @ y + x) * x).mean()", x=(2, 2), y=(2, 2)),
    ]
    _run(bench, tasks, message=bench.say("not_accumulated"))


def _expression(bench: Bench, source: str, **shapes: Shape) -> Task:
    leaves = {name: _whole_numbers(bench, shape) for name, shape in shapes.items()}
    return _tensors(source, leaves, lambda **tensors: eval(source, tensors))


def _network(bench: Bench) -> None:
    # hidden units above 0, below it, and at exactly 0
    corners = {
        "x": np.array([[1.0, -2.0], [0.5, 1.0]]),
        "W1": np.array([[2.0, -1.0, 1.0], [1.0, 1.0, -0.5]]),
        "b1": np.array([0.0, 0.5, 1.0]),
        "W2": np.array([[1.0, -1.0], [0.5, 2.0], [-1.5, 1.0]]),
        "b2": np.array([-0.5, 0.0]),
        "scale": np.array(3.0),
    }
    generator, tasks = bench.generator(), [_classifier(corners, np.array([1, 0]))]
    for rows, inputs, hidden, classes in ((1, 1, 1, 2), (2, 2, 3, 2), (4, 3, 5, 3)):
        labels = generator.integers(0, classes, rows)
        shapes = {"x": (rows, inputs), "W1": (inputs, hidden), "b1": (hidden,)}
        shapes |= {"W2": (hidden, classes), "b2": (classes,)}
        leaves = {name: generator.normal(size=each).round(1) for name, each in shapes.items()}
        tasks.append(_classifier({**leaves, "scale": np.array(3.0)}, labels))
    _run(bench, tasks)


def _classifier(leaves: Mapping[str, np.ndarray], labels: np.ndarray) -> Task:
    logits = "((x @ W1 + b1).relu() @ W2 + b2)"

    def reference(**tensors: Any) -> Any:
        return F.cross_entropy(eval(logits, tensors), whygrad.tensor(labels)) * tensors["scale"]

    task = _tensors(f"{logits}.cross_entropy(labels) * scale", leaves, reference, labels)
    unscaled = [
        ("not_scaled", name, value / leaves["scale"])
        for name, value in task.targets.items()
        if name not in ("out", "scale.grad") and value.any()
    ]
    return replace(task, mistakes=unscaled)


def _run(bench: Bench, tasks: Sequence[Task], *, message: str = "", shape_note: str = "") -> None:
    """All tasks in one process, the smallest first; the first that fails is reported."""
    ordered = sorted(tasks, key=lambda task: task.size)
    replies = bench.replies(ordered[0].probe, [task.inputs for task in ordered])
    for task, reply in zip(ordered, replies):
        if reply.trouble is not None:
            reply.trouble.example = task.code
            raise reply.trouble
        if reply.value["results"] is None:
            raise Wrong(bench.say("two_results"), example=task.code)
        for name, yours in zip(task.targets, reply.value["results"]):
            _judge(bench, task, name, yours, message, shape_note)
        if reply.value["changed"]:
            raise Wrong(bench.say("arguments_changed"), example=task.code)


def _judge(
    bench: Bench, task: Task, name: str, yours: Mapping[str, Any], message: str, shape_note: str
) -> None:
    target, shape, values = task.targets[name], tuple(yours["shape"]), yours["values"]
    if shape != target.shape:
        words = bench.say("other_shape", name=name, expected=target.shape, actual=shape)
        raise Wrong(words, example=task.code, notes=[shape_note] if shape_note else ())
    found = {
        key
        for key, of, wrong in task.mistakes
        if of == name and worst(wrong.tolist(), values, relative=1e-9, absolute=1e-9) is None
    }
    if any(number != number for number in _flat(values)):
        found = {"overflow"}
    remark = bench.say(found.pop(), name=name) if len(found) == 1 else message
    bench.same(
        target.tolist(), values, relative=1e-9, absolute=1e-9, message=remark, code=task.code
    )


def _rule(
    function: str,
    arguments: Mapping[str, Any],
    targets: Mapping[str, np.ndarray],
    mistakes: Sequence[tuple[str, str, np.ndarray]],
) -> Task:
    arrays = {name: each for name, each in arguments.items() if isinstance(each, np.ndarray)}
    lines = [f"{name} = {_literal(each)}" for name, each in arrays.items()]
    shown = [name if name in arrays else f"{name}={each}" for name, each in arguments.items()]
    lines.append(f"print({function}({', '.join(shown)}))")
    code = "\n".join(["import numpy as np", f"from rules import {function}", "", *lines])
    sent = [_sent(each) for each in arguments.values()]
    inputs = {"name": function, "arguments": sent, "count": len(targets)}
    size = _size([*arrays.values(), *targets.values()])
    return Task("rule", inputs, targets, code, size, mistakes)


def _tensors(
    source: str,
    leaves: Mapping[str, np.ndarray],
    reference: Callable[..., Any],
    labels: np.ndarray | None = None,
) -> Task:
    tensors = {name: whygrad.tensor(each, requires_grad=True) for name, each in leaves.items()}
    out = reference(**tensors)
    out.backward()
    grads = {f"{name}.grad": each.grad.numpy() for name, each in tensors.items()}
    lines = [f"{name} = Tensor({_literal(each)})" for name, each in leaves.items()]
    lines += [] if labels is None else [f"labels = {_literal(labels)}"]
    lines += [f"out = {source}", "out.backward()", f"print({', '.join(('out.data', *grads))})"]
    code = "\n".join(["import numpy as np", "from tensor import Tensor", "", *lines])
    inputs = {
        "source": source,
        "leaves": {name: _sent(each) for name, each in leaves.items()},
        "labels": None if labels is None else labels.tolist(),
    }
    targets = {"out": out.detach().numpy(), **grads}
    return Task("expression", inputs, targets, code, _size(list(leaves.values())))


def _pulled_back(
    function: Callable[..., Any], arrays: Sequence[np.ndarray], grad: np.ndarray | None = None
) -> list[np.ndarray]:
    """The gradients of whygrad's engine, for a gradient that arrives at the result."""
    leaves = [whygrad.tensor(each, requires_grad=True) for each in arrays]
    function(*leaves).backward(None if grad is None else whygrad.tensor(grad))
    return [leaf.grad.numpy() for leaf in leaves]


def _whole_numbers(bench: Bench, shape: Shape) -> np.ndarray:
    return bench.generator().choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], size=shape)


def _size(arrays: Sequence[np.ndarray]) -> int:
    """How hard an example is to read; an empty one comes after all others."""
    is_empty = not all(each.size for each in arrays)
    return sum(each.size + each.ndim**2 for each in arrays) + 10_000 * is_empty


def _small(bench: Bench) -> int:
    return bench.random.choice((1, 2, 3))


def _sent(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return {"shape": value.shape, "values": value.ravel().tolist(), "dtype": str(value.dtype)}


def _literal(array: np.ndarray) -> str:
    return f"np.array({array.tolist()})" if array.size else f"np.zeros({array.shape})"


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, list):
        for each in values:
            yield from _flat(each)
    else:
        yield values
