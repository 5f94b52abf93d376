"""The dispatcher explains itself, and what it says is what it does."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.harness import every_sample, whygrad_side
from whygrad import dispatch
from whygrad.autograd import forward_ad
from whygrad.autograd.explanation import Explanation, Step
from whygrad.dispatch import explain
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call


def path(explanation: Explanation) -> list[tuple[str, str]]:
    """(op, layer) of every step, outermost first."""

    def walk(steps: list[Step]) -> list[tuple[str, str]]:
        return [pair for s in steps for pair in [(s.op, s.layer), *walk(s.inner)]]

    return walk(explanation.steps)


def details(explanation: Explanation) -> str:
    def walk(steps: list[Step]) -> list[str]:
        return [text for s in steps for text in [s.detail, *walk(s.inner)]]

    return "\n".join(walk(explanation.steps))


def floats(*shape: int, requires_grad: bool = False) -> whygrad.Tensor:
    made = whygrad.ones(*shape)
    return made.requires_grad_() if requires_grad else made


def test_report_in_words() -> None:
    a, b = floats(2, requires_grad=True), whygrad.tensor([1, 2])
    assert (
        str(explain(whygrad.add, a, b))
        == """\
whygrad.add(input, other) is a primitive

arguments and their keys
  input  float32[2]  float32 · cpu · strided · autograd
  other  int64[2]    int64 · cpu · strided

mode
  grad mode on

combined keys
  int64     set by other
  float32   set by input
  cpu       set by input, other
  strided   set by input, other
  autograd  set by input

what runs, in order
  1 add      promotion  casts b from int64 to float32, then the op is called again
  2   cast   kernel     reference: whygrad.ops.creation.conversion._cast
  3   add    autograd   records AddBackward, saves nothing
  4     add  kernel     reference: numpy.add

