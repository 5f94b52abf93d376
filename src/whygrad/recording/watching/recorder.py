"""Every call of the program into an engine: carried out once, whatever happens, and recorded.

What gradients flow through goes into the log of calls.  Of other results only the origin is of
interest, and what they say about the model: see :mod:`.figures`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from threading import get_ident
from types import FrameType
from typing import Any

import numpy as np

from whygrad.ops import families as ops
from whygrad.recording.calls import Produced, RecordedCall, members
from whygrad.recording.engines import Engine, OutOfReach
from whygrad.recording.layers import LOOKED_AT, look
from whygrad.recording.ranges import rms
from whygrad.recording.record import Sample
from whygrad.recording.scope import Scope
from whygrad.recording.watching.carrying import Carrying
from whygrad.recording.watching.figures import Figures
from whygrad.recording.watching.loop import Loop
from whygrad.recording.watching.metrics import METRICS, Metrics
from whygrad.recording.watching.modules import Modules
from whygrad.recording.watching.retention import Retention
from whygrad.source import Where

__all__ = ["Recorder"]

# Calls whose result may say how good the model is.
_FIGURES = ops.LOSSES | ops.TOTALS

# Traits of ops.
_LEAVES, _DRAWS, _WRITES, _FIGURE, _LOOKED, _RISKY, _ASKS, _SWITCHES = 1, 2, 4, 8, 16, 32, 64, 128
_JUDGES, _METRIC = 256, 512

# Those that are looked at wherever they are: what is written to, handed out, or says how good.
_ALWAYS = _LEAVES | _WRITES | _FIGURE | _SWITCHES

_DISTRIBUTIONS = ("torch.distributions", "whygrad.distributions")  # modules

_REPEATED = 32  # looks at a layer that one step calls again and again
_ENOUGH = 4000  # calls without gradients between two passes …
_PHASES = 4  # … of the first such phases …
_IN_ALL = 12_000  # … or of those that judge the model, until there are so many …
_LITTLE = 500  # … and of those that follow
_DATA = 1000  # calls that prepare the data of one pass, and are recorded; twice as many: nobody …
_MORE = 100  # … need look at what follows; and of a pass after some such ones


class Recorder:
    """Carries out the program's calls and writes them down."""

    def __init__(self, scope: Scope, loop: Loop, modules: Modules, retention: Retention) -> None:
        self._run = loop.run
        self._registry = loop.registry
        self._sampler = loop.sampler
        self._snapshots = loop.snapshots
        self._scope = scope
        self._loop = loop
        self._modules = modules
        self._retention = retention
        self._carrying = Carrying(scope, loop.run, loop.sampler, modules)
        self._passes, self._seen = 0, 0  # calls without gradients since that pass
        self._data = 0  # recorded calls since then that no gradient flows through
        self._loads = 0  # passes with many of those …
        self.loading = self._rested = False  # … of which this is one, and seen enough of
        self._judges = False  # whether any of them may say how good the model is
        self._long = 0  # phases with many of them
        self._judging = 0  # calls in all phases that judge the model
        self._metrics = Metrics(loop.run, loop.snapshots)
        self._figures = Figures(loop.run, loop.registry, loop.sampler, loop.snapshots, modules)

    def call(
        self,
        engine: Engine,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any:
        """Carry out a call of the program and write it down.

        Whatever goes wrong with the notes, the call is carried out, and once.
        """
        if get_ident() != self._scope.thread:
            return function(*args, **kwargs)
        traits, sampler = _traits(op), self._sampler
        if sampler.amid:  # nobody looks, though the calls are still handed over
            return self._carrying.out(engine, op, function, args, kwargs, frame)
        if traits & _WRITES and not sampler.optimizing:
            try:
                drawn = bool(traits & _DRAWS) or _initializes(function)
                self._registry.note_values(engine, drawn, (*args, *kwargs.values()), frame)
            except Exception as error:
                self._run.trouble(error)
        if sampler.skipping and engine.is_recording():
            result = self._carrying.out(engine, op, function, args, kwargs, frame)
            if not sampler.idle:
                try:
                    if traits & _FIGURE:
                        self._figures.note(engine, op, args, kwargs, result, frame, True)
                    self._note_beside(engine, op, traits, args, kwargs, result, frame)
                except Exception as error:
                    self._run.trouble(error)
            return result
        if sampler.optimizing:
            return self._carrying.out(engine, op, function, args, kwargs, frame)
        if not traits & _ALWAYS and (self.quiet(engine) or self._is_more_data(engine, args)):
            return self._carrying.out(engine, op, function, args, kwargs, frame)
        if traits & _JUDGES and not self._judges:
            self._judges = op in ops.LOSSES or not _checks_arguments(frame)
            self._sampler.dull *= not self._judges or engine.is_recording()
        if traits & _LEAVES:
            number = self._carrying.out(engine, op, function, args, kwargs, frame)
            try:
                if type(number) is float and not math.isfinite(number):
                    self._bad_value_read(engine, args[0], frame)
                if args:
                    self._departs(engine, op, function, args[0], frame)
                    self._note_beside(engine, op, traits, args, kwargs, number, frame)
            except Exception as error:
                self._run.trouble(error)
            return number
        if traits & _SWITCHES:
            self._switches(engine, args, kwargs, frame)
            return self._carrying.out(engine, op, function, args, kwargs, frame)
        sampler.calls += 1
        if sampler.calls == sampler.structure_until:
            engine.first_passes_over()
        try:
            if traits & _ASKS and args:
                self._bad_value_read(engine, args[0], frame, masks=op.startswith("nan_to_num"))
            log = self._snapshots.log(engine)
            random = engine.random_state() if traits & _DRAWS else None
            if traits & _WRITES and not args and "tensor" in kwargs:  # nn.init hands it on by name
                kwargs = dict(kwargs)
                args = (kwargs.pop("tensor"),)
            if op == "deepcopy":  # what was copied before is no argument
                given, tensors = log.take((args[0], {}))
            else:
                given, tensors = log.take(args)
            named = kwargs
            if kwargs:
                named, more = log.take_named(kwargs)
                tensors += more
            initializes = False
            written = args[0] if traits & _WRITES and args else None
            if written is not None and given[0] is written and isinstance(written, engine.tensor):
                initializes = written.requires_grad and written.is_leaf  # type: ignore[attr-defined]
                given = (self._before_write(engine, written, frame), *given[1:])
            elif written is not None and type(given[0]) is Produced:
                self._written_through(engine, log.call(given[0].call), written, frame)
        except Exception as error:
            self._run.trouble(error)
            return self._carrying.out(engine, op, function, args, kwargs, frame)
        result = self._carrying.out(engine, op, function, args, kwargs, frame)
        try:
            if args and result is args[0] and not traits & _WRITES:
                return result  # float(), to(), contiguous() of what is so already: nothing was made
            written = args[0] if op in ops.SETITEM else result
            recorded = engine.is_recording() and not initializes
            if traits & _FIGURE and not self._modules.in_model:
                self._figures.note(engine, op, args, kwargs, result, frame, recorded)
            if traits & _METRIC and not recorded and not self._modules.running:
                with engine.unwatched():
                    self._metrics.note(engine, op, args, kwargs, result, frame)
            if traits & _RISKY and not getattr(written, "requires_grad", True):
                self._figures.look(engine, op, args, written, frame)
            if not recorded or not tensors:
                self._data += recorded
                self._figures.outside(log, op, args, written, frame, recorded)
                return result
            if op in ops.SUB and not traits & _WRITES and self._run.passes:
                self._registry.computed_from(args, frame)
            if self._snapshots.boundaries:
                update = self._snapshots.boundaries[-1]
                self._retention.follow(given, written, log.end, update, frame)
            path = self._modules.path
            made = RecordedCall(op, function, given, named, frame, path, random, recorded)
            log.add(made, written)
            self._data += not self._need_grad(engine, (written,))
            self._note_beside(engine, op, traits, args, kwargs, result, frame)
            if traits & _LOOKED:
                self._look(engine, op, args, result, sampler.sample)
        except Exception as error:
            self._run.trouble(error)
        return result

    def quiet(self, engine: Engine) -> bool:
        """Whether so much has been seen of what the program does without gradients that it may go
        on unseen until the next pass: it plays a game, or answers for a large data set.
        """
        if self._passes != len(self._run.passes):
            self._passes, self._seen, self._judges = len(self._run.passes), 0, False
            self._data, self.loading, self._rested = 0, False, False
        if engine.is_recording():
            return False
        self._seen += 1
        self._judging += self._judges
        if self._seen == _ENOUGH:
            self._long += 1
        if self._seen == _LITTLE and not self._judges:
            self._sampler.games += 1
            self._sampler.dull += 1
        known = self._long > _PHASES or (self._judges and self._judging > _IN_ALL)
        enough = self._seen > (_LITTLE if known else _ENOUGH)
        if enough and not self._judges and self._sees_training_begin():
            self._sampler.rest(until_training=True)
        elif enough:
            engine.hush(_is_dull)
        return enough

    def _sees_training_begin(self) -> bool:
        """Whether it will be noticed, while idle, that the program trains: it does so where it did
        before, or a model that has only played until now is called with gradients.
        """
        return bool(self._snapshots.training_lines or self._registry.kinds_of_models)

    def _is_more_data(self, engine: Engine, args: tuple[Any, ...]) -> bool:
        """Whether so many calls have prepared data for this pass that another needs no note."""
        most = _DATA if self._loads <= _PHASES else _MORE
        if self._data < most or self._modules.in_model:
            return False
        if self._need_grad(engine, args):
            return False
        self._loads += not self.loading
        self.loading = True
        self._data += 1
        engine.hush(_is_dull, data=True)
        if self._data > 2 * most and self._snapshots.training_lines and not self._rested:
            self._rested = True  # once: models that are called in between end it every time
            self._sampler.rest(until_training=False)
        return True

    def loads(self, engine: Engine, module: Any, args: tuple[Any, ...]) -> bool:
        """Whether a module, called while much is loaded, only changes data."""
        return not (
            self._modules.in_model
            or self._registry.root(engine, module)
            or self._need_grad(engine, args)
        )

    def _need_grad(self, engine: Engine, things: tuple[Any, ...]) -> bool:
        with engine.unwatched():  # a tensor of a class of the program's hears of every question
            given = members(things)
            return any(isinstance(each, engine.tensor) and each.requires_grad for each in given)  # type: ignore[attr-defined]

    def _note_beside(
        self,
        engine: Engine,
        op: str,
        traits: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        frame: FrameType,
    ) -> None:
        """A call while gradients are recorded: perhaps it measures what the model answered."""
        metric = traits & _METRIC and not self._modules.running
        # What was answered without gradients may be put together where they are recorded.
        if self._modules.running and not (metric or self._modules.beside):
            return
        with engine.unwatched():
            learns = _learns(result)
            if metric and not learns:
                self._metrics.note(engine, op, args, kwargs, result, frame)
            if self._modules.beside or not (self._modules.running or learns):
                self._figures.beside(self._snapshots.log(engine), op, args, result, frame)

    def _look(
        self, engine: Engine, op: str, args: tuple[Any, ...], result: Any, sample: Sample | None
    ) -> None:
        """Keep what one output looks like, under the name of its layer.

        Of ``x @ w`` outside of any module the size of ``x``, if that is data, is that of an input.
        """
        if op in ops.LINEAR and not self._modules.running:
            pair = [each for each in args[:2] if isinstance(each, engine.tensor)]
            given = [each for each in pair if not each.requires_grad]  # type: ignore[attr-defined]
            if len(pair) == 2 and len(given) == 1 and given[0].is_floating_point():  # type: ignore[attr-defined]
                self._snapshots.given.inputs.append(rms(engine.array(given[0])))
        if sample is not None and isinstance(result, engine.tensor):
            path = self._modules.path
            name = f"{path}:{op}" if op in ops.ACTIVATIONS or not path else path
            if name + "'" * _REPEATED in sample.layers:
                return
            while name in sample.layers:
                name += "'"
            sample.layers[name] = look(op, engine.array(result))

    def _switches(
        self, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> None:
        try:
            wanted = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
            log = self._snapshots.log(engine)
            source = log.source(args[0])
            if source is not None and wanted and not self._run.passes and args[0].is_leaf:
                log.release(args[0])  # weights by hand: they change, what they were made by stays
            elif source is not None and wanted:
                log.switched.add(source)
            self._registry.switches(args[0], bool(wanted), Where(frame.f_code, frame.f_lasti))
        except Exception as error:
            self._run.trouble(error)

    def _departs(
        self, engine: Engine, op: str, function: Callable[..., Any], tensor: Any, frame: FrameType
    ) -> None:
        """A value of this step was handed to Python or NumPy: enter that it was."""
        log = self._snapshots.log(engine)
        source = log.source(tensor)
        if source is not None and engine.is_recording():
            path = self._modules.path
            log.add(RecordedCall(op, function, (source,), {}, frame, path, None, True), None)

    # --- writes in place --------------------------------------------------------------------------

    def _written_through(
        self, engine: Engine, maker: RecordedCall | None, tensor: Any, frame: FrameType
    ) -> None:
        """A write to what another call made: through a view, or through ``p.data``.

        The latter is the program's own update of a parameter, or its initial value.
        """
        if maker is not None and maker.op in ops.DETACHES:
            self._written(engine, tensor, frame)
        elif maker is not None and maker.op in ops.VIEWS and maker.args:
            base = maker.args[0]  # x[3:5] += 1 changes x: a replay needs it as it was
            if isinstance(base, engine.tensor) and base.is_leaf and not base.requires_grad:  # type: ignore[attr-defined]
                self._snapshots.log(engine).replace(base, engine.copy(base))

    def _before_write(self, engine: Engine, tensor: Any, frame: FrameType) -> Any:
        """A tensor from elsewhere is about to be overwritten: what the log keeps of it."""
        if self._written(engine, tensor, frame) or not tensor.is_leaf:
            return tensor
        log = self._snapshots.log(engine)
        if not engine.is_recording() and not log.uses(tensor):
            return tensor  # no call that is recorded needs it as it was
        try:
            copied = engine.copy(tensor)
        except OutOfReach:  # memory that comes later, as of models that are loaded
            return tensor
        if not tensor.requires_grad:
            log.replace(tensor, copied)
        return copied

    def _written(self, engine: Engine, tensor: Any, frame: FrameType) -> bool:
        """Whether a parameter is written to: once there were passes, an update by hand."""
        where = Where(frame.f_code, frame.f_lasti)
        parameter = self._registry.written(tensor, where, engine)
        if parameter is not None and self._run.passes:
            parameter.rewritten_at = where
            self._loop.courses.note_write(parameter, where)
        return parameter is not None

    # --- values that are not finite ---------------------------------------------------------------

    def _bad_value_read(
        self, engine: Engine, tensor: Any, frame: FrameType, masks: bool = False
    ) -> None:
        """The program looks at a value that may not be finite, perhaps to leave because of it.

        ``masks``: it replaces such values, which is right in the data and wrong in a gradient.
        """
        if self._run.incidents or not isinstance(tensor, engine.tensor):
            return
        values = engine.array(tensor)
        unsound = np.isnan if values.size > 1 else lambda value: ~np.isfinite(value)
        if values.dtype.kind != "f" or not unsound(values).any():
            return
        log = self._snapshots.log(engine)
        source = log.source(tensor)
        call = None if source is None else log.call(source.call)
        if call is not None and call.op in ops.DETACHES and type(call.args[0]) is Produced:
            source = call.args[0]
        elif source is not None and not tensor.requires_grad:  # type: ignore[attr-defined]
            return
        if source is None:
            if any(each.tensor.grad is tensor for each in self._registry.parameters()):
                self._loop.bad_gradient(engine)
        elif not masks:
            snapshot = self._snapshots.of_source(engine, source, float(np.mean(values)))
            where = Where(frame.f_code, frame.f_lasti)
            self._loop.incidents.note("loss", snapshot, where, step=len(self._run.passes))


def _initializes(function: Callable[..., Any]) -> bool:
    """Whether a function is one of those that layers get their first weights from."""
    return str(getattr(function, "__module__", "")).endswith(".nn.init")


def _checks_arguments(frame: FrameType) -> bool:
    """Whether a comparison that ``frame`` led to is one of those by which distributions see that
    their arguments are in order: those say nothing about how good a model is.
    """
    inner: FrameType | None = sys._getframe(2)
    while inner is not None and inner is not frame:
        if str(inner.f_globals.get("__name__")).startswith(_DISTRIBUTIONS):
            return True
        inner = inner.f_back
    return False


def _learns(result: Any) -> bool:
    """Whether gradients flow through a result; that of a maximum are two tensors."""
    if isinstance(result, tuple):
        return False
    return bool(getattr(result, "requires_grad", False))


def _is_dull(op: str) -> bool:
    """Whether calls of an op are of no interest once much has been seen of its kind."""
    return not _traits(op) & _ALWAYS


@cache
def _traits(op: str) -> int:
    """What is special about calls of an op."""
    traits = _LEAVES if op in ops.LEAVING else 0
    traits |= _DRAWS if op in ops.RANDOM else 0
    traits |= _WRITES if op[-1] == "_" or op in ops.SETITEM else 0
    traits |= _FIGURE if op in _FIGURES else 0
    traits |= _RISKY if op in ops.RISKY or op in ops.LOSSES else 0
    traits |= _ASKS if op in ops.SOUNDNESS else 0
    traits |= _METRIC if op in METRICS else 0
    traits |= _SWITCHES if op == "requires_grad_" else 0
    traits |= _JUDGES if op in ops.LOSSES or op in ops.COMPARISONS - ops.ORDERINGS else 0
    return traits | (_LOOKED if op in LOOKED_AT else 0)
