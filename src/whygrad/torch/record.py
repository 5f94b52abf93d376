"""Write down what a PyTorch program does, so that later questions have answers with lines.

``with whygrad.torch.record():`` puts a function mode in place.  It sees each call of PyTorch that
the program makes (``F.linear`` inside ``nn.Linear``, ``detach()``, ``.data``, ``item()``), carries
it out unchanged, and notes the op, the user's line, which tensors went in and came out, and what
cut the way of a gradient.  The nodes of PyTorch's graph get the line, too.

Tensors are known by weak references only.  Outside of ``record()`` nothing of this exists.
"""

from __future__ import annotations

import math
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from whygrad.ops.spellings import row_of
from whygrad.source import Where
from whygrad.torch import finite
from whygrad.torch.calls import (
    Event,
    giving_shape,
    kind_of_cut,
    leaving,
    name_of,
    tensors_in,
    uneventful,
)
from whygrad.torch.graph import claim, event_of, mark, unseen_behind
from whygrad.torch.identity import Track, identities
from whygrad.torch.lines import call_of, function_call
from whygrad.torch.nan.anomalies import examine, given
from whygrad.torch.ops import op_name

__all__ = ["Recorder", "Recording", "kept", "latest_recording", "record"]

_LIMIT = 100_000
_WALKS = 64


