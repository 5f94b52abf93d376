"""The learner's loop under observation: what happens in each step, in order, as plain data.

The learner's file chooses PyTorch or whygrad, and what it has chosen is watched.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import whygrad.nn  # loaded before the clock runs, should it be the one
import whygrad.optim  # noqa: F401

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def observe(learner: Learner, what: str, **inputs: Any) -> Any:
    """One of the functions below; a single probe, so that PyTorch is loaded once for all."""
    probe: Callable[..., Any] = globals()[f"_{what}"]
    return probe(learner, **inputs)


def _run(learner: Learner, seed: int, learnable: bool = False) -> dict[str, Any]:
    """Train as the learner does; with ``learnable`` the targets are near 2 instead of random."""
    module = _fresh(learner, seed)
    given = module.batch

    def near_two(step: int) -> Any:
        x, y = given(step)
        return x, 2 + 0.1 * y

    if learnable:
        module.batch = near_two
    with _watching(module) as events:
        trained = module.training()
    forward = next((each for each in events if each["event"] == "forward"), None)
    return {
        "library": module.torch.__name__,
        "returned": forward is not None and trained is forward.pop("model"),
        "events": [{k: v for k, v in each.items() if k != "model"} for each in events],
    }


def _inspection(learner: Learner, cases: list[dict[str, Any]]) -> list[Any]:
    """What the learner's ``inspect`` makes of numbers that are given."""
    module = _fresh(learner, 0)
    lib = module.torch
    found = []
    for case in cases:
        model = lib.nn.Linear(2, 1)
        model.weight.grad = lib.tensor(case["gradient"])
        tensors = [lib.tensor(case[name]) for name in ("x", "output", "loss")]
        found.append(learner.plain(module.inspect(case["step"], *tensors, model)))
    return found


def _original(learner: Learner, seed: int) -> list[dict[str, Any]]:
    """The loop as it was at the start, with the learner's ``inspect`` put in before each step."""
    module = _fresh(learner, seed)
    lib, nn = module.torch, module.torch.nn
    lib.manual_seed(seed)
    model = nn.Sequential(
        nn.Linear(10, 64), nn.Sigmoid(), nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 1)
    )
    optimizer = lib.optim.SGD(model.parameters(), lr=8.0)
    steps = []
    for step in range(80):
        x = lib.randn(32, 10) * (10 if step == 25 else 1)
        output = model(x)
        loss = lib.log(output).mean()
        loss.backward()
        yours = learner.plain(module.inspect(step, x, output, loss, model))
        steps.append({"yours": yours, **_facts(x, output, loss, model)})
        optimizer.step()
    return steps


def _saturation(learner: Learner, seed: int) -> dict[str, Any]:
    """Shares of saturated sigmoids in the trained model, measured and as the learner has them."""
    module = _fresh(learner, seed)
    model = module.training()
    lib = module.torch
    lib.manual_seed(seed)
    found: dict[str, Any] = {"written": learner.plain(module.SATURATION)}
    for name, scale in (("ordinary", 1), ("large", 10)):
        x = lib.randn(256, 10) * scale
        found[name] = {
            "shares": _shares(model, x, lib.nn.Sigmoid),
            "yours": learner.plain(module.saturated(model, x)),
        }
    return found


def _shares(model: Any, x: Any, sigmoid: type) -> list[float]:
    shares = []
    for layer in model:
        x = layer(x)
        if isinstance(layer, sigmoid):
            values = [value for row in x.detach().tolist() for value in row]
            shares.append(sum(not 0.01 <= value <= 0.99 for value in values) / len(values))
    return shares


def _fresh(learner: Learner, seed: int) -> Any:
    """The learner's file executed anew, where random numbers begin somewhere else."""
    learner.module("broken_loop").torch.manual_seed(seed)
    del sys.modules["broken_loop"]
    return learner.module("broken_loop")


@contextlib.contextmanager
def _watching(module: Any) -> Iterator[list[dict[str, Any]]]:
    """Every batch, forward, backward, inspection and step of the learner's loop."""
    lib = module.torch
    events: list[dict[str, Any]] = []
    latest: dict[str, Any] = {}

    def batch(original: Any, step: int) -> Any:
        x, y = original(step)
        latest.update(x=x, y=y)
        size = math.sqrt(float((x**2).mean()))
        shapes = [list(x.shape), list(y.shape)]
        events.append({"event": "batch", "step": step, "size": size, "shapes": shapes})
        return x, y

    def forward(original: Any, model: Any, x: Any) -> Any:
        output = original(model, x)
        latest.update(model=model, given=x, output=output)
        layers = [_described(layer) for layer in model]
        events.append({"event": "forward", "layers": layers, "model": model})
        return output

    def backward(original: Any, loss: Any, *args: Any, **options: Any) -> None:
        event = {
            "event": "backward",
            "loss": loss.item(),
            "held": _norm(latest.get("model")),
            "output": _flat(latest.get("output")),
            "y": _flat(latest.get("y")),
        }
        latest["loss"] = loss
        original(loss, *args, **options)
        events.append({**event, "gradient": _norm(latest.get("model"))})

    def step(original: Any, optimizer: Any, *args: Any, **options: Any) -> Any:
        events.append({"event": "step", "gradient": _norm(latest.get("model"))})
        return original(optimizer, *args, **options)

    def inspect(original: Any, *args: Any, **named: Any) -> Any:
        names = ("step", "x", "output", "loss", "model")
        given = {**dict(zip(names, args)), **named}
        event: dict[str, Any] = {"event": "inspect", "step": given.get("step")}
        event["same"] = {
            "x": any(given.get("x") is latest.get(each) for each in ("x", "given")),
            **{name: given.get(name) is latest.get(name) for name in ("output", "loss", "model")},
        }
        events.append(event)
        return original(*args, **named)

    with contextlib.ExitStack() as stack:
        stack.enter_context(_put_before(module, batch))
        stack.enter_context(_put_before(lib.nn.Sequential, forward))
        stack.enter_context(_put_before(lib.Tensor, backward))
        stack.enter_context(_put_before(module, inspect))
        stack.enter_context(_put_before(lib.optim.SGD, step))
        yield events


@contextlib.contextmanager
def _put_before(place: Any, observer: Callable[..., Any]) -> Iterator[None]:
    """Let the observer stand in for the function of its name, which it is given."""
    name = observer.__name__
    original = getattr(place, name)

    def observed(*args: Any, **named: Any) -> Any:
        return observer(original, *args, **named)

    setattr(place, name, observed)
    try:
        yield
    finally:
        setattr(place, name, original)


def _described(layer: Any) -> str:
    """``Linear 10→64``"""
    sizes = [getattr(layer, f"{side}_features", None) for side in ("in", "out")]
    return type(layer).__name__ + (f" {sizes[0]}→{sizes[1]}" if sizes[0] is not None else "")


def _facts(x: Any, output: Any, loss: Any, model: Any) -> dict[str, Any]:
    return {
        "input": [x.min().item(), x.max().item()],
        "output": [output.min().item(), output.max().item()],
        "loss": loss.item(),
        "gradient": _norm(model),
    }


def _norm(model: Any) -> float | None:
    """The length of all gradients together; 0 where there are none."""
    if model is None:
        return None
    grads = [each.grad for each in model.parameters() if each.grad is not None]
    return math.sqrt(sum((grad**2).sum().item() for grad in grads))


def _flat(tensor: Any) -> list[float] | None:
    return None if tensor is None else tensor.detach().reshape(-1).tolist()
