"""A batch as programs have it, and one pass of a model over it, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.recording.engines import Engine, engine_of

__all__ = ["Batch", "LossFunction", "require_module", "tensors_in"]

LossFunction = Callable[..., Any]


@dataclass
class Batch:
    """What goes into the model, and what the loss compares its output with."""

    inputs: tuple[Any, ...]
    named: dict[str, Any]
    target: Any = None

    @staticmethod
    def of(batch: Any) -> Batch:
        """``(input, …, target)``, a dictionary of named inputs, or an input alone."""
        if isinstance(batch, Mapping):
            return Batch((), dict(batch))
        if isinstance(batch, (tuple, list)):
            if len(batch) > 1:
                return Batch(tuple(batch[:-1]), {}, batch[-1])
            return Batch(tuple(batch), {})
        return Batch((batch,), {})

    def output(self, model: Any) -> Any:
        return model(*self.inputs, **self.named)

    def loss(self, output: Any, loss_fn: LossFunction | None) -> Any:
        """Without a loss function the output is the loss, or has it as ``.loss``."""
        if loss_fn is None:
            return getattr(output, "loss", output)
        return loss_fn(output) if self.target is None else loss_fn(output, self.target)

    def first(self, count: int) -> Batch:
        """The same with the first ``count`` samples only."""
        size = self.size

        def cut(value: Any) -> Any:
            shape = tuple(getattr(value, "shape", ()))
            return value[:count] if shape[:1] == (size,) else value

        named = {name: cut(value) for name, value in self.named.items()}
        return Batch(tuple(map(cut, self.inputs)), named, cut(self.target))

    @property
    def size(self) -> int:
        """The number of samples: the length of the first tensor."""
        for each in (*self.inputs, *self.named.values()):
            if len(getattr(each, "shape", ())):
                return int(each.shape[0])
        return 0

    def classes(self, engine: Engine, output: Any) -> int | None:
        """How many classes there are to choose from; None if the target is not a label."""
        if not isinstance(self.target, engine.tensor) or not isinstance(output, engine.tensor):
            return None
        target = engine.array(self.target)
        shape = tuple(output.shape)  # type: ignore[attr-defined]
        if target.dtype.kind in "iu" and len(shape) == target.ndim + 1 and len(shape) > 1:
            return int(shape[1])
        is_binary = target.size > 0 and bool(np.isin(target, (0, 1)).all())
        return 2 if is_binary and target.shape == shape else None


def tensors_in(value: Any, kind: type, name: str) -> Iterator[tuple[str, Any]]:
    """The tensors in an argument or a result, with names such as ``output[1]``."""
    if isinstance(value, kind):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from tensors_in(each, kind, f"{name}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for place, each in enumerate(value):
            yield from tensors_in(each, kind, f"{name}[{place}]")


def require_module(model: Any, call: str) -> Engine:
    """The engine of a model; an error if it is none."""
    if not (hasattr(model, "named_parameters") and hasattr(model, "named_modules")):
        raise fail(
            TypeError,
            call=f"doctor.{call}({type(model).__name__}, …)",
            cause="the first argument is not a module",
            fix=f"doctor.{call}(model, …) with an nn.Module of PyTorch or whygrad",
        )
    return engine_of(model)