class Recording:
    """What was seen, the latest calls; older ones than ``limit`` are forgotten.

    Of calls that no gradient can flow through no more than ``data`` are noted.
    """

    def __init__(self, limit: int = _LIMIT, values: bool = True, data: float = math.inf) -> None:
        self.events: deque[Event] = deque(maxlen=limit)
        self.values = values  # whether results are looked at
        self.seen = 0
        self.data = data  # that may still be noted
        # What backward() ran on, and where.
        self.walks: deque[tuple[Track, Where | None]] = deque(maxlen=_WALKS)
        self._switched_off: Where | None = None

    def __repr__(self) -> str:
        return f"<a recording of {self.seen} calls of PyTorch>"

    @property
    def forgotten(self) -> int:
        """How many calls were seen and are no longer known."""
        return self.seen - len(self.events)

    def new_event(self, op: str, call: Where | None) -> Event:
        """An event of its own time, entered."""
        self.seen += 1
        plain = op[2:-2] if op.startswith("__") and op.endswith("__") else op
        event = Event(identities.tick(), plain, call)
        self.events.append(event)
        return event

    def track(self, tensor: torch.Tensor) -> Track:
        """The track of a tensor that the program uses.

        If nobody saw it being made, then PyTorch's own graph tells what it was computed from.
        """
        track = identities.known(tensor)
        if track is None:
            track = identities.track(tensor)
            track.trail = given(tensor) if self.values else None
            if tensor.grad_fn is not None:
                self._adopt(tensor.grad_fn, track)
        elif track.applied is not None and tensor.grad_fn is not None:
            self._adopt(tensor.grad_fn, track)
        return track

    def _adopt(self, node: Any, track: Track) -> None:
        """Believe the graph about a tensor made earlier, or by an ``autograd.Function``."""
        known = event_of(node)
        call, track.applied = track.applied, None
        if known is not None:
            if track not in known.outputs:
                known.outputs, known.cuts = (*known.outputs, track), (*known.cuts, None)
            return
        sources: list[Track] = []
        fresh, met = unseen_behind(node)
        for each in met:
            event = event_of(each)
            sources += [self.track(each.variable)] if event is None else event.outputs
        event = self.new_event(op_name(node), call)
        event.inputs = tuple(dict.fromkeys(sources))
        event.outputs, event.cuts = (track,), (None,)
        claim(fresh[:1] if call is not None else fresh, event)

    def switched(self, on: bool, call: Where | None) -> None:
        """The program switched the recording of gradients on or off."""
        self._switched_off = None if on else call

    def note(self, seen: Before, result: Any, call: Where | None) -> None:
        """A call was carried out."""
        name, left = seen.name, leaving(seen.name)
        if name in ("requires_grad", "requires_grad_"):
            if not seen.needs_grad:
                self._require(seen.tensors[0], call)
            return
        if name == "backward" or seen.differentiates:
            self.walks.append((identities.track(seen.tensors[0]), call))
        written = seen.written()
        outputs = [each for each in tensors_in(result) if isinstance(each, torch.Tensor)]
        arguments = set(map(id, seen.tensors))
        fresh = [each for each in outputs if id(each) not in arguments]
        if not (written or fresh or left):
            return
        shape_giver = giving_shape(name, seen.args)
        tracks = [self.track(each) for each in seen.tensors if each is not shape_giver]
        event = self.new_event(name, call)
        event.inputs, event.guesses, event.strangers = self._sources(seen, tracks)
        if not seen.recording:
            event.applied = function_call()
            event.since = self._switched_off
        if left is not None:
            self._leave(event, seen.tensors[0], result, left, seen.needs_grad)
            return
        self._produce(event, seen, fresh, written)

    def _require(self, tensor: torch.Tensor, call: Where | None) -> None:
        track = identities.track(tensor)
        track.is_leaf = tensor.requires_grad and tensor.is_leaf
        track.required_at = identities.tick(), call

    def _produce(
        self, event: Event, seen: Before, fresh: list[torch.Tensor], written: list[torch.Tensor]
    ) -> None:
        outputs, cuts = [], []
        needs = seen.needs_grad and event.applied is None and bool(event.inputs)
        for place, tensor in enumerate((*fresh, *written)):
            track = identities.track(tensor)
            track.applied = event.applied
            outputs.append(track)
            leaf = place < len(fresh) and tensor.requires_grad and tensor.is_leaf
            cuts.append(kind_of_cut(seen.name, tensor, seen.recording, leaf) if needs else None)
        self.data -= not seen.needs_grad
        event.outputs, event.cuts = tuple(outputs), tuple(cuts)
        event.written = tuple(outputs[len(fresh) :])
        mark(event, fresh, written, seen.sequence)
        if self.values:
            examine(event, seen, (*fresh, *written))

    def _leave(
        self, event: Event, tensor: torch.Tensor, result: Any, kind: str, needs_grad: bool
    ) -> None:
        """A tensor became an array, a number or a list."""
        event.left = kind
        event.op = "numpy" if kind == "numpy" else event.op
        left = []
        if isinstance(result, np.ndarray):
            identities.lend(tensor)
            left.append(identities.track(result))
        else:
            for number in tensors_in(result):
                if isinstance(number, float):
                    left.append(identities.leave(number))
        event.outputs = tuple(left)
        event.cuts = (kind if needs_grad else None,) * len(left)

    def _sources(
        self, seen: Before, tracks: list[Track]
    ) -> tuple[tuple[Track, ...], tuple[Track, ...], int]:
        """What went in: for certain, perhaps (an equal number), and arrays of unknown origin."""
        certain, strangers = list(tracks), 0
        perhaps: list[Track] = []
        for each in seen.others:
            if isinstance(each, np.ndarray):
                track = identities.array(each)
                if track is None:
                    strangers += 1
                else:
                    certain.append(track)
            elif (returning := identities.returning(each)) is not None:
                track, surely = returning
                if surely:
                    certain.append(track)
                elif not each.is_integer():  # 1.0 and 2.0 are everywhere
                    perhaps.append(track)
        return tuple(dict.fromkeys(certain)), tuple(dict.fromkeys(perhaps)), strangers


class Before:
    """The arguments of a call as they were before it ran."""

    __slots__ = (
        "args", "differentiates", "name", "needs_grad", "others", "overwritten", "recording",
        "sequence", "tensors", "trails", "versions",
    )  # fmt: skip

    def __init__(
        self, tape: Recording, name: str, args: Any, kwargs: Any, differentiates: bool
    ) -> None:
        # What was copied before is no argument of a deep copy: there may be a whole model of it.
        things = list(tensors_in(args[:1] if name == "__deepcopy__" else (args, kwargs)))
        self.name = name
        self.args = args
        self.differentiates = differentiates
        self.tensors = [each for each in things if isinstance(each, torch.Tensor)]
        self.others = [each for each in things if not isinstance(each, torch.Tensor)]
        self.recording = torch.is_grad_enabled()
        self.needs_grad = any(each.requires_grad for each in self.tensors)
        self.versions = [_version(each) for each in self.tensors]
        self.trails = [tape.track(each).trail for each in self.tensors]
        # What an op such as log_() overwrites is all that could tell why its result is not finite.
        keeps = tape.values and _overwrites(name)
        self.overwritten = finite.copied(self.tensors[0]) if keeps else None
        self.sequence: int = torch._C._autograd._get_sequence_nr()

    def written(self) -> list[torch.Tensor]:
        """The tensors that the call wrote to."""
        found = [
            each
            for each, version in zip(self.tensors, self.versions, strict=True)
            if _version(each) != version
        ]
        data_was_set = self.name == "data" and len(self.tensors) > 1
        uncounted = data_was_set or self.name == "detach_"
        return found or (self.tensors[:1] if uncounted else [])


