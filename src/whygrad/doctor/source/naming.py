"""What the names in the text say: that data are held out, that a model is a baseline, a fold.

A run shows which samples a model was given; only the program knows which of them it was not to see.
"""

from __future__ import annotations

import ast
import re

from whygrad.doctor.source.loops import loops_around
from whygrad.doctor.source.reader import called, covers, source_of, walked
from whygrad.source import Calls, Where
from whygrad.why.dataflow import statement_at

__all__ = [
    "calls_a_part",
    "held_out_name",
    "is_chosen",
    "is_held_out",
    "is_made_up",
    "is_training",
    "made_from",
    "probability_to_keep",
    "says",
    "told_as_held_out",
    "was_to_be_chosen",
]

_BEFORE, _BEHIND = (
    r"(?:[xy]s?|inputs?|data|feat\w*)?",
    r"(?:sets?|loader|data|d[ls]|x|y|inputs?|\d)*",
)
_KIND = _BEFORE + "(?:{})" + _BEHIND
_HELD_OUT = re.compile(_KIND.format("test|val|valid|validation|holdout|heldout|dev|te|va|eval"))
_TRAINING = re.compile(_KIND.format("train|training|tr|trn|fit|all|full"))
_MADE_UP = re.compile(r"linspace|meshgrid|mgrid|cartesian_prod|\b(env|sim|world|game)\w*\.step\(")
_SEVERAL = re.compile(r"(loaders|sets|splits|names)$", re.IGNORECASE)
_FOLLOWED = 3  # assignments from a loader back to its data


def held_out_name(calls: Calls) -> str | None:
    """The name of held-out data in the innermost line of a call, or its loops, that names any.

    None if there is none, if training data are named there as well, or if the name picks some of
    the answers: ``model(nodes)[test]`` gives the model everything.
    """
    if any(_goes_through_sets(Where(*each)) for each in calls):
        return None
    for code, instruction in calls:
        where = Where(code, instruction)
        statement = statement_at(where)
        if statement is not None and any(map(_picks_answers, walked(statement, ast.Subscript))):
            return None
        nodes: list[ast.AST] = [] if statement is None else [_head(statement)]
        nodes += [each.node.iter for each in loops_around(where) if isinstance(each.node, ast.For)]
        for node in nodes:
            names = [each for each in _names(node) if _is(each, _HELD_OUT)]
            names = [each for each in names if each not in _filled(node)]
            if any(_is(each, _TRAINING) for each in _names(node)):
                return None
            if names:
                used = {one.id for one in walked(node, ast.Name) if isinstance(one.ctx, ast.Load)}
                return next((each for each in names if each in used), names[0])
    return None


def _goes_through_sets(where: Where) -> bool:
    """Whether a line is about one set after the other, those of the training among them."""
    loops = [each.node.iter for each in loops_around(where)[:1] if isinstance(each.node, ast.For)]
    return any(_SEVERAL.search(name) for each in loops for name in _names(each))


def _filled(node: ast.AST) -> set[str]:
    """What a statement writes answers into, place by place: ``val_buf[t] = value(state)``."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    places = [each for target in targets for each in walked(target, ast.Subscript)]
    return {each.id for place in places for each in walked(place.value, ast.Name)}


def _picks_answers(node: ast.Subscript) -> bool:
    """Whether what a call returns is taken apart by a name of held-out data."""
    names = (each.id for each in walked(node.slice, ast.Name))
    return any(_is(each, _HELD_OUT) for each in names) and any(walked(node.value, ast.Call))


def calls_a_part(where: Where) -> bool:
    """Whether a statement calls one of a model's layers by its number: ``flow.layers[0](x)``."""
    statement = statement_at(where)
    called_here = [] if statement is None else walked(_head(statement), ast.Call)
    return any(
        isinstance(each.func, ast.Subscript)
        and isinstance(each.func.value, ast.Attribute)
        and isinstance(each.func.slice, ast.Constant)
        for each in called_here
    )


def is_held_out(name: str) -> bool:
    """Whether a name is that of data which the model is not to see."""
    return _is(name, _HELD_OUT)


def is_training(name: str) -> bool:
    """Whether a name is that of training data."""
    return _is(name, _TRAINING)


