"""Checking derivatives against finite differences.

A rule is right if the numbers say so: reverse mode, forward mode and a central difference must
agree on the Jacobian.  ``gradcheck`` answers yes or raises, as PyTorch's does;
``gradcheck_report`` returns every comparison, with the worst element of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.autograd.api import grad
from whygrad.autograd.checks.numeric import (
    Function,
    central_difference,
    quotients,
    require_same,
)
from whygrad.autograd.transforms import forward_ad
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, dtypes, wrap

__all__ = [
    "Comparison",
    "GradcheckError",
    "Report",
    "gradcheck",
    "gradcheck_report",
    "gradgradcheck",
]


class GradcheckError(RuntimeError):
    """A derivative disagrees with finite differences; ``report`` holds the comparisons."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


@dataclass
class Comparison:
    """One Jacobian, computed two ways, and the element where they differ most."""

    mode: str  # "reverse", "forward", "determinism"
    output: int
    input: int
    passed: bool
    index: tuple[int, ...] = ()  # (element of the input, element of the output), flat
    analytic: float = 0.0
    numeric: float = 0.0
    reason: str = ""

    @property
    def absolute_error(self) -> float:
        return abs(self.analytic - self.numeric)

    @property
    def relative_error(self) -> float:
        scale = max(abs(self.analytic), abs(self.numeric))
        return self.absolute_error / scale if scale else 0.0

    def __str__(self) -> str:
        verdict = "ok  " if self.passed else "FAIL"
        text = f"{verdict} {self.mode:<8} output {self.output} / input {self.input}"
        if self.index:
            element = ", ".join(map(str, self.index))
            text += (
                f"  worst at [{element}]: analytic {self.analytic:.9g}, numeric "
                f"{self.numeric:.9g}, relative error {self.relative_error:.2e}"
            )
        return f"{text}  {self.reason}" if self.reason else text


@dataclass
class Report:
    """Everything a gradient check compared.  True if all of it passed."""

    comparisons: list[Comparison] = field(default_factory=list)
    refused: str = ""  # why the check could not be made at all
    skipped: str = ""  # what was left out, and why

    @property
    def passed(self) -> bool:
        return not self.refused and all(each.passed for each in self.comparisons)

    @property
    def worst(self) -> Comparison | None:
        """The comparison with the largest relative error."""
        return max(self.comparisons, key=lambda each: each.relative_error, default=None)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        if self.refused:
            return f"gradcheck refused: {self.refused}"
        head = "gradcheck passed" if self.passed else "gradcheck failed: Jacobian mismatch"
        rest = [self.skipped] if self.skipped else []
        return "\n".join([head, *(f"  {each}" for each in (*self.comparisons, *rest))])


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_backward_ad: bool = True,
    check_forward_ad: bool = False,
    fast_mode: bool = False,
) -> bool:
    """Whether ``func``'s derivatives at ``inputs`` agree with central differences."""
    tolerances = (eps, atol, rtol, nondet_tol)
    report = _compared(func, inputs, tolerances, check_backward_ad, check_forward_ad, fast_mode)
    if not report and raise_exception:
        raise GradcheckError(report)
    return report.passed


def gradcheck_report(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    nondet_tol: float = 0.0,
    check_backward_ad: bool = True,
    check_forward_ad: bool = True,
    fast_mode: bool = False,
) -> Report:
    """Compare reverse mode, forward mode and central differences; never raises for a mismatch.

    A custom function without ``jvp`` has no forward mode: the report says so and has the rest.
    """
    tolerances = (eps, atol, rtol, nondet_tol)
    try:
        return _compared(func, inputs, tolerances, check_backward_ad, check_forward_ad, fast_mode)
    except NotImplementedError as error:
        if not check_backward_ad or "jvp" not in str(error):
            raise
    report = _compared(func, inputs, tolerances, True, False, fast_mode)
    report.skipped = "forward mode skipped: no jvp"
    return report


def _compared(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    tolerances: tuple[float, float, float, float],
    check_backward_ad: bool,
    check_forward_ad: bool,
    fast_mode: bool,
) -> Report:
    if not check_backward_ad and not check_forward_ad:
        raise fail(
            ValueError,
            call="gradcheck(check_backward_ad=False, check_forward_ad=False)",
            cause="both modes are switched off, so nothing would be checked",
            fix="leave at least one of them on",
        )
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    report = Report(refused=_reason_to_refuse(arguments))
    if report.refused:
        return report
    check = _Check(Function(func, arguments), *tolerances, report)
    if check_backward_ad:
        check.determinism()
    if fast_mode:
        check.along_random_directions(check_backward_ad, check_forward_ad)
        return report
    numeric = central_difference(check.function, check.eps)
    if check_backward_ad:
        check.jacobians("reverse", check.reverse_jacobian, numeric)
    if check_forward_ad:
        check.jacobians("forward", check.forward_jacobian, numeric)
    return report


