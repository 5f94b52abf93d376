"""Drawing random programs; PyTorch runs along to know the shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from tests.conformance.outputs import WRONG_IN_PYTORCH
from tests.fuzz.ops.program import (
    PATTERNS,
    STATES,
    TORCH,
    Program,
    Step,
    call_op,
    execute,
    samples,
)
from whygrad.ops.define import Op, table

# Ops that cannot be compared element by element, each with its reason.
EXCLUDED = {
    "empty": "uninitialised memory",
    "empty_like": "uninitialised memory",
    "new_empty": "uninitialised memory",
}
# Ops whose out= PyTorch gets wrong, each with what it does.
NO_OUT = {
    "gelu": "float32 memory that is not contiguous stays as it was",
    **dict.fromkeys(WRONG_IN_PYTORCH, "values go to the wrong places, or shapes are not looked at"),
}
DTYPES = ("float64", "float32", "int32", "int64", "uint8")
LIMIT = 1e3  # larger numbers only test how rounding errors grow


def candidates() -> list[tuple[Op, int]]:
    """Every (op, sample) that has a counterpart in PyTorch and takes a float array."""
    chosen = []
    for op in table.values():
        if op.torch == "" or op.name in EXCLUDED:
            continue
        for index, call in enumerate(samples(op.name)):
            if _has_float(call.args) or _has_float(list(call.kwargs.values())):
                chosen.append((op, index))
    return chosen


def _has_float(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_float(each) for each in value)
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 0


def _takes_dtype(name: str, index: int) -> bool:
    """Whether PyTorch takes ``dtype=`` there: it is asked, for its signatures cannot be."""
    try:
        call_op(name, index, 0, [torch.ones(1)], TORCH, dtype=torch.float64)
    except (TypeError, RuntimeError, ValueError, NotImplementedError):
        return False
    return True


def _one_of(rng: np.random.Generator, table: Iterable[str]) -> str:
    choices = list(table)
    return choices[rng.integers(len(choices))]


class Generator:
    """Draws one program per seed."""

    def __init__(self) -> None:
        self.by_op: dict[str, list[int]] = {}
        for op, index in candidates():
            self.by_op.setdefault(op.name, []).append(index)
        self.names = sorted(self.by_op)
        self.take_dtype = [name for name in self.names if _takes_dtype(name, self.by_op[name][0])]
        self.take_out = [
            name for name in self.names if table[name].takes_out and name not in NO_OUT
        ]
        # A matrix of equal numbers is singular: its decomposition is anybody's.  What does not vary
        # correlates as 0/0, or as ±1 where PyTorch rounds its mean.
        self.smooth = [
            name for name in self.names if table[name].family != "linalg" and name != "corrcoef"
        ]

    def draw(self, seed: int) -> Program:
        rng = np.random.default_rng(seed)
        dtype = "float64" if rng.random() < 0.75 else "float32"
        leaves = []
        for position in range(rng.integers(1, 4)):
            shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(0, 4)))
            mixed = "float32" if dtype == "float64" and rng.random() < 0.1 else dtype
            leaves.append((shape, mixed, bool(position == 0 or rng.random() < 0.8)))
        program = Program(seed, leaves, second_order=bool(rng.random() < 0.25))
        pool = [
            TORCH.leaf(np.random.default_rng(seed).uniform(-1, 1, shape).astype(kind), grad)
            for shape, kind, grad in leaves
        ]
        for _ in range(rng.integers(2, 9)):
            step = self._draw_step(rng, pool)
            try:
                result = execute(step, pool, TORCH)
            except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
                continue
            if not _tame(result):
                continue
            pool.append(result)
            program.steps.append(step)
        return program

    def _draw_step(self, rng: np.random.Generator, pool: list[Any]) -> Step:
        source = int(rng.integers(len(pool)))
        if rng.random() < 0.5:
            sources = tuple(int(i) for i in rng.integers(0, len(pool), rng.integers(1, 3)))
            floats = tuple(i for i in sources if pool[i].is_floating_point()) or (0,)
            return self._draw_call(rng, floats)
        return self._draw_rearrangement(rng, pool, source)

    def _draw_call(self, rng: np.random.Generator, sources: tuple[int, ...]) -> Step:
        """A plain call, or one with ``out=``, ``dtype=`` or constant and extreme numbers."""
        chance = rng.random()
        if chance < 0.1:
            name, detail, kind = _one_of(rng, self.take_out), _one_of(rng, STATES), "out"
        elif chance < 0.2:
            name, detail, kind = _one_of(rng, self.take_dtype), _one_of(rng, DTYPES), "dtype"
        elif chance < 0.3:
            name, detail, kind = _one_of(rng, self.smooth), _one_of(rng, PATTERNS), "pattern"
        else:
            name, detail, kind = _one_of(rng, self.names), int(rng.integers(0, 3)), "op"
        return Step(kind, sources, (name, int(rng.choice(self.by_op[name])), detail))

    def _draw_rearrangement(self, rng: np.random.Generator, pool: list[Any], source: int) -> Step:
        tensor = pool[source]
        ndim = tensor.dim()
        kind = str(
            rng.choice(
                [
                    "transpose", "permute", "unsqueeze", "squeeze", "slice", "reshape", "expand",
                    "flip", "detach", "to", "add", "mul", "scale", "fold", "clone", "contiguous",
                    "flatten", "sum", "narrow", "select", "diagonal", "t",
                ]
            )
        )  # fmt: skip
        pick = lambda n: int(rng.integers(-n, n)) if n else 0  # noqa: E731
        detail: tuple[Any, ...] = ()
        sources = (source,)
        if kind == "transpose":
            detail = (pick(ndim), pick(ndim))
        elif kind == "permute":
            detail = tuple(int(d) for d in rng.permutation(ndim))
        elif kind == "unsqueeze":
            detail = (int(rng.integers(-ndim - 1, ndim + 1)),)
        elif kind == "slice":
            detail = tuple(self._draw_index(rng, int(n)) for n in tensor.shape)
        elif kind == "reshape":
            detail = ((-1,),) if rng.random() < 0.5 else ((*tensor.shape[1:], *tensor.shape[:1]),)
        elif kind == "expand":
            extra = int(rng.integers(1, 4))
            detail = (extra, *tensor.shape)
        elif kind == "flip":
            detail = ((pick(ndim),),)
        elif kind == "to":
            detail = (str(rng.choice(["float32", "float64"])),)
        elif kind in ("add", "mul"):
            sources = (source, int(rng.integers(len(pool))))
        elif kind == "scale":
            detail = (float(rng.choice([0.5, 2, -1.0])),)
        elif kind in ("sum", "select"):
            detail = (pick(ndim),) if kind == "sum" else (pick(ndim), 0)
        elif kind == "narrow":
            dim = pick(ndim)
            size = tensor.shape[dim] if ndim else 1
            start = int(rng.integers(0, size)) if size else 0
            detail = (dim, start, int(rng.integers(0, size - start + 1)))
        return Step(kind, sources, detail)

    def _draw_index(self, rng: np.random.Generator, size: int) -> Any:
        choice = rng.random()
        if choice < 0.2 and size:
            return int(rng.integers(-size, size))
        if choice < 0.6:
            return slice(None)
        start, step = int(rng.integers(0, size + 1)), int(rng.integers(1, 3))
        return slice(start, None, step)


def _tame(result: Any) -> bool:
    if not isinstance(result, torch.Tensor) or result.is_complex() or result.numel() > 500:
        return False
    if not result.is_floating_point():
        return True
    return bool(torch.isfinite(result).all()) and (
        result.numel() == 0 or float(result.detach().abs().max()) < LIMIT
    )
