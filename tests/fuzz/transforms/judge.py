"""A program of transforms on both libraries: the first difference in words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import torch
import torch.func

import whygrad
from tests.conformance.harness import as_numpy
from tests.fuzz.transforms import excuses
from tests.fuzz.transforms.loops import TooLong
from tests.fuzz.transforms.program import Program
from tests.fuzz.transforms.words import run
from whygrad.errors import explained

__all__ = ["difference", "shrink"]

LIMIT = 1e4  # larger numbers only test how rounding errors grow
# PyTorch's transforms are not all of one mind; what one of them says too is right.
OTHER_WAYS = {
    "no custom functions": {"plain": True},
    "a loop": {"looping": True, "forward": True},
    "a loop and reverse mode alone": {"looping": True},
    "a loop, reverse mode alone and no custom functions": {"looping": True, "plain": True},
}
NAMES = ("the value", "x afterwards", "the slope")


def difference(program: Program, endings: Counter[str] | None = None) -> str | None:
    """None if the libraries agree, else what differs; ``endings`` counts how it ended."""
    problem, ending = _judge(program)
    if endings is not None and problem is None:
        endings[ending] += 1
    return problem


def shrink(program: Program) -> Program:
    """Drop parts while a difference stays."""
    for smaller in program.smaller():
        if difference(smaller) is not None:
            return shrink(smaller)
    return program


def _attempt(program: Program, lib: Any, **options: bool) -> list[Any] | Exception:
    try:
        return [as_numpy(each) for each in run(program, lib, **options)]
    except Exception as error:
        return error


def _judge(program: Program) -> tuple[str | None, str]:
    theirs = _attempt(program, torch)
    mine = _attempt(program, whygrad)
    if isinstance(mine, Exception):
        return _refused(program, mine, theirs)
    if isinstance(theirs, Exception):
        return _by_loop(program, mine, theirs)
    problem = _unequal(mine, theirs)
    if problem is None:
        return None, "compared"
    if problem == "":
        return None, "the numbers became too large"
    for how, options in OTHER_WAYS.items():
        again = _attempt(program, torch, **options)
        if not isinstance(again, Exception) and not _unequal(mine, again):
            return None, f"PyTorch agrees if it uses {how}"
    if excuses.nested_jvp_of_solve(program):
        return None, excuses.nested_jvp_of_solve.__name__
    if ".apply(" in str(program):
        # PyTorch's jvp of a custom function inside another jvp has no derivative of its own
        plain = _attempt(program, whygrad, looping=True, plain=True)
        if not isinstance(plain, Exception) and _unequal(mine, plain) is None:
            return None, "custom functions are as good as others here"
    if ".data." in str(program) and "again(" in str(program):
        return None, "only a checkpoint computes again what was saved and written behind its back"
    shaken = _attempt(program, whygrad, shaken=True)
    if not isinstance(shaken, Exception) and _unequal(mine, shaken):
        return None, "rounding errors grow too large"
    return problem, ""


def _refused(program: Program, mine: Exception, theirs: Any) -> tuple[str | None, str]:
    raw = not isinstance(mine, NameError) and not explained(mine)
    if isinstance(theirs, Exception):
        if raw and type(mine) is not type(theirs):
            return f"raw {type(mine).__name__}: {mine}", ""
        return None, "refused by both"
    for excuse in excuses.ONLY_WHYGRAD:
        if excuse(program, mine):
            return None, excuse.__name__
    return f"only whygrad refuses: {type(mine).__name__}: {mine}", ""


def _by_loop(program: Program, mine: list[Any], theirs: Exception) -> tuple[str | None, str]:
    """PyTorch refuses; the same program with loops tells whether whygrad is right."""
    looped = _attempt(program, whygrad, looping=True)
    if isinstance(looped, TooLong):
        return None, "the loop would take too long"
    if isinstance(looped, Exception):
        for excuse in excuses.LOOP_REFUSES:
            if excuse(program, looped):
                return None, excuse.__name__
        return f"PyTorch refuses ({theirs}), and so does the loop: {looped}", ""
    problem = _unequal(mine, looped)
    return (f"beside the loop: {problem}" if problem else None), "compared with a loop"


def _unequal(mine: list[Any], theirs: list[Any]) -> str | None:
    """None if all is equal, "" if that cannot be told from some number on."""
    for name, a, b in zip(NAMES, mine, theirs):
        if not np.isfinite(b).all() or np.abs(b).max(initial=0) > LIMIT:
            return ""
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{name}: {a.dtype}{a.shape} against {b.dtype}{b.shape}"
        scale = max(1.0, float(np.abs(b).max(initial=0)))
        if not np.allclose(a, b, 1e-6, 1e-8 * scale):
            return f"{name}:\n{a}\n{b}"
    return None
