"""Random numbers with a seed, a state that can be saved, and no surprises between threads.

A :class:`Generator` is PCG64 with PyTorch's interface.  The same seed gives the same bits on every
machine; the numbers themselves are NumPy's, not PyTorch's.  NumPy locks a bit generator while it
draws, so threads may share one without mixing up its state.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from whygrad.errors import fail
from whygrad.tensor import Tensor, devices, wrap
from whygrad.threads import PerThread

if TYPE_CHECKING:
    import numpy.random

__all__ = [
    "Generator",
    "called",
    "default_generator",
    "drawing",
    "draws",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "shaped_by_first",
    "thread_safe_generator",
]

F = TypeVar("F", bound="Callable[..., Any]")

# Layout of a saved state: the seed, PCG64's two 128-bit words, and the half of a 64-bit draw that
# is still unused after an odd number of 32-bit ones.
_FIELDS = (("seed", 8), ("state", 16), ("inc", 16), ("has_uint32", 4), ("uinteger", 4))
_STATE_BYTES = sum(size for _, size in _FIELDS)


class Generator:
    """A stream of random numbers; pass it as ``generator=`` to the functions that draw."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = devices.of(device)
        if self.device.type != "cpu":
            raise fail(
                RuntimeError,
                call=f"Generator({self.device.type!r})",
                cause=f"there are no random numbers on {self.device}",
                fix="use Generator(), which draws on the CPU",
            )
        self._seed: int | None = None
        self._rng: numpy.random.Generator | None = None

    @property
    def rng(self) -> numpy.random.Generator:
        """The NumPy generator behind this one, made on first use: importing stays cheap."""
        if self._rng is None:
            self.seed()
        assert self._rng is not None
        return self._rng

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to ``seed``."""
        import numpy.random

        number = _checked_seed(seed)
        self._rng = numpy.random.Generator(numpy.random.PCG64(number))
        self._seed = number
        return self

    def seed(self) -> int:
        """Start a stream nobody can predict; returns its seed."""
        number = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed this stream started from."""
        if self._seed is None:
            return self.seed()
        return self._seed

    def get_state(self) -> Tensor:
        """Everything the next draw depends on, as a uint8 tensor."""
        import numpy as np

        saved: Any = self.rng.bit_generator.state
        numbers = {"seed": self.initial_seed(), **saved, **saved["state"]}
        packed = b"".join(int(numbers[name]).to_bytes(size, "little") for name, size in _FIELDS)
        return wrap(np.frombuffer(packed, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that ``get_state`` returned."""
        packed = _checked_state(new_state)
        numbers, start = {}, 0
        for name, size in _FIELDS:
            numbers[name] = int.from_bytes(packed[start : start + size], "little")
            start += size
        self.manual_seed(numbers["seed"])
        self.rng.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": numbers["state"], "inc": numbers["inc"]},
            "has_uint32": numbers["has_uint32"],
            "uinteger": numbers["uinteger"],
        }
        return self

    def clone_state(self) -> Generator:
        """An independent generator that will draw the same numbers from here on."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy goes on by itself from the same point."""
        return _restored, (type(self), bytes(self.get_state().numpy()))

    def __repr__(self) -> str:
        return f"<whygrad.Generator on {self.device}, seed {self.initial_seed()}>"


def _restored(kind: type[Generator], state: bytes) -> Generator:
    import numpy as np

    return kind().set_state(wrap(np.frombuffer(state, np.uint8).copy()))


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, Tensor):
        seed = seed.item()
    number = int(seed)
    if not -(2**63) <= number < 2**64:
        raise fail(
            RuntimeError,
            call=f"manual_seed({seed})",
            cause="Overflow when unpacking long long: a seed has 64 bits",
            fix="pass a seed in [-2**63, 2**64)",
        )
    return number % 2**64


def _checked_state(state: Any) -> bytes:
    if not isinstance(state, Tensor) or state.dtype.name != "uint8":
        kind = state.dtype if isinstance(state, Tensor) else type(state).__name__
        raise fail(
            TypeError,
            call=f"set_state({kind})",
            cause="RNG state must be a uint8 tensor (PyTorch calls it torch.ByteTensor)",
            fix="pass what get_state() returned",
        )
    if state.shape != (_STATE_BYTES,):
        raise fail(
            RuntimeError,
            call=f"set_state(uint8{list(state.shape)})",
            cause=f"RNG state is wrong size: a state has {_STATE_BYTES} bytes",
            fix="pass what get_state() of a whygrad generator returned",
        )
    return bytes(state._array)


default_generator = Generator()


class _Drawing(PerThread):
    """What stands around the random functions of this thread; ``vmap`` puts itself there."""

    around: Callable[..., Any] | None = None


drawing = _Drawing()


def draws(function: F) -> F:
    """Mark a function that draws random numbers; what it draws depends on the tensors it is given.

    A function that only takes the shape of its first argument says so with ``shaped_by_first``.
    """

    @functools.wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        if drawing.around is not None:
            return drawing.around(function, *args, **kwargs)
        return function(*args, **kwargs)

    return draw  # type: ignore[return-value]


def shaped_by_first(function: F) -> F:
    """Mark a function that draws whatever the numbers in its first argument are."""
    function.shaped_by_first = True  # type: ignore[attr-defined]
    return function


def called(name: str) -> Callable[[F], F]:
    """Give a function that draws the name under which users know it."""

    def rename(function: F) -> F:
        function.__name__ = name
        return function

    return rename


def manual_seed(seed: int) -> Generator:
    """Seed the generator that is used when none is passed."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator unpredictably; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """State of the default generator."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator back into a saved state."""
    default_generator.set_state(new_state)


def thread_safe_generator() -> Generator | None:
    """In a thread that works for a DataLoader, a generator of its own; None anywhere else.

    Without one, threads share the default generator, and who comes first draws first.
    """
    if threading.current_thread() is threading.main_thread():
        return None
    module = sys.modules.get("whygrad.data.worker_info")
    return None if module is None else module.own_generator()


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Draw inside without a trace: the default generator's state is restored on exit.

    ``devices`` is accepted for PyTorch's sake; only the CPU draws random numbers here.
    """
    if not enabled:
        yield
        return
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)