result
  float32[2] · cpu · strided · autograd"""
    )


def test_saved_values_are_named() -> None:
    explanation = explain(whygrad.mul, floats(2, requires_grad=True), floats(2))
    assert "records MulBackward, saves b" in details(explanation)
    assert "saves y" in details(explain(whygrad.exp, floats(2, requires_grad=True)))


@pytest.mark.parametrize("mode", [whygrad.no_grad, whygrad.inference_mode])
def test_modes_hide_autograd(mode: Any) -> None:
    a = floats(2, requires_grad=True)
    with mode():
        explanation = explain(whygrad.mul, a, 2.5)
    assert explanation.mode == mode.__name__
    assert explanation.hidden == ["autograd"]
    assert path(explanation) == [("mul", "lineage"), ("mul", "kernel")]
    assert f"autograd      set by a, hidden by {mode.__name__}" in str(explanation)


def test_python_numbers_bring_a_kind_but_parameters_bring_nothing() -> None:
    assert explain(whygrad.mul, floats(2), 2.5).keys["python float"] == ["b"]
    assert "python int" not in explain(whygrad.sum, floats(2), dim=0).keys


def test_half_precision_is_computed_in_float32() -> None:
    explanation = explain(whygrad.exp, floats(2).to(whygrad.float16))
    assert details(explanation) == "reference, computed in float32: numpy.exp"


def test_meta_rule() -> None:
    explanation = explain(whygrad.mul, floats(2).to("meta"), 2.0)
    assert "meta rule: shapes only" in details(explanation)


def test_mixed_devices() -> None:
    meta = floats(2).to("meta")
    explanation = explain(whygrad.add, meta, whygrad.tensor(1.0))
    assert path(explanation) == [("add", "devices"), ("move", "kernel"), ("add", "kernel")]
    failing = explain(whygrad.add, meta, floats(2))
    assert "a is on meta, b is on cpu" in failing.error
    assert "it fails" in str(failing)


def test_sparse_is_a_composite_of_other_ops() -> None:
    explanation = explain(whygrad.matmul, floats(2, 2).to_sparse(), floats(2, 3))
    assert path(explanation)[0] == ("matmul", "composite")
    assert ("sparse_matmul", "kernel") in path(explanation)
    assert "whygrad.ops.sparse.algebra.matmul takes over" in details(explanation)


def test_composite_lists_its_primitives() -> None:
    explanation = explain(whygrad.trace, floats(3, 3))
    assert explanation.kind == "composite of the ops below"
    assert [op for op, _ in path(explanation)] == ["diagonal", "sum"]


def test_forward_mode_is_a_layer() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(floats(2), floats(2))
        steps = path(explain(whygrad.exp, dual))
    assert steps[0] == ("exp", "forward-mode")
    assert ("exp", "kernel") in steps


def test_explaining_changes_nothing() -> None:
    x = floats(3)
    explain(whygrad.Tensor.add, x, 1.0)
    whygrad.manual_seed(0)
    expected = whygrad.rand(3)
    whygrad.manual_seed(0)
    explain(whygrad.rand, 3)
    np.testing.assert_array_equal(whygrad.rand(3).numpy(), expected.numpy())
    np.testing.assert_array_equal(x.numpy(), np.ones(3, np.float32))
    assert dispatch.watching.observe is None


def test_watching_ends_when_the_call_fails() -> None:
    assert "do not broadcast" in explain(whygrad.add, floats(2), floats(3)).error
    assert dispatch.watching.observe is None
    np.testing.assert_array_equal((floats(2) + floats(2)).numpy(), [2.0, 2.0])


def test_other_forms() -> None:
    explanation = explain(whygrad.add, floats(2), 1)
    as_dict = json.loads(json.dumps(explanation.to_dict()))
    assert as_dict["steps"][0]["layer"] == "kernel"
    assert as_dict["keys"]["cpu"] == ["input"]
    page = explanation._repr_html_()
    assert "<table>" in page
    assert "numpy.add" in page


def test_only_ops_can_be_explained() -> None:
    with pytest.raises(TypeError, match="not an op of the table") as caught:
        explain(len, [])
    assert "whygrad.add" in str(caught.value)


def test_long_reports_are_cut() -> None:
    steps = [Step("op", [], "kernel")] * 90
    many = Explanation("f()", "primitive", [], "grad mode on", [], steps, "")
    assert "and 50 more" in str(many)


@every_sample(lambda op: op.samples is not None)
def test_every_sample_is_explained_within_100_columns(op: Op, call: Call) -> None:
    side = whygrad_side(call, "float32")
    if call.around is not None:
        return
    explanation = explain(op.public, *side.args, **side.kwargs)
    assert not explanation.error
    assert max(map(len, str(explanation).splitlines())) <= 100
    if op.kind != "composite" and explanation.steps and explanation.steps[0].op == op.name:
        brought = set(explanation.keys) - set(explanation.hidden) | {"cut"}
        assert set(explanation.steps[0].keys) <= brought


@every_sample(lambda op: op.kind == "elementwise")
def test_the_keys_explained_are_the_keys_used(op: Op, call: Call) -> None:
    """A real call leaves entries in the table under exactly the keys that explain reports."""
    side = whygrad_side(call, "float64")
    explained = {
        tuple(keys) for name, keys in _keys_of(explain(op.public, *side.args, **side.kwargs).steps)
        if name == op.name
    }  # fmt: skip
    op.table.clear()
    side.run(op.public)
    from whygrad.tensor.keys import describe

    assert {tuple(describe(bits)) for bits in op.table} == explained


def _keys_of(steps: list[Step]) -> list[tuple[str, list[str]]]:
    return [pair for s in steps for pair in [(s.op, s.keys), *_keys_of(s.inner)]]


def test_unknown_key_name() -> None:
    with pytest.raises(ValueError, match="no dispatch key has this name") as caught:
        dispatch.register(whygrad.add, "moon", lambda a, b: a)
    assert "register_device" in str(caught.value)


def test_a_registered_kernel_can_replace_the_reference() -> None:
    op = table["sinc"]
    calls = []

    def fast(x: Any) -> Any:
        calls.append(x.shape)
        return np.sinc(x)

    dispatch.register(op, "float64", fast)
    try:
        x = whygrad.tensor([0.5], dtype=whygrad.float64)
        assert whygrad.sinc(x).item() == pytest.approx(np.sinc(0.5))
        assert calls == [(1,)]
        assert "registered for float64: tests.dispatch.test_dispatch.fast" in details(
            explain(whygrad.sinc, x)
        )
        whygrad.sinc(x.to(whygrad.float32))
        assert len(calls) == 2  # once above, once while explaining
    finally:
        op.table.kernels.clear()
        op.table.clear()


def test_operators_leave_strangers_to_the_other_side() -> None:
    class Stranger:
        def __radd__(self, other: object) -> str:
            return "mine"

        def __rsub__(self, other: object) -> str:
            return "mine"

    assert whygrad.ones(2) + Stranger() == "mine"
    assert whygrad.ones(2) - Stranger() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        whygrad.ones(2) + "text"
    with pytest.raises(TypeError, match="unsupported operand"):
        "text" - whygrad.ones(2)
    with pytest.raises(TypeError, match="this op takes a tensor"):
        whygrad.add(whygrad.ones(2), "text")