def told_as_held_out(calls: Calls) -> tuple[Where, str, str] | None:
    """A line of a call that gives a held-out name to what it does with training data.

    The line, the name, and that of the data; None if held-out data are named there as well.
    """
    for code, instruction in calls:
        where = Where(code, instruction)
        statement = statement_at(where)
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        handed = [*statement.value.args, *(each.value for each in statement.value.keywords)]
        ends = [
            name for each in handed for part in walked(each, ast.Slice) for name in _names(part)
        ]
        given = [name for each in handed for name in _names(each) if name not in ends]
        told = _assigned(statement)
        held_out = [each for each in told if _is(each, _HELD_OUT)]
        trained = [each for each in given if _is(each, _TRAINING)]
        mixed = any(_is(each, _TRAINING) for each in told) or any(
            _is(each, _HELD_OUT) for each in given
        )
        if held_out and trained and not mixed:
            return where, held_out[0], trained[0]
    return None


def probability_to_keep(where: Where) -> str | None:
    """The name that a line gives to a dropout as its number, if it says what is kept."""
    for call in source_of(where).nodes(ast.Call):
        if covers(call, where.line) and "dropout" in called(call).lower():
            named = [each.value for each in call.keywords if each.arg == "p"]
            for given in (*call.args, *named):
                if isinstance(given, (ast.Name, ast.Attribute)) and any(
                    "keep" in each.lower() for each in _names(given)
                ):
                    return ast.unparse(given)
    return None


def says(calls: Calls, pattern: str) -> bool:
    """Whether a line of a call, or a loop around it, has a name that fits."""
    wanted = re.compile(pattern, re.IGNORECASE)
    for code, instruction in calls:
        where = Where(code, instruction)
        statement = statement_at(where)
        nodes: list[ast.AST] = [] if statement is None else [_head(statement)]
        for each in loops_around(where):
            nodes += [each.node.iter, each.node.target] if isinstance(each.node, ast.For) else []
        if any(wanted.search(name) for node in nodes for name in _names(node)):
            return True
    return False


def is_chosen(where: Where) -> bool:
    """Whether a line runs in some rounds of a loop: it stands under an ``if``."""
    return bool(loops_around(where)) and any(
        covers(each, where.line) and loops_around(where)[0].node.lineno < each.lineno
        for each in source_of(where).nodes(ast.If)
    )


def was_to_be_chosen(where: Where) -> bool:
    """Whether what a line uses is assigned under a condition somewhere: the best of several."""
    source, statement = source_of(where), statement_at(where)
    used = set() if statement is None else set(_names(statement))
    return any(
        used & set(_assigned(each)) - {"self"}
        for choice in source.nodes(ast.If)
        for part in choice.body
        for each in walked(part, ast.Assign)
    )


def _assigned(statement: ast.Assign) -> list[str]:
    return [name for target in statement.targets for name in _names(target)]


def made_from(file: str, name: str) -> Where | None:
    """The line that makes the data of this name: of a loader, that of its data."""
    source, found = source_of(file), None
    for _ in range(_FOLLOWED):
        line = next(
            (
                each
                for each in source.nodes(ast.Assign)
                if any(
                    one.id == name for target in each.targets for one in walked(target, ast.Name)
                )
            ),
            None,
        )
        if line is None:
            break
        found = source.place(line.lineno) or found
        names = [each for each in _names(line.value) if _is(each, _HELD_OUT) and each != name]
        if not names:
            break
        name = names[0]
    return found


def is_made_up(where: Where) -> bool:
    """Whether what a line asks about is a grid, or what a world shows that the model moves."""
    own = {line for *_, line in where.code.co_lines() if line}
    made = [each for each in source_of(where).nodes(ast.Assign) if each.lineno in own]
    statement = statement_at(where)
    told: list[ast.AST] = [] if statement is None else [_head(statement)]
    for _ in range(_FOLLOWED):
        if any(_MADE_UP.search(ast.unparse(each)) for each in told):
            return True
        names = {name for each in told for name in _names(each)}
        told = [each.value for each in made if names.intersection(_assigned(each))]
    return False


def _head(statement: ast.stmt) -> ast.AST:
    """A statement without the block below it."""
    if isinstance(statement, ast.For):
        return statement.iter
    if isinstance(statement, (ast.While, ast.If)):
        return statement.test
    if isinstance(statement, ast.With):
        return ast.Tuple([each.context_expr for each in statement.items], ast.Load())
    return statement


def _names(node: ast.AST) -> list[str]:
    return [
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name)
        or (isinstance(each, ast.Attribute) and not isinstance(each.value, ast.Call))
    ]


def _is(name: str, pattern: re.Pattern[str]) -> bool:
    words = re.split(r"_|(?<=[a-z])(?=[A-Z])", name)
    return any(pattern.fullmatch(each.lower()) for each in words)
