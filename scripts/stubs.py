"""Write what type checkers and editors read about names that come into being at import.

``whygrad.softmax`` and ``x.softmax`` come into being at import, from the rows of the table, so no
tool that only reads source can know them; nor what a package gathers with ``import *``.  This
writes them down: ``python -m scripts.stubs`` after the table has changed, with ``--check`` to see
whether that is still to be done.

Stubs replace the source for a type checker.  Modules that only collect functions get one; the
methods go to a class of their own, which ``Tensor`` inherits in the eyes of the checker alone, so
that ``tensor.py`` itself stays checked.
"""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from functools import cache
from inspect import Parameter
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import whygrad
from scripts.overloads import forms, method_forms
from scripts.signatures import Imports, parameters_of, render, scope_of, with_out
from tests.conformance.harness import whygrad_side
from whygrad.aliases import ALIASES
from whygrad.ops import late
from whygrad.ops.define import Op, aliases, table
from whygrad.ops.public import return_types
from whygrad.ops.samples import samples_of
from whygrad.tensor import Tensor

__all__ = ["generate", "main"]

Function = Callable[..., Any]

_PACKAGE = Path(whygrad.__file__).parent
_STUBS = _PACKAGE.parent / "whygrad-stubs"
_COLLECTIONS = ("whygrad", "whygrad.nn.functional", "whygrad.ops.public.linalg")
# Operators are installed as primitives, whose parameters say less than the operator's name.
_OPERATOR_HOMES = ("whygrad.dispatch", "whygrad.ops.inplace.writing", "whygrad.ops.operators")
_IN_PLACE_HOMES = ("whygrad.ops.inplace.writing", "whygrad.ops.inplace.geometry")
_NOTICE = "Written by scripts/stubs.py: run `make stubs` instead of editing."
_WIDTH = 86  # of docstrings: leaves room for the quotes and indent of a method


def generate() -> dict[Path, str]:
    """Every stub by its path."""
    late.load_all()
    texts = {
        _PACKAGE / "tensor" / "_methods.pyi": _methods(),
        _PACKAGE / "ops" / "public" / "return_types.pyi": _results(),
        _PACKAGE / "ops" / "late_names.py": _late_names(),
    }
    for name in (*_COLLECTIONS, *_gathering()):
        module = importlib.import_module(name)
        texts[Path(str(module.__file__)).with_suffix(".pyi")] = _collection(module)
    return {path: _tidy(text, path) for path, text in texts.items()} | _alias_stubs()


def _alias_stubs() -> dict[Path, str]:
    """PyTorch's dotted paths, which :mod:`whygrad.aliases` finds at run time.

    They stand in a package of stubs beside whygrad, as PEP 561 has it: "partial" lets a type
    checker look there first and then in whygrad itself.
    """
    texts = {_STUBS / "py.typed": "partial\n"}
    for alias, real in ALIASES.items():
        home = _PACKAGE.joinpath(*real.split("."))
        inside = sorted(home.rglob("*.py")) if home.is_dir() else [home.with_suffix(".py")]
        for file in inside:
            path = _STUBS.joinpath(*alias.split(".")).with_suffix(".pyi")
            if home.is_dir():
                path = path.with_suffix("") / file.relative_to(home).with_suffix(".pyi")
            parts = file.relative_to(_PACKAGE.parent).with_suffix("").parts
            module = ".".join(parts).removesuffix(".__init__")
            texts[path] = f"# {_NOTICE}\nfrom {module} import *\n"
    return texts


def _gathering() -> list[str]:
    """Packages that offer what their modules do: ``from … import *``."""
    return [
        ".".join(("whygrad", *file.parent.relative_to(_PACKAGE).parts))
        for file in sorted(_PACKAGE.rglob("__init__.py"))
        if " import *\n" in file.read_text(encoding="utf-8")
    ]


def _late_names() -> str:
    """What the late modules declare: ops, their twins in place, and second names of both."""
    found: dict[str, set[str]] = {module: set() for module in late.MODULES}
    second = [(other, table[original]) for other, original in aliases.items()]
    for name, op in [*table.items(), *second]:
        for module, names in found.items():
            if op.module == module or op.module.startswith(f"{module}."):
                names |= {name, f"{name}_"} if op.inplace else {name}
    listed = {module: tuple(sorted(names)) for module, names in found.items()}
    methods = tuple(
        sorted(name for names in found.values() for name in names & vars(Tensor).keys())
    )
    return (
        '"""Names by the late module that declares them, and which are methods: see :mod:`.late`.'
        '\n\n`make stubs` writes this file.\n"""\n\n'
        f"NAMES: dict[str, tuple[str, ...]] = {listed!r}\nMETHODS: tuple[str, ...] = {methods!r}\n"
    )


