"""Saving and loading an optimizer.

``state_dict()`` has PyTorch's layout: parameters are numbers, counted over all groups, ``state`` is
a dict per number, ``param_groups`` lists the options.  ``load_state_dict`` looks at everything
before it changes anything, and copies: the optimizer never shares memory with what was loaded.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from whygrad.autograd.hooks.handles import RemovableHandle
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor

__all__ = ["Stateful"]

Hook = Callable[..., Any]


class Stateful:
    """The part of ``Optimizer`` that saves and loads."""

    state: defaultdict[Any, dict[str, Any]]
    param_groups: list[dict[str, Any]]
    defaults: dict[str, Any]
    _hooks_of_state: OrderedDict[int, tuple[str, Hook]]

    def state_dict(self) -> dict[str, Any]:
        """Options and state; the tensors are the optimizer's own, not copies."""
        for hook in self._hooks("before_save"):
            hook(self)
        numbers: dict[Any, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            for number, param in enumerate(group["params"], start):
                numbers.setdefault(param, number)
            start += len(group["params"])
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [numbers[param] for param in group["params"]]
            groups.append(packed)
        state = {
            numbers[key] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        saved: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._hooks("after_save"):
            changed = hook(self, saved)
            saved = saved if changed is None else changed
        return saved

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where the optimizer that saved ``state_dict`` stood."""
        loaded: Any = dict(state_dict)
        for hook in self._hooks("before_load"):
            changed = hook(self, loaded)
            loaded = loaded if changed is None else changed
        groups = deepcopy(loaded["param_groups"])
        self._check_groups(groups)
        params = {
            number: param
            for own, saved in zip(self.param_groups, groups)
            for number, param in zip(saved["params"], own["params"])
        }
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for key, value in loaded["state"].items():
            if key in params:
                state[params[key]] = self._adopted(params[key], value)
            else:
                state[key] = value
        for own, saved in zip(self.param_groups, groups):
            names = {"param_names": own["param_names"]} if "param_names" in own else {}
            saved.update({**self.defaults, **names, **saved, "params": own["params"]})
        self.state = state
        self.param_groups = groups
        for hook in self._hooks("after_load"):
            hook(self)

    def _check_groups(self, groups: list[dict[str, Any]]) -> None:
        own = [len(group["params"]) for group in self.param_groups]
        saved = [len(group["params"]) for group in groups]
        if own == saved:
            return
        cause = "loaded state dict contains a parameter group that doesn't match the size of "
        cause += f"optimizer's group: parameters per group here {own}, there {saved}"
        if len(own) != len(saved):
            cause = "loaded state dict has a different number of parameter groups: "
            cause += f"{len(saved)} instead of {len(own)}"
        raise fail(
            ValueError,
            call=f"load_state_dict(…) on {type(self).__name__}",
            cause=cause,
            fix="make the optimizer with the same parameters in the same groups as when it was "
            "saved",
        )

    def _adopted(self, param: Tensor, value: Any, name: str | None = None) -> Any:
        """A copy of a piece of saved state, with the dtype and device of its parameter."""
        if isinstance(value, Tensor):
            if name == "step" or not param.dtype.is_floating_point:
                return value.detach().clone()
            return value.detach().to(param.device, param.dtype, copy=True)
        if isinstance(value, Mapping):
            return {key: self._adopted(param, each, key) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._adopted(param, each) for each in value)
        return value

    def _shape_mismatch(self, param: Tensor, name: str, value: Any) -> ValueError:
        return fail(
            ValueError,
            call=f"load_state_dict(…) on {type(self).__name__}",
            cause=f"{name!r} in the loaded state is {describe(value)}, but its parameter is "
            f"{describe(param)}",
            fix="pass the parameters in the same order as when the state was saved",
        )

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer)`` before ``state_dict()`` looks at it."""
        return self._state_hook("before_save", hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer, state_dict)``, which may change the dict or return another."""
        return self._state_hook("after_save", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """``hook(optimizer, state_dict)``, which may change the dict or return another."""
        return self._state_hook("before_load", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """``hook(optimizer)`` when the state is in place."""
        return self._state_hook("after_load", hook, prepend)

    def _state_hook(self, kind: str, hook: Hook, prepend: bool) -> RemovableHandle:
        handle = RemovableHandle(self._hooks_of_state)
        self._hooks_of_state[handle.id] = (kind, hook)
        if prepend:
            self._hooks_of_state.move_to_end(handle.id, last=False)
        return handle

    def _hooks(self, kind: str) -> list[Hook]:
        return [hook for when, hook in self._hooks_of_state.values() if when == kind]
