"""``check_backward``: is the gradient what finite differences say it is?

A few elements of every argument and parameter are moved a little, in float64, and the change of the
result is held against what backward() claims.  At a kink the two one-sided slopes differ; there
every value between them is right.
"""

from __future__ import annotations

import copy
import inspect
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.doctor.checks.batch import tensors_in
from whygrad.doctor.checks.result import Result, figure
from whygrad.errors import fail
from whygrad.recording.engines import Engine, engine_of
from whygrad.recording.scope import unrecorded

__all__ = ["BackwardCheck", "Slope", "check_backward"]

# Step and tolerances by the precision that the computation runs in.
_DOUBLE = 1e-6, 1e-4, 1e-7
_SINGLE = 1e-2, 5e-2, 1e-3


@dataclass(frozen=True)
class Slope:
    """One argument or parameter at the element where gradient and slope differ most."""

    name: str
    shape: tuple[int, ...]
    checked: int  # how many of its elements
    index: tuple[int, ...]
    analytic: float | None  # None: backward() gave no gradient at all
    numeric: float
    passed: bool


@dataclass(repr=False)
class BackwardCheck(Result):
    """What :func:`check_backward` compared."""

    slopes: list[Slope] = field(default_factory=list)
    dtype: str = "float64"

    check = "doctor.check_backward"
    fix = "correct the backward of that argument: it has to give the numeric value"

    def __getitem__(self, name: str) -> Slope:
        return {each.name: each for each in reversed(self.slopes)}[name]  # the first

    @property
    def worst(self) -> Slope | None:
        """The first of those that failed, else None."""
        return next((each for each in self.slopes if not each.passed), None)

    def rows(self) -> tuple[list[list[str]], str]:
        head = ["argument", "shape", "checked", "worst at", "analytic", "numeric", ""]
        body = [
            [each.name, str(list(each.shape)), str(each.checked), str(list(each.index)),
             "no gradient" if each.analytic is None else f"{each.analytic:.6g}",
             f"{each.numeric:.6g}", "ok" if each.passed else "WRONG"]
            for each in self.slopes
        ]  # fmt: skip
        return [head, *body], "<<>>>><"


def check_backward(function: Any, *inputs: Any, elements: int = 12) -> BackwardCheck:
    """Compare gradients of a module, a function or an autograd.Function with finite differences.

    ``inputs`` are its arguments; those that are floating-point tensors are checked, and so are the
    parameters of a module, at ``elements`` places each, spread evenly.  Nothing of the caller's is
    changed: modules are copied, arguments too.
    """
    name = getattr(function, "__name__", type(function).__name__)
    engine = _engine(function, inputs, name)
    with unrecorded():
        try:
            return _Comparison(engine, function, inputs, "float64", elements).result()
        except Exception as error:
            try:  # tensors that the function holds itself keep their precision
                return _Comparison(engine, function, inputs, None, elements).result()
            except Exception:
                raise error from None


def _engine(function: Any, inputs: tuple[Any, ...], name: str) -> Engine:
    for each in (*inputs, function):
        family = {kind.__module__.partition(".")[0] for kind in type(each).__mro__}
        if family & {"torch", "whygrad"} and hasattr(each, "requires_grad_"):
            return engine_of(each)
    raise fail(
        TypeError,
        call=f"doctor.check_backward({name}, …)",
        cause="there is no tensor to differentiate for",
        fix="pass the arguments after it: check_backward(MyFunction, torch.randn(3, 4))",
    )


