"""A machine for pickles that cannot do anything but build.

A pickle is a program for a small stack machine, and Python's own machine imports and calls
whatever the program names.  This one has the instructions that build numbers, texts and containers,
and a table of names: what a name stands for is decided by the table, and a name that is not in it
ends the reading.  Nothing is imported and no attribute is looked up.
"""

from __future__ import annotations

import pickletools
import reprlib
import struct
from collections.abc import Callable, Mapping
from typing import IO, Any

__all__ = ["Constructor", "Machine", "Refused", "built", "shown", "simple"]

_MARK = object()
_ENDED = object()
_SIMPLE = (str, int, float, bool, bytes, complex, type(None))


class Refused(Exception):
    """A pickle asks for something that is not built here: what, and what to do about it."""

    def __init__(self, cause: str, fix: str | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.fix = fix


class Constructor:
    """What a name in a pickle stands for: its text, and how to build from arguments."""

    __slots__ = ("build", "name")

    def __init__(self, name: str, build: Callable[..., Any] | None = None) -> None:
        self.name = name
        self.build = build


class Machine:
    """Runs one pickle; ``names`` says what each name is, ``stored`` answers persistent ids."""

    def __init__(
        self,
        stream: IO[bytes],
        names: Callable[[str, str], Any],
        stored: Callable[[Any], Any],
        update: Callable[[Any, Any], None],
    ) -> None:
        self.stream = stream
        self.names = names
        self.stored = stored
        self.update = update  # what BUILD does: give an object its state
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        try:
            for opcode, argument, _ in pickletools.genops(self.stream):
                if self._step(opcode.name, argument) is _ENDED:
                    return self.stack.pop()
        except Refused:
            raise
        except (
            ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
            struct.error,
        ) as error:  # fmt: skip
            raise Refused(f"its pickle makes no sense: {type(error).__name__}: {error}") from None
        raise Refused("its pickle has no end")

    def _step(self, name: str, argument: Any) -> Any:
        stack = self.stack
        if name in _ARGUMENTS:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in _NOTHING:
            pass
        elif name == "MARK":
            stack.append(_MARK)
        elif name == "STOP":
            return _ENDED
        elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
            self.memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET"):
            stack.append(self.memo[argument])
        elif name in _TUPLES:
            count = _TUPLES[name]
            stack[-count:] = [tuple(stack[-count:])]
        elif name in _INSTRUCTIONS:
            _INSTRUCTIONS[name](self, argument)
        else:
            raise Refused(f"its pickle uses the instruction {name}, which tensors do not need")
        return None

    def _marked(self) -> list[Any]:
        """What lies above the last mark."""
        place = len(self.stack) - 1
        while self.stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise Refused("its pickle makes no sense: a mark is missing")
        items = self.stack[place + 1 :]
        del self.stack[place:]
        return items

    def _tuple(self, _: Any) -> None:
        self.stack.append(tuple(self._marked()))

    def _list(self, _: Any) -> None:
        self.stack.append(self._marked())

    def _frozen(self, _: Any) -> None:
        self.stack.append(frozenset(map(simple, self._marked())))

    def _dict(self, _: Any) -> None:
        items = self._marked()
        self.stack.append({simple(key): value for key, value in _pairs(items)})

    def _append(self, _: Any) -> None:
        value = self.stack.pop()
        _of_kind(self.stack[-1], list).append(value)

    def _appends(self, _: Any) -> None:
        items = self._marked()
        _of_kind(self.stack[-1], list).extend(items)

    def _add(self, _: Any) -> None:
        items = self._marked()
        _of_kind(self.stack[-1], set).update(map(simple, items))

    def _set_item(self, _: Any) -> None:
        key, value = self.stack[-2:]
        del self.stack[-2:]
        _of_kind(self.stack[-1], dict)[simple(key)] = value

    def _set_items(self, _: Any) -> None:
        items = self._marked()
        target = _of_kind(self.stack[-1], dict)
        for key, value in _pairs(items):
            target[simple(key)] = value

    def _named(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self.stack.append(self.names(module, name))

    def _named_on_stack(self, _: Any) -> None:
        module, name = self.stack[-2:]
        del self.stack[-2:]
        self.stack.append(self.names(_of_kind(module, str), _of_kind(name, str)))

    def _called(self, _: Any) -> None:
        arguments = _of_kind(self.stack.pop(), tuple)
        self.stack[-1] = built(self.stack[-1], arguments)

    def _built(self, _: Any) -> None:
        state = self.stack.pop()
        self.update(self.stack[-1], state)

    def _persistent(self, _: Any) -> None:
        self.stack.append(self.stored(self.stack.pop()))

    def _pop(self, _: Any) -> None:
        self.stack.pop()

    def _pop_marked(self, _: Any) -> None:
        self._marked()


def built(constructor: Any, arguments: tuple[Any, ...]) -> Any:
    """What a constructor of the table makes of arguments."""
    if not isinstance(constructor, Constructor) or constructor.build is None:
        name = getattr(constructor, "name", type(constructor).__name__)
        raise Refused(f"it wants to call {name}, which is no constructor of tensors or containers")
    try:
        return constructor.build(*arguments)
    except TypeError as error:
        raise Refused(f"{constructor.name} has the wrong arguments: {error}") from None


def shown(value: Any) -> str:
    """The beginning of a value: a small pickle can hold one whose whole text fills the memory."""
    return reprlib.repr(value)[:60]


def simple(key: Any) -> Any:
    """A key of a dict or item of a set: something whose hash is quickly computed."""
    parts = key if isinstance(key, tuple) else (key,)
    if not all(isinstance(part, _SIMPLE) for part in parts):
        raise Refused(f"it has a key of the kind {type(key).__name__}: {shown(key)}")
    return key


def _pairs(items: list[Any]) -> Any:
    return zip(items[::2], items[1::2], strict=True)


def _of_kind(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise Refused(f"its pickle makes no sense: a {type(value).__name__} for a {kind.__name__}")
    return value


_ARGUMENTS = frozenset((
    "BINBYTES", "BINBYTES8", "BINFLOAT", "BININT", "BININT1", "BININT2", "BINSTRING",
    "BINUNICODE", "BINUNICODE8", "BYTEARRAY8", "FLOAT", "INT", "LONG", "LONG1", "LONG4",
    "SHORT_BINBYTES", "SHORT_BINSTRING", "SHORT_BINUNICODE", "STRING", "UNICODE",
))  # fmt: skip
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": set}
_NOTHING = ("PROTO", "FRAME")
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_INSTRUCTIONS: Mapping[str, Callable[[Machine, Any], None]] = {
    "ADDITEMS": Machine._add,
    "APPEND": Machine._append,
    "APPENDS": Machine._appends,
    "BINPERSID": Machine._persistent,
    "BUILD": Machine._built,
    "DICT": Machine._dict,
    "FROZENSET": Machine._frozen,
    "GLOBAL": Machine._named,
    "LIST": Machine._list,
    "NEWOBJ": Machine._called,
    "POP": Machine._pop,
    "POP_MARK": Machine._pop_marked,
    "REDUCE": Machine._called,
    "SETITEM": Machine._set_item,
    "SETITEMS": Machine._set_items,
    "STACK_GLOBAL": Machine._named_on_stack,
    "TUPLE": Machine._tuple,
}
