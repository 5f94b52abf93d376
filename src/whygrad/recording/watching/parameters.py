"""Who the parameters and modules are: names, where they were made, what became of them."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from whygrad.recording.calls import CallLog
from whygrad.recording.engines import Engine, OutOfReach, engine_of
from whygrad.recording.ranges import summarize
from whygrad.recording.record import Parameter, Run
from whygrad.source import Where, program_frame

__all__ = ["Registry"]

_LOOSE = 64  # leaves outside of modules and optimizers that are known at least
_ASKED = 8  # leaves in no optimizer of which one pass asks why they have no gradient
_LARGE = 1 << 20  # bytes of a tensor whose first values are not kept
_GIVEN = 4096  # tensors that got the values of others
_ROOTS = 32  # models whose parts are known by name: a program may copy one at every step


class _Mark(NamedTuple):
    """What it takes to see whether a tensor has changed: of a large one its digest."""

    shape: tuple[int, ...]
    values: np.ndarray[Any, Any] | bytes

    def is_as(self, other: _Mark) -> bool:
        if isinstance(self.values, bytes) or isinstance(other.values, bytes):
            return self.values is other.values or self.values == other.values
        return np.array_equal(self.values, other.values, equal_nan=True)


def _mark(array: np.ndarray[Any, Any]) -> _Mark:
    large = array.nbytes > _LARGE
    values = blake2b(np.ascontiguousarray(array).data, digest_size=16).digest() if large else array
    return _Mark(array.shape, values)


class Registry:
    """The parameters and modules of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._modules: list[weakref.ref[Any]] = []
        self._paths: dict[int, str] = {}
        self._known_roots: dict[int, bool] = {}
        self.kinds_of_models: set[type] = set()  # classes of what the program calls itself
        self._first_values: dict[int, Any] = {}
        self._addresses: dict[int, int] = {}
        self._writes: dict[int, Where] = {}  # to what is not known yet, by address
        self._made: dict[int, Where] = {}  # tensors wrapped as parameters
        self._frozen: dict[int, tuple[weakref.ref[Any], Where]] = {}
        self._thawed: dict[int, tuple[weakref.ref[Any], Where]] = {}
        self._given: dict[
            int, Where
        ] = {}  # by address: where it got the values of another tensor …
        self._lost: dict[int, tuple[Where, Where]] = {}  # … and where random ones overwrote them
        self._prefixes: dict[int, str] = {}  # of names, by id of the model
        self._loose: list[int] = []  # ids of the leaves that neither a module nor an optimizer has
        self._scanned = 0
        self._all_reached = 0  # how many parameters there were when all had got a gradient

    # --- modules ----------------------------------------------------------------------------------

    def made(self, module: Any, where: Where) -> None:
        self._modules.append(weakref.ref(module))
        self._run.made[id(module)] = where

    def parameter_made(self, engine: Engine, tensor: Any, where: Where) -> None:
        self._made[id(tensor)] = where
        if self._writes or self._given:  # what was written here belonged to another one
            address = engine.address(tensor)
            for known in (self._given, self._lost):
                known.pop(address, None)
            if not self._run.passes:
                self._writes.pop(address, None)

    def root(self, engine: Engine, module: Any) -> bool:
        """The program called ``module`` itself: learn the names of all that belongs to it.

        Returns whether it has parameters: a loss module is no model.
        """
        known = self._known_roots.get(id(module))
        if known is None:
            known = next(iter(module.parameters()), None) is not None
            self._known_roots[id(module)] = known
            if known:
                self.kinds_of_models.add(type(module))
            whole = self._whole(module) if len(self._run.roots) < _ROOTS else module
            unknown = whole is module or id(whole) not in self._known_roots
            if known and unknown and len(self._run.roots) < _ROOTS:
                self._known_roots[id(whole)] = True
                self._learn(whole)
        return known

    def find_holder(self, trained: list[Parameter]) -> None:
        """Learn the names of a model that is only asked by methods of its own."""
        unnamed = {id(each.tensor) for each in trained if each.module is None}
        for reference in self._modules if unnamed else ():
            module = reference()
            if module is not None and any(id(each) in unnamed for each in module.parameters()):
                whole = self._whole(module)
                self._known_roots[id(whole)] = True
                self._learn(whole)
                return

    def is_model(self, module: Any) -> bool:
        """Whether the program has called this very module before, and it has parameters."""
        return self._known_roots.get(id(module), False)

    def _learn(self, whole: Any) -> None:
        prefix = ""
        if self._run.roots and all(held is not whole for _, held, _ in self._run.roots):
            prefix = f"{_variable(whole) or type(whole).__name__}."
        name = _variable(whole) or type(whole).__name__
        self._run.roots.append((name, whole, self._run.made.get(id(whole))))
        self._prefixes[id(whole)] = prefix
        for tensor, own, each in self._members_of(whole):
            self._name(tensor, own, each)

    def _members_of(self, whole: Any) -> Iterator[tuple[Any, str, Any]]:
        """The parameters of a model, their names, and the modules that hold them."""
        prefix = self._prefixes[id(whole)]
        for path, each in whole.named_modules():
            self._paths.setdefault(id(each), prefix + path if path else prefix.rstrip("."))
            for own, tensor in each._parameters.items():
                if tensor is not None:
                    yield tensor, f"{prefix}{path}.{own}" if path else f"{prefix}{own}", each

    def _whole(self, module: Any) -> Any:
        """The largest module of the program that ``module`` is a part of."""
        best, most = module, sum(1 for _ in module.modules())
        for reference in self._modules:
            each = reference()
            if each is None or each is module:
                continue
            parts = list(each.modules())
            if len(parts) > most and any(part is module for part in parts):
                best, most = each, len(parts)
        return best

    def path(self, module: Any) -> str:
        return self._paths.get(id(module), type(module).__name__)

    def known_path(self, thing: Any) -> str | None:
        """The path of a module of a model; None for anything else."""
        return self._paths.get(id(thing))

    # --- parameters -------------------------------------------------------------------------------

    def parameter(self, tensor: Any) -> Parameter:
        """The facts about a leaf, entered if they are new."""
        known = self._run.parameters.get(id(tensor))
        if known is None:
            name = _variable(tensor) or f"parameter {len(self._run.parameters)}"
            known = self._enter(tensor, name)
        return known

    def _name(self, tensor: Any, name: str, module: Any) -> None:
        known = self._run.parameters.get(id(tensor)) or self._enter(tensor, name)
        if known.module is None:
            known.name = name
            known.module = self._paths.get(id(module))
            # A class of the program's own, or an assignment to a layer, may make it elsewhere.
            home = self._made.get(id(tensor)) or self._run.made.get(id(module))
            known.made_at = home or known.made_at

    def _enter(self, tensor: Any, name: str) -> Parameter:
        engine = engine_of(tensor)
        taken = {each.name for each in self._run.parameters.values()}
        while name in taken:
            name += "'"
        array = engine.array(tensor)
        known = Parameter(name, tensor)
        known.made_at = self._made.get(id(tensor))
        self._run.parameters[id(tensor)] = known
        known.initial = summarize(array)
        address = engine.address(tensor)
        known.written_at = self._writes.get(address) or engine.written_at(tensor)
        if array.size:
            self._addresses[address] = id(tensor)
        self._first_values[id(tensor)] = _mark(array)
        return known

    def parameters(self) -> list[Parameter]:
        return list(self._run.parameters.values())

    def written(self, tensor: Any, where: Where, engine: Engine) -> Parameter | None:
        """A write in place: if a parameter's memory is the target, which one."""
        known = self._run.parameters.get(id(tensor))
        if known is None:
            address = engine.address(tensor)
            known = self._run.parameters.get(self._addresses.get(address, 0))
            if known is None:
                # Perhaps a parameter's, through .data; or one of a layer that is made later.
                if not self._run.passes or (tensor.requires_grad and tensor.is_leaf):
                    self._writes[address] = where
                return None
        if not self._run.passes:
            known.written_at = where
            known.initial = None
        return known

    def note_values(
        self, engine: Engine, drawn: bool, args: tuple[Any, ...], frame: FrameType
    ) -> None:
        """A tensor, perhaps a parameter, is about to get random numbers, or the values of another.

        What is drawn may be written over values that it had been given.
        """
        tensors: list[Any] = [each for each in args[:2] if isinstance(each, engine.tensor)]
        if not tensors or not (drawn or len(tensors) > 1) or len(self._given) >= _GIVEN:
            return
        with suppress(Exception):  # memory that has no address, as inside of a transform
            address, where = engine.address(tensors[0]), Where(frame.f_code, frame.f_lasti)
            if drawn:
                given = self._given.pop(address, None)
                if given is not None:
                    self._lost[address] = given, where
                known = self._run.parameters.get(id(tensors[0]))
                if known is not None and self._run.passes:
                    known.redrawn = True
            elif tensors[0].is_leaf and tensors[0].shape == tensors[1].shape:
                self._given[address] = where
                self._lost.pop(address, None)

    def is_initial(self, values: Iterator[tuple[Any, Any]]) -> bool:
        """Whether these are the first values of parameters, of which there are some by now."""
        found = []
        for tensor, value in values:
            before = self._first_values.get(id(tensor))
            if before is not None:
                found.append(before.is_as(_mark(engine_of(tensor).array(value))))
        return bool(found) and bool(self._run.passes) and all(found)

    def computed_from(self, args: tuple[Any, ...], frame: FrameType) -> None:
        """A difference was taken: of a parameter and its gradient, it is an update that is lost."""
        known = self._run.parameters.get(id(args[0])) if args else None
        if known is not None and known.tensor is args[0] and known.tensor.grad is not None:
            where = Where(frame.f_code, frame.f_lasti)
            known.replaced[where] = known.replaced.get(where, 0) + 1

    def switches(self, tensor: Any, wanted: bool, where: Where) -> None:
        """``requires_grad`` of a leaf is about to be switched on or off."""
        if tensor.is_leaf and bool(tensor.requires_grad) is not wanted:
            switches = self._thawed if wanted else self._frozen
            switches[id(tensor)] = weakref.ref(tensor), where

    def find_leaves(self, engine: Engine, log: CallLog) -> None:
        """Enter the leaves that the program made without a module."""
        for call in log.calls[max(0, self._scanned - log.first) :]:
            for each in (*call.args, *call.kwargs.values()):
                if isinstance(each, engine.tensor) and each.requires_grad and each.is_leaf:  # type: ignore[attr-defined]
                    self._found(each, log)
        self._scanned = log.end
        if not self._run.passes:
            for known in self.parameters():
                if known.initial is None:
                    array = engine.array(known.tensor)
                    known.initial = summarize(array)
                    self._first_values[id(known.tensor)] = _mark(array)

    def leaf(self, tensor: Any) -> Parameter:
        """The facts about a leaf that the program uses; perhaps for this step only."""
        if id(tensor) not in self._run.parameters:
            self._loose.append(id(tensor))
            if len(self._loose) > 2 * _LOOSE:
                self._forget_loose()
        return self.parameter(tensor)

    def _found(self, leaf: Any, log: CallLog) -> None:
        with suppress(OutOfReach):
            known = self.leaf(leaf)
            if known.made_at is None:
                origin = log.origin(leaf)
                known.made_at = None if origin is None else origin.where

    def _forget_loose(self) -> None:
        """Of leaves made at every step (inputs, weights that are computed anew) keep the latest."""
        dropped, self._loose = self._loose[:-_LOOSE], self._loose[-_LOOSE:]
        for name in dropped:
            known = self._run.parameters.get(name)
            if known is not None and known.module is None and not known.optimizers:
                del self._run.parameters[name]
                self._first_values.pop(name, None)
        self._addresses = {
            address: name for address, name in self._addresses.items()
            if name in self._run.parameters
        }  # fmt: skip

    def reached(self, engine: Engine, loss: Any, first: bool) -> None:
        """After a pass: who has a gradient now, and, at the first ones, why others have none."""
        if self._all_reached == len(self._run.parameters):
            return
        asked: list[Parameter] = []
        others = 0  # that are in no optimizer: copies of models are, by the hundred
        for known in self.parameters():
            if known.reached:
                continue
            if known.tensor.grad is not None:
                known.reached, known.none_because = True, None
            elif first and known.tensor.requires_grad and known.none_because is None:
                others += not known.optimizers
                if known.optimizers or others <= _ASKED:
                    asked.append(known)
        if asked:
            answers = engine.why_none([each.tensor for each in asked], loss)
            for known, answer in zip(asked, answers):
                known.none_because = answer
        if all(known.reached for known in self.parameters()):
            self._all_reached = len(self._run.parameters)

    def finish(self) -> None:
        """At the end: who has got a gradient, is what it was, and who made it a constant."""
        for _, whole, _ in self._run.roots:
            for tensor, own, each in self._members_of(whole):
                if id(tensor) in self._run.parameters:  # of a layer that was put in later
                    self._name(tensor, own, each)
        for known in self.parameters():
            if not known.reached and known.tensor.grad is not None:  # of a step that was skipped
                known.reached, known.none_because = True, None
            address = engine_of(known.tensor).address(known.tensor)
            known.given, known.lost = address in self._given, self._lost.get(address)
            known.frozen_at = _line(self._frozen, known.tensor)
            known.thawed_at = _line(self._thawed, known.tensor)
            before = self._first_values.get(id(known.tensor))
            if before is not None and not known.changed:
                now = _mark(engine_of(known.tensor).array(known.tensor))
                known.changed = before.shape == now.shape and not before.is_as(now)


def _line(switches: dict[int, tuple[weakref.ref[Any], Where]], tensor: Any) -> Where | None:
    known = switches.get(id(tensor))
    return None if known is None or known[0]() is not tensor else known[1]


def _variable(thing: Any) -> str | None:
    """The name by which the running program holds a thing."""
    frame: FrameType | None = program_frame(sys._getframe(1))
    while frame is not None:
        for name, value in (*frame.f_locals.items(), *frame.f_globals.items()):
            if value is thing and not name.startswith("_"):
                return name
        for name, value in _members(frame):
            if value is thing:
                return name
        if frame.f_code.co_name == "<module>":
            return None
        frame = frame.f_back
    return None


def _members(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Tensors in lists and dictionaries of the running program: ``params[0]``, ``params['w']``."""
    for name, value in frame.f_locals.items():
        if isinstance(value, (list, tuple)) and len(value) < 100:
            for place, each in enumerate(value):
                yield f"{name}[{place}]", each
        elif isinstance(value, dict) and len(value) < 100 and not name.startswith("__"):
            for key, each in list(value.items()):
                yield f"{name}[{key!r}]", each
