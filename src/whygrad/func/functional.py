"""Derivatives of a function at a point: PyTorch's older interface, ``autograd.functional``.

Functions here take tensors (one, or a tuple) and return tensors (one, or a tuple).  Everything is
computed with the tapes of :mod:`whygrad.func`, which has the same derivatives as functions of
functions, for nested arguments.

That is an import against the grain, the other way being the rule (``func`` is built on
``autograd``); PyTorch's name for this module leaves no other choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from whygrad.errors import describe, fail
from whygrad.func.arguments import check_differentiable
from whygrad.func.jacobians import jacfwd, jacobian_of
from whygrad.func.tape import Tape, Transposed
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, modes

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]
Strategy = Literal["reverse-mode", "forward-mode"]
F = TypeVar("F", bound=Callable[..., Any])


def _recording(function: F) -> F:
    """``create_graph`` alone decides, even under ``no_grad``."""
    return modes.enable_grad()(function)  # type: ignore[return-value]


@_recording
def vjp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and ``v`` times the Jacobian of ``func`` there.

    ``v`` has the shapes of the outputs; it may be left out if the output is one number.  With
    ``create_graph`` both results can be differentiated further.  With ``strict``, an output or
    input that makes no difference is an error instead of a zero.
    """
    run = _Run("vjp", func, inputs, create_graph, strict)
    cotangents = run.vector(v, run.outputs, "user-provided function returns")
    return run.value, run.like_inputs(run.pull(run.outputs, cotangents))


@_recording
def jvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and the Jacobian of ``func`` there times ``v``, which is like the inputs.

    Two reverse passes, so it works through ops without a forward rule; ``whygrad.func.jvp`` is
    faster.
    """
    run = _Run("jvp", func, inputs, create_graph, strict)
    tangents = run.vector(v, run.inputs, "input to the user-provided function is")
    transposed = Transposed(run.tape, run.outputs)
    run.check_used(transposed.pulled)
    slopes = transposed.push(tangents)
    return run.value, slopes[0] if run.one_output else tuple(slopes)


@_recording
def vhp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, which is one number, and ``v`` times the Hessian of ``func`` there."""
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


@_recording
def hvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, which is one number, and the Hessian of ``func`` there times ``v``.

    A Hessian is symmetric, so this is ``vhp``.
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


@_recording
def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: Strategy = "reverse-mode",
) -> Any:
    """All partial derivatives of ``func`` at ``inputs``.

    A tensor of the output's shape, then the input's shape; a tuple of them if ``func`` has several
    outputs or inputs, outputs outside.  ``vectorize`` computes all rows (in forward mode all
    columns) at the same time, with ``vmap``.
    """
    _check_strategy("jacobian", strategy, strict, vectorize)
    chunk_size = None if vectorize else 1
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs, create_graph, chunk_size)
    run = _Run("jacobian", func, inputs, create_graph, strict)
    if strict:
        run.check_each_used()
    parts = jacobian_of(run.tape, run.outputs, chunk_size)
    rows = tuple(run.one_or_all(row) for row in parts)
    return rows[0] if run.one_output else rows


@_recording
def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: Strategy = "reverse-mode",
) -> Any:
    """All second derivatives of ``func``, which returns one number, at ``inputs``.

    Laid out as the ``jacobian`` of the gradient, which is computed in reverse mode;
    ``outer_jacobian_strategy`` says how that one is differentiated.
    """
    _check_strategy("hessian", outer_jacobian_strategy, strict, vectorize)
    points, one_input = _as_tuple("hessian", "inputs", inputs)

    def gradient(*at: Tensor) -> Any:
        _, slopes = _gradient("hessian", func, at, strict)
        return slopes[0] if one_input else slopes

    given = points[0] if one_input else points
    return jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)


