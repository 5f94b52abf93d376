"""Values, dtypes, shapes and gradients of every op against PyTorch."""

from __future__ import annotations

import pytest

from tests.conformance.harness import compare_with_torch, every_sample
from whygrad.ops.define import Op
from whygrad.ops.samples import Call


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@every_sample(lambda op: op.torch != "")
def test_matches_pytorch(op: Op, call: Call, dtype: str) -> None:
    compare_with_torch(op, call, dtype)
