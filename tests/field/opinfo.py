"""``python -m tests.field.opinfo [NAME …]``: the samples of PyTorch's op tests on both libraries.

PyTorch ships the inputs with which it tests its operators (``OpInfo``): thousands of calls that
nobody here wrote.  Each runs on both libraries: values, dtypes, gradients, gradients of gradients,
forward mode, the method and the in-place form, and the calls that must be refused.
``--dtype complex128`` and the like choose other numbers; a name with ``--verbose`` shows every
difference with its call.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from itertools import islice
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import whygrad

# PyTorch's test files forbid changes of its settings; other tests of this process make some.
torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True

__all__ = ["main"]

# Results that are random, or memory that nobody has written.
ARBITRARY = (
    "bernoulli", "cauchy", "dropout", "empty", "exponential", "geometric", "log_normal",
    "multinomial", "normal", "rand", "rrelu", "uniform", "resize", "svd_lowrank", "pca_lowrank",
    "multi_head_attention", "fractional_max_pool", "binomial", "poisson",
)  # fmt: skip
# Differences on purpose: op, a phrase of the difference, why.
ON_PURPOSE = (
    ("*", "unsupported operation", "the arguments share memory, which the translation undoes"),
    ("*", "refer to a single memory location", "the same"),
    ("*", "Expected out tensor to have dtype", "out= converts by one rule (docs/differences.md)"),
    ("complex", "Expected object of scalar type ComplexDouble", "the same"),
    ("multinomial", "expects Long tensor out", "the same"),
    ("*", "takes no number there", "a number is as good as a tensor without dimensions"),
    ("as_strided*", "", "views are handed over without what lies around them"),
    ("slice", "", "a function of aten alone; whygrad's own helper happens to have its name"),
    ("cholesky_solve", "gradient", "only one triangle is read, so only it has a gradient"),
    ("cholesky_inverse", "gradient", "only one triangle is read, so only it has a gradient"),
    ("*linear_cross_entropy", "", "never in chunks, so differentiable to any order"),
    ("*max_unpool*", "gradient 0", "an element that another one overwrote has no influence"),
    ("triangular_solve", "tangent", "only the triangle that is read counts"),
    ("logcumsumexp", "tangent", "exact where PyTorch's loses nine digits"),
    ("cov", "tangent", "exact with weights in float32, to which PyTorch rounds"),
    ("linalg.eig*", "gradient", "of a result that depends on the phase of eigenvectors"),
    ("linalg.eig*", "tangent 1", "the same"),
    ("*cholesky*", "tangent", "only the symmetric part of a tangent counts"),
    ("linalg.eig*", "result 1", "eigenvectors are determined up to their phase"),
    ("nextafter", "", "no gradient: the spacing of numbers is nothing to follow"),
    ("*_reduce", "a factor is 0", "refused (docs/differences.md)"),
    ("*", "has no gradient through complex numbers", "refused (docs/differences.md)"),
    ("*", "not implemented for complex tensors", "the same"),
    ("to_sparse", "hybrid tensors", "not here (docs/differences.md)"),
    ("linalg.norm", "second gradient 0: [0.", "0 at 0 at every order, where PyTorch's is nan"),
    ("linalg.norm", "second gradient 0: [[0.", "the same"),
    ("special.bessel_*", "result 0", "SciPy's are exact where PyTorch's lose digits"),
    ("istft", "gradient 1", "the window has a gradient"),
    ("nn.functional.avg_pool*", "integer tensors", "refused (docs/differences.md)"),
    ("nn.functional.local_response_norm", "infer output dtype", "an average of integers, too"),
    ("kthvalue", "result 1", "which of equal numbers is unspecified"),
    ("topk", "result 1", "which of equal numbers is unspecified"),
    ("mode", "result 1", "which of equal numbers is unspecified"),
)
TOLERANCE = {"e": (2e-3, 2e-3), "f": (2e-4, 2e-5), "F": (2e-4, 2e-5)}


class Difference(Exception):
    """What whygrad does otherwise."""


class Judge:
    """Tells differences of one op from those on purpose, which it counts."""

    def __init__(self, name: str, tally: Counter[str]) -> None:
        self.name = name
        self.tally = tally

    def differ(self, text: str) -> None:
        for name, phrase, _ in ON_PURPOSE:
            if phrase in text and fnmatch(self.name, name):
                self.tally["different on purpose"] += 1
                return
        raise Difference(text)


def ours(info: Any) -> Any:
    """whygrad's function of PyTorch's name; None if there is none."""
    found = next(filter(None, map(partial(_look_up, info.name), (whygrad, whygrad.Tensor))), None)
    return found and (_ported(info.op) or found)


def _ported(function: Any) -> Any:
    """A small program around the function: the same program with the import swapped."""
    if not isinstance(function, FunctionType) or "_internal" not in function.__module__:
        return None
    names = {**function.__globals__, "torch": whygrad, "np": np}
    return FunctionType(function.__code__, names, None, function.__defaults__, function.__closure__)


def variants(info: Any) -> Iterator[tuple[str, Any, Any]]:
    """The method and the in-place form, in PyTorch and here."""
    for label, theirs in (("method", info.method_variant), ("in place", info.inplace_variant)):
        if theirs is None or theirs is info.op:
            continue
        mine = _ported(theirs) or getattr(whygrad.Tensor, getattr(theirs, "__name__", ""), None)
        if mine is not None:
            yield label, theirs, mine


def _look_up(name: str, space: Any) -> Any:
    try:
        found = attrgetter(name)(space)
    except AttributeError:
        return None
    if isinstance(found, property):
        return found.fget
    return found if callable(found) else None


def translated(value: Any, tensors: list[tuple[Any, Any]]) -> Any:
    """The same argument for whygrad; pairs of tensors are noted in ``tensors``."""
    again = partial(translated, tensors=tensors)
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.is_quantized:
            raise NotImplementedError("layout")
        try:
            made = _tensor(value)
        except (TypeError, ValueError) as error:  # bfloat16, or more dimensions than NumPy has
            raise NotImplementedError("not a NumPy array") from error
        tensors.append((made, value))
        return made
    if isinstance(value, torch.dtype):
        return getattr(whygrad, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return whygrad.device(str(value))
    if isinstance(value, torch.Size):
        return whygrad.Size(value)
    if isinstance(value, (torch.layout, torch.memory_format)):
        return getattr(whygrad, str(value).removeprefix("torch."))
    if isinstance(value, slice):
        return slice(again(value.start), again(value.stop), again(value.step))
    if isinstance(value, (list, tuple)):
        return type(value)(again(each) for each in value)
    if isinstance(value, dict):
        return {key: again(each) for key, each in value.items()}
    if callable(value):
        raise NotImplementedError("a function as argument")
    return value


def _tensor(value: torch.Tensor) -> Any:
    """A tensor with the same numbers in the same arrangement."""
    plain = value.detach().resolve_conj().resolve_neg()
    reach = (
        1 + sum((n - 1) * s for n, s in zip(plain.shape, plain.stride())) if plain.numel() else 0
    )
    if plain.is_contiguous() or not reach:
        made = whygrad.from_numpy(np.array(plain.numpy(force=True)))
    else:
        flat = whygrad.from_numpy(np.array(plain.as_strided((reach,), (1,)).numpy()))
        made = flat.as_strided(tuple(plain.shape), plain.stride())
    return made.requires_grad_() if value.requires_grad else made


def flat(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in flat(item)]
    return [result]


def as_numpy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.detach().to_dense() if value.layout is not torch.strided else value.detach()
        return (value.float() if value.dtype is torch.bfloat16 else value).numpy(force=True)
    if isinstance(value, whygrad.Tensor):
        value = value.detach().to_dense() if value.layout is not whygrad.strided else value.detach()
        return (value.float() if value.dtype is whygrad.bfloat16 else value).numpy()
    return np.asarray(value)


def compare(judge: Judge, mine: list[Any], theirs: list[Any], what: str, slack: int = 1) -> None:
    if len(mine) != len(theirs):
        raise Difference(f"{what}: {len(mine)} results, PyTorch {len(theirs)}")
    for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        text = _difference(a, b, what, slack)
        if text:
            judge.differ(f"{what} {place}: {text}")


def _difference(a: Any, b: Any, what: str, slack: int) -> str:
    if b is None or a is None:
        present = b if a is None else a
        if present is None or (what != "result" and not as_numpy(present).any()):
            return ""  # a formula may tell "no path" from zeros, or not
        return f"{_short(a)}, PyTorch {_short(b)}"
    if isinstance(b, torch.Tensor):
        if not isinstance(a, whygrad.Tensor):
            return f"{type(a).__name__}, PyTorch a tensor"
        if a.dtype.name != str(b.dtype).removeprefix("torch."):
            return f"{a.dtype}, PyTorch {b.dtype}"
        if tuple(a.shape) != tuple(b.shape):
            return f"shape {tuple(a.shape)}, PyTorch {tuple(b.shape)}"
        if what == "result" and a.requires_grad != b.requires_grad:
            return f"requires_grad {a.requires_grad}, PyTorch {b.requires_grad}"
    x, y = as_numpy(a), as_numpy(b)
    if x.dtype.kind not in "biufc":
        same = str(a).removeprefix("whygrad.") == str(b).removeprefix("torch.")
        return "" if same else f"{a}, PyTorch {b}"
    relative, absolute = TOLERANCE.get(y.dtype.char, (1e-7, 1e-9))
    if y.dtype.char in TOLERANCE:  # terms as large as the largest may have cancelled
        absolute *= max(1.0, np.abs(y[np.isfinite(y)]).max(initial=0.0))
    if np.allclose(x, y, relative * slack, absolute * slack, equal_nan=True):
        return ""
    return f"{_short(x)}, PyTorch {_short(y)}"


def _short(value: Any) -> str:
    return str(value).replace("\n", "")[:90]


def call(function: Any, sample: Any) -> Any:
    return function(sample[0], *sample[1], **sample[2])


def _outputs_that_differentiate(results: list[Any]) -> list[Any]:
    return [each for each in results if getattr(each, "requires_grad", False)]


def _numbers(library: Any, shape: tuple[int, ...], dtype: Any, seed: int) -> Any:
    numbers = np.random.default_rng(seed).uniform(0.5, 1.5, shape)
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


def _arbitrary(info: Any, sample: Any) -> bool:
    return any(word in info.name for word in ARBITRARY) or bool(sample.kwargs.get("dropout_p"))


def check(judge: Judge, info: Any, function: Any, sample: Any, dtype: torch.dtype) -> str:
    """Raises :class:`Difference`; says what was compared."""
    pairs: list[tuple[Any, Any]] = []
    theirs = (sample.input, sample.args, sample.kwargs)
    mine = translated(theirs, pairs)
    try:
        expected = flat(call(info.op, theirs))
    except Exception as error:
        raise NotImplementedError(f"PyTorch: {error}") from error
    try:
        result = flat(call(function, mine))
    except Exception as error:
        judge.differ(f"raises {type(error).__name__}: {_cause(error)}")
        return "different on purpose"
    if _arbitrary(info, sample):
        shapes = [tuple(getattr(each, "shape", ())) for each in expected]
        if [tuple(getattr(each, "shape", ())) for each in result] != shapes:
            raise Difference("other shapes")
        return "shapes"
    compare(judge, result, expected, "result")
    inputs = [pair for pair in pairs if pair[1].requires_grad]
    if not inputs or not _outputs_that_differentiate(expected) or not info.supports_autograd:
        return "values"
    again = info.supports_gradgrad and dtype in (torch.float64, torch.complex128)
    return _compare_gradients(judge, result, expected, inputs, again)


def _compare_gradients(
    judge: Judge,
    result: list[Any],
    expected: list[Any],
    inputs: list[tuple[Any, Any]],
    again: bool,
) -> str:
    my_inputs, their_inputs = ([pair[side] for pair in inputs] for side in (0, 1))
    for what, slack, more in (("gradient", 1, again), ("second gradient", 100, False)):
        try:
            theirs = _pull(torch, expected, their_inputs, more)
        except Exception:
            return "values" if slack == 1 else "gradients"  # PyTorch has none here
        try:
            mine = _pull(whygrad, result, my_inputs, more)
        except Exception as error:
            judge.differ(f"{what} raises {type(error).__name__}: {_cause(error)}")
            return "different on purpose"
        compare(judge, mine, theirs, what, slack)
        result, expected = mine, theirs
        if not again:
            return "gradients"
    return "second gradients"


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same arguments with other tensors."""
    again = partial(replaced, change=change)
    if isinstance(value, (torch.Tensor, whygrad.Tensor)):
        return change(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, (torch.Size, whygrad.Size)):
        return type(value)(again(each) for each in value)
    if isinstance(value, dict):
        return {key: again(each) for key, each in value.items()}
    return value


