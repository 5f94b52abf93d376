"""The protocol of an engine, and which ones the running program has loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import FrameType, ModuleType
from typing import Any, Protocol

import numpy as np

from whygrad.recording.scope import Scope

__all__ = ["Engine", "Handler", "OutOfReach", "engine_of", "engines", "imported_engines"]


class OutOfReach(RuntimeError):
    """A tensor whose memory the program has given back, so that to read it would end the process;
    or, for a copy, one that is spread over ranks, which only all of them can copy.
    """


class Handler(Protocol):
    """Carries out a call and writes it down."""

    def __call__(
        self,
        engine: Engine,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any: ...


class Engine(Protocol):
    """One autograd engine, as the doctor sees it."""

    name: str  # "torch" or "whygrad"
    namespace: ModuleType
    tensor: type

    def watching(self, handler: Handler, scope: Scope) -> AbstractContextManager[None]:
        """Hand every call of this thread to ``handler``."""
        ...

    def idle(self) -> None:
        """Hand over no calls until :meth:`record`."""
        ...

    def record(self) -> None: ...

    def hush(self, is_dull: Callable[[str], bool] | None, data: bool = False) -> None:
        """Hand over no calls of ops that are dull, where no gradients are recorded, or, of
        ``data``, none flow through their arguments; None: all.
        """
        ...

    def compiles(self) -> bool:
        """Whether compiled code runs, which is compiled anew when a function is replaced."""
        ...

    def first_passes_over(self) -> None:
        """The structure of the program is known: stop what only that needed."""
        ...

    def first_passes_again(self) -> None:
        """Another model or optimizer begins: what the structure needs is wanted once more."""
        ...

    def is_recording(self) -> bool:
        """Whether gradients are being recorded."""
        ...

    def unrecorded(self) -> AbstractContextManager[Any]:
        """Nothing inside is handed to anybody, and no gradients are recorded."""
        ...

    def unwatched(self) -> AbstractContextManager[Any]:
        """Nothing inside is handed to anybody; gradients are recorded as ever."""
        ...

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        """The values of a tensor of the program's: nothing that would hold on to its memory.

        Like all that reads values it may raise :class:`OutOfReach`.
        """
        ...

    def view(self, tensor: Any) -> np.ndarray[Any, Any]:
        """The values of a tensor of our own, without a copy where that is possible."""
        ...

    def few(self, tensor: Any, most: int = 4096) -> np.ndarray[Any, Any]:
        """At most about ``most`` values of a tensor of the program's, evenly spread."""
        ...

    def address(self, tensor: Any) -> int:
        """Where its memory begins."""
        ...

    def scalar(self, tensor: Any) -> float | None:
        """The value of a tensor without axes, None for any other; to be asked while unwatched."""
        ...

    def hint(self, tensor: Any) -> float:
        """The rms of very few values from all over a tensor; to be asked while unwatched."""
        ...

    def unbound(self, op: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A recorded function that takes other dtypes than it was recorded with."""
        ...

    def repeatable(
        self, op: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[..., Any] | None:
        """The function of a call that failed, as it is without us; None if twice is once too often.

        A custom Function and what was compiled run code of the program's.
        """
        ...

    def copy(self, tensor: Any, *, leaf: bool = False) -> Any:
        """A copy that shares nothing; ``leaf``: one that requires grad as ``tensor`` does."""
        ...

    def random_state(self) -> Any: ...

    def set_random_state(self, state: Any) -> None: ...

    def written_at(self, tensor: Any) -> Any:
        """The Where of the last write that the engine itself remembers, or None."""
        ...

    def why_none(self, parameters: Sequence[Any], loss: Any) -> Iterator[Any]:
        """Why each of the parameters got no gradient; None where that could not be answered."""
        ...


def engines() -> dict[str, Engine]:
    """The engines that are loaded already, by name."""
    found: dict[str, Engine] = {}
    for name in imported_engines():
        if name == "torch":
            from whygrad.recording.engines.pytorch import TorchEngine

            found[name] = TorchEngine.get()
        else:
            from whygrad.recording.engines.own import OwnEngine

            found[name] = OwnEngine.get()
    return found


def imported_engines() -> list[str]:
    """Which engines the program has imported: looking must not import one."""
    return [
        name
        for name, module in (("whygrad", "whygrad"), ("torch", "torch.nn"))
        if name in sys.modules and module in sys.modules  # not if the import failed half-way
    ]


def engine_of(thing: Any) -> Engine:
    """The engine that a tensor, a module or an optimizer belongs to."""
    family = {each.__module__.partition(".")[0] for each in type(thing).__mro__}
    return engines()["torch" if "torch" in family else "whygrad"]