def _collection(module: ModuleType) -> str:
    """A module that exports functions of the table, among other things."""
    ops = {op.public: op for op in table.values()}
    imports = Imports(module.__all__)
    body = [f"__all__ = {list(module.__all__)!r}"]
    private = [name for name, value in vars(module).items() if _is_private_class(name, value)]
    for name in (*module.__all__, *private):
        value = getattr(module, name)
        if inspect.isfunction(value) and value in ops:
            body.append(_op_function(name, ops[value], imports))
        elif inspect.isfunction(value) and name.endswith("_"):
            body.append(_in_place(name, value, imports, method=False))
        elif inspect.ismodule(value):
            package, _, own_name = value.__name__.rpartition(".")
            imports.add(package, own_name, name)
        elif inspect.isclass(value) and value.__module__ == module.__name__:  # made at run time
            kind = type(value)
            body.append(f"{name}: {imports.annotation(kind.__name__, {kind.__name__: kind})}")
        elif inspect.isclass(value) or inspect.isfunction(value):
            imports.add(value.__module__, value.__name__, name)
        else:
            kind = type(value)
            label = "None" if value is None else kind.__name__
            body.append(f"{name}: {imports.annotation(label, {label: kind})}")
    if hasattr(module, "__version__"):
        body.append("__version__: str")
    return _stub(str(module.__doc__), imports, body)


def _is_private_class(name: str, value: Any) -> bool:
    """PyTorch's base classes, such as ``_ConvNd``, for which programs ask ``isinstance``."""
    return name.startswith("_") and not name.startswith("__") and inspect.isclass(value)


def _methods() -> str:
    """What :mod:`whygrad.ops` installs on ``Tensor``: everything not written in its class."""
    installed = {
        name: value
        for name, value in sorted(vars(Tensor).items())
        if isinstance(value, (FunctionType, property))
        and _home(_function_of(value)) != Tensor.__module__
    }
    imports = Imports(installed)
    methods = "\n".join(_method(name, value, imports) for name, value in installed.items())
    body = "class OpMethods:\n" + textwrap.indent(methods, "    ")
    return _stub("The methods of ``Tensor`` that come from the op table.", imports, [body])


def _results() -> str:
    """The named tuples, which are made at import."""
    imports = Imports(return_types.__all__)
    imports.add("typing", "NamedTuple")
    imports.add("whygrad.tensor.tensor", "Tensor")
    body = [f"__all__ = {return_types.__all__!r}"]
    for name in return_types.__all__:
        value = getattr(return_types, name)
        if inspect.isclass(value):
            fields = "\n".join(f"    {field}: Tensor" for field in value._fields)
            body.append(f"class {name}(NamedTuple):\n{fields}")
        else:
            body.append(_plain(name, value, imports, method=False))
    return _stub(str(return_types.__doc__), imports, body)


def _stub(doc: str, imports: Imports, body: list[str]) -> str:
    head = f'"""{doc}"""\n# {_NOTICE}'
    return "\n\n".join([head, str(imports), *body]) + "\n"


def _op_function(name: str, op: Op, imports: Imports, method: bool = False) -> str:
    doc = op.formula
    if not _is_primitive(op):
        doc = f"{inspect.getdoc(op.public) or ''}\n\n{op.formula}".strip()
    out = op.takes_out and not method
    if op.name in forms:
        return _overloaded(name, forms[op.name], doc, imports, method, out)
    parameters, result = parameters_of(op), result_of(op)
    if out:
        parameters = with_out(parameters, result)
    signature = render(parameters, result, imports, scope_of(op.public), method)
    return _def(name, signature, doc)


def _method(name: str, value: Any, imports: Imports) -> str:
    function = _function_of(value)
    if isinstance(value, property):
        answer = "bool" if name.startswith("is_") else "Any"
        signature = render([], answer, imports, scope_of(function), method=True)
        return f"@property\n{_def(name, signature, function.__doc__)}"
    if name.startswith("__") and _home(function).startswith(_OPERATOR_HOMES):
        return _operator(name, function, imports)
    if name in method_forms:
        return _overloaded(name, method_forms[name], function.__doc__, imports, method=True)
    op = table.get(function.__name__)
    if op is not None and getattr(function, "op", None) is op:
        return _op_function(name, op, imports, method=True)
    return _in_place(name, function, imports, method=True)