def check_variant(judge: Judge, info: Any, variant: tuple[str, Any, Any], sample: Any) -> str:
    """The method, or the in-place form on a copy of its first argument."""
    label, their_function, my_function = variant
    pairs: list[tuple[Any, Any]] = []
    theirs = (sample.input, sample.args, sample.kwargs)
    mine = translated(theirs, pairs)
    if not isinstance(sample.input, torch.Tensor) or _arbitrary(info, sample):
        raise NotImplementedError
    if label == "in place":
        mine, theirs = ((each[0].clone(), *each[1:]) for each in (mine, theirs))
    try:
        expected = flat(call(their_function, theirs))
    except Exception as error:
        try:
            call(my_function, mine)
        except Exception:
            return f"{label}: refusals"
        judge.differ(f"{label}: PyTorch refuses {_short(error)}")
        return "different on purpose"
    try:
        result = flat(call(my_function, mine))
    except Exception as error:
        judge.differ(f"{label} raises {type(error).__name__}: {_cause(error)}")
        return "different on purpose"
    if label == "in place" and result[0] is not mine[0]:
        raise Difference("in place: returns another tensor")
    compare(judge, result, expected, "result")
    inputs = [pair for pair in pairs if pair[1].requires_grad]
    if label == "in place" and inputs and _outputs_that_differentiate(expected):
        _compare_gradients(judge, result, expected, inputs, False)
    return label


