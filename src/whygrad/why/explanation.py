"""``explain``: why is this gradient this number?

A gradient is a sum: over the uses of a value and, where all values on the way are single numbers,
over the paths that lead to it, each with its product of slopes.  :func:`explain` measures the
terms, and an :class:`Explanation` shows them as text, HTML, JSON or a picture.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from whygrad.scalar import Value
from whygrad.source import user_frame
from whygrad.tensor import Tensor
from whygrad.why.contributions import Contribution, Terms, contributions_to, is_rounding
from whygrad.why.flow import Box, Edge, Flow
from whygrad.why.names import Names
from whygrad.why.paths import Paths, find_paths
from whygrad.why.question import Question
from whygrad.why.rendering.figures import counted, described

__all__ = ["Explanation", "explain", "explained_flow"]

MOST_PATHS = 20


@overload
def explain(
    y: Any, wrt: list[Any] | tuple[Any, ...], *, gradient: Any = ..., max_paths: int = ...
) -> tuple[Explanation, ...]: ...


@overload
def explain(
    y: Any, wrt: Value | Tensor, *, gradient: Any = ..., index: Any = ..., max_paths: int = ...
) -> Explanation: ...


def explain(
    y: Any, wrt: Any, *, gradient: Any = None, index: Any = None, max_paths: int = MOST_PATHS
) -> Any:
    """Take the gradient of ``y`` with respect to ``wrt`` apart into what it is the sum of.

    ``y`` and ``wrt`` are Values or tensors; ``wrt`` may be a leaf or something in between, or a
    list of such things, for a tuple of explanations.  A ``y`` with several elements needs a
    ``gradient`` to start from, as for ``backward``.  ``index`` follows one element of ``wrt``.
    Where more than ``max_paths`` paths lead from ``y`` to a number, the largest are shown.

    Nothing changes: no ``.grad``, no graph is freed, no hook is called (the explanation names the
    hooks it left out).  Ask before ``backward()``, or keep the graph with ``retain_graph=True``.
    """
    names = Names(user_frame())
    if isinstance(wrt, (list, tuple)):
        asked = [Question(y, each, names, gradient, index, max_paths) for each in wrt]
        return tuple(_answered(each) for each in asked)
    return _answered(Question(y, wrt, names, gradient, index, max_paths))


def _answered(question: Question) -> Explanation:
    measured = question.measured()
    return explained_flow(
        measured.flow,
        index=question.index,
        max_paths=question.max_paths,
        notes=measured.notes,
        terms=measured.terms,
    )


def explained_flow(
    flow: Flow,
    *,
    index: tuple[int, ...] | None = None,
    max_paths: int = MOST_PATHS,
    notes: tuple[str, ...] = (),
    terms: Mapping[Edge, Terms | None] = MappingProxyType({}),
) -> Explanation:
    """The explanation of a backward pass that is written down already; it has a target."""
    target = flow.target
    assert target is not None, "a flow without a target explains nothing"
    paths = find_paths(flow, max_paths) if index is None else None
    through = None if paths is None else paths.through
    silent = [edge.consumer for edge in target.consumers if edge.contribution is None]
    notes += tuple(f"{each.name} ({each.op}) sent nothing back" for each in silent)
    if is_rounding(target):
        left = "no more than their rounding" if np.any(target.gradient) else "exactly zero"
        notes += (f"the contributions cancel: their sum is {left}, so nothing has a share of it",)
    found = contributions_to(target, through, index, terms)
    return Explanation(flow, tuple(found), paths, index, notes)


@dataclass(frozen=True, eq=False)
class Explanation:
    """A gradient and what it is the sum of.

    ``contributions`` holds one entry per use of the value, in the order of the program, and
    ``paths`` the single paths where all values on the way are numbers (else None, and for one
    element).  ``total`` is the sum of the contributions, ``gradient`` what backward computes, and
    ``residual`` the largest difference between them: rounding.  Gradients of tensors are NumPy
    arrays, of Values floats.
    """

    flow: Flow  # the backward pass between the two
    contributions: tuple[Contribution, ...]
    paths: Paths | None
    index: tuple[int, ...] | None  # the element that is followed
    notes: tuple[str, ...]  # what else one has to know

    @property
    def root(self) -> Box:
        """What was differentiated."""
        return self.flow.root

    @property
    def target(self) -> Box:
        """What the gradient is of."""
        assert self.flow.target is not None, "set by explained_flow"
        return self.flow.target

    @property
    def gradient(self) -> Any:
        """As backward computes it."""
        return self.target.gradient

    @property
    def total(self) -> Any:
        """The sum of the contributions, in double precision."""
        if not self.contributions:  # it is where backward starts
            return self.gradient
        values = [np.asarray(each.value) for each in self.contributions]
        wide = np.complex128 if values[0].dtype.kind == "c" else np.float64
        with np.errstate(all="ignore"):
            total = sum((each.astype(wide) for each in values[1:]), values[0].astype(wide))
        return float(total) if isinstance(self.gradient, float) else total

    @property
    def residual(self) -> float:
        """The largest difference between ``gradient`` and ``total``."""
        with np.errstate(all="ignore"):
            return float(np.abs(np.asarray(self.gradient) - self.total).max(initial=0.0))

    def text(self, width: int | None = None) -> str:
        """As a table in ``width`` columns: by default the terminal's, at least 60."""
        from whygrad.why.rendering.text import text_of

        return text_of(self, width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        asked = f"{self.root.name}, wrt={self.target.name}"
        parts = counted(len(self.contributions), "contribution")
        return f"<Explanation of {asked}: {described(self.gradient)} from {parts}>"

    def _repr_html_(self) -> str:
        from whygrad.why.rendering.page import html_of

        return html_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that ``json.dumps`` takes, with a versioned schema; arrays as summaries."""
        from whygrad.why.rendering.record import record_of

        return record_of(self)

    def to_dot(self) -> str:
        """The picture in Graphviz's language."""
        from whygrad.why.drawing import to_dot

        return to_dot(self.flow)

    def draw(self, file: str | os.PathLike[str]) -> Path:
        """Write the picture to a ``.svg`` or ``.png`` file."""
        from whygrad.why.drawing import draw

        return draw(self.flow, file)
