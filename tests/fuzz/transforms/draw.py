"""Drawing programs of transforms."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from tests.fuzz.autograd.draw import op_samples
from tests.fuzz.transforms import lines
from tests.fuzz.transforms.program import Layer, Program
from whygrad.ops.define import table

__all__ = ["draw"]

SHAPES = ((3,), (2, 3), (4,), (2, 2))
LAYERS = (
    "grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "vmap", "vmap", "vmap", "shared", "again",
)  # fmt: skip


def draw(seed: int) -> Program:
    """The program of a seed."""
    return _Pen(np.random.default_rng(seed)).program(seed)


@cache
def _op_names() -> tuple[str, ...]:
    """In PyTorch the second derivative of a normalization takes what was saved for constants."""
    return tuple(name for name in op_samples() if table[name].family != "normalization")


class _Pen:
    """One program's random choices."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.shape = SHAPES[rng.integers(len(SHAPES))]
        self.writes = float(rng.choice([0.1, 0.3, 0.6]))
        self.random = bool(rng.random() < 0.15)

    def program(self, seed: int) -> Program:
        rng = self.rng
        body: list[str] = []
        values, own = ["x", "x", "c"], list[str]()
        for number in range(1, 1 + int(rng.integers(1, 7))):
            if (own or rng.random() < 0.15) and rng.random() < self.writes:
                target = self.one_of(tuple(own)) if own and rng.random() < 0.95 else "x"
                body.append(self.filled(self.one_of(self.write_lines()), target, values))
            else:
                body.append(f"v{number} = {self.filled(self.value_line(), None, values)}")
                values.append(f"v{number}")
                own.append(f"v{number}")
        result = values[-1]
        if rng.random() < 0.5:
            result = f"{result} + 0.5 * {self.one_of(tuple(values))}"
        count = int(rng.choice([1, 2, 2, 3]))
        layers: list[Layer] = []
        heavy = 0
        for _ in range(count):
            kind = self.one_of(LAYERS)
            heavy += kind in ("hessian", "jacrev", "jacfwd")
            if heavy > 2:
                kind = "vmap"
            layers.append(self.layer(kind))
        backward = bool(rng.random() < 0.3)
        return Program(seed, self.shape, tuple(body), result, tuple(layers), backward)

    def value_line(self) -> str:
        rng = self.rng
        if self.random and rng.random() < 0.4:
            return self.one_of(lines.RANDOM)
        if rng.random() < 0.2:
            return self.one_of(lines.FRESH)
        if rng.random() < 0.12:
            name = self.one_of(_op_names())
            index = int(rng.choice(op_samples()[name]))
            return f"a * op({name!r}, {index}, {int(rng.integers(3))}, a, b)"
        more = lines.MATRIX_VALUES if len(self.shape) == 2 else ()
        return self.one_of((*lines.VALUES, *more))

    def write_lines(self) -> tuple[str, ...]:
        more = lines.MATRIX_WRITES if len(self.shape) == 2 else ()
        return (*lines.WRITES, *more)

    def filled(self, line: str, target: str | None, values: list[str]) -> str:
        """``line`` with values in the place of a and b, rather new ones than old ones."""
        names = {"n": str(self.shape[-1])}
        for name in ("a", "b"):
            newest = values[-3:] if self.rng.random() < 0.5 else values
            names[name] = newest[self.rng.integers(len(newest))]
        if target is not None:  # PyTorch says nothing about writing what is being read
            names["a"] = target
            others = [each for each in values if each != target]
            names["b"] = others[self.rng.integers(len(others))]
        return re.sub(r"(?<![\w.'])([abn])(?![\w'(])", lambda found: names[found[1]], line)

    def layer(self, kind: str) -> Layer:
        chunk = str(self.rng.choice(["", "", ", chunk_size=2", ", chunk_size=1"]))
        if kind in ("vmap", "shared"):
            return self.vmap(kind, chunk)
        return Layer({
            "grad": ("return func.grad(lambda a: number(inner(a)))(x)",),
            "vjp": ("output, pull = func.vjp(inner, x)", "return pull(output * x)[0]"),
            "jvp": (
                "value, slope = func.jvp(lambda a: inner(a) * x, (x.sin(),), (x * x,))",
                "return value + slope",
            ),
            "jacrev": (f"return contracted(func.jacrev(inner{chunk})(x), x)",),
            "jacfwd": (f"return contracted(func.jacfwd(inner{self.randomness()})(x), x)",),
            "hessian": ("return contracted(func.hessian(lambda a: number(inner(a)))(x), x)",),
            "again": ("return again(inner, x)",),
        }[kind])  # fmt: skip

    def vmap(self, kind: str, chunk: str) -> Layer:
        rank = len(self.shape)
        inside = int(self.rng.integers(-rank - 1, rank + 1))
        outside = int(self.rng.integers(-rank - 1, rank + 1))
        # An output that is the same for all samples: PyTorch 2.13 crashes where out_dims < 0 and
        # does not move the batch where out_dims > 0.
        also = " + 0 * a" if outside else ""
        options = f"in_dims={{}}, out_dims={outside}{self.randomness()}{chunk}"
        if kind == "shared":
            function = f"lambda a, s: inner(a * s){also and also + ' * s'}"
            call = f"func.vmap({function}, {options.format('(None, 0)')})"
            return Layer(
                (f"made = {call}(x, lib.arange(3.0, dtype=lib.float64) * 0.4 + 0.2)",
                 f"return weighted(made, {outside})")
            )  # fmt: skip
        return Layer((
            f"batch = lib.stack([x, 0.5 * x, x.sin()], {inside})",
            f"made = func.vmap(lambda a: inner(a){also}, {options.format(inside)})(batch)",
            f"return weighted(made, {outside})",
        ))  # fmt: skip

    def randomness(self) -> str:
        if not self.random:
            return ""
        return str(self.rng.choice(["", ", randomness='same'", ", randomness='different'"]))

    def one_of(self, table: tuple[str, ...]) -> str:
        return table[self.rng.integers(len(table))]
