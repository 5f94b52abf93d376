"""Drawing random programs."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.fuzz.autograd import lines
from tests.fuzz.autograd.excuses.left_out import GEOMETRY, LAYOUT
from tests.fuzz.autograd.program import INFERENCE, SWITCHES, Leaf, Program, Step
from tests.fuzz.ops.generate import candidates

__all__ = ["draw"]

SHAPES = ((2, 2), (3, 2), (3,), (2, 3), (2, 2, 2), ())
KINDS = {
    "value": (26, lines.VALUES),
    "view": (23, lines.VIEWS),
    "write": (27, lines.WRITES),
    "mark": (10, lines.MARKS),
    "pass": (3, lines.PASSES),
    "gradient": (4, lines.GRADIENTS),
    "dual": (15, lines.DUALS),
    "op": (4, ()),
    "checkpoint": (4, ()),
}
# In a region nobody looks whether a step is left out.
UNSURE = ("out=", "expand", "unfold", "mul_(a)", *GEOMETRY, *LAYOUT)
REGION_WRITES, REGION_VIEWS = (
    tuple(line for line in table if not any(each in line for each in UNSURE))
    for table in (lines.WRITES, lines.VIEWS)
)
HOOKS = tuple(line for line in lines.MARKS if "hook" in line or "retain" in line)


def draw(seed: int) -> Program:
    """The program of a seed."""
    return _Pen(np.random.default_rng(seed)).program(seed)


class _Pen:
    """One program's random choices.

    Each program has a taste of its own for the kinds of steps: what only goes wrong in company
    of its like is found sooner than if all programs were alike.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        taste = rng.choice([0.2, 1, 1, 4], len(KINDS))
        weights = np.array([weight for weight, _ in KINDS.values()]) * taste
        self.around = Program.around
        if rng.random() < 0.2:
            self.around = self.one_of(lines.SURROUNDINGS)
        weights[list(KINDS).index("dual")] *= "dual_level" in self.around
        self.weights = weights / weights.sum()

    def program(self, seed: int) -> Program:
        rng = self.rng
        shape = SHAPES[rng.integers(len(SHAPES) - 1)]
        leaves = [Leaf(shape, True)]
        for _ in range(2):
            other = shape if rng.random() < 0.8 else SHAPES[rng.integers(len(SHAPES))]
            dtype = "float32" if rng.random() < 0.05 else "float64"
            leaves.append(Leaf(other, bool(rng.random() < 0.5), dtype))
        steps: list[Step] = []
        within: tuple[str, ...] = ()
        for number in range(len(leaves), len(leaves) + int(rng.integers(4, 15))):
            within = self.contexts(within)
            steps.append(self.step(number, within))
        twice = bool(rng.random() < 0.3)
        return Program(seed, tuple(leaves), tuple(steps), twice, self.around)

    def contexts(self, before: tuple[str, ...]) -> tuple[str, ...]:
        """Contexts last for several steps."""
        chance = self.rng.random()
        if before:
            return before if chance < 0.6 else ()
        count = 2 if chance < 0.01 else 1 if chance < 0.13 else 0
        drawn = tuple(self.one_of(lines.CONTEXTS) for _ in range(count))
        if "allow_mutation" in self.around:  # other hooks would take its place
            drawn = tuple(each for each in drawn if "graph.save" not in each)
        if self.around != Program.around:  # PyTorch drops tangents there, and copies
            drawn = tuple(each for each in drawn if each != INFERENCE)
        if "dual_level" in self.around:  # whygrad does not know views of constants made there
            drawn = tuple(each for each in drawn if SWITCHES.get(each, True))
        return drawn

    def step(self, number: int, within: tuple[str, ...]) -> Step:
        kinds = list(KINDS)
        kind = kinds[self.rng.choice(len(kinds), p=self.weights)]
        a, b = self.operand(number), self.operand(number)
        if kind == "checkpoint":
            return Step(number, "checkpoint(a, b)", a, b, within, self.body(nested=True))
        if kind == "op":
            return Step(number, self.op(), a, b, within)
        return Step(number, self.one_of(KINDS[kind][1]), a, b, within)

    def body(self, nested: bool = False) -> tuple[Step, ...]:
        """Steps of a region; only what it makes itself is written to, so it can be repeated."""
        steps: list[Step] = []
        own: list[int] = []
        for number in range(2, 2 + int(self.rng.integers(1, 5))):
            chance = self.rng.random()
            a, b = self.operand(number), self.operand(number)
            if own and chance < 0.3:
                target = own[self.rng.integers(len(own))]
                other = int(self.rng.integers(2))  # of other memory than the target
                steps.append(Step(number, self.one_of(REGION_WRITES), target, other))
            elif own and chance < 0.4:
                steps.append(Step(number, self.one_of(HOOKS), own[self.rng.integers(len(own))], b))
            elif own and chance < 0.55:
                source = own[self.rng.integers(len(own))]
                steps.append(Step(number, self.one_of(REGION_VIEWS), source, b))
                own.append(number)
            elif nested and chance < 0.6:
                steps.append(Step(number, "checkpoint(a, b)", a, b, (), self.body()))
                own.append(number)
            else:
                steps.append(Step(number, self.one_of(lines.VALUES), a, b))
                own.append(number)
        return tuple(steps)

    def operand(self, number: int) -> int:
        """Rather a new value than an old one."""
        rng = self.rng
        oldest = max(0, number - 4) if rng.random() < 0.5 else 0
        return int(rng.integers(oldest, number))

    def op(self) -> str:
        table = op_samples()
        name = self.one_of(tuple(table))
        index = int(self.rng.choice(table[name]))
        return f"op({name!r}, {index}, {int(self.rng.integers(3))}, a, b)"

    def one_of(self, table: tuple[str, ...]) -> str:
        return table[self.rng.integers(len(table))]


@cache
def op_samples() -> dict[str, list[int]]:
    """The samples of each op that a program can call."""
    found: dict[str, list[int]] = {}
    for op, index in candidates():
        if op.family != "sparse":  # PyTorch's gradients are wrong once their values are written to
            found.setdefault(op.name, []).append(index)
    return dict(sorted(found.items()))  # whatever was asked for, and so declared, first
