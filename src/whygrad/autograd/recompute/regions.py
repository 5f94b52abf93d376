"""Regions of a program that are run a second time when backward needs what they saved.

The first run is recorded as always, but the nodes keep no arrays: in place of each they hold a
:class:`Box`, and all boxes know their :class:`Region`.  When backward opens the first one, the
region runs again, under the modes and with the random numbers of the first time, up to the tensor
that is asked for.  What its nodes save on the way is put into the boxes of the first run, and each
of them is empty again when it has been opened.  The second run's own graph is dropped.

A node holds its boxes and they the region, which refers back only weakly: a graph that goes takes
everything along.  The arguments of a region inside a region are boxes of the outer one, so nesting
saves memory at every level.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.recompute.determinism import Note, difference
from whygrad.autograd.recompute.inputs import Entrusted, Inputs, Memory, Reads, overwritten
from whygrad.autograd.recompute.reports import (
    CheckpointError,
    different_count,
    different_work,
    surplus,
)
from whygrad.autograd.saving.blocks import is_of_leaf
from whygrad.autograd.saving.bytes import note_saved
from whygrad.autograd.saving.hooks import Keeper, innermost_keeper
from whygrad.autograd.transforms.randomness import surroundings
from whygrad.dispatch import quiet
from whygrad.errors import fail
from whygrad.source import Where, caller, user_frame
from whygrad.tensor import keys, modes
from whygrad.tensor.graph.node import Packed

if TYPE_CHECKING:
    from whygrad.autograd.recompute.streams import Streams
    from whygrad.dispatch.paths import Entry
    from whygrad.ops.define import Op
    from whygrad.tensor import Tensor
    from whygrad.tensor.graph.node import Node
    from whygrad.tensor.storage import Storage

__all__ = ["Region", "Settings"]


class Settings(NamedTuple):
    """How a region is run again."""

    streams: Streams  # the random numbers it draws
    around: AbstractContextManager[Any]  # the user's context for every further run
    early_stop: bool  # as soon as the tensor that is asked for is there
    compare: bool  # shapes, dtypes and elements; whether the ops fit is always checked
    debug: bool  # keep a list of the ops


class _Enough(BaseException):
    """Ends a further run; no ``Exception``, so that functions which catch those let it pass."""


class Box:
    """Stands for one saved tensor of a region, and is filled when the region runs again."""

    __slots__ = ("__weakref__", "_index", "_region", "found", "guard", "last")

    def __init__(self, region: Region, index: int) -> None:
        self._region = region
        self._index = index
        self.last = index  # of the boxes that will be opened together with this one
        self.found: Memory | None = None
        self.guard: tuple[Storage, Any] | None = None

    def take(self) -> Memory:
        """The memory.  It is handed out once: to need it again is to compute it again."""
        found = self.found or self._region.run_again(self.last)[self._index]
        self.found = None
        return found

    def open(self) -> Any:
        """The array that a node saved."""
        found = self.take()
        if not found.is_current:
            note = self._region.notes[self._index]
            what = f"what became {note}"
            raise overwritten(found.storage, found.version, what, self._region.where)
        # What is recorded from the array must notice later writes to memory outside the region.
        outside = self._region.reads.knows(found.storage)
        self.guard = (found.storage, found.version) if outside else None
        return found.array

    def held(self) -> list[Any]:
        """The array, while it is here."""
        return [] if self.found is None else [self.found.array]

    @property
    def nbytes(self) -> int:
        """Of the tensor that was saved."""
        return self._region.notes[self._index].nbytes


class Boxes(Packed):
    """The values of a node, some of which are boxes."""

    __slots__ = ()

    @property
    def at_hand(self) -> bool:  # type: ignore[override]
        return all(box.found is not None for value in self.values for box in _boxes(value))

    def unpack(self, node: Node) -> tuple[Any, ...]:
        values = super().unpack(node)
        node.guards = tuple(
            (*box.guard, index)
            for index, value in enumerate(self.values)
            for box in _boxes(value)
            if box.guard is not None
        )
        return values


def _boxes(value: Any) -> list[Box]:
    return [each for each in (value if isinstance(value, list) else [value]) if type(each) is Box]


class Region:
    """One checkpointed call: how to run it again, and what may be asked of it."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        settings: Settings,
    ) -> None:
        self.function = function
        self.settings = settings
        self._surroundings = surroundings()
        self._autocast = _autocast()
        frame = user_frame()
        self.code, self.instruction = frame.f_code, frame.f_lasti
        self.notes: list[Note] = []  # of the tensors that the first run saved
        self.reads = Reads()
        self.ops: list[str] = []  # of the first run, with ``debug``
        self.finished = False
        self.inputs = Inputs(args, kwargs, self._keep)

    def _keep(self, tensor: Tensor, label: str) -> Any:
        """What to hold of an argument: its memory, or what those around the call make of it."""
        outer = innermost_keeper()
        if outer is None or (tensor.requires_grad and tensor.is_leaf):
            if not is_of_leaf(tensor):
                note_saved(tensor)
            return Memory.of(tensor)
        if isinstance(outer, _Run):
            return outer.keep(tensor, Note(tensor._array, label, self, None))
        box = outer.box(tensor, self, label, False)  # type: ignore[arg-type]  # has name and line
        return Entrusted(box, tensor)

    def name(self) -> str:
        """In messages about its arguments."""
        return "checkpoint()"

    @property
    def where(self) -> Where:
        """The user's line that called checkpoint()."""
        return Where(self.code, self.instruction)

    def run(self, around: AbstractContextManager[Any], args: Any, kwargs: Any) -> Any:
        """The first run."""
        nothing = result = object()
        with CheckpointRun(self, self.ops), self.settings.streams.noted(), self._autocast(), around:
            result = self.function(*args, **kwargs)
        if result is nothing:
            raise fail(
                RuntimeError,
                call=f"checkpoint() at {self.where}",
                cause="the forward context provided by context_fn suppressed an exception raised "
                "during the checkpointed forward, so there is no result to return",
                fix="let the first of the two contexts pass exceptions on",
                where=None,
            )
        self.reads.forget_temporaries()
        self.finished = True
        return result

    def run_again(self, last: int) -> list[Any]:
        """The tensors up to number ``last``; the boxes that wait for them get theirs."""
        again = CheckpointRerun(self, last)
        try:
            args, kwargs = self.inputs.open(self.where)
            with self._as_it_was(), again, self.settings.around:
                self.function(*args, **kwargs)
        except _Enough:
            pass
        except Exception as error:
            if not isinstance(error, CheckpointError):
                error.add_note(f"raised when backward ran the checkpoint() at {self.where} again")
            raise
        again.check_count()
        for note, found in zip(self.notes, again.found):
            box = note.waiting()
            if box is not None:
                box.found = found
        return again.found

    @contextmanager
    def _as_it_was(self) -> Iterator[None]:
        streams = self.settings.streams
        outer = modes.inference_mode(False)
        # Also where a value was at hand until another thread took it: the walk did not make room.
        with quiet.again(), outer, self._surroundings(), self._autocast(), streams.rewound():
            yield


