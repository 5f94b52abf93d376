"""Parameters that are computed: a module with a parametrization stands between them and their use.

A parametrized module gets another class, made once per class and set of names, on which each name
is a property: reading it computes the tensor, assigning to it changes the parameters behind.  Those
live in ``module.parametrizations.<name>`` and are what ``parameters()`` and ``state_dict()`` show.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

from whygrad.errors import describe, fail
from whygrad.nn.modules.container import ModuleDict, ModuleList
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.tensor import Tensor
from whygrad.tensor.modes import no_grad

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

M = TypeVar("M", bound=Module)


def _refusal(call: str, kind: type[Exception], cause: str, fix: str) -> Exception:
    return fail(kind, call=call, cause=cause, fix=fix)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, first applied first, and what they are applied to.

    That is ``original``, or ``original0``, ``original1``, … if the inverse of the first gives
    several tensors.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor) -> None:
        super().__init__(modules)
        values: Any = original
        with no_grad():
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        values = module.right_inverse(values)
        self.is_tensor = isinstance(values, Tensor)
        self.ntensors = 1 if self.is_tensor else len(values)
        for name, value in zip(self._names(), [values] if self.is_tensor else values):
            if not isinstance(original, Parameter):
                self.register_buffer(name, value)
            elif value is original:
                self.register_parameter(name, original)
            else:
                self.register_parameter(name, Parameter(value, original.requires_grad))

    def _names(self) -> list[str]:
        if self.is_tensor:
            return ["original"]
        return [f"original{index}" for index in range(self.ntensors)]

    def originals(self) -> list[Tensor]:
        """The tensors that are learned."""
        return [getattr(self, name) for name in self._names()]

    def forward(self) -> Any:
        """The tensor that the module uses."""
        first, *others = self
        result = first(*self.originals())
        for parametrization in others:
            result = parametrization(result)
        return result

    @no_grad()
    def right_inverse(self, value: Tensor) -> None:
        """Change what is learned so that the tensor becomes ``value``."""
        found: Any = value
        for parametrization in reversed(list(self)):
            if not hasattr(parametrization, "right_inverse"):
                raise _refusal(
                    f"assigning {describe(value)} to a parametrized tensor",
                    RuntimeError,
                    f"parametrization {type(parametrization).__name__} does not implement "
                    "right_inverse",
                    "define right_inverse(self, value), which finds what forward() turns into it",
                )
            found = parametrization.right_inverse(found)
        for own, new in zip(self.originals(), [found] if self.is_tensor else found, strict=True):
            own.copy_(new)


class _Parametrized:
    """Put in front of the class of a module."""

    _plain: type[Module]
    _computed: tuple[str, ...]

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if name not in self._computed:
            super().__setattr__(name, value)
        elif isinstance(value, Parameter):
            cause = f"attribute '{name}' already exists: it is computed by a parametrization"
            fix = f"assign a plain tensor, or remove_parametrizations(module, {name!r}) first"
            raise _refusal(f"self.{name} = Parameter(…)", KeyError, cause, fix)
        else:
            self.parametrizations[name].right_inverse(value)
            _caching.results.pop(self.parametrizations[name], None)

    def __reduce__(self: Any) -> Any:
        return _make, (self._plain, self._computed), self.__dict__


_classes: dict[tuple[Any, tuple[str, ...]], Any] = {}


def _class_of(plain: type[Module], names: tuple[str, ...]) -> Any:
    if (plain, names) not in _classes:
        members: dict[str, Any] = {name: _computed(name) for name in names}
        members |= {"_plain": plain, "_computed": names, "__module__": plain.__module__}
        made = type(f"Parametrized{plain.__name__}", (_Parametrized, plain), members)
        _classes[plain, names] = made
    return _classes[plain, names]


def _computed(name: str) -> property:
    def read(module: Any) -> Any:
        listed = module.parametrizations[name]
        if not _caching.depth:
            return listed()
        if listed not in _caching.results:
            _caching.results[listed] = listed()
        return _caching.results[listed]

    return property(read)


class _Caching(threading.local):
    """Computed tensors while somebody is inside ``cached()``, per thread."""

    def __init__(self) -> None:
        self.depth = 0
        self.results: dict[ParametrizationList, Any] = {}


_caching = _Caching()


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor only once inside the ``with`` block.

    For modules that read a weight several times, as a recurrent cell does.
    """
    _caching.depth += 1
    try:
        yield
    finally:
        _caching.depth -= 1
        if not _caching.depth:
            _caching.results = {}


