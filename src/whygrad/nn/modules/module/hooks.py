"""Hooks on modules: code that sees what goes in, what comes out, and the gradients of both.

All hooks of a module stand in one dictionary, by the number of their handle, in the order they run.
Hooks for every module stand in :data:`everywhere` and run first.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.function import Function
from whygrad.autograd.hooks.handles import RemovableHandle
from whygrad.errors import fail
from whygrad.tensor import Tensor, modes

if TYPE_CHECKING:
    from whygrad.nn.modules.module.module import Module

__all__ = [
    "Hook",
    "Hooked",
    "everywhere",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]


class Hook(NamedTuple):
    """One hook and when it runs."""

    kind: str  # "forward_pre", "forward", "backward_pre", "backward", "backward_of_last_op"
    function: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False


everywhere: OrderedDict[int, Hook] = OrderedDict()


def _register(hooks: OrderedDict[int, Hook], hook: Hook, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Hooked:
    """The part of ``Module`` that keeps hooks and runs them around ``forward``."""

    def register_forward_pre_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; what it returns replaces the arguments.

        ``with_kwargs``: ``hook(module, args, kwargs)``, which may return both.
        """
        return self._hook(Hook("forward_pre", hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; its answer replaces the output.

        ``with_kwargs``: ``hook(module, args, kwargs, output)``.  ``always_call``: even if
        ``forward`` raised, then with ``output`` None.
        """
        return self._hook(Hook("forward", hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the inputs have their gradients.

        A tuple that it returns replaces ``grad_input``.
        """
        self._refuse_both_kinds("backward_of_last_op")
        return self._hook(Hook("backward", hook), prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the gradients inside are computed.

        A tuple that it returns replaces ``grad_output``.
        """
        return self._hook(Hook("backward_pre", hook), prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The older form: ``grad_input`` is that of the last op in the module, as in PyTorch.

        :meth:`register_full_backward_hook` shows the gradients of the module's own inputs.
        """
        self._refuse_both_kinds("backward")
        return self._hook(Hook("backward_of_last_op", hook), False)

    def _refuse_both_kinds(self, other: str) -> None:
        if any(each.kind == other for each in self.__dict__.get("_hooks", {}).values()):
            raise fail(
                RuntimeError,
                call=f"a second kind of backward hook on {type(self).__name__}",
                cause="Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them.",
                fix="use register_full_backward_hook for all",
            )

    def _hook(self, hook: Hook, prepend: bool) -> RemovableHandle:
        return _register(self.__dict__.setdefault("_hooks", OrderedDict()), hook, prepend)

    def _hooks_of(self, kind: str) -> Iterator[Hook]:
        own = self.__dict__.get("_hooks", {})
        for hooks in (everywhere, own):
            yield from [each for each in hooks.values() if each.kind == kind]

    def _call_with_hooks(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[Hook] = set()
        try:
            for hook in self._hooks_of("forward_pre"):
                args, kwargs = _replaced_arguments(self, hook, args, kwargs)
            backward = _BackwardHooks.around(self)
            if backward is not None:
                args = backward.enter(args)
            result = self.forward(*args, **kwargs)
            for hook in self._hooks_of("forward"):
                called.add(hook)
                result = _replaced_result(self, hook, args, kwargs, result)
            for hook in self._hooks_of("backward_of_last_op"):
                _watch_last_op(self, hook, result)
            return result if backward is None else backward.leave(result)
        except Exception:
            self._call_regardless(called, args, kwargs)
            raise

    def _call_regardless(
        self, called: set[Hook], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Hooks that run even if ``forward`` failed; the failure is what the user should see."""
        for hook in self._hooks_of("forward"):
            if hook.always_call and hook not in called:
                try:
                    _replaced_result(self, hook, args, kwargs, None)
                except Exception as error:
                    warnings.warn(
                        f"a forward hook with always_call=True raised {type(error).__name__} "
                        f"({error}), which is ignored because forward had raised before",
                        stacklevel=4,
                    )


def _replaced_arguments(
    module: Any, hook: Hook, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not hook.with_kwargs:
        answer = hook.function(module, args)
        if answer is None:
            return args, kwargs
        return (answer if isinstance(answer, tuple) else (answer,)), kwargs
    answer = hook.function(module, args, kwargs)
    if answer is None:
        return args, kwargs
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise fail(
            RuntimeError,
            call=f"a forward pre-hook of {type(module).__name__} with kwargs",
            cause=f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but "
            f"got {type(answer).__name__}",
            fix="return args, kwargs",
        )
    return answer


def _replaced_result(
    module: Any, hook: Hook, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    given = (args, kwargs, result) if hook.with_kwargs else (args, result)
    answer = hook.function(module, *given)
    return result if answer is None else answer


def _watch_last_op(module: Any, hook: Hook, result: Any) -> None:
    """Show the hook the gradients of the op that made the (first) result."""
    while not isinstance(result, Tensor):
        if not result:
            return
        result = next(iter(result.values())) if isinstance(result, dict) else result[0]
    node = result.grad_fn
    if node is not None:
        node.register_hook(lambda into, out: hook.function(module, into, out))


class _Passing(Function):
    """Its inputs, unchanged: a node whose gradients are those of several tensors at once."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        return tuple(each.view_as(each) for each in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients if len(gradients) > 1 else gradients[0]


class _BackwardHooks:
    """One call of a module whose gradients somebody wants to see."""

    def __init__(self, module: Module, before: list[Hook], after: list[Hook]) -> None:
        self._module = module
        self._before = before
        self._after = after
        self._inputs: int = 0  # how many arguments the call had
        self._input_places: list[int] = []  # of tensors among them that require grad
        self._grad_output: tuple[Any, ...] | None = None

    @classmethod
    def around(cls, module: Any) -> _BackwardHooks | None:
        before, after = (list(module._hooks_of(kind)) for kind in ("backward_pre", "backward"))
        return cls(module, before, after) if before or after else None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, behind a node that sees their gradients."""
        if not self._after:
            return args
        self._inputs = len(args)
        args, self._input_places, node = _passed(args)
        if node is not None:
            node.register_hook(self._gradients_arrived)
        return args

    def leave(self, result: Any) -> Any:
        """The result, behind a node that sees its gradient."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=4,
            )
        several = isinstance(result, tuple)
        outputs, places, node = _passed(result if several else (result,))
        if node is None:
            return result
        count = len(outputs)

        def outputs_arrived(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
            given = _spread(gradients, places, count)
            for hook in self._before:
                answer = hook.function(self._module, given)
                if answer is not None:
                    given = _checked(answer, count, "grad_output", "backward pre-hook")
            self._grad_output = given
            if not self._input_places:  # nobody will report gradients of inputs
                self._run_after((None,) * self._inputs)
            return tuple(given[index] for index in places)

        node.register_prehook(outputs_arrived)
        return outputs if several else outputs[0]

    def _gradients_arrived(self, gradients: tuple[Any, ...], _: tuple[Any, ...]) -> Any:
        if self._grad_output is None:  # a backward pass that does not start from the result
            return None
        answer = self._run_after(_spread(gradients, self._input_places, self._inputs))
        return tuple(answer[index] for index in self._input_places)

    def _run_after(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self._after:
            answer = hook.function(self._module, given, self._grad_output)
            if answer is not None:
                given = _checked(answer, self._inputs, "grad_input", "backward hook")
                self._check_known(given)
        self._grad_output = None
        return given

    def _check_known(self, given: tuple[Any, ...]) -> None:
        if not self._input_places and any(each is not None for each in given):
            raise fail(
                RuntimeError,
                call=f"a backward hook of {type(self._module).__name__} returned a gradient",
                cause="Backward hook for Modules where no input requires gradient should always "
                "return None or None for all gradients: there is nowhere to send them",
                fix="return None, or let the input require grad",
            )


def _passed(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int], Any]:
    """The values, those that require grad behind one common node; their places; that node."""
    places = [
        place
        for place, each in enumerate(values)
        if isinstance(each, Tensor) and each.requires_grad
    ]
    if not places or not modes.is_grad_enabled():
        return values, [], None
    tensors = _Passing.apply(*(values[place] for place in places))
    tensors = tensors if isinstance(tensors, tuple) else (tensors,)
    replaced = list(values)
    for place, tensor in zip(places, tensors, strict=True):
        replaced[place] = tensor
    named = hasattr(values, "_make")
    kept: tuple[Any, ...] = type(values)(*replaced) if named else tuple(replaced)
    return kept, places, tensors[0].grad_fn


def _spread(gradients: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    """Gradients at their places among all arguments; None elsewhere."""
    spread: list[Any] = [None] * count
    for index, gradient in zip(places, gradients, strict=False):
        spread[index] = gradient
    return tuple(spread)


def _checked(answer: Any, count: int, what: str, who: str) -> tuple[Any, ...]:
    given = answer if isinstance(answer, tuple) else (answer,)
    if len(given) != count:
        raise fail(
            RuntimeError,
            call=f"a {who} returned {len(given)} gradients",
            cause=f"Backward hook returned an invalid number of {what}, got {len(given)}, but "
            f"expected {count}",
            fix=f"return a tuple with one entry per argument, as {what} has",
        )
    return given


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(module, args)`` before every module's ``forward``: for debugging and profiling."""
    return _register(everywhere, Hook("forward_pre", hook))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """``hook(module, args, output)`` after every module's ``forward``."""
    return _register(everywhere, Hook("forward", hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(module, grad_output)`` before the gradients inside any module are computed."""
    return _register(everywhere, Hook("backward_pre", hook))


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(module, grad_input, grad_output)`` for every module."""
    return _register(everywhere, Hook("backward", hook))
