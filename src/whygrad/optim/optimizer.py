"""Optimizer: what every optimizer shares.

Parameters in groups with options of their own, state per parameter, hooks around ``step``.  An
optimizer of one's own subclasses :class:`Optimizer` and defines ``step``; hooks and the check of
the order of ``optimizer.step()`` and ``scheduler.step()`` come with the class.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from whygrad.autograd.hooks.handles import RemovableHandle
from whygrad.errors import describe, fail
from whygrad.optim.base.state import Stateful
from whygrad.tensor import Tensor
from whygrad.tensor.modes import enable_grad

__all__ = [
    "Optimizer",
    "Parameters",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

Parameters = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
Hook = Callable[..., Any]
Step = TypeVar("Step", bound=Callable[..., Any])


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # the default of an option that every group has to give

_before_every_step: OrderedDict[int, Hook] = OrderedDict()
_after_every_step: OrderedDict[int, Hook] = OrderedDict()


class Optimizer(Stateful):
    """Changes parameters by their gradients; ``defaults`` are the options of a group."""

    defaults: dict[str, Any]
    param_groups: list[dict[str, Any]]
    _opt_called: bool  # whether step() was ever called; schedulers ask
    _inside_step: bool

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise self._refusal(
                TypeError,
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {describe(params)}",
                "put it into a list: [parameter]",
            )
        groups: list[Any] = list(params)
        if not groups:
            raise self._refusal(
                ValueError,
                "optimizer got an empty parameter list",
                "pass model.parameters(); a generator that was used up is empty, a model without "
                "layers in its attributes has no parameters",
            )
        self.__setstate__({"defaults": defaults, "state": defaultdict(dict), "param_groups": []})
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._opt_called = False
        self._inside_step = False
        self._before_step: OrderedDict[int, Hook] = OrderedDict()
        self._after_step: OrderedDict[int, Hook] = OrderedDict()
        self._hooks_of_state: OrderedDict[int, tuple[str, Hook]] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("defaults", "state", "param_groups")}

    def __repr__(self) -> str:
        groups = [
            f"\nParameter Group {number}\n"
            + "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
            for number, group in enumerate(self.param_groups)
        ]
        return f"{type(self).__name__} ({''.join(groups)})"

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; subclasses say how.

        ``closure`` computes the loss and its gradients once more and returns the loss.
        """
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}.step()",
            cause=f"{type(self).__name__} does not define step()",
            fix="define def step(self, closure=None) in the class",
        )

    @staticmethod
    def _evaluate(closure: Callable[[], Any] | None) -> Any:
        if closure is None:
            return None
        with enable_grad():
            return closure()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for group in self.param_groups:
            for param in group["params"]:
                gradient = param._grad
                if gradient is None:
                    continue
                if set_to_none:
                    param.grad = None
                    continue
                if gradient.grad_fn is not None:
                    gradient.detach_()
                else:
                    gradient.requires_grad_(False)
                gradient.zero_()

    # --- groups -----------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own; what the group leaves out is the default."""
        if not isinstance(param_group, dict):
            raise self._refusal(
                TypeError,
                f"param_group must be a dict, but got {type(param_group)}",
                'pass {"params": [...], "lr": ...}',
            )
        params, names = self._members(param_group["params"])
        for param in params:
            self._check_parameter(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise self._refusal(
                    ValueError,
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}",
                    f"give every group its {name!r}",
                )
        named = bool(names) or "param_names" in param_group
        if any(("param_names" in group) is not named for group in self.param_groups):
            raise self._refusal(
                ValueError,
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if named else 'without'} names to the optimizer",
                "give names to all groups (named_parameters()) or to none (parameters())",
            )
        known = {param for group in self.param_groups for param in group["params"]}
        if not known.isdisjoint(params):
            raise self._refusal(
                ValueError,
                "some parameters appear in more than one parameter group",
                "each would be updated twice per step; leave it in one group",
            )
        if len(set(params)) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; each is updated "
                "several times per step. Pass every parameter once.",
                stacklevel=3,
            )
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def _members(self, given: Any) -> tuple[list[Any], list[str]]:
        """Parameters and, where they came in pairs, their names."""
        if isinstance(given, Tensor):
            return [given], []
        if isinstance(given, set):
            raise self._refusal(
                TypeError,
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs",
                "pass a list",
            )
        members = list(given)
        names = [each[0] for each in members if isinstance(each, tuple)]
        if names and len(names) != len(members):
            raise self._refusal(
                ValueError,
                "all optimizer params should be with/without names. Some param names are missing",
                "pass named_parameters() or parameters(), not a mixture",
            )
        return [each[1] if isinstance(each, tuple) else each for each in members], names

    def _check_parameter(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise self._refusal(
                TypeError,
                "optimizer can only optimize Tensors, but one of the params is "
                f"{type(param).__name__}",
                "pass model.parameters(), or a list of tensors",
            )
        if not (param.is_leaf or param.retains_grad):
            raise self._refusal(
                ValueError,
                f"can't optimize a non-leaf Tensor: this one was computed by {param._node.name()} "
                f"at {param._node.where}",
                "pass the leaf it was computed from; to make a new leaf of it: "
                "x.detach().requires_grad_()",
            )

    def _refusal(self, kind: type[Exception], cause: str, fix: str) -> Exception:
        return fail(kind, call=f"{type(self).__name__}(…)", cause=cause, fix=fix)

    # --- hooks ------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """``hook(optimizer, args, kwargs)`` before each step; it may return new (args, kwargs)."""
        return _register(self._before_step, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """``hook(optimizer, args, kwargs)`` after each step."""
        return _register(self._after_step, hook)


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """``hook(optimizer, args, kwargs)`` before each step of every optimizer."""
    return _register(_before_every_step, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """``hook(optimizer, args, kwargs)`` after each step of every optimizer."""
    return _register(_after_every_step, hook)


def _register(hooks: OrderedDict[int, Hook], hook: Hook) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _with_hooks(step: Step) -> Step:
    """``step``, with the hooks around it; a step that calls the one of its base runs them once."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if self._inside_step:
            return step(self, *args, **kwargs)
        self._opt_called = self._inside_step = True
        try:
            given: tuple[Any, ...] = (self, *args)
            for hook in (*_before_every_step.values(), *self._before_step.values()):
                given, kwargs = _changed(hook, self, given, kwargs)
            result = step(*given, **kwargs)
            for hook in (*self._after_step.values(), *_after_every_step.values()):
                hook(self, given, kwargs)
            return result
        finally:
            self._inside_step = False

    return hooked  # type: ignore[return-value]


def _changed(hook: Hook, optimizer: Optimizer, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of step() as ``hook`` leaves them."""
    answer = hook(optimizer, args, kwargs)
    if answer is None:
        return args, kwargs
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise fail(
            RuntimeError,
            call=f"a hook before {type(optimizer).__name__}.step() returned {describe(answer)}",
            cause=f"{hook!r} must return None or a tuple of (new_args, new_kwargs)",
            fix="return nothing, or (args, kwargs) as the hook received them, changed",
        )
    return answer
