"""The program that is to be watched, set up as Python itself would set it up.

Loading is apart from running: whatever is wrong with the file is said before anything has happened.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, ModuleType

from whygrad.errors import fail

__all__ = ["Program", "as_main", "load_module", "load_script"]


@dataclass(frozen=True)
class Program:
    """Code, and the names and paths that ``python …`` would give it."""

    code: CodeType
    file: str
    name: str  # what the program finds in sys.argv[0]
    folder: str  # the first place where it looks for modules
    spec: importlib.machinery.ModuleSpec | None = None  # of ``python -m``


def load_script(path: str) -> Program:
    """What ``python path`` runs."""
    file = os.path.abspath(path)
    if os.path.isdir(file):
        raise _refused(
            IsADirectoryError,
            path,
            "this is a folder, not a script",
            f"name the script in it, as in: whygrad doctor {os.path.join(path, 'train.py')}",
        )
    if path.endswith(".ipynb"):
        advice = f"jupyter nbconvert --to script {path}, or use whygrad.doctor.watch in a cell"
        raise _refused(ValueError, path, "this is a notebook, not a script", advice)
    try:
        with open(file, "rb") as opened:
            source = opened.read()
    except OSError as error:
        cause = f"the script cannot be read: {(error.strerror or str(error)).lower()}"
        advice = "check the path; it is taken from the folder you are in"
        raise _refused(type(error), path, cause, advice) from None
    if b"\0" in source:
        raise _refused(ValueError, path, "this is not Python source", "name a .py file")
    code = compile(source, file, "exec", dont_inherit=True)
    return Program(code, file, path, os.path.dirname(os.path.realpath(file)))


def _refused(kind: type[Exception], path: str, cause: str, fix: str) -> Exception:
    return fail(kind, call=f"doctor {path}", cause=cause, fix=fix, where=None)


def load_module(name: str) -> Program:
    """What ``python -m name`` runs: a module, or the ``__main__`` of a package."""
    with _looking_in(os.getcwd()):
        spec = _find(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = _find(f"{name}.__main__")
        code = None
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            code = spec.loader.get_code(spec.name)
    if spec is None or code is None or spec.origin is None:
        cause = "there is no such module with Python source, or no __main__ in the package"
        advice = f"check that `python -m {name}` works from the folder you are in"
        raise _refused(ModuleNotFoundError, f"-m {name}", cause, advice)
    return Program(code, spec.origin, spec.origin, os.getcwd(), spec)


def _find(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):  # a parent that is not there, or is no package
        return None


@contextmanager
def _looking_in(folder: str) -> Iterator[None]:
    """Python puts the program's folder in the first place, where the command's own one is now."""
    before = list(sys.path)
    if not sys.flags.safe_path:
        sys.path[:1] = [folder]
    try:
        yield
    finally:
        sys.path[:] = before


@contextmanager
def as_main(program: Program, arguments: Sequence[str]) -> Iterator[ModuleType]:
    """The program's ``__main__``, with its arguments and its folder, until the block ends."""
    main = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", program.file)
    main.__dict__.update(
        __annotations__={},
        __builtins__=builtins,
        __cached__=None if program.spec is None else program.spec.cached,
        __file__=program.file,
        __loader__=loader if program.spec is None else program.spec.loader,
        __package__=None if program.spec is None else program.spec.parent,
        __spec__=program.spec,
    )
    before = sys.modules["__main__"], sys.argv
    sys.modules["__main__"] = main
    sys.argv = [program.name, *arguments]
    try:
        with _looking_in(program.folder):
            yield main
    finally:
        sys.modules["__main__"], sys.argv = before
