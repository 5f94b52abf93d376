"""Modules and parameters kept in lists and dictionaries."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from operator import index as as_index
from textwrap import indent
from typing import Any

from whygrad.errors import describe, fail
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.tensor import Tensor

__all__ = [
    "Container",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
]


class _Listed(Module):
    """Children named by their position: "0", "1", …"""

    def _position(self, place: Any) -> str:
        count, wanted = len(self), as_index(place)
        if not -count <= wanted < count:
            raise IndexError(f"index {wanted} is out of range for {count} modules")
        return list(self._modules)[wanted % count]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _renumber(self, modules: Iterable[Any]) -> None:
        self.__dict__["_modules"] = {}
        for position, module in enumerate(modules):
            self.add_module(str(position), module)

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put a module before the one at ``index``."""
        if not isinstance(module, Module):
            raise TypeError(f"{describe(module)} is not a Module subclass")
        count = len(self)
        if not -count <= index <= count:
            raise IndexError(f"index {index} is out of range for {count} modules")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int) -> Module:
        """Take a module out."""
        module: Module = self[key]  # type: ignore[index]
        del self[key]
        return module

    def __delitem__(self, place: int | slice) -> None:
        names = list(self._modules)
        chosen = names[place] if isinstance(place, slice) else [self._position(place)]
        self._renumber([each for name, each in self._modules.items() if name not in chosen])

    def __setitem__(self, place: int, module: Module) -> None:
        setattr(self, self._position(place), module)

    def __iadd__(self, modules: Iterable[Module]) -> Any:
        return self.extend(modules)


class Sequential(_Listed):
    """Modules that each work on what the one before returned.

    ``Sequential(a, b)``, or ``Sequential(OrderedDict(first=a, second=b))`` for names.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for position, module in enumerate(args):
                self.add_module(str(position), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return type(self)(OrderedDict(list(self._modules.items())[place]))
        return self._modules[self._position(place)]

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise fail(
                ValueError,
                call=f"Sequential + {describe(other)}",
                cause="add operator supports only objects of Sequential class",
                fix="wrap the modules in a Sequential first",
            )
        return Sequential(*self, *other)

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int) or times <= 0:
            raise fail(
                ValueError if isinstance(times, int) else TypeError,
                call=f"Sequential * {times!r}",
                cause="only a positive number of repetitions makes sense",
                fix="multiply by 1, 2, …",
            )
        return Sequential(*chain.from_iterable([list(self)] * times))

    __rmul__ = __mul__


class ModuleList(_Listed):
    """A list of modules whose parameters count; it has no ``forward`` of its own."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return type(self)(list(self)[place])
        return self._modules[self._position(place)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Neighbours that look the same are shown once: ``(0-5): 6 x Linear(…)``."""
        lines = []
        first = 0
        for text, alike in groupby(map(repr, self)):
            count = len(list(alike))
            last = first + count - 1
            label = f"({first}): " if count == 1 else f"({first}-{last}): {count} x "
            lines.append("\n" + indent(label + text, "  "))
            first = last + 1
        return f"{self._get_name()}({''.join(lines)}\n)" if lines else f"{self._get_name()}()"


class ModuleDict(Module):
    """A dictionary of modules whose parameters count."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        return self._modules.keys()

    def items(self) -> Any:
        return self._modules.items()

    def values(self) -> Any:
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules, replacing those of the same name."""
        pairs = modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules
        for name, module in pairs:
            self[name] = module


def _as_parameter(value: Any) -> Any:
    """Tensors become parameters; anything else is kept as it is."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


class ParameterList(Module):
    """A list of parameters that count."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def _name(self, place: Any) -> str:
        wanted = as_index(place)
        if not -self._size <= wanted < self._size:
            raise IndexError(f"index {wanted} is out of range for {self._size} parameters")
        return str(wanted % self._size)

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return type(self)([self[each] for each in range(*place.indices(self._size))])
        return getattr(self, self._name(place))

    def __setitem__(self, place: int, value: Any) -> None:
        setattr(self, self._name(place), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(self._size))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> ParameterList:
        """Add a parameter (or anything else) at the end."""
        self._size += 1
        setattr(self, str(self._size - 1), _as_parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several at the end."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise fail(
                TypeError,
                call=f"ParameterList.extend({describe(values)})",
                cause="ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}",
                fix="pass a list of tensors",
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({place}): {_shown(each)}" for place, each in enumerate(self))


class ParameterDict(Module):
    """A dictionary of parameters that count."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __or__(self, other: Any) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Any) -> ParameterDict:
        return ParameterDict(other) | self

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self

    def keys(self) -> Iterable[str]:
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        return [self[key] for key in self._keys]

    def items(self) -> Iterable[tuple[str, Any]]:
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of that name; ``default`` becomes it if there is none."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take a parameter out."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last one out, with its name."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dictionary with ``default`` under every name."""
        return ParameterDict(OrderedDict.fromkeys(keys, default))

    def clear(self) -> None:
        for key in list(self._keys):
            del self[key]

    def update(self, parameters: Any) -> None:
        """Add parameters, replacing those of the same name; those of a plain dict by name."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs)
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {_shown(each)}" for key, each in self.items())


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        size = "x".join(map(str, value.shape))
        return f"{kind} containing: [{value.dtype} of size {size}]"
    return f"Object of type: {type(value).__name__}"


class Container(Module):
    """PyTorch's oldest container: modules by keyword."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of its functionality is now implemented in "
            "nn.Module. Subclass that instead.",
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)