def _in_place(name: str, function: Function, imports: Imports, method: bool) -> str:
    """By the parameters of the op it repeats in place, if there is one."""
    twin = table.get(function.__name__.removesuffix("_"))
    if twin is None or hasattr(function, "op") or _home(function) not in _IN_PLACE_HOMES:
        return _plain(name, function, imports, method)
    parameters = [each for each in parameters_of(twin) if each.name != "inplace"]
    signature = render(parameters, "Tensor", imports, scope_of(twin.public), method)
    return _def(name, signature, function.__doc__)


def _operator(name: str, function: Function, imports: Imports) -> str:
    other, remark = "Operand", ""
    if name in ("__eq__", "__ne__"):
        other, remark = "object", "  # type: ignore[override]"
    elif name.endswith("matmul__"):
        other = "Tensor"
    operands = [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in ("self", "other")]
    operands[1] = operands[1].replace(annotation=other)
    if len(inspect.signature(function).parameters) == 1:
        del operands[1]
    signature = render(operands, "Tensor", imports, scope_of(function), method=True)
    return _def(name, signature) + remark


def _plain(name: str, function: Function, imports: Imports, method: bool) -> str:
    """A function that is no op, by its own annotations."""
    return _def(name, _as_annotated(function, imports, method), function.__doc__)


def _overloaded(
    name: str,
    variants: list[Function],
    doc: str | None,
    imports: Imports,
    method: bool,
    out: bool = False,
) -> str:
    texts = [_def(name, _as_annotated(each, imports, method, out), doc) for each in variants]
    if len(texts) == 1:
        return texts[0]
    imports.add("typing", "overload")
    return "\n".join(f"@overload\n{text}" for text in texts)


def _as_annotated(function: Function, imports: Imports, method: bool, out: bool = False) -> str:
    signature = inspect.signature(function)
    parameters, result = list(signature.parameters.values()), str(signature.return_annotation)
    if not method:  # a method that is a function, too
        parameters = [
            each.replace(name="input", annotation="Tensor") if each.name == "self" else each
            for each in parameters
        ]
    if out:
        parameters = with_out(parameters, result)
    return render(parameters, result, imports, scope_of(function), method)


def _is_primitive(op: Op) -> bool:
    """Whether the public function is the kernel's call, perhaps after sorting out arguments."""
    inner = getattr(op.public, "__wrapped__", None)
    finished = hasattr(inner, "op")  # a function that returns the result knows its op
    return op.kind != "composite" and not finished


@cache
def result_of(op: Op) -> str:
    """What the public function returns: as annotated, else as seen when its samples run."""
    annotation = inspect.signature(op.public).return_annotation
    if not _is_primitive(op) and annotation not in (Parameter.empty, "Any"):
        return str(annotation)
    seen: set[str] = set()

    def record(*args: Any, **kwargs: Any) -> Any:
        result = op.public(*args, **kwargs)
        seen.add(_kind_of(result))
        return result

    with warnings.catch_warnings(), whygrad.fork_rng():
        warnings.simplefilter("ignore")
        for call in samples_of(op):
            whygrad_side(call, "float64").run(record)
    return seen.pop() if len(seen) == 1 else "Any"


def _kind_of(result: Any) -> str:
    if isinstance(result, Tensor):
        return "Tensor"
    name = type(result).__name__
    if getattr(return_types, name, None) is type(result):
        return f"return_types.{name}"
    if isinstance(result, tuple):
        return "tuple[Tensor, ...]"
    return name if isinstance(result, (bool, int, float)) else "Any"


def _function_of(value: Any) -> Any:
    return value.fget if isinstance(value, property) else value


def _home(function: Any) -> str:
    """The module with its code; ``__module__`` is where users find it."""
    return str(function.__globals__["__name__"])


def _def(name: str, signature: str, doc: str | None = None) -> str:
    body = f"\n{textwrap.indent(_docstring(doc), '    ')}" if doc else " ..."
    return f"def {name}{signature}:{body}"


def _docstring(doc: str) -> str:
    lines = inspect.cleandoc(doc).replace("\\", "\\\\").splitlines()
    wrapped = [piece for line in lines for piece in textwrap.wrap(line, _WIDTH) or [""]]
    closing = "\n" if len(wrapped) > 1 else ""
    return '"""' + "\n".join(wrapped) + closing + '"""'


def _tidy(text: str, path: Path) -> str:
    """Formatted and with sorted imports, as the linter wants every file."""
    for command in (["check", "--fix-only", "--quiet"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        done = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True)
        text = done.stdout
    return text


def main(arguments: list[str]) -> int:
    """Write what has changed; with ``--check`` only say so and fail."""
    check = arguments == ["--check"]
    stale = {
        path: text
        for path, text in generate().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        print(f"{'stale' if check else 'wrote'} {path.relative_to(_PACKAGE.parent)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
