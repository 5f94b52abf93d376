"""Hears of states: ``state_dict``, ``load_state_dict``, ``save`` and ``load``.

Nothing of them is kept but where they were taken, and whether what is put back into a module is the
module's own memory: a state is a view of the weights until somebody copies it.
"""

from __future__ import annotations

import importlib
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from whygrad.recording.checkpoints import Loaded, Restored
from whygrad.recording.engines import Engine
from whygrad.recording.watching.observer import Observer
from whygrad.source import Where, program_line

__all__ = ["States"]

_REMEMBERED = 32  # states that were taken
_NOTED = 64  # states that were put back
_COMPARED = 8  # tensors of a state

Function = Callable[..., Any]


class States:
    """The states of one engine's modules, optimizers and schedules."""

    def __init__(self, engine: Engine, observer: Observer) -> None:
        self._engine = engine
        self._observer = observer
        self._run = observer.run
        self._taken: deque[tuple[weakref.ref[Any], Where, int]] = deque(maxlen=_REMEMBERED)

    def place(self, wrap: Callable[[Any, str, Function], Any]) -> None:
        space: Any = self._engine.namespace
        schedulers: Any = importlib.import_module(f"{self._engine.name}.optim.lr_scheduler")
        wrap(space.nn.Module, "state_dict", self._state_dict)
        for owner in (space.nn.Module, space.optim.Optimizer):
            wrap(owner, "load_state_dict", self._load_state_dict)
        kinds = (schedulers.LRScheduler, schedulers.ReduceLROnPlateau)
        known = (each for each in vars(schedulers).values() if isinstance(each, type))
        # Some load their states in a way of their own.
        for owner in {each for each in known if issubclass(each, kinds)}:
            if "load_state_dict" in vars(owner):
                wrap(owner, "load_state_dict", self._load_state_dict)
        wrap(space, "save", self._save)
        wrap(space, "load", self._load)

    def _state_dict(self, inner: Function, module: Any, /, *args: Any, **kwargs: Any) -> Any:
        state = inner(module, *args, **kwargs)
        if not args and "destination" not in kwargs:  # not a part of another one
            self._observer.tell(self._take, state, program_line())
        return state

    def _take(self, state: Any, where: Where) -> None:
        if type(state) is not dict:  # of which there is no weak reference
            self._taken.append((weakref.ref(state), where, len(self._run.passes)))

    def _load_state_dict(self, inner: Function, thing: Any, /, *args: Any, **kwargs: Any) -> Any:
        state = args[0] if args else kwargs.get("state_dict")
        self._observer.tell(self._put_back, thing, state, program_line())
        answer = inner(thing, *args, **kwargs)
        if isinstance(thing, self._engine.namespace.nn.Module):
            self._observer.tell(self._observer.loop.courses.forget_writes, thing.parameters())
        return answer

    def _put_back(self, thing: Any, state: Any, where: Where) -> None:
        if len(self._run.restored) >= _NOTED:
            return
        kind = "optimizer" if hasattr(thing, "param_groups") else "scheduler"
        own = initial = False
        matched: int | None = None
        if isinstance(thing, self._engine.namespace.nn.Module):
            kind, pairs = "module", self._pairs(thing, state)
            if isinstance(state, Mapping):
                matched = sum(name in state for name, _ in thing.named_parameters())
            with self._engine.unwatched():
                own = bool(pairs) and all(
                    one is other or one.data_ptr() == other.data_ptr() for one, other in pairs
                )
                known = ((other, one) for one, other in pairs)
                initial = not own and self._observer.registry.is_initial(known)
        keys = tuple(map(str, islice(state, _COMPARED))) if matched == 0 else ()
        made = Restored(
            kind, thing, where, len(self._run.passes), own, matched, keys=keys, initial=initial
        )
        self._know(made, state)
        if own and made.taken is None and self._taken:  # a dictionary of what was taken last
            _, made.taken_at, made.taken = self._taken[-1]
        self._run.restored.append(made)

    def _pairs(self, module: Any, state: Any) -> list[tuple[Any, Any]]:
        """Some tensors of a state, with the parameters of the module that they are put into."""
        if not isinstance(state, Mapping):
            return []
        held = {name: each for name, each in module.named_parameters() if name in state}
        return [(state[name], each) for name, each in list(held.items())[:_COMPARED]]

    def _know(self, made: Restored, state: Any) -> None:
        """When and where a state was taken, if that was seen."""
        for reference, where, after in reversed(self._taken):
            if reference() is state:
                made.taken_at, made.taken = where, after
                return

    def _save(self, inner: Function, /, *args: Any, **kwargs: Any) -> Any:
        what = args[0] if args else kwargs.get("obj")
        self._observer.tell(self._written, what, program_line())
        return inner(*args, **kwargs)

    def _written(self, what: Any, where: Where) -> None:
        inside = what.values() if isinstance(what, dict) else ()
        for each in (what, *inside):
            made = Restored("file", None, where, len(self._run.passes), own=True)
            self._know(made, each)
            if made.taken is not None and len(self._run.restored) < _NOTED:
                self._run.restored.append(made)

    def _load(self, inner: Function, /, *args: Any, **kwargs: Any) -> Any:
        loaded = inner(*args, **kwargs)
        self._observer.tell(self._read, loaded, program_line())
        return loaded

    def _read(self, loaded: Any, where: Where) -> None:
        if not isinstance(loaded, dict) or len(self._run.loaded) >= _NOTED:
            return
        parts = {key: each for key, each in loaded.items() if isinstance(each, dict)}
        optimizers = [key for key, each in parts.items() if "param_groups" in each]
        schedulers = [key for key, each in parts.items() if "last_epoch" in each]
        keys = tuple([str(key) for key in loaded][:_NOTED])
        self._run.loaded.append(
            Loaded(where, len(self._run.passes), tuple(optimizers), tuple(schedulers), keys)
        )
