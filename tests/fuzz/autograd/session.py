"""One library's run of a program: its values, and what has happened to them."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from functools import cache
from types import CodeType
from typing import Any

import torch

from tests.fuzz.autograd.program import UNCOPIED, Program, Step
from tests.fuzz.autograd.words import Skip, Words

__all__ = ["Session"]

MOST_ELEMENTS = 200


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
        self.hooked: list[tuple[Any, Any]] = []  # tensors with hooks, and the nodes they had
        self.unseen: list[Any] = []  # see written_unseen
        self.around = program.around
        self.words = Words(lib, watchful, self.run)
        self.names = self.words.names()

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
        handles = dict(self.words.handles)
        try:
            self.run(step, self.pool)
        except Exception as error:
            self.words.handles = handles  # a region may have got as far as registering hooks
            error.of_the_line = _innermost(error) == LINE  # type: ignore[attr-defined]
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
        if "hook(" in step.line:
            self.hooked += [(each, each.grad_fn) for each in ((a, b) if "multi" in line else (a,))]
        with self.words.during(step), ExitStack() as contexts:
            for context in within:
                contexts.enter_context(eval(compiled(context, "eval"), names))
            if not step.makes_value:
                exec(compiled(line, "exec"), names)
                return
            made = eval(compiled(line, "eval"), names)
        if made.numel() > MOST_ELEMENTS:
            raise Skip("too large to be worth its time")
        pool[step.number] = made


def _memory(tensor: Any) -> Any:
    """The storage; that of ``x`` for ``x.data``."""
    return getattr(tensor._storage, "origin", tensor._storage)


def _innermost(error: Exception) -> str:
    """The file that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else trace.tb_frame.f_code.co_filename


LINE = "<a line of a random program>"


@cache
def compiled(source: str, mode: str) -> CodeType:
    return compile(source, LINE, mode)


torch.set_num_threads(1)
