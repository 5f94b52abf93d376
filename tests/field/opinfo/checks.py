"""What is compared of one call: values, gradients, forward mode, variants, refusals.

Each check raises :class:`Difference`, or says what it has compared.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

import whygrad
from tests.field.opinfo.judgement import Difference, Judge, short
from tests.field.opinfo.on_purpose import ARBITRARY, UP_TO_PHASE, WHICH_OF_EQUALS
from tests.field.opinfo.translation import NotCompared, Translation, ported, replaced

__all__ = ["NotCompared", "check", "check_error", "check_forward", "check_variant"]

ON_PURPOSE = "different on purpose"
IN_DOUBLE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
AGREEMENT = 1e-9  # of forward with reverse mode; PyTorch's errors are larger, whygrad's smaller


class Pair:
    """One sample for both libraries, with fresh tensors here."""

    def __init__(self, sample: Any) -> None:
        translation = Translation()
        self.theirs = (sample.input, sample.args, sample.kwargs)
        self.mine = translation(self.theirs)
        self.moving = [pair for pair in translation.pairs if pair[1].requires_grad]


class InDouble:
    """PyTorch's results for one sample in twice its precision, computed when asked for."""

    def __init__(self, program: Any, sample: Any) -> None:
        self.program = program
        self.moving: list[torch.Tensor] = []
        self.sample = replaced((sample.input, sample.args, sample.kwargs), self._widened)

    def _widened(self, tensor: torch.Tensor) -> torch.Tensor:
        wide = tensor.detach().to(IN_DOUBLE.get(tensor.dtype, tensor.dtype))
        if tensor.requires_grad:
            self.moving.append(wide.requires_grad_())
        return wide

    def result(self) -> Any:
        return call(self.program, self.sample)

    def gradients(self) -> list[Any]:
        return _pull(torch, flat(self.result()), self.moving, False)


def _in_double(judge: Judge, program: Any, sample: Any) -> InDouble | None:
    return InDouble(program, sample) if judge.dtype in IN_DOUBLE else None


def call(function: Any, sample: Any) -> Any:
    return function(sample[0], *sample[1], **sample[2])


def flat(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in flat(item)]
    return [result]


def check(judge: Judge, info: Any, function: Any, sample: Any, again: bool) -> str:
    """Values, then gradients, then their gradients if ``again``."""
    pair = Pair(sample)
    expected, result = _both(judge, info.op, function, pair, "")
    if result is None:
        return ON_PURPOSE
    if _arbitrary(info, sample):
        shapes = [tuple(getattr(each, "shape", ())) for each in flat(expected)]
        if [tuple(getattr(each, "shape", ())) for each in flat(result)] != shapes:
            raise Difference("other shapes")
        return "shapes"
    double = _in_double(judge, info.op, sample)
    same = judge.compare(
        *(_determined(info, sample, given, each) for given, each in (
            (pair.mine, result), (pair.theirs, expected)
        )),
        "result",
        exact=double and (lambda: _determined(info, sample, double.sample, double.result())),
    )  # fmt: skip
    if not pair.moving or not _differentiable(flat(expected)) or not info.supports_autograd:
        return "values" if same else ON_PURPOSE
    their_program, my_program = _well_defined(info, function, sample)
    if their_program is not info.op:
        pair = Pair(sample)
        expected, result = _both(judge, their_program, my_program, pair, "differentiable form ")
        if result is None:
            return ON_PURPOSE
        double = _in_double(judge, their_program, sample)
    again = again and info.supports_gradgrad
    return _compare_gradients(judge, pair, result, expected, again, double)


def _both(judge: Judge, theirs: Any, mine: Any, pair: Pair, label: str) -> tuple[Any, Any]:
    """Both results; None for whygrad's if it refuses on purpose."""
    try:
        expected = call(theirs, pair.theirs)
    except Exception as error:
        raise NotCompared("PyTorch refuses its own sample") from error
    try:
        return expected, call(mine, pair.mine)
    except Exception as error:
        judge.differ(f"{label}raises {type(error).__name__}: {_cause(error)}")
        return expected, None


def _arbitrary(info: Any, sample: Any) -> bool:
    return any(word in info.name for word in ARBITRARY) or bool(sample.kwargs.get("dropout_p"))


