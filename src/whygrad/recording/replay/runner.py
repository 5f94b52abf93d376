"""Run a step again from its recipe, with a look at every value.

The calls of the snapshot are carried out once more on copies: parameters as they were before the
step (or other values, for an experiment), the same batch, the same random numbers.  Nothing of the
program's is touched.  The replay knows whether it *reproduced* the loss, which means to within a
thousandth of it: sums in another order differ in the last digits, and a step that depended on
something that the recipe does not hold differs by more.  Experiments on that are not to be trusted.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from whygrad.ops.families import CASTS, SETITEM
from whygrad.recording.calls import Produced, RecordedCall, mapped
from whygrad.recording.ranges import Range, summarize
from whygrad.recording.record import Snapshot
from whygrad.recording.replay.trace import Trace, Traced

__all__ = ["SAME_LOSS", "goes_bad", "is_same_loss", "replay"]

SAME_LOSS = 1e-3  # the part by which a reproduced loss may differ from the one the program saw
_SAME_ZERO = 1e-6  # the same for a loss of about zero


def replay(
    snapshot: Snapshot,
    *,
    values: Mapping[int, Any] | None = None,
    instead: Mapping[int, Mapping[int | str, Any]] | None = None,
    backward: bool = True,
    look: bool = True,
    objective: Callable[[Trace], Any] | None = None,
    wide: bool = False,
    memory: float = math.inf,
) -> Trace:
    """Carry out the calls of a snapshot again.

    ``values`` replace those of leaves, by their id.  ``instead`` replaces arguments of calls: by
    the number of the call, then by the place or the name of the argument.  ``objective`` makes
    another loss, for an experiment, out of what the calls returned.  ``wide`` computes in float32
    what the program computed in float16.  Where results need more than ``memory`` bytes the replay
    is given up.
    """
    engine = snapshot.engine
    try:
        runner = _Runner(snapshot, values or {}, look, instead or {}, wide, memory)
    except Exception as stopped:  # no memory for its parameters
        return Trace(snapshot, [], math.nan, False, {}, error=stopped)
    state = engine.random_state()
    error: BaseException | None = None
    trace = Trace(snapshot, [], math.nan, False, runner.leaves)
    try:
        space: Any = engine.namespace
        quiet = space.autograd.set_detect_anomaly(False)  # it would end the replay at the first NaN
        with engine.unwatched(), quiet, space.enable_grad(), np.errstate(all="ignore"):
            trace.calls = runner.traced
            loss = runner.run()
            if objective is not None:
                loss = objective(trace)
            if loss is not None:
                array = engine.view(loss)
                trace.loss = float(array.item()) if array.size == 1 else float(np.mean(array))
                trace.reproduced = is_same_loss(trace.loss, snapshot.value)
                if backward and array.size == 1 and loss.requires_grad:
                    runner.watch_gradients(trace.arrivals)
                    loss.backward()
                    trace.gradients = {
                        name: engine.view(leaf.grad).copy()
                        for name, leaf in runner.leaves.items()
                        if leaf.grad is not None
                    }
    except Exception as stopped:
        error = stopped
    finally:
        runner.unhook()
        with contextlib.suppress(Exception):
            engine.set_random_state(state)
    trace.error, trace.bytes = error, runner.bytes
    return trace


def _bytes_of(value: Any) -> int:
    try:
        return int(value.nbytes)
    except (AttributeError, RuntimeError):  # no tensor, or a sparse one, which does not say
        return 0


def is_same_loss(one: float, other: float) -> bool:
    """Whether two losses agree to within what a replay may differ by, or are both lost."""
    if math.isfinite(one) and math.isfinite(other):
        return math.isclose(one, other, rel_tol=SAME_LOSS, abs_tol=_SAME_ZERO)
    return not math.isfinite(one) and not math.isfinite(other)


def goes_bad(snapshot: Snapshot) -> bool:
    """Whether the step can be run again, and its loss is not finite then."""
    trace = replay(snapshot, backward=False, look=False)
    return trace.error is None and not math.isfinite(trace.loss)


class _Runner:
    """The state of one replay."""

    def __init__(
        self,
        snapshot: Snapshot,
        values: Mapping[int, Any],
        look: bool,
        instead: Mapping[int, Mapping[int | str, Any]],
        wide: bool = False,
        memory: float = math.inf,
    ) -> None:
        self._snapshot = snapshot
        self._memory = memory
        self.bytes = 0  # of all results
        self._wide = wide
        self._instead = instead
        self._engine = snapshot.engine
        self._look = look
        self._results: dict[int, list[Any]] = {}
        self._copies: dict[int, Any] = {}
        self.leaves: dict[int, Any] = {}
        for name, value in snapshot.values.items():
            copy = self._widened(self._engine.copy(values.get(name, value)))
            self.leaves[name] = copy.requires_grad_()
        self.traced: list[Traced] = []
        self._hooks: list[Any] = []

    def run(self) -> Any:
        for number, call in self._snapshot.calls.items():
            self._carry_out(number, call)
        root = self._snapshot.loss
        return None if root is None else self._results[root.call][root.place]

    def _carry_out(self, number: int, call: RecordedCall) -> None:
        engine = self._engine
        args = mapped(self._decode, call.args)
        kwargs = mapped(self._decode, call.kwargs)
        if number in self._instead:
            other = self._instead[number]
            args = tuple(other.get(place, each) for place, each in enumerate(args))
            kwargs = {name: other.get(name, each) for name, each in kwargs.items()}
        inputs: list[Any] = []
        kept: list[Any] = []
        self._tensors((call.args, call.kwargs), (args, kwargs), inputs, kept)
        before = self._ranges(inputs)
        if call.random is not None:
            engine.set_random_state(call.random)
        with contextlib.ExitStack() as stack:
            if not call.recorded:
                stack.enter_context(engine.namespace.no_grad())
            traced = Traced(number, call, args, kwargs, inputs, kept, [], before, [])
            self.traced.append(traced)
            function = call.function
            if self._wide:
                function = engine.unbound(call.op, function)
            result = function(*args, **kwargs)
        if call.op in SETITEM:
            result = args[0]
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        if self._wide and not call.writes:
            outputs = [self._widened(each, call, inputs) for each in outputs]
        for place, output in enumerate(outputs):
            if Produced(number, place) in self._snapshot.switched:
                output.requires_grad_()
        self._results[number] = outputs
        self.bytes += sum(map(_bytes_of, outputs))
        if self.bytes > self._memory:
            raise MemoryError(f"a step that needs more than {self._memory:.3g} bytes")
        traced.outputs = outputs
        traced.after = self._ranges(outputs)

    def _ranges(self, things: list[Any]) -> list[Range]:
        if not self._look:
            return []
        kind = self._engine.tensor
        return [
            summarize(self._engine.view(each)) if isinstance(each, kind) else summarize(np.empty(0))
            for each in things
        ]

    def _decode(self, value: Any) -> Any:
        """An argument that is no collection, as this replay has it."""
        if type(value) is Produced:
            return self._results[value.call][value.place]
        return self._own(value) if isinstance(value, self._engine.tensor) else value

    def _own(self, tensor: Any) -> Any:
        """A copy in place of a tensor of the program's; the same one each time."""
        leaf = self.leaves.get(id(tensor))
        if leaf is not None:
            return leaf
        if id(tensor) not in self._copies:
            copy = self._widened(self._engine.copy(tensor, leaf=True))
            # What an earlier step made takes gradients as well, and may be written to: no leaf.
            self._copies[id(tensor)] = copy.clone() if copy.requires_grad else copy
        return self._copies[id(tensor)]

    def _widened(
        self, value: Any, call: RecordedCall | None = None, inputs: Sequence[Any] = ()
    ) -> Any:
        """A half-precision result in float32: of a cast what went in, with its digits."""
        kind, half = self._engine.tensor, self._engine.namespace.float16
        if not self._wide or not isinstance(value, kind) or value.dtype is not half:  # type: ignore[attr-defined]
            return value
        if call is not None and call.op in CASTS and inputs:
            return inputs[0]
        return value.float()  # type: ignore[attr-defined]

    def _tensors(self, recipe: Any, given: Any, inputs: list[Any], kept: list[Any]) -> None:
        if isinstance(given, self._engine.tensor):
            inputs.append(given)
            kept.append(recipe)
        elif isinstance(given, (tuple, list)):
            for one, other in zip(recipe, given):
                self._tensors(one, other, inputs, kept)
        elif isinstance(given, dict):
            for key, other in given.items():
                self._tensors(recipe[key], other, inputs, kept)

    def watch_gradients(self, arrivals: list[tuple[int, int, Range]]) -> None:
        """Note each gradient as it arrives, in the order in which backward() computes them."""
        if not self._look:
            return
        for traced in self.traced:
            for place, output in enumerate(traced.outputs):
                if isinstance(output, self._engine.tensor) and output.requires_grad:  # type: ignore[attr-defined]
                    self._watch(traced, place, output, arrivals)
        for leaf in self.leaves.values():
            self._watch(None, -id(leaf), leaf, arrivals)

    def unhook(self) -> None:
        """Watch no longer.  A hook holds on to its call, and that to its tensors: as no collector
        sees a circle that leads through PyTorch's graph, the values would stay for good.
        """
        for each in self._hooks:
            each.remove()
        self._hooks.clear()

    def _watch(self, traced: Traced | None, place: int, tensor: Any, arrivals: list[Any]) -> None:
        def arrived(gradient: Any) -> None:
            found = summarize(self._engine.view(gradient))
            if traced is not None:
                traced.gradients[place] = found
            arrivals.append((-1 if traced is None else traced.number, place, found))

        # A view whose base was written to gets its node anew when it is asked for it.  PyTorch does
        # not survive that in the middle of register_hook, so it is asked before.
        _ = tensor.grad_fn
        self._hooks.append(tensor.register_hook(arrived))