def _reason_to_refuse(arguments: list[Any]) -> str:
    wanted = [each for each in arguments if isinstance(each, Tensor) and each.requires_grad]
    if not wanted:
        return (
            "none of the inputs requires grad, so there is nothing to check; call "
            "requires_grad_() on the inputs whose gradient you doubt"
        )
    for position, each in enumerate(arguments):
        if isinstance(each, Tensor) and each.requires_grad and each.dtype is not dtypes.float64:
            return (
                f"input {position} is {describe(each)}; finite differences subtract two nearly "
                f"equal numbers, and {each.dtype.name} has too few digits left to tell a right "
                "gradient from a wrong one; convert the inputs with .double()"
            )
    return ""


class _Check:
    """One gradient check in progress."""

    def __init__(
        self,
        function: Function,
        eps: float,
        atol: float,
        rtol: float,
        nondet_tol: float,
        report: Report,
    ) -> None:
        self.function = function
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.nondet_tol = nondet_tol
        self.report = report

    def determinism(self) -> None:
        """The same call twice must give the same outputs and gradients."""
        first, second = self._outputs_and_gradients(), self._outputs_and_gradients()
        for what, before, after in zip(("outputs", "gradients"), first, second, strict=True):
            for position, (a, b) in enumerate(zip(before, after, strict=True)):
                if a.shape != b.shape or (a.size and not _equal_within(a, b, self.nondet_tol)):
                    self.report.comparisons.append(
                        Comparison(
                            "determinism",
                            position,
                            0,
                            passed=False,
                            reason=f"the {what} differ between two runs on the same inputs: the "
                            "function is not deterministic (dropout? a random generator without "
                            "a fixed seed?)",
                        )
                    )

    def _outputs_and_gradients(self) -> tuple[list[Any], list[Any]]:
        outputs, leaves = self.function.recorded()
        values = [out._array.copy() for out in outputs]
        live = [out for out in outputs if out.requires_grad]
        if not live:
            return values, []
        ones = [wrap(np.ones(out.shape)) for out in live]
        gradients = grad(live, leaves, ones, materialize_grads=True)
        return values, [each._array for each in gradients if each is not None]

    def jacobians(
        self, mode: str, compute: Callable[[], list[list[Any]]], numeric: list[list[Any]]
    ) -> None:
        """Compare Jacobians element by element; rows are input elements, columns outputs."""
        analytic = compute()
        for i, row in enumerate(numeric):
            for o, expected in enumerate(row):
                self._compare(mode, o, i, analytic[i][o], expected)

    def _compare(self, mode: str, output: int, input: int, analytic: Any, numeric: Any) -> None:
        passed = bool(np.allclose(analytic, numeric, self.rtol, self.atol, equal_nan=False))
        comparison = Comparison(mode, output, self.function.positions[input], passed)
        if analytic.size:
            allowed = self.atol + self.rtol * np.abs(numeric)
            share = np.nan_to_num(np.abs(analytic - numeric) / allowed, nan=np.inf)
            worst = np.unravel_index(int(np.argmax(share)), share.shape)
            comparison.index = tuple(int(each) for each in worst)
            comparison.analytic = float(analytic[worst])
            comparison.numeric = float(numeric[worst])
        self.report.comparisons.append(comparison)

    def reverse_jacobian(self) -> list[list[Any]]:
        """One backward pass per output element."""
        outputs, leaves = self.function.recorded()
        jacobian = [[np.zeros((leaf.numel(), out.numel())) for out in outputs] for leaf in leaves]
        for o, out in enumerate(outputs):
            if not out.requires_grad:
                continue
            for element in range(out.numel()):
                seed = np.zeros(out.shape)
                seed.reshape(-1)[element] = 1.0
                for i, gradient in enumerate(self._gradients(out, leaves, seed)):
                    jacobian[i][o][:, element] = gradient.reshape(-1)
        return jacobian

    def forward_jacobian(self) -> list[list[Any]]:
        """One forward pass per input element."""
        jacobian: list[list[Any]] = []
        sizes = [out.size for out in self.function.plain(self.function.values)]
        for i, value in enumerate(self.function.values):
            columns: list[list[Any]] = []
            for element in range(value.size):
                seed = np.zeros(value.shape)
                seed.reshape(-1)[element] = 1.0
                columns.append(self._push(i, seed))
            jacobian.append(
                [
                    np.array([column[o].reshape(-1) for column in columns]).reshape(
                        value.size, size
                    )
                    for o, size in enumerate(sizes)
                ]
            )
        return jacobian

    def _push(self, position: int, tangent: Any) -> list[Any]:
        tangents: list[Any] = [None] * len(self.function.values)
        tangents[position] = tangent
        return self.push(tangents)

    def push(self, tangents: list[Any]) -> list[Any]:
        """Forward-mode derivative of every output along the given directions."""
        with forward_ad.dual_level():
            leaves = [wrap(value.copy()) for value in self.function.values]
            duals = [
                leaf if tangent is None else forward_ad.make_dual(leaf, wrap(tangent))
                for leaf, tangent in zip(leaves, tangents, strict=True)
            ]
            results = []
            for out in self.function.call(duals):
                pushed = forward_ad.unpack_dual(out).tangent
                results.append(np.zeros(out.shape) if pushed is None else pushed._array)
            return results

    def along_random_directions(self, reverse: bool, forward: bool) -> None:
        """Compare u·J·v for random u and v: a pass per input and per output, not per element."""
        rng = np.random.default_rng(0)
        values = self.function.values
        us = [_unit(rng, out.shape) for out in self.function.plain(values)]
        pulled = self._pull(us) if reverse else []
        for i, value in enumerate(values):
            v = _unit(rng, value.shape)
            shifted = [
                self.function.plain(_shift(values, i, step * v)) for step in (self.eps, -self.eps)
            ]
            slopes = quotients(shifted, self.eps)
            require_same([u.shape for u in us], [slope.shape for slope in slopes])
            pushed = self._push(i, v) if forward else []
            for o, (u, slope) in enumerate(zip(us, slopes, strict=True)):
                numeric = np.array([[np.sum(u * slope)]])
                if reverse:
                    self._compare("reverse", o, i, np.array([[np.sum(pulled[o][i] * v)]]), numeric)
                if forward:
                    self._compare("forward", o, i, np.array([[np.sum(pushed[o] * u)]]), numeric)

    def _pull(self, seeds: list[Any]) -> list[list[Any]]:
        """The gradient of every input, for each output with its seed."""
        outputs, leaves = self.function.recorded()
        return [self._gradients(out, leaves, seed) for out, seed in zip(outputs, seeds)]

    def _gradients(self, out: Tensor, leaves: list[Tensor], seed: Any) -> list[Any]:
        if not out.requires_grad:
            return [np.zeros(leaf.shape) for leaf in leaves]
        found = grad(out, leaves, wrap(seed), retain_graph=True, materialize_grads=True)
        return [each._array for each in found if each is not None]


