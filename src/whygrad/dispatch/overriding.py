"""``__torch_function__``: calls that arguments or modes carry out themselves.

A call is theirs in three ways.  Methods and properties of a tensor subclass are found on
:class:`Handing`, which stands between the subclass and ``Tensor``; ops with such a tensor among
their arguments are found by its dispatch key; objects that are no tensors are found where an op
would refuse them.  From there on the way is one: look outwards for the public function that the
program called, ask those concerned, most derived class first, and give their answer as its result.

What the package does inside a call is not shown to anybody: only calls from outside are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from whygrad.dispatch.answers import Answer, is_stand_in, public_codes
from whygrad.dispatch.paths import Entry
from whygrad.errors import fail
from whygrad.source import is_outside
from whygrad.tensor import Tensor, keys
from whygrad.tensor import modes as thread
from whygrad.tensor.above import above
from whygrad.threads import PerThread

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = [
    "adopt",
    "answer",
    "carry_out",
    "concerned",
    "disabled",
    "hand_over",
    "inside",
    "is_asked",
    "layer",
]


class _State(PerThread):
    deaf = False  # subclasses and stand-ins are not asked
    modes: tuple[Any, ...] = ()


_state = _State()


@contextmanager
def disabled(modes_too: bool = False) -> Iterator[None]:
    """Nobody takes calls over inside: no argument, and no mode either if ``modes_too``."""
    before = _state.deaf, _state.modes
    _state.deaf = True
    if modes_too:
        _switch(())
    try:
        yield
    finally:
        _state.deaf = before[0]
        _switch(before[1])


@contextmanager
def inside(mode: Any) -> Iterator[None]:
    """``mode`` is asked first about every call of this thread."""
    before = _state.modes
    _switch((*before, mode))
    try:
        yield
    finally:
        _switch(before)


def _switch(modes: tuple[Any, ...]) -> None:
    _state.modes = modes
    thread.set_overridden(bool(modes))


def concerned(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Those among the arguments that take calls over, one of each class, subclasses first."""
    found: list[Any] = []
    if _state.deaf:
        return found
    for value in (*args, *kwargs.values()):
        if _takes_over(value):
            _insert(found, value)
        elif isinstance(value, (list, tuple)):
            for each in value:
                if _takes_over(each):
                    _insert(found, each)
    return found


def is_asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether somebody takes this call over."""
    return bool(_state.modes or concerned(args, kwargs))


def _takes_over(value: Any) -> bool:
    return bool(type(value)._class_keys) if isinstance(value, Tensor) else is_stand_in(value)


def _insert(found: list[Any], value: Any) -> None:
    kind = type(value)
    if any(type(each) is kind for each in found):
        return
    place = next((i for i, each in enumerate(found) if issubclass(kind, type(each))), len(found))
    found.insert(place, value)


def hand_over(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], those: list[Any] | None = None
) -> Any:
    """Ask the innermost mode, then the arguments (or ``those``), until one knows what to do."""
    asked = concerned(args, kwargs) if those is None else those
    kinds = tuple(type(each) for each in asked)
    modes = _state.modes
    if modes:
        _switch(modes[:-1])
        try:
            result = modes[-1].__torch_function__(function, kinds, args, kwargs)
        finally:
            _switch(modes)
        if result is not NotImplemented:
            return result
    for each in asked:
        result = each.__torch_function__(function, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    name = getattr(function, "__name__", str(function))
    names = ", ".join(kind.__name__ for kind in kinds) or type(modes[-1]).__name__
    raise fail(
        TypeError,
        call=f"{name}(…) with {names}",
        cause=f"no implementation found for {name!r}: __torch_function__ of {names} returned "
        "NotImplemented",
        fix="let __torch_function__ end with `return super().__torch_function__(…)`, or answer it",
    )


def answer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of this call; goes to the outermost public function that it is a part of."""
    frame = _public_frame(sys._getframe(3))  # beyond the function itself
    if frame is None:
        return hand_over(function, args, kwargs)
    raise _for(frame)


def _for(frame: FrameType) -> Answer:
    """The outcome of the public call that runs there."""
    try:
        return Answer(frame, hand_over(*_call_of(frame)), None)
    except BaseException as error:  # the program's own, and none of the calls on the way
        return Answer(frame, None, error)


def _public_frame(frame: FrameType | None) -> FrameType | None:
    """The outermost public function on the way to the program that concerns somebody."""
    found = None
    while frame is not None and not is_outside(frame):
        if frame.f_code in public_codes:
            _, args, kwargs = _call_of(frame)
            if is_asked(args, kwargs):
                found = frame
        frame = frame.f_back
    return found


