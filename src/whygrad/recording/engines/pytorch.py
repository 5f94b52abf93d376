"""PyTorch, seen through a function mode."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import Any

import numpy as np
import torch

from whygrad.ops.spellings import shared_name, spelled
from whygrad.recording.calls import members
from whygrad.recording.engines.engine import Handler, OutOfReach
from whygrad.recording.engines.modes import (
    compiled_whole,
    compiler_in_use,
    fast_paths_open,
    put_in,
    taken_out,
    transforms_unwatched,
)
from whygrad.recording.ranges import hint, thinned
from whygrad.recording.scope import Scope
from whygrad.source import program_frame
from whygrad.torch.calls import name_of, uneventful
from whygrad.torch.none import Reasons
from whygrad.torch.record import Recorder, Recording, kept

__all__ = ["TorchEngine"]

_PLAIN = (torch.float32, torch.float64, torch.int64)
_SHORT = 1024
_DATA = 2000  # calls that prepare data: more of them do not tell why a gradient is missing
_ORDINARY = (torch.Tensor, torch.nn.Parameter)
_NEVER = ("backward", "_set_grad_enabled", "register_hook", "__set__")


class TorchEngine:
    """The one instance is :meth:`get`."""

    name = "torch"
    namespace: ModuleType = torch
    tensor: type = torch.Tensor

    @staticmethod
    @cache
    def get() -> TorchEngine:
        return TorchEngine()

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._place: int | None = None  # of the recorder among modes, while looking away
        self._structure = ExitStack()  # ends what only the first passes need

    @contextmanager
    def watching(self, handler: Handler, scope: Scope) -> Iterator[None]:
        with (
            compiled_whole(self, handler, scope),
            transforms_unwatched(scope),
            fast_paths_open(),
            Recorder(carry_out=partial(_handed_over, self, handler, scope)) as self._recorder,
        ):
            self.first_passes_again()
            try:
                yield
            finally:
                self.record()
                self.first_passes_over()

    def idle(self) -> None:
        if self._place is None and self._recorder is not None:
            self._place = taken_out(self._recorder)
            if self._place is None:  # amid a call, where the mode is not in its place
                self._recorder.is_dull = _anything

    def record(self) -> None:
        self.hush(None)
        if self._place is not None and self._recorder is not None:
            put_in(self._recorder, self._place)
            self._place = None

    def hush(self, is_dull: Callable[[str], bool] | None, data: bool = False) -> None:
        if self._recorder is not None:
            self._recorder.is_dull = None if is_dull is None else _by_function(is_dull, data)

    def compiles(self) -> bool:
        return compiler_in_use()

    def first_passes_over(self) -> None:
        """Stop the costly recording that answers ``why_none``."""
        if self._recorder is not None:
            self._recorder.recording = None
        self._structure.close()

    def first_passes_again(self) -> None:
        if self._recorder is not None and self._recorder.recording is None:
            self._recorder.recording = Recording(values=False, data=_DATA)
            self._structure.enter_context(kept(self._recorder.recording))

    def is_recording(self) -> bool:
        return torch.is_grad_enabled()

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        with torch._C.DisableTorchFunction(), torch.no_grad():
            yield

    def unwatched(self) -> Any:
        return torch._C.DisableTorchFunction()

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        """A copy: whoever hands a tensor's memory to NumPy takes from it, for good, the right to
        be resized, and programs that free their parameters between steps do that.
        """
        with torch._C.DisableTorchFunction():
            return _numpy(_local(tensor).detach().clone())

    def view(self, tensor: Any) -> np.ndarray[Any, Any]:
        with torch._C.DisableTorchFunction():
            return _numpy(_local(tensor).detach())

    def few(self, tensor: Any, most: int = 4096) -> np.ndarray[Any, Any]:
        with torch._C.DisableTorchFunction():
            plain = _local(tensor).detach()
            step = plain.numel() // most
            if step < 2 or plain.layout is not torch.strided or not plain.is_contiguous():
                return thinned(_numpy(plain.clone()), most)
            return _numpy(plain.view(-1)[::step].clone())

    def address(self, tensor: Any) -> int:
        with torch._C.DisableTorchFunction():
            if tensor.is_meta:
                return id(tensor)
            plain = _local(tensor)
            return int(plain.data_ptr()) if plain.layout is torch.strided else id(tensor)

    def scalar(self, tensor: Any) -> float | None:
        return float(tensor.item()) if tensor.ndim == 0 else None

    def hint(self, tensor: Any) -> float:
        if tensor.ndim == 1 and tensor.dtype is torch.float32 and 0 < tensor.numel() <= _SHORT:
            return math.sqrt(tensor.dot(tensor).item() / tensor.numel())  # the way to NumPy is long
        return hint(self.few(tensor, 16))

    def unbound(self, op: str, function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, partial) and function.func is _cast_to:
            under_autocast: Callable[..., Any] = function.args[1]
            return under_autocast
        return function

    def repeatable(
        self, op: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[..., Any] | None:
        """Nor tensors of other classes: those that are spread over ranks would wait for them."""
        tensors = [each for each in members((args, kwargs)) if isinstance(each, torch.Tensor)]
        special = any(type(each) not in _ORDINARY for each in tensors)
        whole = hasattr(function, "runs_program")
        return None if special or whole else self.unbound(op, function)

    def copy(self, tensor: Any, *, leaf: bool = False) -> Any:
        with torch._C.DisableTorchFunction():
            if _local(tensor) is not tensor:
                raise OutOfReach(
                    f"{type(tensor).__name__} {list(tensor.shape)} wraps other tensors"
                )
            copied = tensor.detach().clone()
            if leaf and tensor.requires_grad:
                copied.requires_grad_()
            return copied

    def random_state(self) -> Any:
        with torch._C.DisableTorchFunction():
            return torch.get_rng_state()

    def set_random_state(self, state: Any) -> None:
        with torch._C.DisableTorchFunction():
            torch.set_rng_state(state)

    def written_at(self, tensor: Any) -> Any:
        return None

    def why_none(self, parameters: Sequence[Any], loss: Any) -> Iterator[Any]:
        with torch._C.DisableTorchFunction():
            reasons = Reasons(loss)
        for each in parameters:
            answer = None
            with torch._C.DisableTorchFunction(), suppress(Exception):
                answer = reasons.of(each)
            yield answer


def _local(tensor: Any) -> Any:
    """The plain tensor that a tensor wraps: of one that is spread over ranks, the part here."""
    while type(tensor) not in _ORDINARY and hasattr(tensor, "__tensor_flatten__"):
        tensor = getattr(tensor, tensor.__tensor_flatten__()[0][0])
    empty = tensor.layout is torch.strided and not tensor.untyped_storage().nbytes()
    if tensor.is_meta or (empty and tensor.numel()):
        raise OutOfReach(f"a tensor of shape {list(tensor.shape)} without memory")
    return tensor


def _numpy(plain: torch.Tensor) -> np.ndarray[Any, Any]:
    if plain.dtype in _PLAIN and plain.layout is torch.strided and plain.is_cpu:
        return plain.numpy()
    if plain.layout is not torch.strided:
        plain = plain.coalesce().values() if plain.is_sparse else plain.to_dense()
    if plain.dtype is torch.bfloat16:
        plain = plain.float()
    return plain.cpu().resolve_conj().resolve_neg().numpy()


def _handed_over(
    engine: TorchEngine,
    handler: Handler,
    scope: Scope,
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Let the handler carry out a call."""
    name = _plain_name(func)
    if name is None or not scope.here:
        return func(*args, **kwargs)
    frame = program_frame(sys._getframe(1))
    if torch._C._is_any_autocast_enabled() and torch.is_autocast_enabled("cpu"):
        func = partial(_cast_to, torch.get_autocast_dtype("cpu"), func)
    return handler(engine, name, func, args, kwargs, frame)