def _determined(info: Any, sample: Any, given: Any, result: Any) -> list[Any]:
    """The parts and properties of a result that its definition fixes."""
    if info.name in UP_TO_PHASE:
        values, vectors = result
        return [values, abs(vectors)]
    parts = flat(result)
    if info.name not in WHICH_OF_EQUALS or parts[-1].dtype not in (torch.int64, whygrad.int64):
        return parts
    *values, places = parts
    if not values and info.name != "argsort":
        return parts  # the median of everything has no place
    dimension, x = _dimension(info, sample), given[0].detach()
    if not x.dim():
        x, places = x.reshape(1), places.reshape(1)
    if places.dim() < x.dim():
        places = places.unsqueeze(dimension)
    return [*values, x.gather(dimension, places)]


def _dimension(info: Any, sample: Any) -> int:
    place = WHICH_OF_EQUALS[info.name]
    dimension = sample.kwargs.get("dim", (*sample.args, *[-1] * 3)[place])
    return int(dimension)


def _well_defined(info: Any, function: Any, sample: Any) -> tuple[Any, Any]:
    """The op inside the program with which PyTorch's tests differentiate it.

    It makes a matrix symmetric or triangular that is only read as if it were, and takes from a
    result what does not depend on the phase of vectors.
    """
    from torch.testing._internal.opinfo.core import OpInfo  # slow; loaded by now

    wrapped = info.gradcheck_wrapper is not OpInfo.gradcheck_wrapper
    last = sample.output_process_fn_grad
    if not wrapped and "__init__" in last.__qualname__:
        return info.op, function
    before = info.gradcheck_wrapper if wrapped else call_plain
    return (
        partial(_wrapped, before, info.op, last),
        partial(_wrapped, ported(before) or before, function, ported(last)),
    )


def call_plain(op: Any, *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs)


def _wrapped(before: Any, op: Any, last: Any, *args: Any, **kwargs: Any) -> Any:
    return last(before(op, *args, **kwargs))


def _differentiable(results: list[Any]) -> list[Any]:
    return [each for each in results if getattr(each, "requires_grad", False)]


def _numbers(library: Any, shape: tuple[int, ...], dtype: Any, seed: int) -> Any:
    """Numbers between ½ and 1½ that every dtype holds exactly."""
    numbers = np.random.default_rng(seed).integers(32, 97, shape) / 64
    return library.from_numpy(np.asarray(numbers)).to(dtype)


def _pull(library: Any, outputs: list[Any], inputs: list[Any], again: bool) -> list[Any]:
    """Gradients of the outputs with fixed cotangents."""
    places = [p for p, each in enumerate(outputs) if getattr(each, "requires_grad", False)]
    if not places:
        return [None] * len(inputs)
    roots = [outputs[place] for place in places]
    sent = [
        _numbers(library, tuple(each.shape), each.dtype, place)
        for place, each in zip(places, roots, strict=True)
    ]
    return list(library.autograd.grad(roots, inputs, sent, allow_unused=True, create_graph=again))


def _compare_gradients(
    judge: Judge,
    pair: Pair,
    mine: Any,
    theirs: Any,
    again: bool,
    double: InDouble | None = None,
) -> str:
    my_inputs, their_inputs = ([each[side] for each in pair.moving] for side in (0, 1))
    result, expected = flat(mine), flat(theirs)
    for what, slack, more in (("gradient", 1, again), ("second gradient", 100, False)):
        try:
            expected = _pull(torch, expected, their_inputs, more)
        except Exception:
            return "values" if slack == 1 else "gradients"  # PyTorch has none here
        try:
            result = _pull(whygrad, result, my_inputs, more)
        except Exception as error:
            judge.differ(f"{what} raises {type(error).__name__}: {_cause(error)}")
            return ON_PURPOSE
        if not judge.compare(result, expected, what, slack, double and double.gradients):
            return ON_PURPOSE
        if not again:
            return "gradients"
    return "second gradients"


