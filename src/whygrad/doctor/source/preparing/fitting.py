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
from whygrad.doctor.source.reader import Source, called, source_of, walked
from whygrad.ops.families import EXTREMES, MEAN, SPREADS, Family
from whygrad.source import Where

__all__ = ["Fitted", "fitted_on_held_out"]

_FITS = ("fit_transform", "fit")
_CODES = ("factorize", "get_dummies")  # that number what they find

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
            other.kind == each.kind and other.line != each.line and other.says(is_training)
            and not other.says(is_held_out)
            for other in found
        )  # fmt: skip
        if where is None or not trained or each.says(is_training):
            continue
        if each.says(is_held_out) or ("Scaler" in each.kind and each.says(_is_features)):
            yield Fitted(ast.unparse(each.data), each.how, each.kind, where)


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
    preparing = {*_preparing(source), *_preparing_classes(source)}
    targets = {
        id(call): each.targets[0].id
        for each in source.nodes(ast.Assign)
        if isinstance(each.targets[0], ast.Name)
        for call in walked(each.value, ast.Call)
    }
    for call in source.nodes(ast.Call):
        name, target = called(call), targets.get(id(call), "")
        given = call.args[0] if call.args else None
        if _is_category(call) and isinstance(call.func, ast.Attribute):
            data = call.func.value
            yield _Fit("category", data, "astype('category')", call.lineno, target)
        elif given is not None and name in _FITS and len(call.args) == 1:
            kind = _class_of(source, call)
            yield _Fit(kind, given, f"{kind}.{name}()", call.lineno, target)
        elif given is not None and name in (*_CODES, *preparing) and not _is_told(call):
            yield _Fit(name, given, f"{name}()", call.lineno, target)
    for own in source.nodes(ast.BinOp):
        data_name = _normalised(own)
        if data_name is not None:
            how = "(x - x.mean()) / x.std()"
            yield _Fit("normalised", ast.Name(data_name), how, own.lineno, "")


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
        given = [each.arg for each in function.args.args if each.arg != "self"]
        if len(given) != 1 or function.name == "__getitem__":
            continue
        normalises = any(_normalised(each) == given[0] for each in walked(function, ast.BinOp))
        if normalises or _numbers(function):
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
            tables = any(_is_table(each) for each in values)
            scales = any(
                _normalised(each) in given for one in values for each in walked(one, ast.BinOp)
            )
            if counts or tables or scales:
                yield kind.name


def _numbers(function: ast.FunctionDef) -> bool:
    """Whether a function gives back a table that numbers what it finds."""
    values = [each.value for each in walked(function, ast.Return) if each.value is not None]
    returned = {each.id for each in values if isinstance(each, ast.Name)}
    for each in walked(function, ast.Assign):
        match each:
            case ast.Assign(
                [ast.Subscript(ast.Name(id=name))], ast.Call(args=[ast.Name(id=same)]) as call
            ) if name == same and called(call) == "len" and name in returned:
                return True  # vocab[word] = len(vocab)
            case ast.Assign([ast.Name(id=name)], _) if name in returned:
                values.append(each.value)
    return any(map(_is_table, values))


def _is_table(value: ast.expr) -> bool:
    """``{word: i for i, word in enumerate(words)}``"""
    return any(
        called(call) == "enumerate"
        for each in walked(value, ast.DictComp)
        for call in walked(each, ast.Call)
    )


def _is_category(call: ast.Call) -> bool:
    return called(call) == "astype" and any(
        isinstance(each, ast.Constant) and each.value == "category" for each in call.args
    )


def _normalised(node: ast.BinOp) -> str | None:
    """``x`` of ``(x - x.mean(0)) / x.std(0)``, feature by feature or as a whole."""
    if not isinstance(node.op, ast.Div) or not isinstance(node.left, ast.BinOp):
        return None
    top, below = node.left, node.right
    if not isinstance(top.op, ast.Sub) or not isinstance(top.left, ast.Name):
        return None
    name = top.left.id
    centred = any(
        _statistic_of(each, name, MEAN | EXTREMES) for each in walked(top.right, ast.Call)
    )
    spread = any(_statistic_of(each, name, SPREADS | EXTREMES) for each in walked(below, ast.Call))
    return name if centred and spread else None


def _statistic_of(call: ast.Call, name: str, names: Family) -> bool:
    """Whether a call takes a statistic of a variable over its rows."""
    if called(call) not in names:
        return False
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    own = isinstance(of, ast.Name) and of.id == name
    arguments = list(call.args)
    if not own:
        own = bool(arguments) and isinstance(arguments[0], ast.Name) and arguments[0].id == name
        arguments = arguments[1:]
    named = [each.value for each in call.keywords if each.arg in ("axis", "dim")]
    axes = [ast.unparse(each) for each in (*arguments[:1], *named)]
    return own and (not axes or axes[0].startswith(("0", "(0", "[0")))
