"""What a random program is: leaves, and steps that are lines of Python.

The value a step makes is named after the number of the step, and a step keeps its number when
others are dropped.  An operand that is not there (its step was dropped, or refused) is the nearest
older one, so every selection of steps is a program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.fuzz.autograd import lines

__all__ = ["INFERENCE", "SWITCHES", "UNCOPIED", "Leaf", "Program", "Step"]

ROLES = {
    line: role
    for role, table in (
        ("value", lines.VALUES),
        ("value", lines.VIEWS),
        ("value", lines.DUALS),
        ("write", lines.WRITES),
        ("mark", lines.MARKS),
        ("pass", lines.PASSES),
        ("gradient", lines.GRADIENTS),
    )
    for line in table
}


# Contexts that switch recording on or off.
SWITCHES = {
    "lib.no_grad()": False,
    "lib.set_grad_enabled(False)": False,
    "lib.enable_grad()": True,
    "lib.set_grad_enabled(True)": True,
}
INFERENCE = "lib.inference_mode()"  # off, whatever the switches inside say
# Pack hooks that leave what was saved in the memory where it is.
UNCOPIED = (
    "lib.autograd.graph.saved_tensors_hooks(same, same)",
    "lib.autograd.graph.save_on_cpu()",
)


@dataclass(frozen=True)
class Step:
    """One line, its operands, the contexts around it; a checkpoint has a body of steps."""

    number: int
    line: str
    a: int
    b: int
    within: tuple[str, ...] = ()
    body: tuple[Step, ...] = ()

    @property
    def role(self) -> str:
        """value, write, mark, pass or gradient."""
        return ROLES.get(self.line, "value")  # checkpoints and ops of the table make values

    @property
    def makes_value(self) -> bool:
        return self.role in ("value", "gradient")

    @property
    def recorded(self) -> bool:
        """Whether recording is on around the line."""
        if INFERENCE in self.within:
            return False
        switches = [SWITCHES[context] for context in self.within if context in SWITCHES]
        return switches[-1] if switches else True

    @property
    def all_lines(self) -> list[str]:
        """Its own, and those of its body."""
        return [self.line, *(line for step in self.body for line in step.all_lines)]

    def uses(self, operand: str) -> bool:
        return re.search(rf"\b{operand}\b", self.line) is not None

    def text(self, indent: str = "", prefix: str = "t") -> str:
        """The step as source, with the names its operands have in the program."""
        names = {"a": f"{prefix}{self.a}", "b": f"{prefix}{self.b}"}
        code = re.sub(r"(?<![.\w])[ab]\b", lambda found: names[found[0]], self.line)
        if self.makes_value:
            code = f"{prefix}{self.number} = {code}"
        written = []
        if self.body:
            written.append(f"{indent}def region(x0, x1):")
            written += [step.text(indent + "    ", "x") for step in self.body]
            last = max((each.number for each in self.body if each.makes_value), default=0)
            written.append(f"{indent}    return x{last}")
        for context in self.within:
            written.append(f"{indent}with {context}:")
            indent += "    "
        return "\n".join([*written, indent + code])


@dataclass(frozen=True)
class Leaf:
    """A tensor the program starts with."""

    shape: tuple[int, ...]
    needs_grad: bool
    dtype: str = "float64"


@dataclass(frozen=True)
class Program:
    """Leaves, steps, what is around them, and whether the last gradients are differentiated."""

    seed: int
    leaves: tuple[Leaf, ...]
    steps: tuple[Step, ...]
    twice: bool = False
    around: str = "nullcontext()"

    def __str__(self) -> str:
        written = [f"# seed {self.seed}" + (", differentiated twice" if self.twice else "")]
        for number, leaf in enumerate(self.leaves):
            written.append(f"t{number} = leaf({leaf.shape}, {leaf.dtype}, {leaf.needs_grad})")
        plain = self.around == Program.around
        indent = "" if plain else "    "
        written += [] if plain else [f"with {self.around}:"]
        return "\n".join([*written, *(step.text(indent) for step in self.steps)])

    @property
    def has_duals(self) -> bool:
        return "dual_level" in self.around

    @property
    def hides_writes(self) -> bool:
        """Whether PyTorch may miss a write to a saved value, see ``Session.watchful``."""
        return any(
            step.body or ".data" in step.line or any(each in UNCOPIED for each in step.within)
            for step in self.steps
        )

    def arrays(self) -> list[Any]:
        rng = np.random.default_rng(self.seed)
        return [rng.uniform(-1, 1, leaf.shape).astype(leaf.dtype) for leaf in self.leaves]

    def without(self, position: int) -> Program:
        return replace(self, steps=self.steps[:position] + self.steps[position + 1 :])

    def settled(self) -> Program:
        """The same program with the operands that the steps find."""
        there = list(range(len(self.leaves)))
        steps = []
        for step in self.steps:
            a, b = (max(each for each in there if each <= n) for n in (step.a, step.b))
            steps.append(replace(step, a=a, b=b))
            if step.makes_value:
                there.append(step.number)
        return replace(self, steps=tuple(steps))
