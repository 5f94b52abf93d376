"""Are two results the same, as far as their precision goes?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from whygrad.tensor import Tensor, devices, dtypes

__all__ = ["assert_allclose", "assert_close"]

# (relative, absolute) by dtype; anything else has to be equal.
_TOLERANCE = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


class _Rules(NamedTuple):
    allow_subclasses: bool
    tolerance: tuple[float, float] | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool


class _Different(Exception):
    """Why two things are not close, and where in the containers they are."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words
        self.path: list[Any] = []


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise an AssertionError unless |actual − expected| ≤ atol + rtol·|expected| everywhere.

    Tensors, arrays, numbers and None, in lists, tuples and dicts.  The tolerances are those of the
    less precise dtype unless both are given; kind, shape, dtype, device and layout count, too.
    """
    if (rtol is None) is not (atol is None):
        lacking = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {lacking}."
        )
    rules = _Rules(
        allow_subclasses,
        None if rtol is None or atol is None else (rtol, atol),
        equal_nan,
        check_device,
        check_dtype,
        check_layout,
        check_stride,
    )
    try:
        _compare(actual, expected, rules)
    except _Different as difference:
        place = "".join(f"[{each!r}]" for each in reversed(difference.path))
        words = f"{difference.words}\n\nThe failure occurred for item {place}" * bool(place)
        text = words or difference.words
        raise AssertionError(msg(text) if callable(msg) else msg or text) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older name: dtype, device and layout do not count."""
    import warnings

    warnings.warn(
        "assert_allclose() is deprecated: use whygrad.testing.assert_close()",
        FutureWarning,
        stacklevel=2,
    )
    assert_close(
        _as_tensor(actual), _as_tensor(expected), rtol=rtol, atol=atol, equal_nan=equal_nan,
        check_device=True, check_dtype=False, check_layout=False, msg=msg or None,
    )  # fmt: skip


def _as_tensor(value: Any) -> Tensor:
    from whygrad.ops import functions

    made: Tensor = functions["as_tensor"](value)
    return made


def _compare(actual: Any, expected: Any, rules: _Rules) -> None:
    kinds = (actual, expected)
    if all(isinstance(each, (bool, np.bool_)) for each in kinds):
        if bool(actual) is not bool(expected):
            raise _Different(f"Booleans mismatch: {actual} is not {expected}")
    elif actual is None or expected is None:
        if actual is not expected:
            raise _Different(f"None mismatch: {actual} is not {expected}")
    elif all(isinstance(each, (int, float, complex)) for each in kinds):
        _compare_numbers(actual, expected, rules)
    elif all(isinstance(each, (np.ndarray, np.generic)) for each in kinds):
        _compare_tensors(_as_tensor(np.asarray(actual)), _as_tensor(np.asarray(expected)), rules)
    elif all(isinstance(each, Tensor) for each in kinds) and (
        rules.allow_subclasses or type(actual) is type(expected)
    ):
        _compare_tensors(actual, expected, rules)
    elif all(isinstance(each, Mapping) for each in kinds):
        _compare_mappings(actual, expected, rules)
    elif all(isinstance(each, Sequence) and not isinstance(each, str) for each in kinds):
        if len(actual) != len(expected):
            raise _Different(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            )
        for place, pair in enumerate(zip(actual, expected, strict=True)):
            _inside(place, *pair, rules)
    else:
        names = " and ".join(str(type(each)) for each in kinds)
        raise TypeError(f"No comparison pair was able to handle inputs of type {names}.")


def _inside(place: Any, actual: Any, expected: Any, rules: _Rules) -> None:
    try:
        _compare(actual, expected, rules)
    except _Different as difference:
        difference.path.append(place)
        raise


def _compare_mappings(actual: Any, expected: Any, rules: _Rules) -> None:
    missing = sorted(expected.keys() - actual.keys(), key=repr)
    surplus = sorted(actual.keys() - expected.keys(), key=repr)
    if missing or surplus:
        raise _Different(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {missing}\n"
            f"Additional keys in the actual mapping: {surplus}"
        )
    for key in expected:
        _inside(key, actual[key], expected[key], rules)


def _compare_numbers(actual: Any, expected: Any, rules: _Rules) -> None:
    if rules.check_dtype and type(actual) is not type(expected):
        raise _Different(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    exact = all(isinstance(each, int) for each in (actual, expected))
    relative, absolute = rules.tolerance or ((0.0, 0.0) if exact else _TOLERANCE["float64"])
    both_nan = actual != actual and expected != expected
    allowed = absolute + relative * abs(expected)
    if actual == expected or (both_nan and rules.equal_nan):
        return
    gap = abs(actual - expected)
    if not gap <= allowed or gap == float("inf"):
        kind = "equal" if relative == absolute == 0 else "close"
        raise _Different(
            f"Scalars are not {kind}!\n\nExpected {expected} but got {actual}.\n"
            f"Absolute difference: {gap} (up to {allowed} allowed)"
        )


def _compare_tensors(actual: Tensor, expected: Tensor, rules: _Rules) -> None:
    _require("shape", actual.shape, expected.shape)
    if rules.check_layout:
        _require("layout", actual.layout, expected.layout)
    if rules.check_device:
        _require("device", actual.device, expected.device)
    if rules.check_dtype:
        _require("dtype", actual.dtype, expected.dtype)
    strided = actual.layout is devices.strided and expected.layout is devices.strided
    if rules.check_stride and strided:
        _require("stride()", actual.stride(), expected.stride())
    _compare_values(_dense(actual), _dense(expected), rules)


def _require(name: str, actual: Any, expected: Any) -> None:
    if actual != expected:
        raise _Different(f"The values for attribute '{name}' do not match: {actual} != {expected}.")


def _dense(tensor: Tensor) -> Tensor:
    dense = tensor.detach()
    return dense if dense.layout is devices.strided else dense.to_dense()


def _compare_values(actual: Tensor, expected: Tensor, rules: _Rules) -> None:
    if rules.tolerance is None:
        pairs = [_TOLERANCE.get(each.dtype.name, (0.0, 0.0)) for each in (actual, expected)]
        relative, absolute = max(pairs[0][0], pairs[1][0]), max(pairs[0][1], pairs[1][1])
    else:
        relative, absolute = rules.tolerance
    common = dtypes.promote_types(actual.dtype, expected.dtype)
    wide = "complex128" if common.is_complex else "float64"
    exact = not (common.is_floating_point or common.is_complex)
    got, wanted = (
        each.numpy() if exact else each.to(dtypes.of(wide)).numpy() for each in (actual, expected)
    )
    close = np.isclose(got, wanted, relative, absolute, equal_nan=rules.equal_nan)
    if close.all():
        return
    with np.errstate(all="ignore"):
        gap = np.abs(got.astype(wide) - wanted.astype(wide))
        ratio = gap / np.abs(wanted.astype(wide))
    gap, ratio = np.where(close, 0.0, gap), np.where(close, 0.0, ratio)
    wrong, count = int((~close).sum()), close.size
    kind = "equal" if relative == absolute == 0 else "close"
    raise _Different(
        f"Tensor-likes are not {kind}!\n\n"
        f"Mismatched elements: {wrong} / {count} ({100 * wrong / count:.1f}%)\n"
        f"Greatest absolute difference: {_worst(gap)} (up to {absolute} allowed)\n"
        f"Greatest relative difference: {_worst(ratio)} (up to {relative} allowed)"
    )


def _worst(gap: Any) -> str:
    place = np.unravel_index(int(np.nan_to_num(gap, nan=np.inf).argmax()), gap.shape)
    return f"{gap[place]} at index {tuple(map(int, place))}"
