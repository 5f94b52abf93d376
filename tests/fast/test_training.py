"""Fused kernels in programs: gradients as PyTorch's, steps as the rule's, threads, the switch."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.fast import available, threads

pytest.importorskip("numba")

ROWS, WIDTH = 400, 64


def model(library: Any, x: Any, weight: Any, bias: Any, targets: Any) -> Any:
    functional = library.nn.functional
    hidden = functional.layer_norm(x, (WIDTH,), weight, bias)
    hidden = functional.gelu(hidden) * functional.softmax(hidden, -1)
    hidden = hidden + functional.gelu(functional.log_softmax(hidden, -1), approximate="tanh")
    return functional.cross_entropy(hidden, targets)


def leaves(dtype: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    shapes = ((ROWS, WIDTH), (WIDTH,), (WIDTH,))
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("float64", 1e-14)])
def test_gradients_as_pytorch(dtype: str, tolerance: float) -> None:
    targets = np.arange(ROWS) % WIDTH
    found = []
    for library in (whygrad, torch):
        arguments = [library.tensor(each).requires_grad_() for each in leaves(dtype)]
        loss = model(library, *arguments, library.tensor(targets))
        loss.backward()
        found.append([loss.detach().numpy(), *[each.grad.numpy() for each in arguments]])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


def test_second_order_on_large_arrays() -> None:
    found = []
    for library in (whygrad, torch):
        x = library.tensor(leaves("float64")[0]).requires_grad_()
        y = library.nn.functional.gelu(library.nn.functional.softmax(x * 3, -1), approximate="tanh")
        (first,) = library.autograd.grad(y.square().sum(), x, create_graph=True)
        (second,) = library.autograd.grad(first.square().sum(), x)
        found.append(second.detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-14)


PROGRAM = """
import hashlib, sys
import numpy as np
import whygrad

rng = np.random.default_rng(0)
for dtype in (whygrad.float32, whygrad.float64):
    for kind in (whygrad.optim.Adam, whygrad.optim.AdamW):
        shapes = ((400, 400), (7,), (200, 300))
        parameters = [
            whygrad.tensor(rng.normal(size=shape), dtype=dtype).requires_grad_() for shape in shapes
        ]
        optimizer = kind(parameters, lr=1e-2)
        for _ in range(5):
            for each in parameters:
                each.grad = whygrad.tensor(rng.normal(size=tuple(each.shape)), dtype=dtype)
            optimizer.step()
        for each in parameters:
            print(hashlib.sha256(each.detach().numpy().tobytes()).hexdigest())
print("numba" in sys.modules, file=sys.stderr)
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def test_steps_have_the_bits_of_the_rule_and_can_be_switched_off() -> None:
    fast, plain = run(PROGRAM), run(PROGRAM, WHYGRAD_FAST="0")
    assert fast.stdout == plain.stdout
    assert (fast.stderr.strip(), plain.stderr.strip()) == ("True", "False")


def test_import_and_small_arrays_do_not_load_numba() -> None:
    program = (
        "import sys, whygrad\n"
        "x = whygrad.randn(64, 64, requires_grad=True)\n"
        "whygrad.nn.functional.gelu(x).softmax(-1).sum().backward()\n"
        "print('numba' in sys.modules)"
    )
    assert run(program).stdout.strip() == "False"


def test_loading_beforehand() -> None:
    program = "import sys, whygrad\nprint(whygrad.fast.load(), 'numba' in sys.modules)"
    assert run(program).stdout.split() == ["True", "True"]
    assert run(program, WHYGRAD_FAST="0").stdout.split() == ["False", "False"]


def test_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available()
    monkeypatch.setenv("WHYGRAD_FAST", "0")
    assert not available()


def test_sparse_tensors_are_not_taken_for_arrays() -> None:
    with pytest.raises(RuntimeError, match="gelu has no kernel for sparse_coo"):
        whygrad.nn.functional.gelu(whygrad.eye(200).to_sparse())


def test_explain_names_the_kernel() -> None:
    x = whygrad.randn(3)
    report = str(whygrad.dispatch.explain(whygrad.nn.functional.gelu, x))
    assert "registered for float32 and cpu" in report


def test_many_threads_at_once() -> None:
    x = whygrad.randn(512, 512)
    expected = whygrad.nn.functional.gelu(x).numpy()
    with ThreadPoolExecutor(4) as pool:
        for each in pool.map(lambda _: whygrad.nn.functional.gelu(x).numpy(), range(16)):
            np.testing.assert_array_equal(each, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_threads_after_a_fork() -> None:
    program = (
        "import os, whygrad\n"
        "x = whygrad.ones(512, 512)\n"
        "y = whygrad.nn.functional.gelu(x)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if bool((whygrad.nn.functional.gelu(x) == y).all()) else 1)\n"
        "print(os.waitpid(child, 0)[1])"
    )
    assert run(program).stdout.strip() == "0"


def test_shared_work_is_cut_at_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count", lambda: 3)
    rows = 3 * threads.BLOCK + 5
    seen: list[tuple[int, int]] = []
    x, sums = np.zeros((rows, 1)), np.zeros((threads.blocks(rows), 1))
    threads.shared(
        lambda part, totals: seen.append((len(part), len(totals))), threads.SHARED, x, sums=(sums,)
    )
    assert sorted(seen) == [(threads.BLOCK, 1), (threads.BLOCK, 1), (threads.BLOCK + 5, 2)]


def test_failure_in_another_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count", lambda: 2)

    def loop(part: Any) -> None:
        if part[0]:
            raise ValueError("in the second part")

    with pytest.raises(ValueError, match="second part"):
        threads.shared(loop, threads.SHARED, np.arange(4))
