"""Small flows written down by hand, for the tests of what reads a flow."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from whygrad.why.flow import Box, Edge, Flow

__all__ = ["attention", "chain", "diamond", "fan", "mlp", "random_flow", "sketch"]

Row = tuple[str, str | None, Any, Any, list[tuple[str, Any]]]


def sketch(rows: list[Row], target: str | None = None) -> Flow:
    """A flow from rows of name, op, value, gradient, [(input, contribution), …]; root last."""
    boxes: dict[str, Box] = {}
    for order, (name, op, value, gradient, inputs) in enumerate(rows):
        array = np.asarray(0.0 if value is None else value)
        dtype = "float" if array.ndim == 0 else str(array.dtype)
        boxes[name] = Box(name, op, None, order, array.shape, dtype, value, gradient)
        for position, (source, contribution) in enumerate(inputs):
            Edge(boxes[name], boxes[source], position, contribution=contribution).link()
    every = list(boxes.values())
    engine = "value" if all(box.shape == () for box in every) else "tensor"
    return Flow(engine, every[-1], every, None if target is None else boxes[target])


def diamond() -> Flow:
    """L = (a·b + c)·(a − c) at 2, 3, 4."""
    return sketch(
        [
            ("a", None, 2.0, 4.0, []),
            ("b", None, 3.0, -4.0, []),
            ("c", None, 4.0, -12.0, []),
            ("a*b", "mul", 6.0, -2.0, [("a", -6.0), ("b", -4.0)]),
            ("a*b + c", "add", 10.0, -2.0, [("a*b", -2.0), ("c", -2.0)]),
            ("a - c", "sub", -2.0, 10.0, [("a", 10.0), ("c", -10.0)]),
            ("L", "mul", -20.0, 1.0, [("a*b + c", -2.0), ("a - c", 10.0)]),
        ],
        target="a",
    )


def _arrays(seed: int) -> Any:
    generator = np.random.default_rng(seed)
    return lambda *shape, scale=1.0: scale * generator.standard_normal(shape).astype(np.float32)


def mlp() -> Flow:
    """Two layers; the input requires no gradient, and one bias got exactly zero."""
    made = _arrays(0)
    return sketch(
        [
            ("x", None, made(64, 784), None, []),
            ("W1", None, made(784, 256), made(784, 256, scale=1e-3), []),
            ("b1", None, made(256), made(256, scale=1e-3), []),
            (
                "x @ W1",
                "matmul",
                made(64, 256),
                made(64, 256, scale=1e-4),
                [("x", None), ("W1", made(784, 256, scale=1e-3))],
            ),
            (
                "x @ W1 + b1",
                "add",
                made(64, 256),
                made(64, 256, scale=1e-4),
                [("x @ W1", made(64, 256, scale=1e-4)), ("b1", made(256, scale=1e-3))],
            ),
            (
                "hidden",
                "relu",
                made(64, 256),
                made(64, 256, scale=2e-4),
                [("x @ W1 + b1", made(64, 256, scale=1e-4))],
            ),
            ("W2", None, made(256, 10), made(256, 10, scale=1e-2), []),
            ("b2", None, made(10), np.zeros(10, np.float32), []),
            (
                "hidden @ W2",
                "matmul",
                made(64, 10),
                made(64, 10, scale=1e-2),
                [("hidden", made(64, 256, scale=2e-4)), ("W2", made(256, 10, scale=1e-2))],
            ),
            (
                "logits",
                "add",
                made(64, 10),
                made(64, 10, scale=1e-2),
                [("hidden @ W2", made(64, 10, scale=1e-2)), ("b2", np.zeros(10, np.float32))],
            ),
            ("loss", "cross_entropy", 2.3025, 1.0, [("logits", made(64, 10, scale=1e-2))]),
        ],
        target="W1",
    )


def attention() -> Flow:
    """One head with a residual connection and a mask of −inf."""
    made = _arrays(1)
    mask = np.triu(np.full((12, 12), -np.inf, np.float32), 1)

    def wide(scale: float = 1.0) -> Any:
        return made(12, 32, scale=scale)

    def square(scale: float = 1.0) -> Any:
        return made(12, 12, scale=scale)

    rows: list[Row] = [("x", None, wide(), wide(3.0), [])]
    for name in "qkv":
        rows.append((f"w_{name}", None, made(32, 32), made(32, 32, scale=0.1), []))
        rows.append(
            (
                name,
                "matmul",
                wide(),
                wide(0.3),
                [("x", wide(0.2)), (f"w_{name}", made(32, 32, scale=0.1))],
            )
        )
    rows += [
        ("k.T", "transpose", made(32, 12), made(32, 12, scale=0.1), [("k", wide(0.3))]),
        (
            "q @ k.T",
            "matmul",
            square(),
            square(0.1),
            [("q", wide(0.3)), ("k.T", made(32, 12, scale=0.1))],
        ),
        (
            "q @ k.T / math.sqrt(d_model // heads)",
            "div",
            square(),
            square(0.5),
            [("q @ k.T", square(0.1))],
        ),
        ("mask", None, mask, None, []),
        (
            "scores",
            "add",
            square() + mask,
            square(0.5),
            [("q @ k.T / math.sqrt(d_model // heads)", square(0.5)), ("mask", None)],
        ),
        ("weights", "softmax", square(), square(2.0), [("scores", square(0.5))]),
        ("weights @ v", "matmul", wide(), wide(1.0), [("weights", square(2.0)), ("v", wide(0.3))]),
        (
            "x + weights @ v",
            "add",
            wide(),
            wide(1.0),
            [("x", wide(1.0)), ("weights @ v", wide(1.0))],
        ),
        ("loss", "mean", 0.41, 1.0, [("x + weights @ v", wide(1.0))]),
    ]
    return sketch(rows, target="x")


def fan(count: int = 24) -> Flow:
    """One value used many times."""
    rows: list[Row] = [("x", None, 1.5, float(sum(range(count))), [])]
    for use in range(count):
        rows.append((f"x * {use}", "mul", 1.5 * use, 1.0, [("x", float(use))]))
    rows.append(("total", "sum", 1.0, 1.0, [(f"x * {use}", 1.0) for use in range(count)]))
    return sketch(rows, target="x")


def chain(length: int = 20) -> Flow:
    """Each value made from the one before and a weight of its own."""
    rows: list[Row] = [("x", None, 1.0, 0.5**length, [])]
    before = "x"
    for step in range(length):
        gradient = 0.5 ** (length - step)
        rows.append((f"w{step}", None, 0.5, gradient, []))
        rows.append(
            (f"h{step}", "mul", 0.5, 2 * gradient, [(before, gradient), (f"w{step}", gradient)])
        )
        before = f"h{step}"
    return sketch(rows, target="x")


def random_flow(seed: int, count: int) -> Flow:
    """Any older values may be the inputs of a younger one, also twice; everything leads on."""
    choice = random.Random(seed)
    names = [f"v{index}" for index in range(count)]
    unused: list[str] = []
    rows: list[Row] = []
    for index, name in enumerate(names):
        inputs = [choice.choice(names[:index]) for _ in range(choice.randrange(4))] if index else []
        if index == count - 1:
            inputs = list(dict.fromkeys(unused))
        unused = [other for other in unused if other not in inputs] + [name]
        contributions = [
            (source, choice.choice([None, 0.0, float("nan"), choice.gauss(0, 100)]))
            for source in inputs
        ]
        rows.append(
            (
                name,
                "op" if inputs else None,
                choice.gauss(0, 1),
                choice.choice([0.0, 1e-9, 3.0]),
                contributions,
            )
        )
    return sketch(rows, target=choice.choice(names))
