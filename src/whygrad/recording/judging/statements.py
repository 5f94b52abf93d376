"""Which statements of a program judge a model: they lay two lists of numbers beside each other.

Accuracies and errors of NumPy, pandas, scikit-learn and plain Python compute outside of any engine.
Their statements are found in the text, so that somebody can look when the program comes there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from whygrad.ops import families as ops
from whygrad.why.syntax import covers, parsed

__all__ = [
    "CLASSES",
    "ERRORS",
    "RANKS",
    "Judging",
    "calls_of",
    "judgings",
    "last_name",
    "loop_around",
]

# Metrics by what their second argument is: classes, measurements, scores to rank by.
CLASSES = frozenset(
    {
        "accuracy_score", "balanced_accuracy_score", "classification_report", "cohen_kappa_score",
        "confusion_matrix", "crosstab", "f1_score", "fbeta_score", "jaccard_score",
        "matthews_corrcoef", "precision_recall_fscore_support", "precision_score", "recall_score",
    }
)  # fmt: skip
ERRORS = frozenset(
    {
        "explained_variance_score", "max_error", "mean_absolute_error",
        "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_log_error",
        "median_absolute_error", "r2_score", "root_mean_squared_error",
    }
)  # fmt: skip
RANKS = frozenset(
    {"average_precision_score", "precision_recall_curve", "roc_auc_score", "roc_curve"}
)

_GIVEN = ("y_true", "y_pred", "y_score", "y_prob")  # names of their arguments
_MEASURING = ops.ABS | ops.NORM | ops.SQRT | ops.TOTALS
_LOADING = frozenset({"enumerate", "iter", "track", "tqdm"})  # what stands around a loader

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Loop = ast.For | ast.AsyncFor
_ORDERINGS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)


class Judging(NamedTuple):
    """Two sides that a statement compares, as they are written."""

    # "classes", "errors" or "ranks" of a metric with a name; "equal", "pairs", "difference",
    # "threshold", "quotient" or "choice" of what is written out
    kind: str
    name: str  # of the metric, if it has one
    sides: tuple[ast.expr, ...]
    number: float | None = None  # what one side is compared with

    @property
    def line(self) -> int:
        """Where the first side stands: a statement may have many lines."""
        return self.sides[0].lineno


@lru_cache(maxsize=16)
def judgings(text: str) -> dict[int, tuple[Judging, ...]]:
    """What each statement of a text judges by, under the number of its first line."""
    found: dict[int, list[Judging]] = {}
    for statement in ast.walk(parsed(text)):
        if isinstance(statement, ast.stmt) and not isinstance(statement, (_Scope, _Loop)):
            known = found.setdefault(statement.lineno, [])
            for head in _heads(statement):
                known += _judging(head)
            if isinstance(statement, ast.If):
                known += _choosing(statement)
    return {line: tuple(each) for line, each in found.items() if each}


def _heads(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement itself, not of the block below it."""
    return (each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr))


def _judging(head: ast.expr) -> Iterator[Judging]:
    calls = {last_name(each.func) for each in ast.walk(head) if isinstance(each, ast.Call)}
    squares = any(isinstance(each, ast.Pow) for each in ast.walk(head))
    for each in ast.walk(head):
        match each:
            case ast.Call(func=function, args=[ast.expr() as one, ast.expr() as other, *_]):
                yield from _named(last_name(function), (one, other))
            case ast.Call(func=function, args=args, keywords=keywords):
                given = [one.value for one in keywords if one.arg in _GIVEN]
                if len(args) + len(given) == 2:
                    yield from _named(last_name(function), (*args, *given))
            case ast.Compare(left=one, ops=[ast.Eq()], comparators=[other]):
                if not _is_number(one) and not _is_number(other):
                    yield Judging("equal", "", (one, other))
            case ast.Compare(left=one, ops=[ast.Gt() | ast.GtE()], comparators=[other]):
                if isinstance(other, ast.Constant) and type(other.value) is float:
                    yield Judging("threshold", "", (one,), other.value)
            case ast.BinOp(left=one, op=ast.Sub(), right=other) if squares or _MEASURING.any_of(
                calls
            ):
                if not _is_number(one) and not _is_number(other):
                    yield Judging("difference", "", (one, other))
            case ast.BinOp(left=one, op=ast.Div(), right=ast.Name() | ast.Call() as other):
                yield Judging("quotient", "", (one, other))


def _choosing(statement: ast.If) -> Iterator[Judging]:
    """``if loss < best: best = loss``: 1 if it asks for more, -1 if for less."""
    match statement.test:
        case ast.Compare(left=one, ops=[sign], comparators=[other]):
            asked = 1 if isinstance(sign, (ast.Gt, ast.GtE)) else -1
            sides = [ast.unparse(one), ast.unparse(other)]
            kept = [
                {ast.unparse(target), ast.unparse(each.value)}
                for each in statement.body
                if isinstance(each, ast.Assign)
                for target in each.targets
            ]
            if isinstance(sign, _ORDERINGS) and set(sides) in kept:
                yield Judging("choice", " ? ".join(sides), (one, other), asked)


def _named(name: str, sides: tuple[ast.expr, ...]) -> Iterator[Judging]:
    if name == "zip":
        yield Judging("pairs", "", sides)
    for kind, known in (("classes", CLASSES), ("errors", ERRORS), ("ranks", RANKS)):
        if name in known:
            yield Judging(kind, name, sides)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.UnaryOp))


def calls_of(sides: tuple[ast.expr, ...]) -> Iterator[ast.Call]:
    """The calls in expressions."""
    return (call for each in sides for call in ast.walk(each) if isinstance(call, ast.Call))


def last_name(node: ast.expr) -> str:
    """``mean`` of ``np.mean`` and of ``mean``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def loop_around(text: str, line: int) -> tuple[int, ast.expr] | None:
    """The first line of the innermost ``for`` around a line, and what that goes through."""
    found = None
    for each in ast.walk(parsed(text)):
        if isinstance(each, (ast.For, *_COMPREHENSIONS)) and covers(each, line):
            found = each if found is None or each.lineno >= found.lineno else found
    if found is None:
        return None
    through = found.iter if isinstance(found, ast.For) else found.generators[0].iter
    while isinstance(through, ast.Call) and last_name(through.func) in _LOADING and through.args:
        through = through.args[0]
    return found.lineno, through
