"""From a live function to the text of its signature in a stub.

Annotations are taken as they stand in the source.  Where the source leaves a parameter of an op
open (``Any``, or nothing at all, as in a lambda), its name decides: PyTorch's names mean the same
everywhere.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from inspect import Parameter
from types import ModuleType
from typing import Any

from whygrad.ops.define import Op

__all__ = ["Imports", "parameters_of", "render", "scope_of", "with_out"]

Function = Callable[..., Any]
Scope = dict[str, Any]

_WORDS = {
    "A": "Tensor", "alpha": "Number", "append": "Tensor", "beta": "Number",
    "destination": "Ints", "device": "DeviceLike", "dim": "Ints", "dims": "Ints",
    "dtype": "DTypeLike", "dx": "Number", "end": "Operand", "eps": "float",
    "exponent": "Operand", "fill_value": "Operand", "generator": "Generator",
    "index": "Operand", "input": "Tensor", "lambd": "float", "layout": "Layout",
    "max": "Operand", "memory_format": "MemoryFormat", "min": "Operand", "n": "int",
    "nan": "float", "neginf": "float", "other": "Operand", "pad": "Sequence[int]",
    "posinf": "float", "prepend": "Tensor", "q": "Operand", "shifts": "Ints", "size": "Ints",
    "sizes": "Ints", "source": "Ints", "split_size_or_sections": "Ints",
    "split_sizes": "Sequence[int]", "src": "Operand", "start": "Operand", "step": "Operand",
    "stride": "int | Sequence[int]", "tensor1": "Tensor", "tensor2": "Tensor",
    "tensors": "Sequence[Tensor]", "value": "Operand", "weight": "Operand", "x": "Tensor",
    "y": "Tensor",
    "*dims": "Ints", "*order": "Ints", "*shape": "Ints", "*size": "Ints", "*sizes": "Ints",
    "*tensors": "Tensor | Sequence[Tensor]",
    "matmul.other": "Tensor", "tensordot.dims": "Any",
}  # fmt: skip

# Where the words above live, and names that the source imports for type checkers only.
_HOMES = {
    "Any": "typing",
    "DTypeLike": "whygrad.tensor._types",
    "DeviceLike": "whygrad.tensor._types",
    "Generator": "whygrad.random",
    "Layout": "whygrad.tensor.devices",
    "MemoryFormat": "whygrad.tensor.memory",
    "Number": "whygrad.tensor._types",
    "Operand": "whygrad.tensor._types",
    "Sequence": "collections.abc",
    "Ints": "whygrad.tensor._types",
    "Tensor": "whygrad.tensor.tensor",
}


class Imports:
    """The names that one stub takes from elsewhere.

    ``defined`` are its own: a stub that declares ``float`` must say ``builtins.float``.
    """

    def __init__(self, defined: Iterable[str] = ()) -> None:
        self._defined = frozenset(defined)
        self._names: dict[str, set[str]] = defaultdict(set)
        self._modules: set[str] = set()

    def add(self, module: str, name: str, alias: str | None = None) -> None:
        self._names[module].add(name if alias is None else f"{name} as {alias}")

    def annotation(self, text: str, scope: Scope) -> str:
        """The annotation as the stub must write it; what it names gets imported."""
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = self._name(node.id, scope)
        return ast.unparse(tree)

    def _name(self, name: str, scope: Scope) -> str:
        value = scope.get(name, getattr(builtins, name, None))
        if value is Any:  # also under another name, such as Array
            self.add("typing", "Any")
            return "Any"
        if getattr(builtins, name, None) is value and value is not None:
            if name in self._defined:
                self._modules.add("builtins")
                return f"builtins.{name}"
            return name
        if name in _HOMES:
            self.add(_HOMES[name], name)
        elif isinstance(value, ModuleType):
            package, _, module = value.__name__.rpartition(".")
            self.add(package, module, None if module == name else name)
        elif inspect.isclass(value) or getattr(value, "__module__", None) == "typing":
            self.add(value.__module__, name)
        elif name in scope:
            self.add(scope["__name__"], name)
        elif name != "None":
            raise NameError(f"annotation {name!r} in {scope['__name__']}: nobody says what it is")
        return name

    def __str__(self) -> str:
        plain = [f"import {module}" for module in sorted(self._modules)]
        named = [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self._names.items())
        ]
        return "\n".join(plain + named)


class _Verbatim(str):
    """Text that :mod:`inspect` prints without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def scope_of(function: Function) -> Scope:
    """The globals in which the annotations of a function have a meaning."""
    return inspect.unwrap(function).__globals__


