"""Running a program on both libraries and explaining the first difference."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tests.conformance.harness import as_numpy
from tests.fuzz.ops.program import TORCH, WHYGRAD, Outcome, Program, run

TOLERANCE = {"float64": (1e-7, 1e-8), "float32": (2e-2, 2e-3)}


def difference(program: Program, endings: Counter[str] | None = None) -> str | None:
    """None if the libraries agree, else what differs first; ``endings`` counts how it ended."""
    problem, ending = _judge(program)
    if endings is not None and problem is None:
        endings[ending] += 1
    return problem


def _judge(program: Program) -> tuple[str | None, str]:
    """The difference if there is one, and how the program ended."""
    try:
        theirs = run(program, TORCH)
    except RuntimeError as error:
        their_error: RuntimeError | None = error
    else:
        their_error = None
    try:
        mine = run(program, WHYGRAD)
    except Exception as error:
        if their_error is not None:
            return None, "refused by both"
        return f"whygrad raised {type(error).__name__}: {error}", ""
    if "is not implemented" in str(their_error):
        return None, "whygrad has a derivative that PyTorch lacks"
    if "undefined Tensor in C++" in str(their_error):  # second order of norms without weight
        return None, "PyTorch failed inside"
    if their_error is not None:
        return f"PyTorch raised, whygrad did not: {their_error}", ""
    return _first_difference(program, mine, theirs), "compared to the end"


def _first_difference(program: Program, mine: Outcome, theirs: Outcome) -> str | None:
    low = any(str(t.dtype).endswith("float32") for t in theirs.pool)
    for position, (a, b) in enumerate(zip(mine.pool, theirs.pool, strict=True)):
        problem = _compare(a, b, low)
        if problem:
            return f"t{position}: {problem}"
    for what, ours, others in (
        ("gradient", mine.gradients, theirs.gradients),
        ("second derivative", mine.second, theirs.second),
    ):
        for position, (a, b) in enumerate(zip(ours, others, strict=True)):
            problem = _compare(a, b, low)
            if problem:
                return f"{what} of leaf {position}: {problem}"
    return None


def _compare(a: Any, b: Any, low: bool) -> str | None:
    if a is None or b is None:
        return None if a is b else f"{a} against {b}"
    mine, theirs = as_numpy(a), as_numpy(b)
    if mine.shape != theirs.shape:
        return f"shape {mine.shape} against {theirs.shape}"
    if mine.dtype != theirs.dtype:
        return f"dtype {mine.dtype} against {theirs.dtype}"
    if not np.isfinite(theirs.astype(float)).all():
        return None  # a division by an exact zero somewhere: no number to compare
    rtol, atol = TOLERANCE["float32" if low else "float64"]
    scale = float(np.abs(theirs).max()) if theirs.size else 0.0
    if np.allclose(mine, theirs, rtol, atol * max(scale, 1.0)):
        return None
    worst = float(np.abs(mine.astype(float) - theirs.astype(float)).max())
    return f"values differ by {worst:.3g} (largest {scale:.3g})\n{mine}\n{theirs}"


def shrink(program: Program) -> Program:
    """Drop steps from the end, then anywhere, while the difference stays."""
    current = program
    changed = True
    while changed:
        changed = False
        for position in reversed(range(len(current.steps))):
            smaller = _without(current, position)
            if smaller is not None and difference(smaller) is not None:
                current, changed = smaller, True
                break
    return current


def _without(program: Program, position: int) -> Program | None:
    """The program without one step, if nothing later uses it."""
    removed = len(program.leaves) + position
    steps = []
    for i, step in enumerate(program.steps):
        if i == position:
            continue
        if removed in step.sources:
            return None
        moved = tuple(source - (source > removed) for source in step.sources)
        steps.append(type(step)(step.kind, moved, step.detail))
    return Program(program.seed, program.leaves, steps, program.second_order)
