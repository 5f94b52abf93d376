"""A training step of an 80-layer transformer, plain and in √80 checkpointed segments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isqrt
from typing import Any

from bench.measure import Run, Workload

DEPTH, WIDTH, HEADS, TOKENS, BATCH = 80, 128, 4, 64, 8
SEGMENTS = isqrt(DEPTH) + 1


def _norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdim=True)
    return centred * (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def _attention(x: Any, inward: Any, outward: Any) -> Any:
    from whygrad.nn.functional import linear, softmax

    query, key, value = (
        part.reshape(BATCH, TOKENS, HEADS, -1).transpose(1, 2)
        for part in linear(x, inward).chunk(3, dim=-1)
    )
    weights = softmax(query @ key.mT * (WIDTH // HEADS) ** -0.5, dim=-1)
    return linear((weights @ value).transpose(1, 2).reshape(BATCH, TOKENS, WIDTH), outward)


def _block(inward: Any, outward: Any, up: Any, down: Any, x: Any) -> Any:
    from whygrad.nn.functional import linear, relu

    x = x + _attention(_norm(x), inward, outward)
    return x + linear(relu(linear(_norm(x), up)), down)


def training_step(segments: int | None) -> Run:
    import whygrad
    from whygrad.utils.checkpoint import checkpoint_sequential

    whygrad.manual_seed(0)
    shapes = ((3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH))
    parameters = [
        [(whygrad.randn(*shape) * 0.02).requires_grad_() for shape in shapes] for _ in range(DEPTH)
    ]
    blocks = [partial(_block, *each) for each in parameters]
    data = whygrad.randn(BATCH, TOKENS, WIDTH)

    def run() -> None:
        x = data
        if segments is None:
            for block in blocks:
                x = block(x)
        else:
            x = checkpoint_sequential(blocks, segments, x)
        x.square().mean().backward()
        for each in parameters:
            for parameter in each:
                parameter.grad = None

    return run


def peak(segments: int | None) -> Callable[[], int]:
    """Bytes that the graph of one step holds at most."""

    def count() -> int:
        from whygrad.autograd.graph import saved_bytes_peak

        run = training_step(segments)
        with saved_bytes_peak() as saved:
            run()
        return saved.peak

    return count


PEERS = {"plain": None, "checkpointed": SEGMENTS}

WORKLOAD = Workload(
    "checkpoint",
    f"{DEPTH}-layer transformer, width {WIDTH}, {BATCH} × {TOKENS} tokens, forward + backward; "
    f"plain, and checkpointed in {SEGMENTS} segments",
    {name: partial(training_step, segments) for name, segments in PEERS.items()},
    rounds=2,
    reference="plain",
    limits={"checkpointed": 1.4},
    bytes={name: peak(segments) for name, segments in PEERS.items()},
    bytes_limits={"checkpointed": 1 / 5},
)