def _cast_to(dtype: torch.dtype, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Carry out a call as ``torch.autocast`` does: a replay has to as well."""
    with torch.autocast("cpu", dtype):
        return function(*args, **kwargs)


def _anything(function: Any, args: Any) -> bool:
    return True


@cache
def _by_function(is_dull: Callable[[str], bool], data: bool) -> Callable[[Any, Any], bool]:
    """The same for functions, without a gradient: asked hundreds of thousands of times."""
    known: dict[Any, bool] = {}

    def answer(function: Any, args: Any) -> bool:
        dull = known.get(function)
        if dull is None:
            op = _plain_name(function)
            dull = known[function] = op is not None and is_dull(op)
        return dull and (not torch.is_grad_enabled() or (data and not _learn(args)))

    return answer


def _learn(args: Any) -> bool:
    """Whether a gradient may flow through one of the arguments."""
    for each in args:
        if type(each) is torch.Tensor:
            if each.requires_grad:
                return True
        elif isinstance(each, torch.Tensor) or (isinstance(each, (list, tuple)) and _learn(each)):
            return True
    return False


@lru_cache(maxsize=4096)
def _plain_name(function: Any) -> str | None:
    """The op's name without its spelling; None for what computes nothing."""
    name = name_of(function)
    kind = getattr(function, "__name__", "")
    if name == "requires_grad" and kind == "__set__":
        return "requires_grad_"
    if name in _NEVER or kind in _NEVER or uneventful(function, name):
        return None
    if kind == "__get__":
        return name
    spelling = spelled(name)
    return spelling._replace(op=shared_name(spelling.op)).on_tape
