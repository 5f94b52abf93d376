"""Labs 2 to 5: classic mistakes fail the check that is about them, and the message names them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from whygrad import Value
from whygrad.learn.lab import Bench, Check, find
from whygrad.learn.language import LANGUAGES, Language

SEED = 7


@dataclass
class Single(Bench):
    """A bench on which one check is run and all others pass."""

    only: str = ""

    def check(self, name: str, function: Callable[[Bench], None]) -> Check:
        wanted = self.only in ("", name)
        return super().check(name, function) if wanted else Check(name, True)


def first_failing(
    name: str,
    folder: Path,
    *changes: tuple[str, str],
    language: Language = "en",
    only: str = "",
) -> Check:
    """The first verdict that is not a pass, for the solution with some of its lines changed.

    ``only`` one check is run if it is named.
    """
    lab = find(name)
    files = lab.solution(language)
    for old, new in changes:
        homes = [file for file, text in files.items() if old in text]
        assert len(homes) == 1, f"{old!r} is in {homes}"
        files[homes[0]] = files[homes[0]].replace(old, new)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    bench = Single(lab, folder, language, SEED, only=only)
    checks = lab.grader().grade(bench)
    return next((check for check in checks if not check.passed), Check("none", True))


def output_of(program: Path) -> str:
    command = [sys.executable, program.name]
    run = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=True)
    return run.stdout


Mistake = tuple[str, str, str, str]  # what is replaced, by what, the check that fails, its message

BY_HAND: dict[str, Mistake] = {
    "the 2 of the square": (
        '"dL/du": 14',
        '"dL/du": 7',
        "square-numbers",
        "dL/du: the 2 of the square is missing",
    ),
    "the outer slope alone": (
        '"dL/dx": du * w',
        '"dL/dx": du',
        "square",
        "dL/dx: that is what arrives at the product",
    ),
    "the factor itself": (
        '"dL/dw": du * x',
        '"dL/dw": du * w',
        "square",
        "dL/dw: in a product the slope of each factor is the other factor",
    ),
    "one path lost": ("return x + x + 1", "return x + x", "twice", "dy/dx: a path is missing"),
    "a product of slopes": ("return x + x + 1", "return 1 * 1 + 1", "twice", "not the product"),
    "overwritten": ("(a + a)\n", "a\n", "twice", "dy/da: a path is missing"),
    "the last path of the diamond": (
        '"dL/da": 4,',
        '"dL/da": 10,',
        "diamond-numbers",
        "dL/da: a path is missing",
    ),
    "a minus lost": ('"dL/dc": de - df', '"dL/dc": de + df', "diamond", "c stands with a minus"),
    "a number left out": ('"L": -20,', '"L": None,', "diamond-numbers", "DIAMOND still has None"),
    "finite differences": (
        "    return x + x + 1",
        "    y = lambda x: x * x + x\n    return (y(x + 1) - y(x - 1)) / 2",
        "by-hand",
        "something is called or imported",
    ),
}
FINITE_DIFFERENCES: dict[str, Mistake] = {
    "divided by half the distance": (
        "/ (2 * epsilon)",
        "/ epsilon",
        "slope",
        "Twice the slope",
    ),
    "one-sided": (
        "Value(x - epsilon))\n    return (above.data - below.data) / (2 * epsilon)",
        "Value(x))\n    return (above.data - below.data) / epsilon",
        "centred",
        "This is a one-sided difference",
    ),
    "an epsilon of its own": (
        "    above = f(",
        "    epsilon = 1e-4\n    above = f(",
        "centred",
        "does not depend on epsilon",
    ),
    "autograd in disguise": (
        "return (above.data - below.data) / (2 * epsilon)",
        "return backward_gradient(f, x)",
        "centred",
        "A difference never is",
    ),
    "one leaf for all": (
        "    leaf = Value(x)",
        "    leaf = backward_gradient.__dict__.setdefault('leaf', Value(x))\n    leaf.data = x",
        "backward",
        "Each gradient contains the ones before it",
    ),
    "epsilon not handed on": (
        "centred_difference(f, x, epsilon)",
        "centred_difference(f, x)",
        "compare",
        "do not depend on the epsilon that compare was given",
    ),
    "an error with a sign": (
        "error = abs(numerical - backward)",
        "error = -abs(numerical - backward)",
        "compare",
        "error is the absolute value",
    ),
    "all inputs at once": (
        "values[position] = value",
        "values = [Value(each + value.data - inputs[position]) for each in inputs]",
        "each-input",
        "All inputs were moved at once",
    ),
    "the inputs left moved": (
        "    def slope(position):",
        "    inputs[0] += 1e-9\n\n    def slope(position):",
        "each-input",
        "the list of inputs is another one",
    ),
    "not worse at all": (
        '"epsilon": 0.5',
        '"epsilon": 1e-6',
        "worse",
        "this epsilon is not 100 times worse",
    ),
    "an error nobody measured": (
        '"error": 2.3e-3',
        '"error": 5e-3',
        "worse",
        "With epsilon 0.5 another error is measured",
    ),
}
TENSOR_AUTOGRAD: dict[str, Mistake] = {
    "stretched axes dropped": (
        "axis=stretched, keepdims=True",
        "axis=stretched",
        "unbroadcast",
        "grad has the shape (2,), expected (2, 1)",
    ),
    "copies averaged": (
        "grad.sum(axis=new_axes)",
        "grad.mean(axis=new_axes)",
        "unbroadcast",
        "averaged",
    ),
    "one copy kept": (
        "grad.sum(axis=new_axes)",
        "grad[(0,) * len(new_axes)]",
        "unbroadcast",
        "that is the share of one copy",
    ),
    "a pair in the wrong order": (
        "return unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)",
        "return unbroadcast(grad_b, b.shape), unbroadcast(grad_a, a.shape)",
        "matmul",
        "that is the gradient of b",
    ),
    "no transpose": ("grad @ np.swapaxes(b, -1, -2)", "grad @ b", "matmul", "ValueError: matmul"),
    "one result": (
        "return unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)",
        "return unbroadcast(grad_a, a.shape)",
        "matmul",
        "returns two arrays, grad_a and grad_b",
    ),
    "a batch not summed": (
        "unbroadcast(grad_b, b.shape)",
        "grad_b",
        "matmul-batched",
        "grad_b has the shape (2, 2, 3), expected (2, 3)",
    ),
    "the wrong axis": (
        "    if axis is not None and not keepdims:\n        grad = np.expand_dims(grad, axis)\n",
        "",
        "sum",
        "NumPy lined grad up with the last axes",
    ),
    "ones only": ("np.broadcast_to(grad, shape)", "np.ones(shape)", "sum", "only if 1 arrives"),
    "a mean not divided": (", keepdims) / count", ", keepdims)", "mean", "the gradient of a sum"),
    "a mean over everything": (
        "count = math.prod(shape[each] for each in axes)",
        "count = math.prod(shape)",
        "mean",
        "divided by the number of all elements",
    ),
    "a loss summed": (
        "[rows, labels].mean()",
        "[rows, labels].sum()",
        "cross-entropy",
        "B times too large",
    ),
    "overflow": (
        "shifted = logits - logits.max(axis=1, keepdims=True)",
        "shifted = logits",
        "stable",
        "loss is infinite: an exponential overflowed",
    ),
    "log of softmax": (
        "return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))",
        "return np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True))",
        "stable",
        "compute log p without computing p",
    ),
    "clipped": (
        "return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))",
        "return np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True) + 1e-12)",
        "stable",
        "Is p rounded or clipped before log is taken?",
    ),
    "a gradient summed": (
        "return difference / len(labels)",
        "return difference",
        "cross-entropy-backward",
        "B times too large",
    ),
    "no one-hot": (
        "    difference[rows, labels] -= 1\n",
        "",
        "cross-entropy-backward",
        "1 is subtracted from p",
    ),
    "the logits written to": (
        "    difference = np.exp(log_softmax(logits))\n",
        "    difference = np.exp(log_softmax(logits))\n    logits -= logits.max()\n",
        "cross-entropy-backward",
        "changed an array that it was given",
    ),
    "overwritten": (
        "self.grad += rules.sum_backward",
        "self.grad = rules.sum_backward",
        "shared",
        "Does one share replace the other?",
    ),
    "what arrives ignored": (
        "self.grad += out.grad * rules.cross",
        "self.grad += rules.cross",
        "network",
        "the loss is multiplied by scale, and that is lost",
    ),
}
MANUAL_BACKPROP: dict[str, Mistake] = {
    "a shape not predicted": (
        '"dL_dx": (2, 1)',
        '"dL_dx": None',
        "predicted-shapes",
        "None at: dL_dx",
    ),
    "a gradient shaped like a product": (
        '"dL_dW1": (3, 2)',
        '"dL_dW1": (2, 3)',
        "predicted-shapes",
        "dL_dW1: write the shapes",
    ),
    "the half forgotten": (
        "loss = 0.5 * np.sum((prediction - target) ** 2)\n",
        "loss = np.sum((prediction - target) ** 2)\n",
        "forward",
        "The loss is half the sum",
    ),
    "relu in place": (
        "    z1 = W1 @ x + b1\n    a1 = np.maximum(z1, 0)",
        "    z1 = W1 @ x + b1\n    a1 = np.maximum(z1, 0, out=z1)",
        "forward",
        "relu overwrote it",
    ),
    "the outer product the wrong way round": (
        'd_prediction @ saved["a1"].T',
        'saved["a1"] @ d_prediction.T',
        "shapes",
        "dL_dW2 has the shape (3, 1), expected (1, 3), which is the shape of W2",
    ),
    "no gate": (
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] > 0)',
        "d_a1 = W2.T @ d_prediction\n    d_z1 = d_a1",
        "gradients",
        "dL_dz1: that is dL_da1 unchanged",
    ),
    "the gate in place": (
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] > 0)',
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1\n    d_z1[saved["z1"] <= 0] = 0',
        "gradients",
        "dL_da1 has zeros where relu is closed",
    ),
    "target minus prediction": (
        'd_prediction = saved["prediction"] - target',
        'd_prediction = target - saved["prediction"]',
        "gradients",
        "dL_dprediction: the sign is wrong",
    ),
    "open at zero": (
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] > 0)',
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] >= 0)',
        "relu-at-zero",
        "z1 > 0, not z1 >= 0",
    ),
    "a batch summed": (
        "np.sum((prediction - target) ** 2) / len(x)",
        "np.sum((prediction - target) ** 2)",
        "batch-forward",
        "that is the sum over the rows",
    ),
    "a bias per row": (
        "d_prediction.sum(axis=0)",
        "d_prediction",
        "batch-shapes",
        "dL_db2 has the shape (4, 1), expected (1,), which is the shape of b2",
    ),
    "a batch not averaged": (
        '(saved["prediction"] - target) / len(x)',
        'saved["prediction"] - target',
        "batch-gradients",
        "dL_dprediction: B times too large",
    ),
    "averaged twice": (
        "d_z1.sum(axis=0)",
        "d_z1.mean(axis=0)",
        "batch-gradients",
        "divided by B twice",
    ),
}
TABLES = {
    "by-hand": BY_HAND,
    "finite-differences": FINITE_DIFFERENCES,
    "tensor-autograd": TENSOR_AUTOGRAD,
    "manual-backprop": MANUAL_BACKPROP,
}
MISTAKES = {
    f"{lab}: {title}": (lab, *mistake)
    for lab, table in TABLES.items()
    for title, mistake in table.items()
}


@pytest.mark.parametrize(("lab", "old", "new", "check", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistake(tmp_path: Path, lab: str, old: str, new: str, check: str, words: str) -> None:
    verdict = first_failing(lab, tmp_path, (old, new))
    assert verdict.id == check
    assert words in verdict.message


def test_by_hand_shows_target_and_yours_of_the_wrong_part(tmp_path: Path) -> None:
    verdict = first_failing("by-hand", tmp_path, ('"dL/db": du}', '"dL/db": 0}'), language="es")
    assert verdict.message.startswith("dL/db: es una entrada como las demás")
    assert verdict.difference is not None
    assert verdict.difference.place == "dL/db"
    assert verdict.difference.yours == 0
    assert "from by_hand import square" in verdict.example


def test_by_hand_does_without_engines(tmp_path: Path) -> None:
    change = ("SQUARE = {", "from whygrad import Value\n\nSQUARE = {")
    verdict = first_failing("by-hand", tmp_path, change)
    assert (verdict.id, verdict.kind) == ("square-numbers", "forbidden")
    assert "whygrad" in verdict.message


def test_by_hand_names_the_line_that_calls(tmp_path: Path) -> None:
    change = ("return x + x + 1", "return pow(x, 1) * 2 + 1")
    verdict = first_failing("by-hand", tmp_path, change)
    assert verdict.id == "by-hand"
    assert re.fullmatch(r"by_hand\.py:\d+: pow\(x, 1\)", verdict.where)


def test_the_example_of_by_hand() -> None:
    first, second = Value(5.0), Value(5.0)
    s = first + 3
    q = s * second
    q.backward()
    assert (s.data, q.data) == (8, 40)
    assert (s.grad, second.grad, first.grad) == (5, 8, 5)
    for language in LANGUAGES:
        readme = find("by-hand").readme[language]
        for claim in ("s = m1 + 3 = 8", "q = s·m2 = 40", "dq/ds = m2 = 5", "dq/dm = 5 + 8 = 13"):
            assert claim in readme


def test_differences_of_the_own_value(tmp_path: Path) -> None:
    (tmp_path / "value.py").write_text(find("value").solution("en")["value.py"], encoding="utf-8")
    change = ("from whygrad import Value", "from value import Value")
    assert first_failing("finite-differences", tmp_path, change).passed


@pytest.mark.parametrize("epsilon", [1.0, 1e-2, 1e-9, 1e-13, 1e-17])
def test_differences_too_large_and_too_small_are_both_worse(tmp_path: Path, epsilon: float) -> None:
    leaf = Value(3.0)
    leaf.sigmoid().log().backward()
    above, below = (Value(3.0 + each).sigmoid().log().data for each in (epsilon, -epsilon))
    error = abs((above - below) / (2 * epsilon) - leaf.grad)
    record = f'"x": 3.0, "epsilon": {epsilon}, "error": {error:.1e}'
    change = ('"x": 0.5, "epsilon": 0.5, "error": 2.3e-3', record)
    assert first_failing("finite-differences", tmp_path, change, only="worse").passed


@pytest.mark.parametrize("epsilon", ["0.0", "-1e-3", "float('nan')", "'small'", "1e300"])
def test_differences_an_epsilon_that_is_none(tmp_path: Path, epsilon: str) -> None:
    change = ('"epsilon": 0.5', f'"epsilon": {epsilon}')
    verdict = first_failing("finite-differences", tmp_path, change, only="worse")
    assert (verdict.id, verdict.kind) == ("worse", "wrong")


def test_differences_say_how_the_error_shrank_and_where_f_was_asked(tmp_path: Path) -> None:
    old, new, *_ = FINITE_DIFFERENCES["one-sided"]
    verdict = first_failing(
        "finite-differences", tmp_path, (old, new), language="es", only="centred"
    )
    assert verdict.message.startswith("Esta diferencia es lateral")
    first, second, ratio, asked = verdict.notes
    assert first.startswith("epsilon 0.02: error")
    assert second.startswith("epsilon 0.01: error")
    assert re.search(r"se dividió entre 2\.\d; en una centrada: entre 4", ratio)
    above, at = re.findall(r"[\d.]+", asked.rpartition("en ")[2])
    assert float(above) == pytest.approx(float(at) + 0.02)


def test_the_table_of_differences() -> None:
    for epsilon, one_sided, centred in ((0.1, "12.61", "12.01"), (0.05, "12.3025", "12.0025")):
        assert f"{((2 + epsilon) ** 3 - 8) / epsilon:.10g}" == one_sided
        assert f"{((2 + epsilon) ** 3 - (2 - epsilon) ** 3) / (2 * epsilon):.10g}" == centred
        for language in LANGUAGES:
            row = rf"{epsilon} +{one_sided} +{centred}\n"
            assert re.search(row, find("finite-differences").readme[language])


def test_differences_cancel_completely() -> None:
    """What the README of lab 3 asks about."""
    assert 0.5 + 1e-17 == 0.5 - 1e-17 == 0.5


def test_the_network_of_tensor_autograd_learns(tmp_path: Path) -> None:
    lab = find("tensor-autograd")
    for file, text in lab.solution("en").items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    printed = output_of(tmp_path / "tensor.py")
    for language in LANGUAGES:
        assert printed in lab.readme[language]


def test_tensor_autograd_shows_a_small_example_that_runs(tmp_path: Path) -> None:
    old, new, *_ = TENSOR_AUTOGRAD["a batch not summed"]
    verdict = first_failing("tensor-autograd", tmp_path, (old, new), only="matmul-batched")
    assert "sum their shares (unbroadcast)" in verdict.notes[0]
    (tmp_path / "example.py").write_text(verdict.example, encoding="utf-8")
    assert "array" in output_of(tmp_path / "example.py")


@pytest.mark.parametrize(("language", "words"), [("en", "Swap the factors"), ("es", "Intercambia")])
def test_manual_backprop_explains_the_wrong_outer_product(
    tmp_path: Path, language: Language, words: str
) -> None:
    old, new, *_ = MANUAL_BACKPROP["the outer product the wrong way round"]
    verdict = first_failing(
        "manual-backprop", tmp_path, (old, new), language=language, only="shapes"
    )
    (note,) = verdict.notes
    assert "a1 @ dL_dprediction.T" in note
    assert words in note


def test_manual_backprop_recognises_it_where_no_shape_can(tmp_path: Path) -> None:
    old, new, *_ = MANUAL_BACKPROP["the outer product the wrong way round"]
    square = (
        new + " if saved['a1'].size == target.size else d_prediction @ saved['a1'].T"
    )  # right wherever the shape would tell
    verdict = first_failing("manual-backprop", tmp_path, (old, square))
    assert verdict.id == "gradients"
    assert "the outer product is the wrong way round" in verdict.message
    assert "a1 @ dL_dprediction.T" in verdict.message


def test_the_network_of_manual_backprop(tmp_path: Path) -> None:
    """What the README prints, and the rows and columns it asks about."""
    lab = find("manual-backprop")
    (tmp_path / "network.py").write_text(lab.solution("en")["network.py"], encoding="utf-8")
    printed = output_of(tmp_path / "network.py")
    for language in LANGUAGES:
        assert printed in lab.readme[language]
    program = tmp_path / "rows.py"
    lines = (tmp_path / "network.py").read_text(encoding="utf-8")
    look = (
        "    gradients = backward(W1, b1, W2, b2, x, target)\n"
        "    assert values['z1'][2] < 0\n"
        "    assert not gradients['dL_dW1'][2].any() and not gradients['dL_db1'][2].any()\n"
        "    assert not gradients['dL_dW2'][:, 2].any() and gradients['dL_dW1'][:2].all()\n"
    )
    program.write_text(lines + look, encoding="utf-8")
    output_of(program)