def check_forward(judge: Judge, info: Any, function: Any, sample: Any) -> str:
    """Tangents pushed through."""
    pairs: list[tuple[Any, Any]] = []
    theirs = (sample.input, sample.args, sample.kwargs)
    mine = translated(theirs, pairs)
    moving = [pair for pair in pairs if pair[1].requires_grad]
    if not moving or _arbitrary(info, sample):
        raise NotImplementedError
    expected, result = (
        _pushed(library, given, [pair[side] for pair in moving], program)
        for library, given, side, program in (
            (torch, theirs, 1, info.op),
            (whygrad, mine, 0, function),
        )
    )
    if isinstance(expected, Exception):
        raise NotImplementedError("PyTorch has no forward mode here")
    if isinstance(result, Exception):
        judge.differ(f"forward mode raises {type(result).__name__}: {_cause(result)}")
        return "different on purpose"
    compare(judge, result, expected, "tangent", 10)
    return "forward mode"


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
    sample = error_input.sample_input
    mine = translated((sample.input, sample.args, sample.kwargs), [])
    try:
        call(function, mine)
    except error_input.error_type:
        return "refusals"
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError):
        return "refusals of another class"
    why = error_input.error_regex or "takes no number there"
    judge.differ(f"PyTorch refuses: {_short(why)}")
    return "different on purpose"


