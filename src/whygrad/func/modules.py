"""Modules as functions of their parameters, so that transforms can work on them.

A module here is anything callable with ``named_parameters`` and ``named_buffers`` (both taking
``remove_duplicate``, as in PyTorch), whose tensors are attributes of it or of its sub-modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from whygrad.errors import fail
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

__all__ = ["functional_call", "stack_module_state"]

_MISSING = object()


def functional_call(
    module: Callable[..., Any],
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with other parameters and buffers in the place of its own.

    The module has its own tensors again afterwards, whatever happens.  A buffer that the call
    replaces on the module is replaced in the given dict instead.

    ``parameter_and_buffer_dicts``
        tensors by name (``"layer.weight"``), in one dict or several; what is not named stays.
    ``args``
        a tuple of positional arguments, or the only one.
    ``tie_weights``
        a tensor that the module has under several names needs to be given under one of them only.
    ``strict``
        refuse names that the module does not have, and names left out.
    """
    dicts = _checked_dicts(parameter_and_buffer_dicts)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    given = {name: tensor for each in dicts for name, tensor in each.items()}
    own = {
        **dict(module.named_parameters(remove_duplicate=False)),  # type: ignore[attr-defined]
        **dict(module.named_buffers(remove_duplicate=False)),  # type: ignore[attr-defined]
    }
    complete = _tied(given, own) if tie_weights else given
    if strict:
        _check_names(module, complete, own)
    with _installed(module, complete) as left_behind:
        result = module(*positional, **(kwargs or {}))
    for each in dicts:
        each.update((name, left_behind[name]) for name in each)
    return result


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of models of one kind, each stacked along a new first
    dimension: ``vmap`` over them runs the whole ensemble.

    Parameters that require grad are stacked into leaves that require grad.
    """
    call = f"stack_module_state of {len(models)} models"
    if not len(models):
        raise fail(
            RuntimeError,
            call=call,
            cause="Expected at least one model, got 0",
            fix="pass a list of models",
        )
    if len({bool(getattr(model, "training", False)) for model in models}) > 1:
        raise fail(
            RuntimeError,
            call=call,
            cause="Expected all models to have the same training/eval mode",
            fix="call train() or eval() on all of them",
        )
    if len({type(model) for model in models}) > 1:
        names = sorted({type(model).__name__ for model in models})
        raise fail(
            RuntimeError,
            call=call,
            cause=f"Expected all models to be of the same class, got {', '.join(names)}",
            fix="stack models of one class",
        )
    parameters = _stacked(call, [dict(model.named_parameters()) for model in models])
    return parameters, _stacked(call, [dict(model.named_buffers()) for model in models])


def _stacked(call: str, states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    stacked = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        needs = {each.requires_grad for each in tensors}
        if len(needs) > 1:
            raise fail(
                RuntimeError,
                call=call,
                cause=f"Expected {name} from each model to have the same .requires_grad",
                fix="call requires_grad_() on all of them or on none",
            )
        whole = recorded.stack([each.detach() for each in tensors], 0)
        stacked[name] = whole.requires_grad_(needs.pop())
    return stacked


def _checked_dicts(given: Any) -> list[dict[str, Tensor]]:
    def refuse(cause: str, fix: str) -> ValueError:
        return fail(ValueError, call="functional_call(module, …)", cause=cause, fix=fix)

    dicts = [given] if isinstance(given, dict) else given
    if not isinstance(dicts, Sequence) or not all(isinstance(each, dict) for each in dicts):
        raise refuse(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(given).__name__}",
            "pass dict(module.named_parameters()), or such dicts in a tuple",
        )
    names = [name for each in dicts for name in each]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise refuse(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous",
            "give each tensor once",
        )
    return list(dicts)


def _tied(given: dict[str, Tensor], own: dict[str, Tensor]) -> dict[str, Tensor]:
    """``given``, and under every further name that the module has for the same tensor."""
    names_of: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names_of.setdefault(id(tensor), []).append(name)
    complete = dict(given)
    for names in names_of.values():
        values = {id(given[name]): given[name] for name in names if name in given}
        if len(values) > 1:
            raise fail(
                ValueError,
                call="functional_call(module, …)",
                cause=f"functional_call got multiple values for keys {sorted(names)}, which are "
                "tied: they are one tensor of the module",
                fix="give one of them, or consider using tie_weights=False",
            )
        for value in values.values():
            complete.update(dict.fromkeys(names, value))
    return complete


def _check_names(module: Any, given: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    unexpected = [name for name in given if name not in own]
    missing = [name for name in own if name not in given]
    if unexpected or missing:
        causes = [f"Unexpected key(s): {unexpected}"] if unexpected else []
        causes += [f"Missing key(s): {missing}"] if missing else []
        raise fail(
            RuntimeError,
            call=f"functional_call({type(module).__name__}, …, strict=True)",
            cause="; ".join(causes),
            fix="name every parameter and buffer, or leave strict out",
        )


@contextmanager
def _installed(module: Any, tensors: dict[str, Tensor]) -> Iterator[dict[str, Any]]:
    """``tensors`` in the place of the module's own; afterwards, what the call made of them."""
    left_behind: dict[str, Any] = {}
    before: list[tuple[dict[str, Any] | Any, str, Any]] = []
    try:
        for path, tensor in tensors.items():
            owner, name = _owner(module, path)
            before.append((owner, name, _swap(owner, name, tensor)))
        yield left_behind
    finally:
        names = list(tensors)
        for path, (owner, name, original) in reversed(list(zip(names, before, strict=False))):
            left_behind[path] = _swap(owner, name, original)


def _owner(module: Any, path: str) -> tuple[Any, str]:
    *parts, name = path.split(".")
    for part in parts:
        if not hasattr(module, part):
            raise fail(
                AttributeError,
                call=f"functional_call with a tensor named {path!r}",
                cause=f"{type(module).__name__} has no attribute `{part}`",
                fix="use the names of module.named_parameters() and named_buffers()",
            )
        module = getattr(module, part)
    return module, name


def _swap(owner: Any, name: str, value: Any) -> Any:
    """Put ``value`` where the tensor is kept, and return what was there."""
    for kept in (getattr(owner, "_parameters", {}), getattr(owner, "_buffers", {})):
        if name in kept:
            kept[name], before = value, kept[name]
            return before
    before = getattr(owner, name, _MISSING)
    if value is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
    return before
