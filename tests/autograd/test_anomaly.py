"""Anomaly mode: who made a NaN, what it did, and what is no anomaly."""

from __future__ import annotations

import gc
import math
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.programs import error_of
from tests.autograd.tensors import leaf
from whygrad.autograd import AnomalyError, anomaly_mode, detect_anomaly, set_detect_anomaly
from whygrad.autograd.anomaly_mode import finite, remedies
from whygrad.ops.define import table

inf, nan = math.inf, math.nan


@pytest.fixture
def watch() -> Iterator[Any]:
    with detect_anomaly() as watch:
        yield watch


def caught(run: Callable[[], Any]) -> AnomalyError:
    with pytest.raises(AnomalyError) as error:
        run()
    return error.value


# --- the switches ---------------------------------------------------------------------------------


def test_switches_are_pytorchs() -> None:
    def states(library: Any) -> list[Any]:
        def state() -> tuple[bool, bool]:
            return library.is_anomaly_enabled(), library.is_anomaly_check_nan_enabled()

        seen = [state()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with library.autograd.detect_anomaly(check_nan=False):
                seen.append(state())
                with library.autograd.set_detect_anomaly(True):
                    seen.append(state())
                seen.append(state())
        seen.append(state())
        library.autograd.set_detect_anomaly(True)
        seen.append(state())
        library.autograd.set_detect_anomaly(False, False)
        seen.append(state())
        library.autograd.set_detect_anomaly(False)
        return [*seen, state()]

    assert states(wg) == states(torch)


def test_mode_ends_with_the_block_that_raised() -> None:
    with pytest.raises(KeyError), detect_anomaly():
        raise KeyError
    assert not wg.is_anomaly_enabled()
    leaf(0.0).sqrt().sum().backward()


def test_mode_belongs_to_the_thread(watch: Any) -> None:
    x, seen = leaf(0.0), []

    def other() -> None:
        seen.append(wg.is_anomaly_enabled())
        x.sqrt().sum().backward()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [False]
    assert x.grad.tolist() == [inf]


@pytest.mark.parametrize(
    "call",
    [
        lambda: set_detect_anomaly(1),  # type: ignore[arg-type]
        lambda: set_detect_anomaly(True, "no"),  # type: ignore[arg-type]
        lambda: detect_anomaly(allow_inf=None),  # type: ignore[arg-type]
    ],
)
def test_switches_take_bools(call: Callable[[], Any]) -> None:
    with pytest.raises(
        TypeError, match=r"must be bool, not (int|str|NoneType)\n  fix:   pass True"
    ):
        call()
    assert not wg.is_anomaly_enabled()


def test_reused_block_and_modules_names() -> None:
    block = detect_anomaly()
    for _ in range(2):
        with block:
            assert wg.is_anomaly_enabled()
    assert anomaly_mode.detect_anomaly is detect_anomaly
    assert issubclass(AnomalyError, RuntimeError)


# --- who made it ----------------------------------------------------------------------------------


def test_producer_forward_not_propagator(watch: Any) -> None:
    x = leaf(-1.0, 4.0)
    hidden = x * 2
    loss = ((hidden.log() + 1) * 3).sum()
    error = caught(loss.backward)
    assert (error.op, error.kind, error.backward) == ("log", "nan", False)
    (element,) = error.elements
    assert element.index == (0,)
    assert element.inputs == {"x": -2.0}
    assert "loss = ((hidden.log() + 1) * 3).sum()" in str(error.where)
    assert x.grad is None


def test_producer_backward_not_propagator(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    error = caught((x * 2).sqrt().exp().sum().backward)
    assert (error.op, error.kind, error.backward) == ("sqrt", "inf", True)
    assert error.node is not None
    (element,) = error.elements
    assert (element.incoming, element.slope, element.value) == (1.0, inf, inf)
    assert x.grad is None


def test_inf_that_turns_into_nan_later(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    error = caught((x * x).sqrt().sum().backward)
    assert (error.op, error.kind) == ("sqrt", "inf")
    assert "Function 'MulBackward0' returned nan values in its 0th output" in str(error)


def test_inf_forward_that_turns_into_nan_later(watch: Any) -> None:
    x = leaf(1000.0, 1.0)
    e = x.exp()
    error = caught((e / e.sum()).sum().backward)
    assert error.op == "exp"
    assert "inf became nan in div(a: float64[2], b: float64[])" in str(error)
    assert "logsumexp" in error.fix


def test_producer_without_a_graph(watch: Any) -> None:
    w = leaf(1.0, 2.0)
    spread = wg.zeros(2).double().std()
    data = wg.ones(2).double() / spread
    error = caught((w * data).sum().backward)
    assert (error.op, error.node) == ("div", None)
    assert error.fix.startswith("keep the divisor away from 0")


def test_in_place_producer(watch: Any) -> None:
    x = leaf(4.0, 1.0)
    hidden = x - 2
    hidden.log_()
    assert caught(hidden.sum().backward).op == "log"


def test_data_that_came_with_nan(watch: Any) -> None:
    x = leaf(nan, 1.0)
    error = caught((x * 2).sum().backward)
    assert error.op is None
    assert "nan values in 1 of 2 elements that no op made" in str(error)
    assert "isfinite().all()" in error.fix


def test_written_on_purpose(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    hidden = x * 1
    hidden[0] = nan
    error = caught(hidden.sum().backward)
    assert "hidden[0] = nan" in str(error.where)


def test_gradient_given_to_backward(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    error = caught(lambda: (x * 2).backward(wg.tensor([nan, 1.0]).double()))
    assert str(error).startswith("the gradient passed to backward() at ")


def test_hook_that_returns_nan(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    hidden = x * 2
    hidden.register_hook(lambda gradient: gradient * nan)
    assert str(caught(hidden.sum().backward)).startswith("a hook on what arrives for MulBackward")


def test_hook_that_repairs(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    hidden = x * 1
    hidden.register_hook(lambda gradient: gradient.nan_to_num(posinf=0.0))
    hidden.sqrt().sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]


def test_mode_switched_on_for_backward_only() -> None:
    x = leaf(0.0, 4.0)
    loss = x.sqrt().sum()
    with detect_anomaly():
        error = caught(loss.backward)
    assert error.op == "sqrt"
    assert "calls:" not in str(error)


def test_calls_lead_to_the_op(watch: Any) -> None:
    def block(x: Any) -> Any:
        return x.log()

    def model(x: Any) -> Any:
        return block(x).mean()

    error = caught(model(leaf(-1.0)).backward)
    assert [where.function.split(".")[-1] for where in error.stack][-2:] == ["model", "block"]
    assert "return block(x).mean()" in str(error)


def test_half_precision_overflow(watch: Any) -> None:
    x = leaf(300.0).half()
    error = caught((x * x).sum().backward)
    assert "beyond 6.55e+04, the largest float16" in str(error)


def test_half_precision_overflow_in_backward(watch: Any) -> None:
    x = wg.tensor([1.0], dtype=wg.float16, requires_grad=True)
    hidden = x * 1
    error = caught(lambda: (hidden * 300).backward(wg.tensor([300.0], dtype=wg.float16)))
    assert error.op == "mul"
    assert "largest float16" in str(error)


def test_sum_of_finite_contributions_overflows(watch: Any) -> None:
    x = wg.tensor([1.0], dtype=wg.float16, requires_grad=True)
    seed = wg.tensor([40000.0], dtype=wg.float16)
    error = caught(lambda: wg.autograd.backward([x * 1, x * 1], [seed, seed]))
    assert "added its gradient to others; the sum is inf" in str(error)


def test_a_rule_that_fails_on_nan(watch: Any) -> None:
    x = wg.eye(2).double().requires_grad_()
    hidden = x * 1
    inverse = wg.linalg.inv(hidden)
    error = caught(lambda: wg.autograd.grad((inverse.sum() * 0).sqrt(), x))
    assert error.op == "sqrt"


def test_large_finite_numbers_are_fine(watch: Any) -> None:
    x = wg.tensor([1e30, -2e30], requires_grad=True)  # whose squares are not finite
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


# --- what is thrown away --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "better"),
    [
        ("whygrad.where(x > 0, x.sqrt(), 0.0)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("whygrad.where(x <= 0, 0.0, x.sqrt())", "whygrad.where(x <= 0, 1.0, x).sqrt()"),
        ("x.sqrt().where(x > 0, 0.0)", "x.where(x > 0, 1.0).sqrt()"),
        ("x.sqrt().masked_fill(x == 0, 0.0)", "x.masked_fill(x == 0, 1.0).sqrt()"),
        ("whygrad.where(x > 0, 1 / x, 0.0)", "1 / whygrad.where(x > 0, x, 1.0)"),
        ("whygrad.where(x > 0, x ** 0.5, 0.0)", "whygrad.where(x > 0, x, 1.0) ** 0.5"),
        ("whygrad.where(x > 0, whygrad.log(x), 0.0)", "whygrad.log(whygrad.where(x > 0, x, 1.0))"),
        ("whygrad.where(x > 0, x.sqrt() * x + 1, 0.0)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("whygrad.where(\nx > 0,\nx.sqrt(),\n0.0\n)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("x.sqrt() * (x > 0)", "whygrad.where(x > 0, x, 1.0).sqrt()"),
        ("x.sqrt() * keep", "whygrad.where(keep != 0, x, 1.0).sqrt()"),
    ],
)
def test_double_where(program: str, better: str) -> None:
    setup = "x = whygrad.tensor([0.0, 4.0], requires_grad=True)\nkeep = (x > 0).float()\n"
    text = error_of(
        f"{setup}with whygrad.autograd.detect_anomaly():\n"
        f"    y = ({program})\n"
        "    y.sum().backward()\n"
    )
    assert f"write {better} in place of " in text
    assert "sends 0 back" in text or "the 0 comes from mul" in text


def test_double_where_is_right() -> None:
    x = leaf(0.0, 4.0)
    with detect_anomaly() as watch:
        wg.where(x > 0, wg.where(x > 0, x, 1.0).sqrt(), 0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]
    assert watch.report() == "no op made a NaN or an Inf"


def test_where_on_a_line_that_cannot_be_parsed(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    arguments = (x > 0, x.sqrt(), 0.0)
    error = caught(wg.where(*arguments).sum().backward)
    assert "safe = whygrad.where(mask, x, 1.0)" in error.fix
    assert "where does not choose the second argument there" in str(error)


def test_nan_that_comes_back_through_a_saved_value(watch: Any) -> None:
    x, w = leaf(-1.0, 4.0), leaf(1.0, 1.0)
    y = wg.where(x > 0, x.log() * w, 0.0)
    error = caught(y.sum().backward)
    assert error.op == "log"
    assert "wg.where(x > 0, x, 1.0).log() in place of x.log()" in error.fix


@pytest.mark.parametrize(
    ("drop", "fix"),
    [
        (lambda y: y.clamp(min=0.1), "limit what goes into sqrt"),
        (lambda y: y[1:], "pick before the op"),
        (lambda y: y[[1]], "pick before the op"),
    ],
)
def test_other_ways_to_drop_a_result(watch: Any, drop: Any, fix: str) -> None:
    x = leaf(0.0, 4.0)
    assert caught(drop(x.sqrt()).sum().backward).fix.startswith(fix)


# --- what is no anomaly ---------------------------------------------------------------------------


def test_masks_of_minus_inf_are_fine(watch: Any) -> None:
    scores = wg.randn(2, 4, 4, requires_grad=True)
    future = wg.ones(4, 4).triu(1) > 0
    for masked in (
        scores.masked_fill(future, -inf),
        wg.where(future, -inf, scores),
        scores + wg.zeros(4, 4).masked_fill(future, -inf),
        scores + (1 - future.float()).log(),
    ):
        ((masked.softmax(-1) ** 2).sum() + masked.logsumexp(-1).sum()).backward()
    assert wg.isfinite(scores.grad).all()


def test_written_infinities_may_be_the_root(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    x.masked_fill(x > 1, -inf).backward(wg.ones(2).double())
    assert x.grad.tolist() == [1.0, 0.0]


def test_an_infinite_loss_is_an_anomaly_whoever_wrote_it(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    error = caught(x.masked_fill(x > 1, inf).sum().backward)
    assert "it reached the loss, float64[]" in str(error)


def test_row_of_minus_inf(watch: Any) -> None:
    scores = leaf(1.0, 2.0)
    error = caught(scores.masked_fill(scores > 0, -inf).softmax(0).sum().backward)
    assert error.op == "softmax"
    assert "every score of a row is −inf" in str(error)


def test_allow_inf() -> None:
    x = leaf(0.0, 4.0)
    with detect_anomaly(allow_inf=True):
        x.sqrt().sum().backward()
        assert x.grad.tolist() == [inf, 0.25]
        x.log().sum().backward()
        assert caught((x * x).sqrt().sum().backward).op == "sqrt"


def test_check_nan_false_looks_at_no_values() -> None:
    x = leaf(-1.0, 0.0)
    with detect_anomaly(check_nan=False):
        x.log().sum().backward()
    assert x.grad.tolist() == [-1.0, inf]


def test_harmless_is_reported() -> None:
    x = leaf(-1.0, 4.0)
    with detect_anomaly() as watch:
        x.detach().log()
        assert "undecided: no backward() has run since" in watch.report()
        wg.where(x > 0, wg.where(x > 0, x, 0.0).sqrt(), 0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]
    assert [finding.name for finding in watch.harmless] == ["log", "SqrtBackward"]
    text = watch.report()
    assert text.count("harmless: it never reached the loss or a gradient of") == 2
    assert "[0] x = −1 → nan" in text
    assert anomaly_mode.report() == text


def test_harmful_is_reported(watch: Any) -> None:
    x = leaf(-1.0, 4.0)
    for _ in range(3):
        x.detach().log()
    caught(x.log().sum().backward)
    assert "(3 times, here the last)" in watch.report()
    assert "harmful: it is the error of" in watch.report()
    assert watch.harmless == []


def test_gradients_that_nobody_asked_for(watch: Any) -> None:
    x, w = leaf(0.0, 4.0), leaf(1.0, 1.0)
    loss = (x.sqrt() * w).sum()
    (gradient,) = wg.autograd.grad(loss, w, retain_graph=True)
    assert gradient.tolist() == [0.0, 2.0]
    assert caught(lambda: wg.autograd.grad(loss, x)).op == "sqrt"


def test_no_leaf_is_touched_if_one_is_bad(watch: Any) -> None:
    x, w = leaf(0.0, 4.0), leaf(1.0, 1.0)
    caught((x.sqrt() * w).sum().backward)
    assert x.grad is None
    assert w.grad is None


def test_a_leaf_with_hooks_is_judged_before_them(watch: Any) -> None:
    x, called = leaf(0.0), []
    x.register_post_accumulate_grad_hook(called.append)
    caught(x.sqrt().sum().backward)
    assert called == []


# --- second order, other transforms ---------------------------------------------------------------


def test_second_order_names_the_forward_line(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    y = (x**1.5).sum()  # forward
    (slope,) = wg.autograd.grad(y, x, create_graph=True)
    error = caught(slope.sum().backward)
    assert "recorded while PowBackward ran, of" in str(error)
    assert "y = (x**1.5).sum()  # forward" in str(error)


def test_third_order_names_both(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    y = (x**2.5).sum()
    (slope,) = wg.autograd.grad(y, x, create_graph=True)
    (curvature,) = wg.autograd.grad(slope.sum(), x, create_graph=True)
    text = str(caught(curvature.sum().backward))
    assert text.count("recorded while PowBackward ran, of") == 2
    assert "y = (x**2.5).sum()" in text


def test_create_graph_walk_itself(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    loss = (x.sqrt() ** 3).sum()
    error = caught(lambda: wg.autograd.grad(loss, x, create_graph=True))
    assert (error.op, error.backward) == ("sqrt", True)


def test_function_transforms(watch: Any) -> None:
    per_sample = wg.func.vmap(wg.func.grad(lambda x: x.sqrt()))
    assert caught(lambda: per_sample(wg.tensor([0.0, 4.0]))).op == "sqrt"
    assert per_sample(wg.tensor([1.0, 4.0])).tolist() == [0.5, 0.25]


# --- memory behind the engine's back --------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 5_000, 16_001])
@pytest.mark.parametrize("where", [0, -1])
def test_writes_through_numpy_are_noticed(watch: Any, size: int, where: int) -> None:
    x = wg.ones(size, requires_grad=True)
    hidden = x * 1
    loss = (hidden * hidden).sum()
    hidden.detach().numpy()[where] = 5
    with pytest.raises(RuntimeError) as error:
        loss.backward()
    text = str(error.value)
    assert text.startswith("MulBackward saved 'a' at ")
    assert "has been modified, and not by an op: a NumPy array that shares its memory" in text
    assert "x.numpy().copy()" in text


def test_writes_to_from_numpy_arrays_are_noticed(watch: Any) -> None:
    data = np.ones(5, np.float32)
    w = wg.ones(5, requires_grad=True)
    loss = (w * wg.from_numpy(data)).sum()
    data[2] = 0
    with pytest.raises(RuntimeError, match="MulBackward saved 'b'"):
        loss.backward()


def test_untouched_memory_is_fine(watch: Any) -> None:
    data = np.ones((5, 400), np.float32)
    w = wg.ones(5, 1, requires_grad=True)
    x = wg.from_numpy(data).T.T
    loss = (w.expand(5, 400) * x).sum() + wg.cat([w, w * w]).prod()
    loss.backward()
    loss = (w * x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    data[0] = 7


def test_errors_of_the_engine_get_the_forward_stack(watch: Any) -> None:
    def square(x: Any) -> Any:
        return x * x

    hidden = leaf(1.0) * 1
    loss = square(hidden).sum()
    hidden.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        loss.backward()
    assert "return x * x" in error.value.__notes__[0]


# --- lifetimes and cost ---------------------------------------------------------------------------


def test_nothing_is_kept_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        with detect_anomaly() as watch:
            x = leaf(-1.0, 4.0)
            hidden = x.log()  # nan, and thrown away
            node, array = weakref.ref(hidden.grad_fn), weakref.ref(hidden._array)
            y = wg.where(x > 0, wg.where(x > 0, hidden, 0.0), 0.0).sum()
            del hidden
            y.backward()
            del y
            assert node() is None
            assert array() is None
            caught(x.log().sum().backward)
        assert watch.harmless
    finally:
        gc.enable()


def test_off_means_plain() -> None:
    from whygrad.autograd import engine, modes

    with detect_anomaly():
        x = leaf(1.0) * 2
        assert x.grad_fn._extras is not None
    y = leaf(1.0) * 2
    assert y.grad_fn._extras is None
    assert engine.chosen.walk is engine.Walk
    assert modes.state.added == 0


# --- the parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_all_finite(dtype: str) -> None:
    big = wg.finfo(getattr(wg, dtype)).max
    for values, fine in (
        ([1.0, -2.0], True),
        ([big, -big], True),
        ([], True),
        ([1.0, nan], False),
        ([inf, -inf], False),
    ):
        array = wg.tensor(values, dtype=getattr(wg, dtype))._array
        for shown in (array, array[::-1], np.broadcast_to(array, (3, *array.shape)), array[:1]):
            expected = fine or shown.size == 1
            if values == [inf, -inf] and shown.size == 1:
                expected = False
            with np.errstate(all="ignore"):
                assert finite.all_finite(shown) is expected


@pytest.mark.parametrize("shape", [(4,), (20_001,), (150, 200), (9_000, 3), (2, 70, 200)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.bool_])
def test_fingerprint_changes_with_the_memory(shape: tuple[int, ...], dtype: Any) -> None:
    array = (np.random.default_rng(0).normal(size=shape) > 0).astype(dtype)
    for shown in (array, array.T, array[::-1], np.broadcast_to(array, (2, *shape))):
        before = finite.fingerprint(shown)
        assert finite.fingerprint(shown) == before
        for place in (0, array.size // 2, array.size - 1):
            array.flat[place] = not array.flat[place]
            assert finite.fingerprint(shown) != before
            array.flat[place] = not array.flat[place]
        assert finite.fingerprint(shown) == before


@pytest.mark.parametrize("rows", [remedies.FORWARD, remedies.BACKWARD])
def test_remedies_are_about_ops_that_exist(rows: dict[str, Any]) -> None:
    assert set(rows) <= set(table)