class _Comparison:
    """A function of copies that can be moved, element by element."""

    def __init__(
        self,
        engine: Engine,
        function: Any,
        inputs: tuple[Any, ...],
        dtype: str | None,
        elements: int,
    ) -> None:
        self._engine = engine
        self._space: Any = engine.namespace
        self._elements = elements
        self._step, self._relative, self._absolute = _SINGLE if dtype is None else _DOUBLE
        self._dtype = "its own precision" if dtype is None else dtype
        self._wide = None if dtype is None else getattr(self._space, dtype)
        self._random = self._space.get_rng_state()
        self._function: Any = self._callable(function)
        self._inputs = [self._argument(each) for each in inputs]
        named = list(zip(_argument_names(function, len(inputs)), self._inputs))
        if hasattr(function, "named_parameters"):
            named += self._function.named_parameters()
        self._leaves = [
            (name, each)
            for name, each in named
            if isinstance(each, engine.tensor) and each.requires_grad  # type: ignore[attr-defined]
        ]

    def _callable(self, function: Any) -> Any:
        if hasattr(function, "named_parameters"):
            copied = copy.deepcopy(function)
            return copied.double() if self._wide is not None else copied
        if isinstance(function, type) and hasattr(function, "apply"):
            return function.apply
        return function

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, self._engine.tensor) or not value.is_floating_point():  # type: ignore[attr-defined]
            return value
        copied = self._engine.copy(value)
        if self._wide is not None:
            copied = copied.to(self._wide)
        return copied.requires_grad_()

    def result(self) -> BackwardCheck:
        try:
            value = self._run()
            leaves = [each for _, each in self._leaves]
            gradients = self._space.autograd.grad(value, leaves, allow_unused=True)
            found = BackwardCheck(dtype=self._dtype)
            for (name, leaf), gradient in zip(self._leaves, gradients):
                found.slopes.append(self._slope(name, leaf, gradient))
        finally:
            self._space.set_rng_state(self._random)
        _judge(found)
        return found

    def _run(self) -> Any:
        """The result as one number: its elements, each with a weight of its own."""
        self._space.set_rng_state(self._random)  # dropout draws the same mask every time
        total: Any = 0.0
        output = self._function(*self._inputs)
        for _, each in tensors_in(output, self._engine.tensor, ""):
            if each.is_floating_point():
                weights = np.cos(np.arange(math.prod(each.shape)) + 1.0).reshape(tuple(each.shape))
                total = total + (each * self._space.tensor(weights, dtype=each.dtype)).sum()
        return total

    def _slope(self, name: str, leaf: Any, gradient: Any) -> Slope:
        size = math.prod(leaf.shape)
        places = sorted({round(at) for at in np.linspace(0, size - 1, min(size, self._elements))})
        values = None if gradient is None else self._engine.array(gradient).ravel()
        worst: tuple[float, int, float, float] = (-1.0, 0, 0.0, 0.0)
        for place in places:
            left, right, height = self._slopes_at(leaf, place)
            middle = 0.5 * (left + right)
            analytic = 0.0 if values is None else float(values[place])
            low, high = min(left, right), max(left, right)
            distance = max(low - analytic, analytic - high, 0.0)
            allowed = self._absolute * max(1.0, abs(height))  # rounding grows with the result
            allowed += self._relative * max(abs(middle), abs(analytic))
            excess = distance / allowed if math.isfinite(distance / allowed) else math.inf
            if excess > worst[0]:
                worst = excess, place, analytic, middle
        index = tuple(int(each) for each in np.unravel_index(worst[1], tuple(leaf.shape) or (1,)))
        analytic_value = None if values is None else worst[2]
        passed = worst[0] <= 1.0
        return Slope(name, tuple(leaf.shape), len(places), index, analytic_value, worst[3], passed)

    def _slopes_at(self, leaf: Any, place: int) -> tuple[float, float, float]:
        """The slopes to the left and to the right of an element, and the result there."""
        with self._space.no_grad():
            flat = leaf.detach().reshape(-1)
            index = np.unravel_index(place, tuple(leaf.shape)) if len(leaf.shape) else ()
            at = tuple(int(each) for each in index)
            original = float(flat[place])
            step = self._step * max(1.0, abs(original))
            values = []
            for moved in (original - step, original, original + step):
                self._write(leaf, at, moved)
                values.append(float(self._run()))
            self._write(leaf, at, original)
        return (values[1] - values[0]) / step, (values[2] - values[1]) / step, values[1]

    def _write(self, leaf: Any, at: tuple[int, ...], value: float) -> None:
        if at:
            leaf[at] = value
        else:
            leaf.fill_(value)


def _argument_names(function: Any, count: int) -> list[str]:
    """What the arguments are called, as far as the signature says."""
    callee: Any = function
    if hasattr(function, "named_parameters") or isinstance(function, type):
        callee = function.forward
    try:
        names = list(inspect.signature(callee).parameters)
    except (TypeError, ValueError):
        names = []
    if isinstance(function, type) and names:  # the context of an autograd.Function
        names = names[1:] if len(names) > count else names
    return [names[at] if at < len(names) else f"argument {at}" for at in range(count)]


def _judge(found: BackwardCheck) -> None:
    for each in found.slopes:
        if each.passed:
            continue
        place = f"{each.name}{list(each.index)}"
        claimed = "gives no gradient" if each.analytic is None else f"says {figure(each.analytic)}"
        found.problems.append(
            f"the gradient of {place} is wrong: backward() {claimed}, "
            f"finite differences say {figure(each.numeric)}"
        )
    found.slopes.sort(key=lambda each: each.passed)
    if not found.slopes:
        found.problems.append("nothing was checked: no argument is a floating-point tensor")