def _equal_within(a: Any, b: Any, tolerance: float) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True)) or bool(np.max(np.abs(a - b)) <= tolerance)


def _unit(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    direction = np.asarray(rng.normal(size=shape))
    length = np.linalg.norm(direction)
    return direction / length if length else direction


def _shift(values: list[Any], position: int, step: Any) -> list[Any]:
    return [value + step if i == position else value for i, value in enumerate(values)]


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Whether the derivatives of the gradients agree with central differences."""
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    refused = _reason_to_refuse(arguments)
    if refused:
        if raise_exception:
            raise GradcheckError(Report(refused=refused))
        return False
    function = Function(func, arguments)
    outputs, _ = function.recorded()
    live = [position for position, out in enumerate(outputs) if out.requires_grad]
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        seeds = [wrap(np.asarray(rng.normal(size=outputs[each].shape))) for each in live]
    else:
        seeds = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    seeds = [each.detach().requires_grad_() for each in seeds]
    count = len(arguments)

    def first_derivative(*everything: Any) -> tuple[Any, ...]:
        args, cotangents = everything[:count], everything[count:]
        wanted = [args[position].requires_grad_() for position in function.positions]
        results = function.call_on(args)
        chosen = [results[each] for each in live]
        return grad(chosen, wanted, list(cotangents), create_graph=True, materialize_grads=True)

    return gradcheck(
        first_derivative,
        [*arguments, *seeds],
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_backward_ad=check_rev_over_rev,
        check_forward_ad=check_fwd_over_rev,
        fast_mode=fast_mode,
    )
