"""A second run that is not the first one again is an error that says what was different."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.checkpoint

import whygrad as wg
from tests.autograd.tensors import leaf
from whygrad.autograd.recompute.determinism import Note, difference
from whygrad.nn.functional import dropout
from whygrad.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_debug_enabled


class Changing:
    """A function that does one thing the first time, and another one from then on."""

    def __init__(self, first: Callable[[Any], Any], later: Callable[[Any], Any]) -> None:
        self.first, self.later = first, later
        self.runs = 0

    def __call__(self, x: Any) -> Any:
        self.runs += 1
        return (self.first if self.runs == 1 else self.later)(x)


def failure(first: Callable[[Any], Any], later: Callable[[Any], Any], **options: Any) -> str:
    """The message of the error, if there is one."""
    y = checkpoint(Changing(first, later), leaf(1.0, 2.0, 3.0), **options)
    try:
        y.sum().backward()
    except CheckpointError as error:
        return str(error)
    return ""


def test_shapes() -> None:
    message = failure(lambda x: x.exp(), lambda x: x[:2].exp())
    assert "backward runs the checkpoint() at" in message
    assert (
        "Recomputed values for the following tensors have different metadata than during the "
        "forward pass: 'y' of ExpBackward, float64[3] at" in message
    )
    assert "in recomputation 'y' of ExpBackward, float64[2] at" in message
    assert message.count("test_determinism.py") == 3
    assert "fix:   let the function depend on its arguments" in message


def test_dtypes() -> None:
    assert "now" not in failure(lambda x: x.exp(), lambda x: x.exp())
    message = failure(lambda x: x.float().exp(), lambda x: x.exp())
    assert "'y' of ExpBackward, float32[3]" in message
    assert "'y' of ExpBackward, float64[3]" in message


def test_ops() -> None:
    message = failure(lambda x: x.exp(), lambda x: x.sigmoid())
    assert "'y' of ExpBackward" in message
    assert "in recomputation 'y' of SigmoidBackward" in message
    assert failure(lambda x: x.exp(), lambda x: x.sigmoid(), determinism_check="none")


def test_what_requires_grad() -> None:
    w = leaf(1.0, 2.0, 3.0)
    y = checkpoint(lambda x: x * w, leaf(4.0, 5.0, 6.0))
    w.requires_grad_(False)
    with pytest.raises(CheckpointError, match=r"require grad: \(True, True\), now \(True, False\)"):
        y.sum().backward()


def test_too_few() -> None:
    message = failure(lambda x: x.exp().sin(), lambda x: x.exp())
    assert (
        "A different number of tensors was saved during the original forward and recomputation: "
        "2 and 1.  The first one missing is 'x' of SinBackward, float64[3] at" in message
    )


def test_too_many() -> None:
    message = failure(lambda x: x.exp(), lambda x: x.exp().sin(), early_stop=False)
    assert (
        "trying to save more tensors during recomputation than during the original forward pass: "
        "'x' of SinBackward" in message
    )
    assert not failure(lambda x: x.exp(), lambda x: x.exp().sin()), "it stopped before"


@pytest.mark.parametrize(
    ("first", "later"),
    [(lambda x: x.exp(), lambda x: x[:2].exp()), (lambda x: x.exp().sin(), lambda x: x.exp())],
)
def test_pytorch_says_the_same(first: Any, later: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(Changing(first, later), x, use_reentrant=False)
    with pytest.raises(torch.utils.checkpoint.CheckpointError) as theirs:
        y.sum().backward()
    phrase = str(theirs.value).split("torch.utils.checkpoint: ")[1].split("\n")[0]
    assert phrase.rstrip(".") in failure(first, later)


def test_values() -> None:
    """PyTorch would compute a wrong gradient without a word."""
    message = failure(lambda x: (x * 2.0).exp(), lambda x: (x * 3.0).exp())
    assert "Recomputed values differ from those of the forward pass: 'y' of ExpBackward" in message
    assert f"has the element {np.exp(3.0)} where {np.exp(2.0)} was" in message
    assert not failure(
        lambda x: (x * 2.0).exp(), lambda x: (x * 3.0).exp(), determinism_check="none"
    )


def test_random_numbers_that_are_not_the_same() -> None:
    x = wg.ones(64, dtype=wg.float64, requires_grad=True)
    y = checkpoint(lambda t: dropout(t, 0.5).exp(), x, preserve_rng_state=False)
    with pytest.raises(CheckpointError, match="Recomputed values differ"):
        y.sum().backward()


def test_caches_filled_by_the_first_run_do_no_harm() -> None:
    cache: dict[str, Any] = {}
    x = leaf(1.0, 2.0)

    def masked(x: Any) -> Any:
        if "mask" not in cache:
            cache["mask"] = (wg.arange(2) * 2 > 0).double()
        return (x * cache["mask"]).exp()

    checkpoint(masked, x).sum().backward()
    assert x.grad.tolist() == [0.0, np.exp(2.0)]


def test_debug_lists_the_ops_of_both_runs() -> None:
    message = failure(lambda x: (x + 1.0).exp(), lambda x: (x - 1.0).exp(), debug=True)
    lines = [line.strip() for line in message.split("recomputation:\n")[1].splitlines()]
    assert lines[0].startswith("1 ≠ add at tests")
    assert lines[1].startswith("≠ sub at tests")
    assert lines[1].endswith("(recomputation)")
    assert lines[2].startswith("2   exp at tests")
    assert "debug=True lists" not in message


def test_debug_can_be_switched_on_for_a_block() -> None:
    listing = "ops, forward pass and recomputation:"

    def lists(**options: Any) -> bool:
        message = failure(lambda x: x.exp(), lambda x: x.sin(), **options)
        assert (listing in message) != ("debug=True lists the ops of both runs" in message)
        return listing in message

    assert not lists()
    with set_checkpoint_debug_enabled(True):
        assert lists()
        with set_checkpoint_debug_enabled(None):
            assert not lists()
    with set_checkpoint_debug_enabled(False):
        assert not lists(debug=True)


def test_an_unknown_check_is_refused() -> None:
    with pytest.raises(ValueError, match=r"should be one of \['default', 'none'\], but got exact"):
        checkpoint(wg.exp, leaf(1.0), determinism_check="exact")


def test_a_failed_run_fills_no_boxes() -> None:
    changing = Changing(lambda x: x.exp().sin().cos(), lambda x: x.exp().sin().exp())
    x = leaf(1.0, 2.0)
    y = checkpoint(changing, x).sum()
    with pytest.raises(CheckpointError):
        y.backward(retain_graph=True)
    changing.later = changing.first
    y.backward()
    (expected,) = wg.autograd.grad(changing.first(x).sum(), x)
    assert (x.grad == expected).all()


def test_contexts_around_both_runs() -> None:
    order: list[str] = []

    @contextmanager
    def noting(name: str) -> Any:
        order.append(f"{name} begins")
        yield
        order.append(f"{name} ends")

    x = leaf(1.0)
    contexts = noting("first"), noting("second")
    y = checkpoint(lambda t: t.exp() + 0.0, x, context_fn=lambda: contexts, early_stop=False)
    y.backward()
    assert order == ["first begins", "first ends", "second begins", "second ends"]


def test_a_context_must_not_swallow_exceptions() -> None:
    @contextmanager
    def swallowing() -> Any:
        with suppress(ZeroDivisionError):
            yield

    with pytest.raises(RuntimeError, match="suppressed an exception raised during the checkpoin"):
        checkpoint(lambda x: 1 / 0, leaf(1.0), context_fn=lambda: (swallowing(), swallowing()))


class _Site:
    """Somebody who saves."""

    code, instruction = test_values.__code__, 0

    def name(self) -> str:
        return "SomeBackward"


def note(array: Any) -> Note:
    return Note(np.asarray(array), "x", _Site(), None)


@pytest.mark.parametrize(
    "shape", [(), (1,), (1000,), (40, 50), (7, 8, 9), (4, 1, 5, 6), (2, 3, 2, 2, 3, 2), (0, 3)]
)
def test_few_elements_are_kept(shape: tuple[int, ...]) -> None:
    kept = len(note(np.ones(shape)).sample) // 8
    assert (0 not in shape) <= kept <= 64


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ([1.0, 2.0], [1.0, 2.0 + 1e-14], True),
        ([1.0, 2.0], [1.0, 2.0 + 1e-9], False),
        ([1.0, 2.0], [1.0, 2.1], False),
        ([np.nan, np.inf], [np.nan, np.inf], True),
        ([np.nan, 1.0], [0.0, 1.0], False),
        ([np.inf, 1.0], [-np.inf, 1.0], False),
        ([1e-30, 1e6], [0.0, 1e6], True),
        ([1, 2], [1, 3], False),
        ([True, False], [True, True], False),
        ([1 + 2j], [1 + 2.5j], False),
    ],
)
def test_elements_are_compared_up_to_rounding(before: Any, now: Any, same: bool) -> None:
    assert (difference(note(before), note(now), values=True) is None) == same
    assert difference(note(before), note(now), values=False) is None
