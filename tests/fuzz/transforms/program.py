"""What a program of transforms is: Python that either library can run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = ["Layer", "Program"]


@dataclass(frozen=True)
class Layer:
    """A transform of the function ``inner``, as the lines of a function of x."""

    lines: tuple[str, ...]

    def text(self, name: str, inner: str) -> str:
        body = "\n".join(f"    {line.replace('inner', inner)}" for line in self.lines)
        return f"def {name}(x):\n{body}"


@dataclass(frozen=True)
class Program:
    """A function of a tensor ``x``, the transforms around it, and what is asked in the end.

    Every function, transformed or not, gives back a tensor of the shape of ``x``.
    """

    seed: int
    shape: tuple[int, ...]
    body: tuple[str, ...]
    result: str
    layers: tuple[Layer, ...]
    backward: bool  # ask for a gradient from outside, too

    @property
    def steps(self) -> tuple[object, ...]:
        return (*self.body, *self.layers)

    def __str__(self) -> str:
        lines = "".join(f"    {line}\n" for line in self.body)
        parts = [f"def f0(x):\n{lines}    return {self.result}"]
        for number, layer in enumerate(self.layers, 1):
            parts.append(layer.text(f"f{number}", f"f{number - 1}"))
        parts.append(f"c = constant({self.seed}, {self.shape})")
        parts.append(f"x = leaf({self.seed}, {self.shape}, {self.backward})")
        parts.append(f"y = f{len(self.layers)}(x)")
        if self.backward:
            parts.append("slope = gradient(y, x)")
        return "\n".join(parts)

    def smaller(self) -> Iterator[Program]:
        """The program without one of its parts."""
        for place in reversed(range(len(self.layers))):
            yield replace(self, layers=(*self.layers[:place], *self.layers[place + 1 :]))
        for place in reversed(range(len(self.body))):
            yield replace(self, body=(*self.body[:place], *self.body[place + 1 :]))
        if self.backward:
            yield replace(self, backward=False)
        if self.result != "x":
            for name in ("x", *[line.partition(" = ")[0] for line in self.body if " = " in line]):
                if name.isidentifier() and self.result != name:
                    yield replace(self, result=name)
