"""Proofs of the quiz on tensor autograd."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.learn.programs import changed_lines, names, printed, question
from tests.learn.proofs import proves

F = wg.nn.functional


def _normal(*shape: int) -> wg.Tensor:
    numbers = np.random.default_rng(sum(shape)).normal(size=shape)
    return wg.tensor(numbers, requires_grad=True)


def _close(gradient: Any, expected: Any) -> bool:
    gradient, expected = np.asarray(gradient), np.asarray(expected)
    return gradient.shape == expected.shape and np.allclose(gradient, expected)


@proves("q-08-01")
def a_broadcast_becomes_a_sum() -> None:
    a, b, incoming = _normal(3), _normal(4, 3), np.arange(12.0).reshape(4, 3)
    (a + b).backward(wg.tensor(incoming))
    assert _close(a.grad, incoming.sum(axis=0))
    gradient = np.zeros(3)
    with pytest.raises(ValueError, match="broadcast"):
        gradient += incoming
    assert (gradient + incoming).shape == (4, 3)


@proves("q-08-02")
def gradients_of_matmul() -> None:
    a, b, d_c = _normal(2, 3), _normal(3, 4), np.arange(8.0).reshape(2, 4)
    (a @ b).backward(wg.tensor(d_c))
    left, right = a.detach().numpy(), b.detach().numpy()
    assert _close(a.grad, d_c @ right.T)
    assert _close(b.grad, left.T @ d_c)
    assert _close(a.grad.T, right @ d_c.T)
    for wrong in (lambda: d_c @ left, lambda: d_c * right.T):
        with pytest.raises(ValueError, match=r"mismatch|broadcast"):
            wrong()
    square, other = _normal(2, 2), _normal(2, 2)
    (square @ other).backward(wg.tensor(d_c[:, :2]))
    fits = d_c[:, :2] @ square.detach().numpy()
    assert fits.shape == (2, 2)
    assert not _close(other.grad, fits)


@proves("q-08-03")
def gradient_of_a_sum() -> None:
    for arriving in (1.0, 7.0):
        x = _normal(3, 5)
        x.sum().backward(wg.tensor(arriving, dtype=wg.float64))
        assert _close(x.grad, np.full((3, 5), arriving))
    for y in (x.sum(), x + wg.zeros(3, 1, dtype=wg.float64)):
        saved = y.grad_fn.saved.values()
        assert not any(isinstance(each, (wg.Tensor, np.ndarray)) for each in saved)


def _differences(dtype: type[np.floating[Any]], epsilon: float) -> tuple[float, float]:
    """Relative errors of the centred and of the one-sided difference of exp at 1."""
    x, step, exact = dtype(1.0), dtype(epsilon), np.e
    above, here, below = np.exp(x + step), np.exp(x), np.exp(x - step)
    estimates = ((above - below) / (dtype(2.0) * step), (above - here) / step)
    centred, one_sided = (abs(float(each) - exact) / exact for each in estimates)
    return centred, one_sided


@proves("q-08-04")
def digits_of_differences() -> None:
    centred, one_sided = _differences(np.float64, 1e-4)
    assert centred == pytest.approx(1.7e-9, rel=0.05)
    assert one_sided == pytest.approx(5e-5, rel=0.05)
    larger = _differences(np.float64, 1e-3)
    assert larger[0] / centred == pytest.approx(100.0, rel=0.05)
    assert larger[1] / one_sided == pytest.approx(10.0, rel=0.05)


@proves("q-08-05")
def gradient_of_cross_entropy() -> None:
    batch, classes = 6, 4
    z, y = _normal(batch, classes), np.array([0, 3, 1, 1, 2, 0])
    F.cross_entropy(z, wg.tensor(y)).backward()
    p = z.detach().softmax(dim=1).numpy()
    expected = (p - np.eye(classes)[y]) / batch
    assert _close(z.grad, expected)
    theirs = torch.tensor(z.tolist(), dtype=torch.float64, requires_grad=True)
    torch.nn.functional.cross_entropy(theirs, torch.tensor(y)).backward()
    assert _close(theirs.grad, expected)
    assert np.allclose(expected.sum(axis=1), 0.0)
    assert np.abs(expected).max() <= 1 / batch


@proves("q-08-07")
def unbroadcast_keeps_axes() -> None:
    asked = question("q-08-07")
    assert changed_lines(asked) == asked.lines
    assert printed(asked.code) == "(4,)"
    assert printed(asked.fix) == "(4, 1)"
    wrong, right = (names(text)["unbroadcast"] for text in (asked.code, asked.fix))
    incoming = np.arange(60.0).reshape(5, 4, 3)
    for shape in ((3,), (4, 1), (1, 1), (5, 1, 3), (1, 4, 1), (5, 4, 3), ()):
        value = wg.zeros(shape, dtype=wg.float64, requires_grad=True)
        (value + wg.zeros(5, 4, 3, dtype=wg.float64)).backward(wg.tensor(incoming))
        assert _close(value.grad, right(incoming, shape))
    with pytest.raises(np.exceptions.AxisError):
        wrong(incoming, (1, 1))


@proves("q-08-08")
def a_gradient_has_the_shape_of_its_parameter() -> None:
    given = {
        "W": np.ones((1, 3)),
        "a": np.arange(3.0).reshape(3, 1),
        "d_prediction": np.ones((1, 1)),
    }
    after = dict(given)
    exec(question("q-08-08").code, after)
    assert (after["dW"].shape, after["W"].shape) == ((3, 1), (3, 3))
    assert (after["W"] @ given["a"]).shape == (3, 1)
    weights = given["W"].copy()
    with pytest.raises(ValueError, match="broadcast"):
        weights -= 0.1 * after["dW"]
    w = wg.tensor(given["W"], requires_grad=True)
    (w @ wg.tensor(given["a"])).sum().backward()
    assert _close(w.grad, given["d_prediction"] @ given["a"].T)
    assert _close(w.grad.T, after["dW"])


@proves("q-08-09")
def gradients_of_a_batched_product() -> None:
    x, w, d_y = _normal(5, 2, 3), _normal(3, 4), _normal(5, 2, 4).detach()
    (x @ w).backward(d_y)
    matrices, upstream = x.detach(), d_y.numpy()
    each = (matrices.mT @ d_y).numpy()
    assert each.shape == (5, 3, 4)
    assert _close(w.grad, each.sum(axis=0))
    assert not _close(w.grad, each.mean(axis=0))
    assert _close(w.grad, matrices.numpy().reshape(10, 3).T @ upstream.reshape(10, 4))
    assert _close(x.grad, upstream @ w.detach().numpy().T)


@proves("q-08-10")
def gradient_of_a_mean() -> None:
    x = _normal(3, 5)
    x.mean().backward()
    assert _close(x.grad, np.full((3, 5), 1 / 15))
    assert question("q-08-10").answer == pytest.approx(1 / 15, abs=1e-6)
    for rows in (3, 30):  # the same samples again: the sum's gradient grows, the mean's does not
        w = wg.ones(1, requires_grad=True)
        samples = wg.ones(rows, 1)
        ((samples * w).sum() + (samples * w).mean()).backward()
        assert w.grad.item() == rows + 1.0


@proves("q-08-11")
def ties_of_max() -> None:
    for library in (wg, torch):
        for function, expected in (
            (lambda x: x.max(), [0.0, 0.5, 0.5]),
            (lambda x: x.amax(0), [0.0, 0.5, 0.5]),
            (lambda x: x.max(dim=0).values, [0.0, 1.0, 0.0]),
        ):
            x = library.tensor([1.0, 3.0, 3.0], requires_grad=True)
            function(x).backward()
            assert x.grad.tolist() == expected


@proves("q-08-12")
def repeated_rows_in_numpy() -> None:
    wrong, right = np.zeros(4), np.zeros(4)
    wrong[[0, 2, 0]] += np.ones(3)
    np.add.at(right, [0, 2, 0], np.ones(3))
    assert wrong.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert right.tolist() == names(question("q-08-12").code)["table"].grad[:, 0].tolist()


@proves("q-08-13")
def equal_scores() -> None:
    z = wg.zeros(4, 2, requires_grad=True)
    y = [0, 1, 1, 0]
    F.cross_entropy(z, wg.tensor(y)).backward()
    for row, right in zip(z.grad.tolist(), y):
        assert row[right] == question("q-08-13").answer == -0.125
        assert row[1 - right] == 0.125


@proves("q-08-14")
def log_of_a_sum_of_exponentials() -> None:
    asked = question("q-08-14")
    assert changed_lines(asked) == asked.lines
    assert printed(asked.code) == "inf"
    after = names(asked.fix)
    z, target = after["z"], wg.tensor(after["target"])
    assert printed(asked.fix) == f"{F.cross_entropy(z, target).item():.4f}" == "0.1566"
    after["total"].sum().backward()
    assert _close(z.grad, z.detach().softmax(dim=1).numpy())
    assert wg.tensor([88.7, 88.8]).exp().isinf().tolist() == [False, True]


@proves("q-08-15")
def every_prediction_with_every_target() -> None:
    asked = question("q-08-15")
    assert changed_lines(asked) == asked.lines
    assert (printed(asked.code), printed(asked.fix)) == ("10.0", "0.0")
    after = names(asked.code)
    assert after["error"].shape == (4, 4)
    prediction, target = after["prediction"].detach().requires_grad_(), after["target"]
    ((prediction - target) ** 2).mean().backward()
    assert _close(prediction.grad, (2 * (prediction.detach() - target.mean()) / 4).numpy())


@proves("q-08-16")
def the_branch_that_was_not_chosen() -> None:
    asked = question("q-08-16")
    assert changed_lines(asked) == asked.lines
    assert printed(asked.code) == "[0.25, nan]"
    assert printed(asked.fix) == "[0.25, 0.0]"
    assert names(asked.code)["y"].tolist() == names(asked.fix)["y"].tolist() == [2.0, 0.0]
    theirs = asked.code.replace("whygrad", "torch")
    assert printed(theirs) == "[0.25, nan]"


@proves("q-08-17")
def reshaping_is_not_transposing() -> None:
    asked = question("q-08-17")
    assert changed_lines(asked) == asked.lines
    given = names(asked.code)
    x = wg.tensor(given["x"], dtype=wg.float64, requires_grad=True)
    (x.T * wg.tensor(given["w"])).sum().backward()
    assert x.grad.tolist() == names(asked.fix)["d_x"].tolist() == [[1, 2, 3], [10, 20, 30]]
    wrong = given["d_x"]
    assert wrong.shape == x.shape
    assert wrong.tolist() != x.grad.tolist()
    bump = np.zeros((2, 3))
    bump[0, 1] = 1e-4
    above, below = (((given["x"] + sign * bump).T * given["w"]).sum() for sign in (1, -1))
    difference = (above - below) / 2e-4
    assert difference == pytest.approx(2.0)
    assert wrong[0, 1] == 10


@proves("q-08-18")
def float32_has_too_few_digits() -> None:
    assert _differences(np.float64, 1e-6)[0] < 1e-9
    assert 1e-3 < _differences(np.float32, 1e-6)[0] < 0.1
    assert 1e-6 < _differences(np.float32, 1e-2)[0] < 1e-4
    for library, message in ((wg, "refused"), (torch, "mismatch")):
        x = library.tensor([1.0, 2.0, 0.5], requires_grad=True)
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match=message):
                library.autograd.gradcheck(library.exp, (x,))
        assert bool(noted) == (library is torch)
        exact = library.tensor([1.0, 2.0, 0.5], dtype=library.float64, requires_grad=True)
        assert library.autograd.gradcheck(library.exp, (exact,))
        x.exp().sum().backward()
        assert np.allclose(x.grad.numpy(), np.exp([1.0, 2.0, 0.5]), rtol=1e-6, atol=0.0)


@proves("q-08-19")
def what_was_saved_must_stay() -> None:
    def gradient(library: Any, function: Callable[[Any], Any], overwrite: bool) -> list[float]:
        w = library.tensor([0.5, 2.0], requires_grad=True)
        h = w * 3
        y = function(h)
        if overwrite:
            h.mul_(2)
        y.sum().backward()
        return w.grad.tolist()

    for library in (wg, torch):
        for option in question("q-08-19").options:
            function = eval("lambda h:" + option.text["en"].strip("`").partition("=")[2])
            if option.correct:
                assert gradient(library, function, True) == gradient(library, function, False)
            else:
                with pytest.raises(RuntimeError, match="inplace"):
                    gradient(library, function, True)


@proves("q-08-20")
def a_vector_times_the_jacobian() -> None:
    after = names(question("q-08-20").code)
    weights = wg.tensor([1.0, 0.0, 10.0])
    jacobian = wg.func.jacrev(lambda x: x * x)(after["x"].detach())
    assert _close(after["x"].grad, weights.numpy() @ jacobian.numpy())
    assert _close(jacobian, np.diag(2 * after["x"].detach().numpy()))
    for library in (wg, torch):
        x = library.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="scalar"):
            (x * x).backward()


@proves("q-08-21")
def two_layers_by_hand() -> None:
    lines = [option.text["en"].strip("`") for option in question("q-08-21").options]
    x, w1, w2 = _normal(5, 3).detach(), _normal(3, 4), _normal(4, 2)
    y = np.array([0, 1, 1, 0, 1])
    z = x @ w1
    h = z.relu()
    scores = h @ w2
    F.cross_entropy(scores, wg.tensor(y)).backward()
    known = {
        "x": x.numpy(), "W2": w2.detach().numpy(), "z": z.detach().numpy(), "B": 5,
        "y": np.eye(2)[y], "p": scores.detach().softmax(dim=1).numpy(),
    }  # fmt: skip
    for order in permutations(lines):
        after = dict(known)
        if list(order) == lines:
            exec("\n".join(order), after)
            assert _close(w1.grad, after["d_W1"])
            assert _close(w2.grad, h.detach().numpy().T @ after["d_scores"])
            assert (after["d_z"][known["z"] <= 0] == 0).all()
        else:
            with pytest.raises(NameError):
                exec("\n".join(order), after)
