"""The table itself: complete rows, declared kinks, meta shapes, and every public op in it."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.harness import (
    as_numpy,
    every_sample,
    torch_function,
    whygrad_side,
    widened,
)
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, Constant, samples_of
from whygrad.tensor import Tensor


@pytest.mark.parametrize("op", table.values(), ids=lambda op: op.name)
def test_row_is_complete(op: Op) -> None:
    assert op.formula, "a formula in words"
    assert samples_of(op), "at least one sample: samples=lambda make: [make.call(…)]"
    if op.vjp is not None and op.kind != "elementwise" and not op.linear:
        assert op.jvp is not None, "a forward rule (it cannot be derived for this kind of op)"
    if op.kinks:
        assert op.subgradient, "which slope is used at the kinks"
    assert not (plain := never_tensors(op)), (
        f"no sample of {op.signature} has a tensor as {', '.join(plain)}\n"
        f"if it is always a plain number, write it after a semicolon: (…; {', '.join(plain)}); "
        "if it may be a tensor, add a sample in which it is one"
    )


def never_tensors(op: Op) -> list[str]:
    """Arguments declared as tensors that are none in every sample, where the call has their name.

    A plain number there has no rule and no gradient, and every test would pass.
    """
    if op.kind == "composite" or op.variadic:
        return []
    names = list(inspect.signature(op.public).parameters)
    if names == ["args"]:  # nothing stands between the call and the kernel
        names = [*op.tensor_names, *op.param_names]
    calls = [call for call in samples_of(op) if call.around is None]
    tensors = {
        name
        for call in calls
        for name, value in [*zip(names, call.args), *call.kwargs.items()]
        if isinstance(value, (np.ndarray, Constant))
    }
    return [each for each in op.tensor_names if calls and each in names and each not in tensors]


def test_every_file_of_a_family_is_imported() -> None:
    """A file that nobody imports declares nothing, and nothing says so."""
    assert len(table)  # with what is declared late
    root = Path(whygrad.ops.__file__).parent
    assert forgotten_files(root) == []


_DECLARES = re.compile(r"ops\.define import [\w\s(),]*?\b(composite|creation|define|elementwise)\b")


def forgotten_files(root: Path) -> list[str]:
    """What to write where, for each file in a folder of ``whygrad.ops`` that is not imported."""
    found = []
    for path in sorted(root.glob("*/*.py")):
        family, name = path.parent.name, path.stem
        declares = _DECLARES.search(path.read_text(encoding="utf-8"))
        if declares and f"whygrad.ops.{family}.{name}" not in sys.modules:
            found.append(
                f"ops/{family}/{name}.py is not imported: add {name} to the import in "
                f'ops/{family}/__init__.py, or "{family}.{name}" to MODULES in ops/late.py if it '
                "is rarely used"
            )
    return found


@every_sample(lambda op: bool(op.kinks) and op.torch != "")
def test_subgradient_is_pytorchs(op: Op, call: Call) -> None:
    """Exactly at the declared kinks."""
    import torch

    arrays = [arg for arg in call.args if isinstance(arg, np.ndarray)]
    names = op.tensor_names[: len(arrays)]
    for name, array in zip(names, arrays):
        for kink in op.kinks.get(name, ()):
            at = np.full_like(array, kink)
            mine = [whygrad.from_numpy(at if a is array else a.copy()) for a in arrays]
            theirs = [torch.from_numpy(at if a is array else a.copy()) for a in arrays]
            rest = [arg for arg in call.args if not isinstance(arg, np.ndarray)]
            for side, function in ((mine, op.public), (theirs, torch_function(op))):
                for each in side:
                    each.requires_grad_()
                function(*side, *rest, **call.kwargs).sum().backward()
            for a, b in zip(mine, theirs):
                np.testing.assert_allclose(
                    as_numpy(a.grad), as_numpy(b.grad), 1e-9, 1e-12, err_msg=f"{op.name} at {kink}"
                )


@every_sample(lambda op: op.kind == "composite" or op.meta is not None or op.kind != "general")
def test_meta_agrees_on_shapes(op: Op, call: Call) -> None:
    real, ghost = whygrad_side(call, "float32"), whygrad_side(call, "float32")
    expected = real.run(op.public)

    def to_meta(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.detach().to("meta")
        if isinstance(value, (list, tuple)):
            return type(value)(to_meta(each) for each in value)
        return value

    ghost.args = to_meta(ghost.args)
    ghost.kwargs = {name: to_meta(value) for name, value in ghost.kwargs.items()}
    if not any(_is_meta(each) for each in _leaves((ghost.args, ghost.kwargs))):
        return
    try:
        got = ghost.run(op.public)
    except RuntimeError as error:
        if "depends on the data" not in str(error) and "no data" not in str(error):
            raise
        return
    for a, b in zip(got, expected, strict=True):
        if isinstance(b, Tensor):
            assert a.device == "meta"
            assert (a.shape, a.dtype) == (b.shape, b.dtype), widened(b.dtype, a.dtype)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return _leaves(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value]


def _is_meta(value: Any) -> bool:
    return isinstance(value, Tensor) and value.device == "meta"
