"""``python -m tests.field.opinfo [NAME …]``: the samples of PyTorch's op tests on both libraries.

PyTorch ships the inputs with which it tests its operators (``OpInfo``): thousands of calls that
nobody here wrote.  Each runs on both libraries: values, dtypes, gradients, gradients of gradients,
the in-place form, and the calls that must be refused.  ``--dtype complex128`` and the like choose
other numbers; a name with ``--verbose`` shows every difference with its call.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import partial
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import whygrad

__all__ = ["main"]

# Results that are random, or memory that nobody has written.
ARBITRARY = (
    "bernoulli", "cauchy", "dropout", "empty", "exponential", "geometric", "log_normal",
    "multinomial", "normal", "rand", "rrelu", "uniform", "resize", "svd_lowrank", "pca_lowrank",
    "multi_head_attention", "fractional_max_pool", "binomial", "poisson",
)  # fmt: skip
# Differences on purpose: op, a phrase of the difference, why.
ON_PURPOSE = (
    ("", "unsupported operation", "the arguments share memory, which the translation undoes"),
    ("", "Expected out tensor to have dtype", "out= converts by one rule (docs/differences.md)"),
    ("as_strided", "", "views are handed over without what lies around them"),
    ("cholesky_solve", "gradient 1", "only one triangle is read, so only it has a gradient"),
    ("linear_cross_entropy", "requires_grad", "never in chunks, so differentiable to any order"),
    ("max_unpool", "gradient 0", "an element that another one overwrote has no influence"),
    ("linalg.eigh", "result 1", "eigenvectors are determined up to their sign"),
)
TOLERANCE = {"e": (2e-3, 2e-3), "f": (2e-4, 2e-5), "F": (2e-4, 2e-5)}


class Difference(Exception):
    """What whygrad does otherwise."""


def ours(info: Any) -> Any:
    """whygrad's function of PyTorch's name; None if there is none."""
    found = next(filter(None, map(partial(_look_up, info.name), (whygrad, whygrad.Tensor))), None)
    if found and isinstance(info.op, FunctionType) and "_internal" in info.op.__module__:
        # a small program around the function: the same program with the import swapped
        names = {**info.op.__globals__, "torch": whygrad, "np": np}
        return FunctionType(
            info.op.__code__, names, None, info.op.__defaults__, info.op.__closure__
        )
    return found


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


def compare(mine: list[Any], theirs: list[Any], what: str, slack: int = 1) -> None:
    if len(mine) != len(theirs):
        raise Difference(f"{what}: {len(mine)} results, PyTorch {len(theirs)}")
    for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if b is None or a is None:
            if a is not b:
                raise Difference(f"{what} {place}: {_short(a)}, PyTorch {_short(b)}")
            continue
        if isinstance(b, torch.Tensor):
            if not isinstance(a, whygrad.Tensor):
                raise Difference(f"{what} {place}: {type(a).__name__}, PyTorch a tensor")
            if a.dtype.name != str(b.dtype).removeprefix("torch."):
                raise Difference(f"{what} {place}: {a.dtype}, PyTorch {b.dtype}")
            if tuple(a.shape) != tuple(b.shape):
                raise Difference(
                    f"{what} {place}: shape {tuple(a.shape)}, PyTorch {tuple(b.shape)}"
                )
            if what == "result" and a.requires_grad != b.requires_grad:
                raise Difference(
                    f"{what} {place}: requires_grad {a.requires_grad}, PyTorch {b.requires_grad}"
                )
        x, y = as_numpy(a), as_numpy(b)
        if x.dtype.kind not in "biufc":
            if str(a).removeprefix("whygrad.") != str(b).removeprefix("torch."):
                raise Difference(f"{what} {place}: {a}, PyTorch {b}")
            continue
        relative, absolute = TOLERANCE.get(y.dtype.char, (1e-7, 1e-9))
        if not np.allclose(x, y, relative * slack, absolute * slack, equal_nan=True):
            raise Difference(f"{what} {place}: {_short(x)}, PyTorch {_short(y)}")


def _short(value: Any) -> str:
    return str(value).replace("\n", "")[:90]


def call(function: Any, sample: Any) -> Any:
    return function(sample[0], *sample[1], **sample[2])


def _outputs_that_differentiate(results: list[Any]) -> list[Any]:
    return [each for each in results if getattr(each, "requires_grad", False)]


def _pull(library: Any, outputs: list[Any], inputs: list[Any], again: bool) -> list[Any]:
    """Gradients of the outputs with fixed cotangents."""
    rng = np.random.default_rng(3)
    sent = []
    for each in outputs:
        numbers = rng.uniform(0.5, 1.5, tuple(each.shape))
        weights = library.from_numpy(np.asarray(numbers)).to(each.dtype)
        sent.append(weights)
    return list(library.autograd.grad(outputs, inputs, sent, allow_unused=True, create_graph=again))


def check(info: Any, function: Any, sample: Any, dtype: torch.dtype) -> str:
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
        raise Difference(f"raises {type(error).__name__}: {_cause(error)}") from error
    if any(word in info.name for word in ARBITRARY) or sample.kwargs.get("dropout_p"):
        shapes = [tuple(getattr(each, "shape", ())) for each in expected]
        if [tuple(getattr(each, "shape", ())) for each in result] != shapes:
            raise Difference("other shapes")
        return "shapes"
    compare(result, expected, "result")
    inputs = [pair for pair in pairs if pair[1].requires_grad]
    my_out, their_out = map(_outputs_that_differentiate, (result, expected))
    if not inputs or not their_out or not info.supports_autograd:
        return "values"
    again = info.supports_gradgrad and dtype in (torch.float64, torch.complex128)
    return _compare_gradients(my_out, their_out, inputs, again)


def _compare_gradients(
    my_out: list[Any],
    their_out: list[Any],
    inputs: list[tuple[Any, Any]],
    again: bool,
) -> str:
    my_inputs, their_inputs = ([pair[side] for pair in inputs] for side in (0, 1))
    try:
        expected = _pull(torch, their_out, their_inputs, again)
    except Exception:
        return "values"  # PyTorch has no gradient here
    try:
        result = _pull(whygrad, my_out, my_inputs, again)
    except Exception as error:
        raise Difference(f"backward raises {type(error).__name__}: {_cause(error)}") from error
    compare(result, expected, "gradient")
    if not again:
        return "gradients"
    my_again, their_again = map(_outputs_that_differentiate, (result, expected))
    if [getattr(e, "requires_grad", None) for e in result] != [
        getattr(e, "requires_grad", None) for e in expected
    ]:
        raise Difference("the gradients' requires_grad")
    if not their_again:
        return "gradients"
    try:
        expected = _pull(torch, their_again, their_inputs, False)
    except Exception:
        return "gradients"
    try:
        result = _pull(whygrad, my_again, my_inputs, False)
    except Exception as error:
        raise Difference(f"second backward: {type(error).__name__}: {_cause(error)}") from error
    compare(result, expected, "second gradient", slack=100)
    return "second gradients"


def check_error(function: Any, error_input: Any) -> str:
    """A call that PyTorch refuses is refused."""
    sample = error_input.sample_input
    mine = translated((sample.input, sample.args, sample.kwargs), [])
    try:
        call(function, mine)
    except error_input.error_type:
        return "refusals"
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError):
        return "refusals of another class"
    raise Difference(f"PyTorch refuses: {_short(error_input.error_regex)}")


def _cause(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if "cause:" in line] or [str(error)]
    return _short(lines[0].strip())


def attempts(info: Any, function: Any, dtype: torch.dtype) -> Iterator[tuple[str, Any]]:
    """Checks to run, each with a text of its call."""
    gradient = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    if dtype in info.supported_dtypes("cpu"):
        for sample in info.sample_inputs("cpu", dtype, requires_grad=gradient):
            yield repr(sample), partial(check, info, function, sample, dtype)
    if info.error_inputs_func is not None and dtype is torch.float64:
        for each in info.error_inputs("cpu"):
            yield repr(each.sample_input), partial(check_error, function, each)


def run(info: Any, dtype: torch.dtype, most: int, verbose: bool, tally: Counter[str]) -> bool:
    """Whether whygrad does the same; differences are printed."""
    function = ours(info)
    if function is None:
        tally["ops whygrad does not have"] += 1
        if verbose:
            print(f"{info.name}: not here")
        return True
    found: Counter[str] = Counter()
    torch.manual_seed(0)
    for number, (text, attempt) in enumerate(attempts(info, function, dtype), 1):
        try:
            tally[attempt()] += 1
        except (NotImplementedError, AttributeError):
            tally["not compared"] += 1
        except Difference as difference:
            if any(name in info.name and text in str(difference) for name, text, _ in ON_PURPOSE):
                tally["different on purpose"] += 1
                continue
            tally["DIFFERENCES"] += 1
            found[str(difference)] += 1
            if verbose:
                print(f"  {text[:600]}\n  -> {difference}")
        if number >= most:
            break
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
