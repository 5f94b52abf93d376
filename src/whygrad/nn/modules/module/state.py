"""What a module remembers: ``state_dict()`` and back.

Loading looks at everything before it writes anything: a state that does not fit changes nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.hooks.handles import RemovableHandle
from whygrad.errors import fail
from whygrad.nn.parameter import Parameter
from whygrad.tensor import Tensor, modes

if TYPE_CHECKING:
    from whygrad.nn.modules.module.module import Module

__all__ = ["Stateful"]

_EXTRA = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What ``load_state_dict(strict=False)`` did not find a place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class Stateful:
    """The part of ``Module`` that saves and loads."""

    def state_dict(
        self: Any,
        *,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by name; the tensors share memory with the module's.

        ``keep_vars`` gives the parameters themselves instead of detached tensors.
        """
        state = OrderedDict() if destination is None else destination
        for hook in self._state_hooks("before_save"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(state, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_hooks("after_save"):
            if hook(self, state, prefix, {}) is not None:
                raise _returned(self, "state_dict post-hook must return None", RuntimeError)
        return state

    def _save_to_state_dict(
        self: Any, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        """Enter this module's own tensors; subclasses may add to it."""
        for name, tensor in self._own_state().items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _gives_extra_state(self):
            destination[prefix + _EXTRA] = self.get_extra_state()

    def _own_state(self: Any) -> dict[str, Any]:
        hidden = self._non_persistent_buffers_set
        kept = {name: each for name, each in self._buffers.items() if name not in hidden}
        return {**self._parameters, **kept}

    def get_extra_state(self) -> Any:
        """What else ``state_dict()`` should hold; for subclasses that define it."""
        raise _no_extra_state(self)

    def set_extra_state(self, state: Any) -> None:
        """Take back what ``get_extra_state`` gave."""
        raise _no_extra_state(self)

    def load_state_dict(
        self: Any, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy the tensors of ``state_dict`` into this module's.

        ``strict`` refuses names that are missing or unknown.  ``assign`` puts the given tensors in
        the place of the module's own instead of copying.
        """
        if not isinstance(state_dict, Mapping):
            raise fail(
                TypeError,
                call=f"load_state_dict({type(state_dict).__name__})",
                cause=f"Expected state_dict to be dict-like, got {type(state_dict)}",
                fix="pass what state_dict() returned, or what whygrad.load() read",
            )
        plan = _Plan(assign)
        self._plan_to_load(OrderedDict(state_dict), "", plan)
        forgiving = any(module._state_hooks("after_load") for module in self.modules())
        if strict and not forgiving:
            plan.complain_about_names()
        self._check_plan(plan)
        plan.carry_out()
        keys = _IncompatibleKeys(plan.missing, plan.unexpected)
        if forgiving:
            self._run_after_load(keys)
            if strict:
                plan.complain_about_names()
            self._check_plan(plan)
        return keys

    def _plan_to_load(self: Any, state: dict[str, Any], prefix: str, plan: _Plan) -> None:
        """Enter what to do for this module and those below it, each with its part of the state."""
        arguments = (state, prefix, {"plan": plan}, True, plan.missing, plan.unexpected)
        for hook in self._state_hooks("before_load"):
            hook(self, *arguments, plan.errors)
        self._load_from_state_dict(*arguments, plan.errors)
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}{name}."
                part = {key: value for key, value in state.items() if key.startswith(path)}
                module._plan_to_load(part, path, plan)

    def _run_after_load(self: Any, keys: _IncompatibleKeys) -> None:
        for module in self._modules.values():
            if module is not None:
                module._run_after_load(keys)
        for hook in self._state_hooks("after_load"):
            if hook(self, keys) is not None:
                raise _returned(
                    self,
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                    "to return new values; change the lists of incompatible_keys in place",
                    AssertionError,
                )

    def _check_plan(self, plan: _Plan) -> None:
        if plan.errors:
            listed = "\n\t".join(plan.errors)
            raise fail(
                RuntimeError,
                call=f"load_state_dict(…) on {type(self).__name__}",
                cause=f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}",
                fix="build the model as it was when the state was saved; strict=False skips "
                "names that are missing or unknown",
            )

    def _load_from_state_dict(
        self: Any,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Plan what to copy into this module's own tensors; subclasses may change the state."""
        plan: _Plan = local_metadata["plan"]
        own = {name: each for name, each in self._own_state().items() if each is not None}
        for name, tensor in own.items():
            plan.enter(self, name, tensor, prefix + name, state_dict)
        extra = prefix + _EXTRA
        if _takes_extra_state(self):
            own[_EXTRA] = None
            if extra in state_dict:
                plan.steps.append(lambda: self.set_extra_state(state_dict[extra]))
            else:
                missing_keys.append(extra)
        if strict:
            for key in state_dict:
                name, _, deeper = key.removeprefix(prefix).partition(".")
                if key.startswith(prefix) and name not in (self._modules if deeper else own):
                    unexpected_keys.append(key)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, prefix, keep_vars)`` before ``state_dict()`` looks at this module."""
        return self._state_hook("before_save", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, state_dict, prefix, local_metadata)`` when it has."""
        return self._state_hook("after_save", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)``."""
        return self._state_hook("before_load", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, incompatible_keys)``, whose lists it may change."""
        return self._state_hook("after_load", hook)

    def _register_state_dict_hook(self: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """An older form of :meth:`register_state_dict_post_hook`: what it returns is not used."""

        def silent(*arguments: Any) -> None:
            hook(*arguments)

        return self.register_state_dict_post_hook(silent)

    def _register_load_state_dict_pre_hook(
        self: Any, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """An older form of :meth:`register_load_state_dict_pre_hook`, without the module."""
        called = hook if with_module else lambda _, *arguments: hook(*arguments)
        return self.register_load_state_dict_pre_hook(called)

    def _state_hook(self, kind: str, hook: Callable[..., Any]) -> RemovableHandle:
        hooks = self.__dict__.setdefault("_hooks_of_state", OrderedDict())
        handle = RemovableHandle(hooks)
        hooks[handle.id] = (kind, hook)
        return handle

    def _state_hooks(self, kind: str) -> list[Callable[..., Any]]:
        hooks = self.__dict__.get("_hooks_of_state", {})
        return [hook for when, hook in hooks.values() if when == kind]


class _Plan:
    """What a load will do, once everything has been looked at."""

    def __init__(self, assign: bool) -> None:
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []
        self.steps: list[Callable[[], Any]] = []

    def enter(
        self, module: Module, name: str, own: Tensor, key: str, state: Mapping[str, Any]
    ) -> None:
        if key not in state:
            self.missing.append(key)
            return
        value = state[key]
        if isinstance(value, Tensor) and own.ndim == 0 and tuple(value.shape) == (1,):
            value = value[0]  # how states were written before there were 0-d tensors
        if not isinstance(value, Tensor):
            self.errors.append(
                f'While copying the parameter named "{key}", expected whygrad.Tensor or '
                f"Tensor-like object from checkpoint but received {type(value)}"
            )
        elif tuple(value.shape) != tuple(own.shape):
            self.errors.append(
                f"size mismatch for {key}: copying a param with shape {tuple(value.shape)} from "
                f"checkpoint, the shape in current model is {tuple(own.shape)}."
            )
        elif self.assign:
            self.steps.append(lambda: _put(module, name, own, value))
        else:
            self.steps.append(lambda: own.copy_(value))

    def complain_about_names(self) -> None:
        """Missing and unknown names count as errors."""
        for kind, names in (("Unexpected", self.unexpected), ("Missing", self.missing)):
            if names:
                listed = ", ".join(f'"{name}"' for name in names)
                self.errors.insert(0, f"{kind} key(s) in state_dict: {listed}. ")

    def carry_out(self) -> None:
        with modes.no_grad():
            for step in self.steps:
                step()


def _put(module: Module, name: str, own: Tensor, value: Tensor) -> None:
    """``assign=True``: the given tensor takes the place of the module's."""
    if isinstance(own, Parameter):
        adopted = value if isinstance(value, Parameter) else Parameter(value)
        value = adopted.requires_grad_(own.requires_grad)
    setattr(module, name, value)


def _gives_extra_state(module: Stateful) -> bool:
    return type(module).get_extra_state is not Stateful.get_extra_state


def _takes_extra_state(module: Stateful) -> bool:
    return type(module).set_extra_state is not Stateful.set_extra_state


def _no_extra_state(module: Stateful) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"extra state of {type(module).__name__}",
        cause="the class defines only one of get_extra_state and set_extra_state",
        fix="define both",
    )


def _returned(module: Stateful, cause: str, kind: type[Exception]) -> Exception:
    return fail(
        kind,
        call=f"a hook around the state of {type(module).__name__}",
        cause=cause,
        fix="change the dictionary or the lists that the hook is given, and return nothing",
    )
