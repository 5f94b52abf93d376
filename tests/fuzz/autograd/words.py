"""What a line of a program may call, besides the library: losses, hooks, regions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import whygrad
from tests.conformance.harness import as_numpy
from tests.fuzz.autograd.functions import functions
from tests.fuzz.autograd.program import Step
from tests.fuzz.ops.program import TORCH, WHYGRAD, NoTensor, call_op

__all__ = ["Event", "Skip", "Words", "bring_up_to_date"]

Event = tuple[str, tuple[Any, ...]]  # which hook, and the gradients it saw
NAMES = (
    "after", "checkpoint", "drop", "keep", "loss", "node", "node_after", "node_before", "observe",
    "op", "scale", "several", "some",
)  # fmt: skip


class Skip(Exception):
    """A step that has nothing to do, in either library."""


class Words:
    """The vocabulary of one session; what its hooks see is kept in ``events``."""

    def __init__(
        self, lib: Any, watchful: bool, run: Callable[[Step, dict[int, Any]], None]
    ) -> None:
        self.lib = lib
        self.watchful = watchful
        self.run = run
        self.events: list[Event] = []
        self.handles: dict[int, Any] = {}
        self.steps: list[Step] = []  # that are running: regions have steps of their own

    def names(self) -> dict[str, Any]:
        return {
            "lib": self.lib,
            "nullcontext": nullcontext,
            "copied": lambda saved: saved.detach().clone(),
            "same": lambda saved: saved,
            **{name: getattr(self, name) for name in NAMES},
            **functions(self.lib),
        }

    @contextmanager
    def during(self, step: Step) -> Iterator[None]:
        """While the step runs, new hooks are named after it."""
        self.steps.append(step)
        try:
            yield
        finally:
            self.steps.pop()

    def loss(self, *values: Any) -> Any:
        terms = [0.3 * (i + 1) * (each * each.cos()).sum() for i, each in enumerate(values)]
        return sum(term.to(self.lib.float64) for term in terms)

    def some(self, gradient: Any) -> Any:
        if gradient is None:
            raise Skip("there is no gradient")
        return gradient

    def op(self, name: str, index: int, output: int, a: Any, b: Any) -> Any:
        library = WHYGRAD if self.lib is whygrad else TORCH
        try:
            made = call_op(name, index, output, [a, b], library)
        except NoTensor as error:
            raise Skip(str(error)) from None
        if not made.is_floating_point():
            raise Skip("not a number with a gradient")
        return made

    def checkpoint(self, a: Any, b: Any) -> Any:
        body = self.steps[-1].body

        def region(a: Any, b: Any) -> Any:
            local = {0: a, 1: b}
            for step in body:
                self.run(step, local)
                bring_up_to_date(local)
            return local[max(local)]

        if self.watchful:
            return region(a, b)
        checkpoint = importlib.import_module(f"{self.lib.__name__}.utils.checkpoint").checkpoint
        return checkpoint(region, a, b, use_reentrant=False)

    def node(self, tensor: Any) -> Any:
        if tensor.grad_fn is None:
            raise Skip("no node")
        return tensor.grad_fn

    def keep(self, handle: Any) -> None:
        self.handles[self._number()] = handle

    def drop(self) -> None:
        if not self.handles:
            raise Skip("no hook to remove")
        self.handles.pop(min(self.handles)).remove()

    def _number(self) -> int:
        return self.steps[-1].number

    def _see(self, what: str, *gradients: Any) -> None:
        """None is no event: PyTorch calls hooks for it, whygrad does not."""
        seen = tuple(as_numpy(each).copy() for each in gradients if each is not None)
        if seen:
            self.events.append((what, seen))

    def observe(self) -> Callable[[Any], None]:
        name = f"hook {self._number()}"
        return lambda gradient: self._see(name, gradient)

    def scale(self) -> Callable[[Any], Any]:
        name = f"scaling hook {self._number()}"

        def hook(gradient: Any) -> Any:
            self._see(name, gradient)
            return None if gradient is None else gradient * 0.5

        return hook

    def several(self) -> Callable[[Any], None]:
        name = f"hook of several {self._number()}"
        return lambda gradients: self._see(name, *gradients)

    def after(self) -> Callable[[Any], None]:
        name = f"hook after accumulation {self._number()}"
        return lambda leaf: self._see(name, leaf.grad)

    def node_after(self) -> Callable[[Any, Any], None]:
        name = f"node hook {self._number()}"

        def hook(to_inputs: Any, to_outputs: Any) -> Any:
            self._see(name, *to_outputs)
            return tuple(None if each is None else each * 0.5 for each in to_inputs)

        return hook

    def node_before(self) -> Callable[[Any], Any]:
        name = f"node prehook {self._number()}"

        def hook(to_outputs: Any) -> Any:
            self._see(name, *to_outputs)
            return tuple(None if each is None else each * 0.5 for each in to_outputs)

        return hook


def bring_up_to_date(pool: dict[int, Any]) -> None:
    """A constant view whose base got a history is still called a leaf by PyTorch, until asked."""
    for tensor in pool.values():
        with suppress(RuntimeError):  # see only_pytorch.unreadable_part
            tensor.grad_fn  # noqa: B018
