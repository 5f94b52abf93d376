"""What is asked of the learner's predictions and of their run in segments, as plain data.

whygrad is imported where it is needed, not at the top: predictions are made without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from whygrad.learn.lab.child import Learner


def table(learner: Learner) -> dict[str, Any]:
    return learner.plain(learner.module("predictions").TABLE)


def predicted(learner: Learner, function: str, arguments: list[int]) -> Any:
    return learner.plain(getattr(learner.module("predictions"), function)(*arguments))


def chosen(learner: Learner, function: str, arguments: list[int]) -> Any:
    return learner.plain(getattr(learner.module("segments"), function)(*arguments))


def trained(
    learner: Learner,
    weights: list[Any],
    x: list[Any],
    inside: int,
    segments: int,
    dropout: float,
    seed: int,
) -> dict[str, Any]:
    """One step of the network in segments: gradients, which layer ran when, and the peak."""
    import whygrad
    from whygrad.autograd.graph import saved_bytes_peak
    from whygrad.utils import checkpoint

    checkpoint.checkpoint_sequential = _refused  # run() is to be written, not called
    leaves = [whygrad.tensor(each, dtype=whygrad.float64, requires_grad=True) for each in weights]
    data = whygrad.tensor(x, dtype=whygrad.float64)
    calls: list[int] = []

    def layer(place: int) -> Callable[[Any], Any]:
        def forward(h: Any) -> Any:
            calls.append(place)
            h = h @ leaves[place]
            for _ in range(inside):
                h = h.tanh()
            return whygrad.nn.functional.dropout(h, dropout) if dropout else h

        return forward

    run = learner.module("segments").run
    whygrad.manual_seed(seed)
    with saved_bytes_peak() as saved:
        out = run([layer(place) for place in range(len(leaves))], segments, data)
        out.sum().backward()
    return {
        "out": learner.plain(out),
        "grads": [learner.plain(each.grad) for each in leaves],
        "calls": calls,
        "peak": saved.peak / data.nbytes,
        "next random number": whygrad.rand(1).item(),
    }


def _refused(*_: Any, **__: Any) -> None:
    raise NotImplementedError("run, without checkpoint_sequential")
