"""Sums of products of integers and bools: in which dtype, how far, and where there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64")


def _einsum(equation: str, *names: str) -> Callable[..., Any]:
    def call(library: Any, a: Any, b: Any) -> Any:
        return library.einsum(equation, *({"a": a, "b": b}[name] for name in names))

    return call


CALLS: dict[str, Callable[..., Any]] = {
    **{
        f"einsum {equation}": _einsum(equation, *"ab"[: equation.count(",") + 1])
        for equation in (
            "ij->i", "ij->", "ij->ji", "...j->...", "ij,ij->i", "ij,kj->ik", "ij,kj->", "ij,kj->j",
            "ij,kl->", "ij,kl->i", "ij,kl->ijkl", "ij,ij->ij",
        )
    },
    "einsum of one sample": lambda library, a, b: library.einsum("ij,kj->ik", a[:1], b),
    "einsum stretched": lambda library, a, b: library.einsum("ij,jk->ik", a[:, :1], b.T),
    "einsum of three": lambda library, a, b: library.einsum("ij,kj,lj->ikl", a, b, a),
    "tensordot": lambda library, a, b: library.tensordot(a, b.T, 1),
    "tensordot of all": lambda library, a, b: library.tensordot(a, b, 2),
    "inner": lambda library, a, b: library.inner(a, b),
    "dot": lambda library, a, b: library.dot(a[0], b[0]),
    "vdot": lambda library, a, b: library.vdot(a[0], b[0]),
    "matmul": lambda library, a, b: a @ b.T,
    "mv": lambda library, a, b: library.mv(a, b[0]),
    "outer": lambda library, a, b: library.outer(a[0], b[0]),
    "kron": lambda library, a, b: library.kron(a, b),
    "trace": lambda library, a, b: library.trace(a),
    "addmm": lambda library, a, b: library.addmm(a[:, :3], a, b.T, beta=2, alpha=3),
    "addmv": lambda library, a, b: library.addmv(a[:, 0], a, b[0]),
    "addbmm": lambda library, a, b: library.addbmm(a[:, :3], a[None], b.T[None]),
    "baddbmm": lambda library, a, b: library.baddbmm(a[None, :, :3], a[None], b.T[None]),
    "linear": lambda library, a, b: library.nn.functional.linear(a, b),
    "vecdot": lambda library, a, b: library.linalg.vecdot(a, b),
    "cross": lambda library, a, b: library.linalg.cross(a[:, :3], b[:, :3]),
    "multi_dot": lambda library, a, b: library.linalg.multi_dot([a, b.T, a]),
    "addr": lambda library, a, b: library.addr(a, a[:, 0], b[0]),
    "addr, scaled": lambda library, a, b: library.addr(a, a[:, 0], b[0], beta=2, alpha=3),
    "addr, without input": lambda library, a, b: library.addr(a, a[:, 0], b[0], beta=0, alpha=-1),
    "addr, fraction": lambda library, a, b: library.addr(a, a[:, 0], b[0], beta=0.5),
    "addr, bool": lambda library, a, b: library.addr(a, a[:, 0], b[0], beta=True, alpha=False),
    "addr, promoting": lambda library, a, b: library.addr(a, a[:, 0].float(), b[0]),
    "addr_": lambda library, a, b: a.clone().addr_(a[:, 0], b[0], alpha=2),
}  # fmt: skip


def _outcome(call: Callable[..., Any], library: Any, arrays: list[Any]) -> Any:
    try:
        return call(library, *(library.from_numpy(each.copy()) for each in arrays))
    except Exception as error:
        return error


@pytest.mark.parametrize("dtype", DTYPES)
def test_as_pytorch_does(dtype: str) -> None:
    """Values near half of what the dtype holds, so that every sum of two overflows."""
    rng = np.random.default_rng(0)
    half = 1 if dtype == "bool" else np.iinfo(dtype).max // 2
    arrays = [rng.integers(max(half - 3, 0), half + 1, (3, 4)).astype(dtype) for _ in range(2)]
    for name, call in CALLS.items():
        mine, theirs = _outcome(call, whygrad, arrays), _outcome(call, torch, arrays)
        if isinstance(theirs, Exception):
            assert isinstance(mine, type(theirs)), f"{name}: {mine!r} against {theirs!r}"
            continue
        assert not isinstance(mine, Exception), f"{name}: {mine!r} against {theirs!r}"
        assert mine.dtype.name == str(theirs.dtype).removeprefix("torch."), name
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy(), name)


def test_a_sum_next_to_a_narrow_product() -> None:
    """PyTorch sums one operand in int64 and then cannot multiply it with the other, in int8."""
    narrow = whygrad.full((2, 2), 100, dtype=whygrad.int8)
    total = whygrad.einsum("ij,jk,kl->", narrow, narrow, narrow)
    assert (total.item(), total.dtype) == (16 * 100**3, whygrad.int64)