def _autocast() -> Callable[[], AbstractContextManager[None]]:
    """The precision of this moment, to be put around both runs."""
    if not modes.state.added & keys.AUTOCAST:
        return modes.without_autocast
    from whygrad.amp.state import surroundings as mixed_precision

    return mixed_precision()


class _Run(Keeper):
    """A run of a region, which sees the ops and what their nodes save."""

    def __init__(self, region: Region, ops: list[str]) -> None:
        super().__init__()
        self.region = region
        self.ops = ops

    @abstractmethod
    def keep(self, tensor: Tensor, note: Note) -> Any:
        """Take a tensor; what is returned has a ``take()`` that gives its memory back."""

    @abstractmethod
    def read(self, op: Op, args: tuple[Any, ...]) -> None:
        """An op is about to read its arguments."""

    def box(self, tensor: Tensor, node: Node, name: str, is_output: bool) -> Any:
        return self.keep(tensor, Note(tensor._array, name, node, node.plan.needs))

    def _intercept(self, op: Op, below: Entry, args: tuple[Any, ...]) -> Any:
        self.read(op, args)
        if self.region.settings.debug:
            self.ops.append(f"{op.name} at {caller()}")
        return super()._intercept(op, below, args)


class CheckpointRun(_Run):
    """Takes from each node what it saved, and leaves a note of it."""

    def keep(self, tensor: Tensor, note: Note) -> Box:
        notes = self.region.notes
        box = Box(self.region, len(notes))
        note.waiting = weakref.ref(box)
        notes.append(note)
        return box

    def read(self, op: Op, args: tuple[Any, ...]) -> None:
        self.region.reads.note(args)

    def put(self, node: Node, values: tuple[Any, ...]) -> None:
        boxes = [box for value in values for box in _boxes(value)]
        if boxes:  # otherwise the tensors among the arguments were numbers
            for box in boxes:
                box.last = len(self.region.notes) - 1
            node.values = Boxes(values)
            node.guards = ()


class CheckpointRerun(_Run):
    """Collects what the boxes of the first run wait for."""

    def __init__(self, region: Region, last: int) -> None:
        super().__init__(region, [])
        self.last = last
        self.found: list[Memory | None] = []  # None: nobody waits for it any more
        self._count = 0
        self._stopped = False

    def keep(self, tensor: Tensor, note: Note) -> Memory:
        memory = Memory.of(tensor)
        if not self._stopped:  # otherwise the function has caught what was to end it
            self._collect(memory, note)
        return memory

    def _collect(self, memory: Memory, note: Note) -> None:
        region, index = self.region, self._count
        self._count += 1
        if index >= len(region.notes):
            if region.finished:
                raise surplus(note, region.where, self._ops())
            return  # backward inside the function: the first run has not come this far yet
        different = difference(region.notes[index], note, region.settings.compare)
        if different is not None:
            raise different_work(different, region.where, self._ops())
        if index <= self.last:
            self.found.append(None if region.notes[index].waiting() is None else memory)
        if index == self.last and region.settings.early_stop:
            self._stopped = True
            raise _Enough

    def read(self, op: Op, args: tuple[Any, ...]) -> None:
        self.region.reads.check(args, op, self.region.where)

    def put(self, node: Node, values: tuple[Any, ...]) -> None:
        """This graph keeps its values, for a backward inside the function."""

    def check_count(self) -> None:
        """Raise if the run ended before it had saved what the first one did."""
        region, needed = self.region, self.last + 1
        if region.finished and not region.settings.early_stop:
            needed = len(region.notes)
        if self._count < needed:
            missing = region.notes[self._count]
            counts = len(region.notes), self._count
            raise different_count(*counts, missing, region.where, self._ops())

    def _ops(self) -> tuple[list[str], list[str]] | None:
        return (self.region.ops, self.ops) if self.region.settings.debug else None