def parameters_of(op: Op) -> list[Parameter]:
    """What the public function takes, with a word for every parameter."""
    every = inspect.signature(op.public).parameters.values()
    parameters = [each for each in every if each.name != "out"]
    bare = op.kind != "composite" and op.public is op.call
    if bare and parameters[-1].kind is Parameter.VAR_POSITIONAL:  # by position, as declared
        names = (*op.tensor_names, *op.param_names)
        parameters = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    return [each.replace(annotation=_word(op, each)) for each in parameters]


def with_out(parameters: Iterable[Parameter], result: str) -> list[Parameter]:
    """The parameters and ``out=``, which every function takes in the same way."""
    taken = {"Tensor": "Tensor | None", "Any": "Tensor | Sequence[Tensor] | None"}
    annotation = taken.get(result, "Sequence[Tensor] | None")
    out = Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    given = list(parameters)
    options = [each for each in given if each.kind is Parameter.VAR_KEYWORD]
    return [*given[: len(given) - len(options)], out, *options]


def _word(op: Op, parameter: Parameter) -> str:
    name, default = parameter.name, parameter.default
    unsaid = parameter.annotation is Parameter.empty
    if not unsaid and parameter.annotation != "Any":
        return str(parameter.annotation)
    starred = f"*{name}" if parameter.kind is Parameter.VAR_POSITIONAL else name
    word = _WORDS.get(f"{op.name}.{name}") or _WORDS.get(starred)
    if word is None and name in op.tensor_names:
        word = "Sequence[Tensor]" if op.variadic else "Tensor"
    if name == "input" and op.kind == "elementwise" and len(op.tensor_names) == 2:
        word = "Operand"  # 2 ** x has its number on this side
    if word is None and unsaid and type(default) in (bool, float, str):
        word = type(default).__name__
    if word is None or word == "Any":
        return "Any"
    return f"{word} | None" if default is None else word


def render(
    parameters: Iterable[Parameter], result: str, imports: Imports, scope: Scope, method: bool
) -> str:
    """``(self, dim: int = -1) -> Tensor``; a method gives up its ``input``."""
    chosen = list(parameters)
    if method:
        chosen = _without_self(chosen)
    written = [
        each.replace(annotation=_annotation(each, imports, scope), default=_default(each.default))
        for each in chosen
    ]
    signature = inspect.Signature(
        written, return_annotation=_Verbatim(imports.annotation(result, scope))
    )
    return str(signature)


def _without_self(parameters: list[Parameter]) -> list[Parameter]:
    position = next((i for i, each in enumerate(parameters) if each.name == "input"), 0)
    rest = parameters[:position] + parameters[position + 1 :]
    only = any(each.kind is Parameter.POSITIONAL_ONLY for each in rest)
    kind = Parameter.POSITIONAL_ONLY if only else Parameter.POSITIONAL_OR_KEYWORD
    return [Parameter("self", kind), *rest]


def _annotation(parameter: Parameter, imports: Imports, scope: Scope) -> Any:
    if parameter.name == "self":
        return Parameter.empty
    text = "Any" if parameter.annotation is Parameter.empty else str(parameter.annotation)
    return _Verbatim(imports.annotation(text, scope))


def _default(value: Any) -> Any:
    if value is Parameter.empty or value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, tuple) and all(type(each) is int for each in value):
        return value
    return _Verbatim("...")
