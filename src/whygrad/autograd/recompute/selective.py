"""Which results of a checkpointed function are kept after all.

A policy looks at every op call of the first run.  The results it wants saved are stored in order of
the calls, op by op; a further run takes them from there instead of computing them, and its nodes
are recorded as if it had.  So one can save the matrix products, which are dear to compute, and
recompute the rest, which is dear to keep.
"""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.saving.bytes import note_saved
from whygrad.dispatch.interception import intercepting
from whygrad.dispatch.paths import plain, recording
from whygrad.errors import describe, fail
from whygrad.ops.define import Op, aliases, table
from whygrad.tensor import Tensor, keys, modes

if TYPE_CHECKING:
    from whygrad.dispatch.paths import Entry
    from whygrad.tensor.storage import Storage

__all__ = [
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]


class CheckpointPolicy(enum.Enum):
    """What to do with the result of an op: keep it, or compute it again.

    ``PREFER_*`` leaves the last word to a compiler; here it means the same as ``MUST_*``.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


_SAVES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE, True)


class SelectiveCheckpointContext(NamedTuple):
    """What a policy learns besides the op and its arguments."""

    is_recompute: bool  # always False: a policy is asked in the first run only
    op_output: Any


Policy = Callable[..., "CheckpointPolicy | bool"]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | Iterable[Any], allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """The two contexts of a checkpoint that keeps some results; made anew for each call::

        context_fn=partial(create_selective_checkpoint_contexts, [whygrad.matmul, "linear"])

    ``policy_fn_or_list``
        the ops whose results are kept, as functions or by name; or ``policy(ctx, op, *args)``,
        which returns a :class:`CheckpointPolicy` or a bool for each call.  ``op`` is the function
        (``whygrad.matmul``).  Policies meet the ops that calls are made of, as
        ``whygrad.dispatch.explain`` shows them.  Views are never kept: they cost nothing.
    ``allow_cache_entry_mutation``
        do not refuse to use a result that has been written to in place since.
    """
    policy = (
        policy_fn_or_list
        if callable(policy_fn_or_list)
        else _keeping(frozenset(map(_named, _checked(policy_fn_or_list))))
    )
    kept: Results = {}
    return _Keeping(policy, kept), _Handing(kept, allow_cache_entry_mutation)


def _checked(ops: Any) -> list[Any]:
    if isinstance(ops, (list, tuple, set, frozenset)):
        return list(ops)
    raise fail(
        TypeError,
        call=f"create_selective_checkpoint_contexts({describe(ops)})",
        cause="policy_fn_or_list must be either a function or a list of ops",
        fix='pass a list such as [whygrad.matmul, "linear"]',
    )


def _named(given: Any) -> Op:
    """The op behind a function or a name."""
    known = getattr(given, "op", given)
    op = table.get(aliases.get(known, known)) if isinstance(known, str) else known
    if isinstance(op, Op) and op.kind not in ("composite", "view"):
        return op
    cause, fix = f"Expected an op in the list, but got {describe(given)}", "name an op of whygrad"
    if isinstance(op, Op):
        cause = f"{op.name} is a {op.kind}, so there is no result of its own to keep"
        fix = "name the ops it is made of, which whygrad.dispatch.explain(op, …) shows"
        if op.kind == "view":
            fix = "leave it out: its memory is that of its input"
    raise fail(
        ValueError,
        call=f"create_selective_checkpoint_contexts([… {describe(given)} …])",
        cause=cause,
        fix=fix,
    )


def _keeping(ops: frozenset[Op]) -> Policy:
    return lambda ctx, function, *args: function.op in ops


class _Result(NamedTuple):
    """What a call returned: the payloads, and the memory they are in with its version."""

    payloads: Any
    memory: list[tuple[Storage, int]]


Results = dict[tuple[Op, int], "_Result | None"]  # by op and number of its call; None: not kept


class _Watching(AbstractContextManager[None]):
    """An interceptor that counts calls; to be entered any number of times, one after the other."""

    innermost = True

    def __init__(self) -> None:
        self._calls: Counter[Op] = Counter()
        self._entered: list[AbstractContextManager[None]] = []

    def __enter__(self) -> None:
        self._calls.clear()
        watching = intercepting(self, innermost=self.innermost)
        watching.__enter__()
        self._entered.append(watching)

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)

    def __call__(self, op: Op, below: Entry, args: tuple[Any, ...]) -> Any:
        """Carry out the call; the results of views and custom functions are nobody's to keep."""
        if op.kind == "view" or table.get(op.name) is not op:
            return below(*args)
        number = self._calls[op]
        self._calls[op] += 1
        return self.call(op, number, below, args)

    @abstractmethod
    def call(self, op: Op, number: int, below: Entry, args: tuple[Any, ...]) -> Any:
        """Carry out the call of this number of an op."""


class _Keeping(_Watching):
    """The first run: ask the policy, store what it wants."""

    def __init__(self, policy: Policy, kept: Results) -> None:
        super().__init__()
        self._policy = policy
        self._kept = kept

    def call(self, op: Op, number: int, below: Entry, args: tuple[Any, ...]) -> Any:
        result = below(*args)
        context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        saves = self._policy(context, op.public, *args) in _SAVES
        self._kept[op, number] = _result(result) if saves else None
        return result


def _result(result: Any) -> _Result:
    note_saved(result)
    if isinstance(result, Tensor):
        return _Result(result._array, [(result._storage, result._storage.version)])
    return _Result(
        tuple(each._array for each in result),
        [(each._storage, each._storage.version) for each in result],
    )


class _Handing(_Watching):
    """A further run: take what is there, compute the rest."""

    innermost = False  # the checkpoint shall see the nodes

    def __init__(self, kept: Results, allow_mutation: bool) -> None:
        super().__init__()
        self._kept = kept
        self._allow_mutation = allow_mutation

    def call(self, op: Op, number: int, below: Entry, args: tuple[Any, ...]) -> Any:
        if (op, number) not in self._kept:
            raise _not_found(op, number)
        found = self._kept[op, number]
        if found is None:
            return below(*args)
        if not self._allow_mutation:
            _check_unwritten(op, found)
        return _recorded(op, found.payloads, args)


def _recorded(op: Op, payloads: Any, args: tuple[Any, ...]) -> Any:
    """The op call with a kernel that knows the answer."""
    bits = 0
    for each in args[0] if op.variadic else args[: len(op.tensor_names)]:
        if isinstance(each, Tensor):
            bits |= each._keys
    if not modes.state.recording:
        bits &= ~keys.AUTOGRAD
    known = recording if bits & keys.AUTOGRAD and op.vjp is not None else _unrecorded
    return known(op, lambda *_: payloads, bits)(*args)


def _unrecorded(op: Op, kernel: Callable[..., Any], _: int) -> Entry:
    return plain(op, kernel)


def _not_found(op: Op, number: int) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"{op.name} in a selective checkpoint that runs again",
        cause=f"{op.name} invocation index {number} encountered during backward but not found in "
        "storage: the first run made fewer of these calls",
        fix="let the function depend on its arguments and on parameters only, not on anything "
        "that changes between forward and backward",
    )


def _check_unwritten(op: Op, result: _Result) -> None:
    for storage, version in result.memory:
        if storage.version != version:
            writer, line = storage.last_writer or ("an unknown writer", "an unknown line")
            raise fail(
                RuntimeError,
                call=f"{op.name} in a selective checkpoint that runs again",
                cause="Tensor cached during selective activation checkpoint has been mutated: "
                f"{writer} wrote to the result of {op.name} at {line}",
                fix=f"use the out-of-place form of {writer}, or let the policy recompute {op.name}",
            )
