"""What is an anomaly and what is not."""

from __future__ import annotations

from math import inf
from typing import Any

import whygrad as wg
from tests.autograd.anomaly_mode.catching import caught
from tests.autograd.tensors import leaf
from whygrad.autograd import anomaly_mode, detect_anomaly


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
    assert str(error).startswith("the number inf at ")
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
