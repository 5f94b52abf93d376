"""One library's run of a program: its values, what its hooks saw, and what a line may call."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from types import CodeType
from typing import Any

import torch

import whygrad
from tests.conformance.harness import as_numpy
from tests.fuzz.autograd.functions import functions
from tests.fuzz.autograd.program import UNCOPIED, Program, Step
from tests.fuzz.ops.program import TORCH, WHYGRAD, NoTensor, call_op

__all__ = ["Event", "Session", "Skip"]

Event = tuple[str, tuple[Any, ...]]  # which hook, and the gradients it saw
MOST_ELEMENTS = 200


class Skip(Exception):
    """A step that has nothing to do, in either library."""


class Session:
    """The values of a program in one library, by number.

    ``watchful``: without what keeps PyTorch from noticing that a saved value was overwritten.
    ``.data`` becomes detach(), which shares the version; pack hooks that copy nothing and
    checkpoints are left out.
    """

    def __init__(self, program: Program, lib: Any, watchful: bool = False) -> None:
        self.lib = lib
        self.watchful = watchful
        self.pool: dict[int, Any] = {}
        for number, (leaf, array) in enumerate(zip(program.leaves, program.arrays(), strict=True)):
            self.pool[number] = lib.tensor(array, requires_grad=leaf.needs_grad)
        self.events: list[Event] = []
        self.handles: dict[int, Any] = {}
        self.hooked: list[tuple[Any, Any]] = []  # tensors with hooks, and the nodes they had
        self.unseen: list[Any] = []  # see written_unseen
        self.step: Step | None = None
        self.around = program.around
        self.names = {
            "lib": lib,
            "nullcontext": nullcontext,
            "copied": lambda saved: saved.detach().clone(),
            "same": lambda saved: saved,
            **{
                name: getattr(self, f"_{name}")
                for name in (
                    "after", "checkpoint", "drop", "keep", "loss", "node", "node_after",
                    "node_before", "observe", "op", "scale", "several", "some",
                )
            },
            **functions(lib),
        }  # fmt: skip

    def surroundings(self) -> AbstractContextManager[Any]:
        """What the whole program runs in."""
        return eval(compiled(self.around, "eval"), self.names)

    def tangent(self, tensor: Any) -> Any:
        return self.lib.autograd.forward_ad.unpack_dual(tensor).tangent

    def operand(self, number: int) -> Any:
        return self.pool[max(each for each in self.pool if each <= number)]

    def operands(self, step: Step) -> tuple[Any, Any]:
        return self.operand(step.a), self.operand(step.b)

    def asking(self) -> list[int]:
        """The numbers of the values that a last backward can start from."""
        return [number for number, each in self.pool.items() if each.requires_grad]

    def collecting(self) -> list[int]:
        """The numbers of those whose ``.grad`` backward fills."""
        return [
            number
            for number in self.asking()
            if self.pool[number].is_leaf or self.pool[number].retains_grad
        ]

    def is_hooked(self, number: int) -> bool:
        """Whether a hook may change the gradient of a value that is not a leaf."""
        tensor = self.operand(number)
        return not tensor.is_leaf and any(tensor is each for each, _ in self.hooked)

    def note_write(self, step: Step, nodes_before: list[Any]) -> None:
        """Remember memory that was written to without a record."""
        memory = _memory(self.operand(step.a))
        sharing = [
            each._node is before
            for each, before in zip(self.pool.values(), nodes_before, strict=True)
            if _memory(each) is memory
        ]
        if all(sharing):
            self.unseen.append(memory)

    def written_unseen(self, tensor: Any) -> bool:
        """Whether the gradient *at* a view may differ: its memory was written without a record.

        PyTorch then derives every view from the base anew, so what was made from one view no
        longer sends its gradient through that one.  In whygrad it does.
        """
        return tensor._base is not None and any(_memory(tensor) is each for each in self.unseen)

    def attempt(self, step: Step) -> Exception | None:
        """Carry out the step; what it makes joins the pool."""
        try:
            self.run(step, self.pool)
        except Exception as error:
            error.__traceback__ = None  # its frames would keep values alive
            return error
        return None

    def run(self, step: Step, pool: dict[int, Any]) -> None:
        a, b = (pool[max(each for each in pool if each <= n)] for n in (step.a, step.b))
        names = {**self.names, "a": a, "b": b}
        line, within = step.line, step.within
        if self.watchful:
            line = line.replace(".data", ".detach()")
            packed = [each for each in within if "graph.save" in each]
            if packed and (packed[-1] in UNCOPIED or step.body):  # a region saves past the hooks
                within = tuple(each for each in within if each not in packed)
        before, self.step = self.step, step
        if "hook(" in step.line:
            self.hooked += [(each, each.grad_fn) for each in ((a, b) if "multi" in line else (a,))]
        try:
            with ExitStack() as contexts:
                for context in within:
                    contexts.enter_context(eval(compiled(context, "eval"), names))
                if not step.makes_value:
                    exec(compiled(line, "exec"), names)
                    return
                made = eval(compiled(line, "eval"), names)
        finally:
            self.step = before
        if made.numel() > MOST_ELEMENTS:
            raise Skip("too large to be worth its time")
        pool[step.number] = made

    # What a line may call.

    def _loss(self, *values: Any) -> Any:
        terms = [0.3 * (i + 1) * (each * each.cos()).sum() for i, each in enumerate(values)]
        return sum(term.to(self.lib.float64) for term in terms)

    def _some(self, gradient: Any) -> Any:
        if gradient is None:
            raise Skip("there is no gradient")
        return gradient

    def _op(self, name: str, index: int, output: int, a: Any, b: Any) -> Any:
        library = WHYGRAD if self.lib is whygrad else TORCH
        try:
            made = call_op(name, index, output, [a, b], library)
        except NoTensor as error:
            raise Skip(str(error)) from None
        if not made.is_floating_point():
            raise Skip("not a number with a gradient")
        return made

    def _checkpoint(self, a: Any, b: Any) -> Any:
        body = self.step.body  # type: ignore[union-attr]

        def region(a: Any, b: Any) -> Any:
            local = {0: a, 1: b}
            for step in body:
                self.run(step, local)
            return local[max(local)]

        if self.watchful:
            return region(a, b)
        checkpoint = importlib.import_module(f"{self.lib.__name__}.utils.checkpoint").checkpoint
        return checkpoint(region, a, b, use_reentrant=False)

    def _node(self, tensor: Any) -> Any:
        if tensor.grad_fn is None:
            raise Skip("no node")
        return tensor.grad_fn

    def _keep(self, handle: Any) -> None:
        self.handles[self._number()] = handle

    def _drop(self) -> None:
        if not self.handles:
            raise Skip("no hook to remove")
        self.handles.pop(min(self.handles)).remove()

    def _number(self) -> int:
        return self.step.number  # type: ignore[union-attr]

    def _see(self, what: str, *gradients: Any) -> None:
        """None is no event: PyTorch calls hooks for it, whygrad does not."""
        seen = tuple(as_numpy(each).copy() for each in gradients if each is not None)
        if seen:
            self.events.append((what, seen))

    def _observe(self) -> Callable[[Any], None]:
        name = f"hook {self._number()}"
        return lambda gradient: self._see(name, gradient)

    def _scale(self) -> Callable[[Any], Any]:
        name = f"scaling hook {self._number()}"

        def hook(gradient: Any) -> Any:
            self._see(name, gradient)
            return None if gradient is None else gradient * 0.5

        return hook

    def _several(self) -> Callable[[Any], None]:
        name = f"hook of several {self._number()}"
        return lambda gradients: self._see(name, *gradients)

    def _after(self) -> Callable[[Any], None]:
        name = f"hook after accumulation {self._number()}"
        return lambda leaf: self._see(name, leaf.grad)

    def _node_after(self) -> Callable[[Any, Any], None]:
        name = f"node hook {self._number()}"

        def hook(to_inputs: Any, to_outputs: Any) -> Any:
            self._see(name, *to_outputs)
            return tuple(None if each is None else each * 0.5 for each in to_inputs)

        return hook

    def _node_before(self) -> Callable[[Any], Any]:
        name = f"node prehook {self._number()}"

        def hook(to_outputs: Any) -> Any:
            self._see(name, *to_outputs)
            return tuple(None if each is None else each * 0.5 for each in to_outputs)

        return hook


def _memory(tensor: Any) -> Any:
    """The storage; that of ``x`` for ``x.data``."""
    return getattr(tensor._storage, "origin", tensor._storage)


@cache
def compiled(source: str, mode: str) -> CodeType:
    return compile(source, "<a line of a random program>", mode)


torch.set_num_threads(1)