def _call_of(frame: FrameType) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Function, arguments and keyword arguments, as the caller gave them."""
    names = frame.f_locals
    if public_codes[frame.f_code] == "__getitem__":
        return Tensor.__getitem__, (names["self"], names["index"]), {}
    own = names[public_codes[frame.f_code]]
    if isinstance(own, str):  # an in-place method
        return getattr(Tensor, own), (names["self"], *names["args"]), names["kwargs"]
    return own, names["args"], names["kwargs"]


def layer(op: Op, bits: int) -> Entry:
    """The entry of an op table for calls that may be somebody else's."""
    below = op.table[bits & ~keys.OVERRIDDEN]
    function = op.call if op.internal else op.public

    def ask(*args: Any) -> Any:
        if not is_asked(args, {}):
            return below(*args)
        frame = _public_frame(sys._getframe(1))
        if frame is None:
            return hand_over(function, args, {})
        raise _for(frame)

    return ask


def carry_out(
    cls: type[Tensor],
    function: Any,
    types: tuple[type, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
) -> Any:
    """What ``Tensor.__torch_function__`` does: the call itself, its tensors as ``cls``."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with disabled():
        result = function(*args, **(kwargs or {}))
    if getattr(function, "__self__", None) is vars(Tensor)["grad"]:
        return result  # what backward() has put there
    return _converted(result, cls._results_as or cls)


def _converted(result: Any, cls: type[Tensor]) -> Any:
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (list, tuple)) and any(
        isinstance(each, (Tensor, list, tuple)) for each in result
    ):
        parts = [_converted(each, cls) for each in result]
        kind: Any = type(result)
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    return result


_LAYERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "nn", "")
# Names that are no calls of a program, or are made of calls that are handed over themselves.
_LEFT = frozenset(
    ("__getattr__", "__init__", "__iter__", "__new__", "__setattr__", "as_subclass")
)  # fmt: skip


def _method(name: str) -> Callable[..., Any]:
    reflected = name.startswith("__r") and hasattr(Tensor, f"__{name[3:]}")

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if reflected and isinstance(args[0], Tensor):
            return NotImplemented  # Python asks subclasses first, PyTorch the left side
        plain = getattr(Tensor, name)
        return _passed(plain, (self, *args), kwargs, library=True)

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    return method


def _passed(
    plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any], library: bool = False
) -> Any:
    """A use of a subclass's attribute: shown if it comes from outside the package.

    Layers are written as a program would write them: with ``library`` theirs are shown, too.
    """
    if _state.deaf:
        return plain(*args, **kwargs)
    frame = sys._getframe(2)
    if is_outside(frame):
        return hand_over(plain, args, kwargs) if concerned(args, kwargs) else plain(*args, **kwargs)
    outer = _public_frame(frame)
    if outer is not None:
        raise _for(outer)
    if library and frame.f_code.co_filename.startswith(_LAYERS) and concerned(args, kwargs):
        return hand_over(plain, args, kwargs)
    return plain(*args, **kwargs)


def _property(found: property) -> property:
    def get(self: Any) -> Any:
        return _passed(found.__get__, (self,), {})

    def put(self: Any, value: Any) -> None:
        _passed(found.__set__, (self, value), {})

    def delete(self: Any) -> None:
        _passed(found.__delete__, (self,), {})

    return property(get, found.fset and put, found.fdel and delete, found.__doc__)


def _attributes() -> dict[str, Any]:
    """Every method and property of tensors, handed over."""
    made: dict[str, Any] = {"__slots__": (), "__hash__": object.__hash__}
    for kind in reversed(Tensor.__mro__[:-1]):
        for name, found in list(vars(kind).items()):
            if name in _LEFT or (name.startswith("_") and not name.startswith("__")):
                continue
            if isinstance(found, property):
                made[name] = _property(found)
            elif isinstance(found, FunctionType) or hasattr(found, "stands_for_method"):
                made[name] = _method(name)
    return made


def _new(cls: Any, *data: Any, **_: Any) -> Any:
    """``Meta([1.0, 2.0])``, and ``super().__new__(cls, data)`` in a constructor of its own."""
    from whygrad.tensor.copies import of_class

    return of_class(cls, above.old_style(cls.__name__, data, None))


def _init(self: Any, *_: Any, **__: Any) -> None:
    """Everything is in place."""


Handing: Any = None


def adopt(cls: type[Tensor]) -> None:
    """Let the program's new subclass of Tensor see the calls on its objects.

    A subclass of Parameter or Buffer does so only if it says how.
    """
    global Handing
    if Handing is None:
        names = _attributes() | {"__new__": _new, "__init__": _init, "__module__": __name__}
        Handing = type("Handing", (Tensor,), names)
    asks: Any = cls.__torch_function__
    own = vars(Tensor)["__torch_function__"].__func__
    silent = Tensor not in cls.__bases__ and getattr(asks, "__func__", None) is own
    if silent and not cls._class_keys:
        return
    cls._class_keys = keys.OVERRIDDEN
    if Tensor in cls.__bases__:
        cls.__bases__ = tuple(Handing if base is Tensor else base for base in cls.__bases__)
    elif not issubclass(cls, Handing):
        cls.__bases__ = (*cls.__bases__, Handing)
