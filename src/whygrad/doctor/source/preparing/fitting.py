"""Statistics, codes and vocabularies that the text takes from held-out data.

What a model is given at the end has to be prepared with the numbers of the training set.  A scaler
that is fitted again, a mean of the test set's own, a vocabulary that is built twice: each is one
expression about data whose name says that they are held out, beside the same for training.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from whygrad.doctor.source.naming import is_held_out, is_training
from whygrad.doctor.source.preparing.taking import (
    FITS,
    gives_a_table,
    is_category,
    is_table,
    normalised,
    numbered,
    takes_numbers,
)
from whygrad.doctor.source.reader import Source, called, source_of, walked
from whygrad.source import Where

__all__ = ["Fitted", "fitted_on_held_out"]

_CODES = ("factorize", "get_dummies")  # that number what they find
_TABLE, _SORTED = "table", "sorted table"

_KEPT = re.compile(r"vocab|stoi|word2|w2i|to_i|scaler|encoder|mean|std|stats|mapping")


class Fitted(NamedTuple):
    """Numbers taken from held-out data, where those of the training data are meant."""

    name: str  # of the data
    how: str
    kind: str  # the class or the function that takes them
    where: Where


def fitted_on_held_out(file: str) -> Iterator[Fitted]:
    """Every statement that takes statistics or codes from held-out data, as it does in training."""
    source = source_of(file)
    found = list(_fits(source))
    for each in found:
        where = source.place(each.line)
        trained = any(
            _alike(other.kind, each.kind)
            and ast.unparse(other.data) != ast.unparse(each.data)
            and other.says(is_training)
            and not other.says(is_held_out)
            for other in found
        )
        if where is None or not trained or each.says(is_training):
            continue
        if each.says(is_held_out) or ("Scaler" in each.kind and each.says(_is_features)):
            yield Fitted(ast.unparse(each.data), each.how, each.kind, where)


def _alike(one: str, other: str) -> bool:
    """Whether the same is taken from two data, which may then differ.

    What is sorted before it is numbered is told from what is not: two that are sorted agree.
    """
    if {one, other} <= {_TABLE, _SORTED}:
        return _TABLE in (one, other)
    return one == other


class _Fit(NamedTuple):
    """An expression that takes numbers from data."""

    kind: str
    data: ast.expr
    how: str
    line: int
    target: str  # the variable that gets what comes of it

    def says(self, kind: Callable[[str], bool]) -> bool:
        """Whether the data, or what is made of them, have a name of this kind."""
        names = [each.id for each in walked(self.data, ast.Name)]
        names += [each.attr for each in walked(self.data, ast.Attribute)]
        return any(map(kind, names)) or (bool(self.target) and kind(self.target))


def _fits(source: Source) -> Iterator[_Fit]:
    functions, classes = {*_preparing(source)}, {*_preparing_classes(source)}
    targets = {
        id(call): each.targets[0].id
        for each in source.nodes(ast.Assign)
        if isinstance(each.targets[0], ast.Name)
        for call in walked(each.value, ast.Call)
    }
    for call in source.nodes(ast.Call):
        name, target = called(call), targets.get(id(call), "")
        given = call.args[0] if call.args else None
        if is_category(call) and isinstance(call.func, ast.Attribute):
            data = call.func.value
            yield _Fit("category", data, "astype('category')", call.lineno, target)
        elif given is not None and name in FITS and len(call.args) == 1:
            kind = _class_of(source, call)
            yield _Fit(kind, given, f"{kind}.{name}()", call.lineno, target)
        elif given is not None and _takes(call, functions, classes):
            yield _Fit(name, given, f"{name}()", call.lineno, target)
    for own in source.nodes(ast.BinOp):
        data_name = normalised(own)
        if data_name is not None:
            how = "(x - x.mean()) / x.std()"
            yield _Fit("normalised", ast.Name(data_name), how, own.lineno, "")
    for each in numbered(source.tree.body):
        kind = _SORTED if each.sorts else _TABLE
        yield _Fit(kind, each.data, f"the table `{each.name}`", each.line, each.name)


def _takes(call: ast.Call, functions: set[str], classes: set[str]) -> bool:
    """Whether a call takes its numbers from the data that it is given, and is not told others."""
    more = [*call.args[1:], *(each.value for each in call.keywords)]
    if called(call) in functions:  # of one thing, but for what may be left out
        return all(isinstance(each, ast.Constant) and each.value in (None, True) for each in more)
    return called(call) in (*_CODES, *classes) and not _is_told(call)


def _is_told(call: ast.Call) -> bool:
    """Whether a call is given what was fitted before."""
    given = [*call.args[1:], *(each.value for each in call.keywords)]
    names = [each for one in given for each in re.findall(r"\w+", ast.unparse(one))]
    names += [each.arg or "" for each in call.keywords]
    return any(_KEPT.search(each.lower()) for each in names)


def _is_features(name: str) -> bool:
    """``Xb``: features of something that is not told, beside those of training."""
    return name[:1] in ("x", "X") and len(name) > 1


def _class_of(source: Source, call: ast.Call) -> str:
    """The class of what is fitted, or its name if that is not told."""
    made = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    if isinstance(made, ast.Call):
        return called(made)
    name = ast.unparse(made)
    for each in source.nodes(ast.Assign):
        if any(ast.unparse(one) == name for one in each.targets) and isinstance(
            each.value, ast.Call
        ):
            return called(each.value)
    return name


def _preparing(source: Source) -> Iterator[str]:
    """Functions of some data that normalise by these alone, or number what is in them."""
    for function in source.nodes(ast.FunctionDef):
        arguments = function.args.args
        needed = arguments[: len(arguments) - len(function.args.defaults)]
        given = [each.arg for each in needed if each.arg != "self"]
        if len(given) != 1 or function.name == "__getitem__":
            continue
        if takes_numbers(function, given[0]) or gives_a_table(function):
            yield function.name


def _preparing_classes(source: Source) -> Iterator[str]:
    """Data sets that do so with what they are made of, each for itself."""
    functions = {*_preparing(source)}
    for kind in source.nodes(ast.ClassDef):
        for function in (each for each in kind.body if isinstance(each, ast.FunctionDef)):
            if function.name != "__init__":
                continue
            given = {each.arg for each in function.args.args} - {"self"}
            own = [each for each in function.body if isinstance(each, ast.Assign)]
            values = [each.value for each in own]
            calls = [call for each in values for call in walked(each, ast.Call)]
            counts = any(
                called(each) in functions and given & {one.id for one in walked(each, ast.Name)}
                for each in calls
            )
            tables = any(is_table(each) for each in values)
            scales = any(
                normalised(each) in given for one in values for each in walked(one, ast.BinOp)
            )
            if counts or tables or scales:
                yield kind.name