def check_variant(judge: Judge, info: Any, variant: tuple[str, Any, Any], sample: Any) -> str:
    """The method, or the in-place form on a copy of its first argument."""
    label, their_function, my_function = variant
    pair = Pair(sample)
    if not isinstance(sample.input, torch.Tensor) or _arbitrary(info, sample):
        raise NotCompared("a variant of a random op, or of one without a first tensor")
    if label == "in place":
        pair.mine, pair.theirs = ((each[0].clone(), *each[1:]) for each in (pair.mine, pair.theirs))
    try:
        expected = call(their_function, pair.theirs)
    except Exception as error:
        try:
            call(my_function, pair.mine)
        except Exception:
            return f"{label}: refusals"
        judge.differ(f"{label}: PyTorch refuses {short(error)}")
        return ON_PURPOSE
    try:
        result = call(my_function, pair.mine)
    except Exception as error:
        judge.differ(f"{label} raises {type(error).__name__}: {_cause(error)}")
        return ON_PURPOSE
    if label == "in place" and result is not pair.mine[0]:
        raise Difference("in place: returns another tensor")
    same = judge.compare(
        _determined(info, sample, pair.mine, result),
        _determined(info, sample, pair.theirs, expected),
        f"{label} result",
    )
    moves = pair.moving and _differentiable(flat(expected))
    plain = _well_defined(info, my_function, sample)[0] is info.op
    if same and label == "in place" and moves and plain:
        double = _in_double(judge, partial(_on_a_copy, their_function), sample)
        same = _compare_gradients(judge, pair, result, expected, False, double) != ON_PURPOSE
    return label if same else ON_PURPOSE


def _on_a_copy(function: Any, input: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    return function(input.clone(), *args, **kwargs)


def check_forward(judge: Judge, info: Any, function: Any, sample: Any) -> str:
    """Tangents pushed through."""
    pair = Pair(sample)
    if not pair.moving or _arbitrary(info, sample):
        raise NotCompared("forward mode of what is random or does not move")
    their_program, my_program = _well_defined(info, function, sample)
    expected = _pushed(torch, pair.theirs, [each[1] for each in pair.moving], their_program)
    if isinstance(expected, Exception):
        raise NotCompared("PyTorch has no forward mode here")
    result = _pushed(whygrad, pair.mine, [each[0] for each in pair.moving], my_program)
    if isinstance(result, Exception):
        judge.differ(f"forward mode raises {type(result).__name__}: {_cause(result)}")
        return ON_PURPOSE
    try:
        same = judge.compare(result, expected, "tangent", 10)
    except Difference:
        errors = (
            _contradiction(library, [each[side] for each in pair.moving], program, given, pushed)
            for library, side, program, given, pushed in (
                (whygrad, 0, my_program, pair.mine, result),
                (torch, 1, their_program, pair.theirs, expected),
            )
        )
        if next(errors) > AGREEMENT or next(errors) < AGREEMENT:
            raise
        judge.excuse("tangent", "PyTorch's forward mode contradicts its own reverse mode")
        same = False
    return "forward mode" if same else ON_PURPOSE


def _contradiction(
    library: Any, inputs: list[Any], program: Any, sample: Any, pushed: list[Any]
) -> float:
    """How far ⟨cotangent, pushed tangent⟩ is from ⟨pulled cotangent, tangent⟩, relatively."""
    results = flat(call(program, sample))
    pulled = _pull(library, results, inputs, False)
    there = [
        (_numbers(library, tuple(each.shape), each.dtype, place) * tangent.conj()).sum().real
        for place, (each, tangent) in enumerate(zip(results, pushed, strict=True))
        if tangent is not None
    ]
    back = [
        (_numbers(library, tuple(each.shape), each.dtype, 50 + place) * gradient.conj()).sum().real
        for place, (each, gradient) in enumerate(zip(inputs, pulled, strict=True))
        if gradient is not None
    ]
    one, other = float(sum(there)), float(sum(back))
    return abs(one - other) / max(abs(one), abs(other), 1e-300)


def _pushed(library: Any, sample: Any, inputs: list[Any], program: Any) -> Any:
    forward = library.autograd.forward_ad
    with forward.dual_level():
        duals = {
            id(each): forward.make_dual(
                each.detach(), _numbers(library, tuple(each.shape), each.dtype, 50 + place)
            )
            for place, each in enumerate(inputs)
        }
        try:
            results = flat(call(program, replaced(sample, lambda each: duals.get(id(each), each))))
            return [
                forward.unpack_dual(each).tangent if isinstance(each, library.Tensor) else None
                for each in results
            ]
        except Exception as error:
            return error


def check_error(judge: Judge, function: Any, error_input: Any) -> str:
    """A call that PyTorch refuses is refused."""
    mine = Pair(error_input.sample_input).mine
    try:
        call(function, mine)
    except error_input.error_type:
        return "refusals"
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError):
        return "refusals of another class"
    why = error_input.error_regex or "takes no number there"
    judge.differ(f"PyTorch refuses: {short(why)}")
    return ON_PURPOSE


def _cause(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if "cause:" in line] or [str(error)]
    return short(lines[0].strip())