class _Run:
    """One run of a function on twins of its inputs, and what may be said about the results."""

    def __init__(
        self,
        call: str,
        func: Callable[..., Any],
        inputs: Any,
        create_graph: bool,
        strict: bool,
    ) -> None:
        self.call = call
        self.strict = strict
        self.create_graph = create_graph
        self.inputs, self.one_input = _as_tuple(call, "inputs", inputs)
        for each in self.inputs:
            check_differentiable(f"autograd.functional.{call}(…)", each)
        self.tape = Tape(self.inputs, outside=create_graph, guarded=False)
        output = self.tape.run(func, *self.tape.inputs)
        what = "outputs of the user-provided function"
        self.outputs, self.one_output = _as_tuple(call, what, output)
        for place, each in enumerate(self.outputs):
            if strict and not self.tape.has_recorded(each):
                raise self._refused(
                    f"Output {place} of the user-provided function does not require gradients. "
                    "The outputs must be computed in a differentiable manner from the input when "
                    "running in strict mode"
                )

    @property
    def value(self) -> Any:
        """What the function returned."""
        values = tuple(self.tape.released(each) for each in self.outputs)
        return values[0] if self.one_output else values

    def pull(self, outputs: Sequence[Tensor], cotangents: Sequence[Tensor]) -> list[Tensor | None]:
        """One gradient per input; ``strict`` wants to see that it depends on the inputs, too."""
        both = self.strict and self.create_graph
        slopes = self.tape.pull(outputs, cotangents, create_graph=True if both else None)
        self.check_used(slopes)
        for place, each in enumerate(slopes):
            if both and (each is None or not self.tape.has_recorded(each)):
                raise self._refused(
                    f"The jacobian of the user-provided function with respect to input {place} is "
                    "independent of the input. This is not allowed in strict mode"
                )
        return slopes

    def like_inputs(self, slopes: Sequence[Tensor | None]) -> Any:
        """One gradient per input, for the caller."""
        return self.one_or_all(
            [
                recorded.zeros_like(twin) if each is None else self.tape.released(each)
                for each, twin in zip(slopes, self.tape.inputs, strict=True)
            ]
        )

    def one_or_all(self, parts: Sequence[Any]) -> Any:
        return parts[0] if self.one_input else tuple(parts)

    def vector(self, v: Any, models: tuple[Tensor, ...], which: str) -> list[Tensor]:
        """``v`` as a list of tensors like the models; ones for a single number."""
        if v is None:
            if len(models) == 1 and models[0].numel() == 1:
                return [recorded.ones_like(models[0])]
            raise self._refused(
                f"The vector v can only be None if the {which} a single Tensor with a single "
                "element",
                "pass v, with the shapes of " + ", ".join(map(describe, models)),
            )
        given, _ = _as_tuple(self.call, "v", v)
        if len(given) != len(models):
            raise self._refused(
                f"v is a tuple of invalid length: should be {len(models)} but got {len(given)}",
                "pass one tensor for each",
            )
        for place, (each, model) in enumerate(zip(given, models, strict=True)):
            if each.shape != model.shape:
                raise self._refused(
                    f"Entry {place} in v has invalid size: should be {tuple(model.shape)} but got "
                    f"{tuple(each.shape)}",
                    "pass one number per element",
                )
        return [each.to(model.dtype) for each, model in zip(given, models, strict=True)]

    def require_scalar(self) -> None:
        if not self.one_output or self.outputs[0].numel() != 1:
            raise self._refused(
                f"The function given to {self.call} should return a single Tensor, and the Tensor "
                f"should contain a single element; got {describe(list(self.outputs))}",
                "reduce it, for example with sum()",
            )

    def check_used(self, slopes: Sequence[Any]) -> None:
        for place, each in enumerate(slopes):
            if self.strict and each is None:
                raise self._refused(
                    "The output of the user-provided function is independent of input "
                    f"{place}. This is not allowed in strict mode"
                )

    def check_each_used(self) -> None:
        for output in self.outputs:
            self.pull([output], [recorded.ones_like(output)])

    def _refused(self, cause: str, fix: str = "leave strict out to get zeros") -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"autograd.functional.{self.call}(…)",
            cause=cause,
            fix=fix,
        )


def _gradient(
    call: str, func: Callable[..., Any], at: tuple[Tensor, ...], strict: bool
) -> tuple[_Run, tuple[Tensor, ...]]:
    """A run of ``func``, which returns one number, and its slopes, to be differentiated again."""
    run = _Run(call, func, at, True, strict)
    run.require_scalar()
    slopes = run.pull(run.outputs, [recorded.ones_like(run.outputs[0])])
    return run, run.like_inputs(slopes)


def _hessian_product(
    call: str,
    func: Callable[..., Any],
    inputs: Any,
    v: Any,
    create_graph: bool,
    strict: bool,
) -> tuple[Any, Any]:
    kept: list[_Run] = []

    def gradient(*at: Tensor) -> Any:
        run, slopes = _gradient(call, func, at, strict)
        kept.append(run)
        return slopes

    outer = _Run(call, gradient, inputs, create_graph, strict)
    vector = outer.vector(v, outer.inputs, "input to the user-provided function is")
    value = outer.tape.released(kept[0].value)
    return value, outer.like_inputs(outer.tape.pull(outer.outputs, vector))


def _forward_jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool, chunk_size: int | None
) -> Any:
    points, one_input = _as_tuple("jacobian", "inputs", inputs)
    argnums = 0 if one_input else tuple(range(len(points)))
    tape = Tape(points, outside=create_graph, guarded=False)
    return tape.released(tape.run(jacfwd(func, argnums, chunk_size=chunk_size), *tape.inputs))


def _as_tuple(call: str, what: str, value: Any) -> tuple[tuple[Tensor, ...], bool]:
    """(the tensors, whether it was a single one)"""
    alone = not isinstance(value, tuple)
    tensors = (value,) if alone else value
    for place, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            which = f"the given {what}" if alone else f"the value at index {place}"
            raise fail(
                TypeError,
                call=f"autograd.functional.{call}(…)",
                cause=f"The {what} given to {call} must be either a Tensor or a tuple of Tensors "
                f"but {which} has type {type(each).__name__}",
                fix="wrap it: whygrad.tensor(value)",
            )
    return tensors, alone


def _check_strategy(call: str, strategy: Any, strict: bool, vectorize: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise fail(
            AssertionError,
            call=f"autograd.functional.{call}(…, strategy={strategy!r})",
            cause='Expected strategy to be either "forward-mode" or "reverse-mode"',
            fix='"forward-mode" is cheaper if there are more outputs than inputs',
        )
    if strict and (vectorize or strategy == "forward-mode"):
        other = "`vectorize=True`" if vectorize else '`strategy="forward-mode"`'
        raise fail(
            RuntimeError,
            call=f"autograd.functional.{call}(…)",
            cause=f"`strict=True` and {other} are not supported together",
            fix="leave one of them out",
        )