def _cause(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if "cause:" in line] or [str(error)]
    return _short(lines[0].strip())


def attempts(
    judge: Judge, info: Any, function: Any, dtype: torch.dtype, most: int
) -> Iterator[tuple[str, Any]]:
    """Checks to run, each with a text of its call."""
    gradient = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    precise = dtype in (torch.float64, torch.complex128)
    if dtype in info.supported_dtypes("cpu"):
        samples = info.sample_inputs("cpu", dtype, requires_grad=gradient)
        for sample in islice(samples, most):
            yield repr(sample), partial(check, judge, info, function, sample, dtype)
            for variant in variants(info):
                if variant[0] == "method" or not sample.broadcasts_input:
                    yield repr(sample), partial(check_variant, judge, info, variant, sample)
            if info.supports_forward_ad and precise:
                yield repr(sample), partial(check_forward, judge, info, function, sample)
    if info.error_inputs_func is not None and dtype is torch.float64:
        for each in islice(info.error_inputs("cpu"), most):
            yield repr(each.sample_input), partial(check_error, judge, function, each)


def run(info: Any, dtype: torch.dtype, most: int, verbose: bool, tally: Counter[str]) -> bool:
    """Whether whygrad does the same; differences are printed."""
    function = ours(info)
    if function is None:
        tally["ops whygrad does not have"] += 1
        if verbose:
            print(f"{info.name}: not here")
        return True
    found: Counter[str] = Counter()
    judge = Judge(info.name, tally)
    torch.manual_seed(0)
    for text, attempt in attempts(judge, info, function, dtype, most):
        try:
            tally[attempt()] += 1
        except (NotImplementedError, AttributeError):
            tally["not compared"] += 1
        except Difference as difference:
            tally["DIFFERENCES"] += 1
            found[str(difference)] += 1
            if verbose:
                print(f"  {text[:600]}\n  -> {difference}")
    for text, times in found.most_common(3):
        print(f"{info.name}.{info.variant_test_name or ''} {dtype} {times}×: {text}", flush=True)
    tally["ops clean" if not found else "ops that differ"] += 1
    return not found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--samples", type=int, default=40, help="of an op at most")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tally: Counter[str] = Counter()
    same = True
    for info in op_db:
        if options.names and info.name not in options.names:
            continue
        dtype = getattr(torch, options.dtype)
        same &= run(info, dtype, options.samples, options.verbose, tally)
    for what, count in tally.most_common():
        print(f"{count:7} {what}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