def _make(plain: type[Module], names: tuple[str, ...]) -> Any:
    kind = _class_of(plain, names)
    return kind.__new__(kind)


def type_before_parametrizations(module: Module) -> type[Module]:
    """The class that the module was made with."""
    return module._plain if isinstance(module, _Parametrized) else type(module)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the tensor of that name is computed, or any."""
    names = module._computed if isinstance(module, _Parametrized) else ()
    return bool(names) if tensor_name is None else tensor_name in names


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """From now on ``module.<tensor_name>`` is what ``parametrization`` makes of its parameters.

    ``parametrization.right_inverse``, if there is one, says which parameters give the present
    tensor.  ``unsafe`` allows a parametrization that changes shape or dtype.
    """
    call = f"register_parametrization({type(module).__name__}, {tensor_name!r}, …)"
    owner: Any = module  # gets another class
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        before = getattr(owner, tensor_name)
        if not unsafe:
            _check_result(call, lambda: parametrization(before), before)
        owner.parametrizations[tensor_name].append(parametrization)
        return module
    before = {**module._parameters, **module._buffers}.get(tensor_name)
    if before is None:
        raise _refusal(
            call,
            ValueError,
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'",
            "see dict(module.named_parameters(recurse=False)) for the names there are",
        )
    listed = ParametrizationList([parametrization], before)
    if not unsafe:
        _check_result(call, listed, before)
    names = getattr(owner, "_computed", ())
    delattr(owner, tensor_name)
    if not names:
        owner.parametrizations = ModuleDict()
    owner.__class__ = _class_of(type_before_parametrizations(module), (*names, tensor_name))
    owner.parametrizations[tensor_name] = listed
    return module


def _check_result(call: str, compute: Callable[[], Any], before: Tensor) -> None:
    with no_grad():
        after = compute()
    cause = None
    if not isinstance(after, Tensor):
        cause = f"A parametrization must return a tensor. Got {type(after).__name__}"
    elif after.dtype is not before.dtype or after.shape != before.shape:
        what = "dtype" if after.dtype is not before.dtype else "shape"
        cause = f"Registering a parametrization may not change the {what} of the tensor, unless "
        cause += f"`unsafe` flag is enabled: {describe(before)} became {describe(after)}"
    if cause is not None:
        fix = "return a tensor like the one it is given; pass unsafe=True if that is on purpose"
        raise _refusal(call, ValueError, cause, fix)


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make the tensor a parameter again: as computed now, or as it was before the computation."""
    call = f"remove_parametrizations({type(module).__name__}, {tensor_name!r})"
    if not is_parametrized(module, tensor_name):
        cause = f"Module {module} does not have a parametrization on {tensor_name}"
        raise _refusal(call, ValueError, cause, "see is_parametrized(module, name)")
    owner: Any = module  # gets another class
    listed = owner.parametrizations[tensor_name]
    if not leave_parametrized and not listed.is_tensor:
        cause = "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
        cause += "parametrized in terms of a sequence of tensors"
        raise _refusal(call, ValueError, cause, "leave leave_parametrized at True")
    first = listed.originals()[0]
    result = first
    if leave_parametrized:
        with no_grad():
            result = listed()
        if isinstance(first, Parameter):
            result = Parameter(result, first.requires_grad)
    plain = type_before_parametrizations(module)
    names = tuple(name for name in owner._computed if name != tensor_name)
    del owner.parametrizations[tensor_name]
    if not names:
        del owner.parametrizations
    owner.__class__ = _class_of(plain, names) if names else plain
    if isinstance(result, Parameter):
        module.register_parameter(tensor_name, result)
    else:
        module.register_buffer(tensor_name, result)
    return module


def transfer_parametrizations_and_params(
    from_module: Module, to_module: M, tensor_name: str | None = None
) -> M:
    """Compute tensors of ``to_module`` as those of ``from_module``, from the same parameters.

    All that are computed there, or the one of that name; what ``to_module`` lacks it gets.
    """
    if not is_parametrized(from_module):
        return to_module
    source, target = cast("Any", from_module), cast("Any", to_module)
    for name in tuple(source._computed) if tensor_name is None else (tensor_name,):
        if not is_parametrized(from_module, name):
            continue
        listed = source.parametrizations[name]
        if not hasattr(target, name):
            setattr(target, name, Parameter(getattr(source, name).detach().clone()))
        for parametrization in listed:
            register_parametrization(to_module, name, parametrization)
        for own in listed._parameters if listed._parameters else listed._buffers:
            setattr(target.parametrizations[name], own, getattr(listed, own))
    return to_module