def _overwrites(name: str) -> bool:
    """Whether a call writes to an argument at which its op may not be defined."""
    row = row_of(name) if name.endswith("_") and not name.startswith("_") else None
    return row is not None and any(not each.backward for each in row.undefined)


def _version(tensor: torch.Tensor) -> int:
    # PyTorch counts no versions in inference mode; -1 never changes.
    return -1 if tensor.is_inference() else tensor._version


def _is_data(name: str, args: Any, kwargs: Any) -> bool:
    """Whether no gradient can flow through a call."""
    with torch._C.DisableTorchFunction():
        given = tensors_in((args, kwargs))
        return not name.startswith(("requires_grad", "_set_grad")) and not any(
            isinstance(each, torch.Tensor) and each.requires_grad for each in given
        )


class Recorder(TorchFunctionMode):  # type: ignore[misc]
    """Sees the calls of one thread, and shows them to its readers.

    A ``recording`` notes where values come from; ``carry_out``, if there is one, carries out the
    calls, with notes of its own.  Either may be there or not from one call to the next.
    """

    def __init__(
        self, recording: Recording | None = None, carry_out: Callable[..., Any] | None = None
    ) -> None:
        super().__init__()
        self.recording = recording
        self._carry_out = carry_out or _plainly
        self.is_dull: Callable[[Any, Any], bool] | None = None  # which calls nobody reads now
        self._names: dict[Any, tuple[str, bool]] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if self.is_dull is not None and self.is_dull(func, args):
            return func(*args, **kwargs)
        if torch.compiler.is_compiling() or torch._C._is_tracing():  # nothing is computed yet
            return func(*args, **kwargs)
        name, skip = self._names.get(func) or self._learn(func)
        if skip:
            return func(*args, **kwargs)
        recording = self.recording
        if recording is None or (recording.data <= 0 and _is_data(name, args, kwargs)):
            return self._carry_out(func, args, kwargs)
        if name == "data" and sys._getframe(1).f_code.co_name == "__deepcopy__":
            name = "__deepcopy__"  # a Parameter copies its data
        before = None
        try:
            with torch._C.DisableTorchFunction():
                before = Before(recording, name, args, kwargs, func is torch.autograd.grad)
        except Exception:
            self._lost()
        result = self._carry_out(func, args, kwargs)
        try:
            with torch._C.DisableTorchFunction():
                call = call_of(sys._getframe(1))
                if name == "_set_grad_enabled":
                    recording.switched(torch.is_grad_enabled(), call)
                elif before is not None:
                    recording.note(before, result, call)
        except Exception:
            self._lost()
        return result

    def _lost(self) -> None:
        """A note could not be taken: who records wants to know, who carries out calls goes on."""
        if self._carry_out is _plainly:
            raise
        self.recording = None

    def _learn(self, func: Any) -> tuple[str, bool]:
        name = name_of(func)
        known = self._names[func] = name, uneventful(func, name)
        return known


def _plainly(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


class _State(threading.local):
    def __init__(self) -> None:
        self.on: list[Recording] = []
        self.latest: Recording | None = None


_state = _State()


def latest_recording() -> Recording | None:
    """The recording that is on, or the last one of this thread."""
    return _state.on[-1] if _state.on else _state.latest


@contextmanager
def record(limit: int = _LIMIT, *, values: bool = True) -> Iterator[Recording]:
    """Record what PyTorch does in a ``with`` block, for :func:`why_none` and its kin.

    Results, gradients and random numbers are what they would be without it.  Of a long program the
    last ``limit`` calls are remembered.  Without ``values`` no result is looked at: that is faster,
    and :func:`why_nan` has nothing to go by.
    """
    recording = Recording(limit, values)
    with kept(recording), Recorder(recording):
        yield recording


@contextmanager
def kept(recording: Recording) -> Iterator[None]:
    """While inside, and after it, questions are answered from this recording."""
    _state.on.append(recording)
    _state.latest = recording
    try:
        yield
    finally:
        _state.on.remove(recording)
