"""Labs 2 to 5: classic mistakes fail the check that is about them, and the message names them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import whygrad
from tests.learn.lab.mistakes import Nearby
from tests.learn.lab.mistakes_02_05 import (
    FINITE_DIFFERENCES,
    MANUAL_BACKPROP,
    MISTAKES,
    TENSOR_AUTOGRAD,
)
from whygrad import Value
from whygrad.learn.lab import Check, find, grade
from whygrad.learn.language import LANGUAGES, Language

SEED = 7


def first_failing(
    name: str,
    folder: Path,
    *changes: tuple[str, str],
    language: Language = "en",
    wanted: str = "",
) -> Check:
    """The first verdict that is not a pass, for the solution with some of its lines changed.

    With ``wanted``, only that check and the one before it are run.
    """
    lab = find(name)
    files = lab.solution(language)
    for old, new in changes:
        homes = [file for file, text in files.items() if old in text]
        assert len(homes) == 1, f"{old!r} is in {homes}"
        files[homes[0]] = files[homes[0]].replace(old, new)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    bench = Nearby(lab, folder, language, SEED, wanted=wanted)
    checks = lab.grader().grade(bench)
    return next((check for check in checks if not check.passed), Check("none", True))


def output_of(program: Path) -> str:
    command = [sys.executable, program.name]
    run = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.parametrize(("lab", "old", "new", "check", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistake(tmp_path: Path, lab: str, old: str, new: str, check: str, words: str) -> None:
    verdict = first_failing(lab, tmp_path, (old, new), wanted=check)
    assert verdict.id == check
    assert words in verdict.message


@pytest.mark.parametrize(
    "name", ["by-hand", "finite-differences", "tensor-autograd", "manual-backprop"]
)
@pytest.mark.parametrize("nonsense", ["'x'", "[[1], [2, 3]]"])
def test_nonsense_is_judged_too(tmp_path: Path, name: str, nonsense: str) -> None:
    """Everything in the file becomes nonsense; the grader has an answer to it all the same."""
    lab = find(name)
    for file, text in lab.solution("en").items():
        program = text.partition('if __name__ == "__main__":')[0]
        for each in re.findall(r"^(?:def )?(\w+)(?=\(.*:$| = )", program, re.MULTILINE):
            value = nonsense if each.isupper() else f"lambda *_, **__: {nonsense}"
            program += f"\n{each} = {value}\n"
        (tmp_path / file).write_text(program, encoding="utf-8")
    for check in grade(lab, tmp_path, seed=SEED).checks:
        assert not check.passed or check.id == "by-hand"
        assert check.kind != "grader"


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
    assert first_failing("finite-differences", tmp_path, change, wanted="worse").passed


@pytest.mark.parametrize("epsilon", ["0.0", "-1e-3", "float('nan')", "'small'", "1e300"])
def test_differences_an_epsilon_that_is_none(tmp_path: Path, epsilon: str) -> None:
    change = ('"epsilon": 0.5', f'"epsilon": {epsilon}')
    verdict = first_failing("finite-differences", tmp_path, change, wanted="worse")
    assert (verdict.id, verdict.kind) == ("worse", "wrong")


def test_differences_say_how_the_error_shrank_and_where_f_was_asked(tmp_path: Path) -> None:
    old, new, *_ = FINITE_DIFFERENCES["one-sided"]
    verdict = first_failing(
        "finite-differences", tmp_path, (old, new), language="es", wanted="centred"
    )
    assert verdict.message.startswith("Esta diferencia es lateral")
    first, second, ratio, asked = verdict.notes
    assert first.startswith("epsilon 0.02: error")
    assert second.startswith("epsilon 0.01: error")
    assert re.search(r"se dividió entre 2\.\d; en una centrada: entre 4", ratio)
    above, at = re.findall(r"[\d.]+", asked.rpartition("en ")[2])
    assert float(above) == pytest.approx(float(at) + 0.02)


def test_differences_are_not_borrowed(tmp_path: Path) -> None:
    change = ("from whygrad import Value", "from whygrad.scalar.check import Value")
    verdict = first_failing("finite-differences", tmp_path, change)
    assert (verdict.id, verdict.kind) == ("log-sigmoid", "forbidden")


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


def test_the_obvious_cross_entropy_is_nan() -> None:
    with np.errstate(all="ignore"):
        scores = np.exp(np.array([1000.0, 0.0]))
        assert np.isnan(-np.log(scores / scores.sum())[0])


def test_tensor_autograd_shows_a_small_example_that_runs(tmp_path: Path) -> None:
    old, new, *_ = TENSOR_AUTOGRAD["a batch not summed"]
    verdict = first_failing("tensor-autograd", tmp_path, (old, new), wanted="matmul-batched")
    assert "sum their shares (unbroadcast)" in verdict.notes[0]
    (tmp_path / "example.py").write_text(verdict.example, encoding="utf-8")
    assert "array" in output_of(tmp_path / "example.py")


@pytest.mark.parametrize(("language", "words"), [("en", "Swap the factors"), ("es", "Intercambia")])
def test_manual_backprop_explains_the_wrong_outer_product(
    tmp_path: Path, language: Language, words: str
) -> None:
    old, new, *_ = MANUAL_BACKPROP["the outer product the wrong way round"]
    verdict = first_failing(
        "manual-backprop", tmp_path, (old, new), language=language, wanted="shapes"
    )
    (note,) = verdict.notes
    assert "a1 @ dL_dprediction.T" in note
    assert words in note
    (tmp_path / "example.py").write_text(verdict.example, encoding="utf-8")
    assert output_of(tmp_path / "example.py").count("[") == 4  # three rows, as the message says


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


def test_the_slope_of_relu_at_zero() -> None:
    """What a hint of lab 5 says of both engines."""
    x = whygrad.tensor([0.0], requires_grad=True)
    x.relu().sum().backward()
    assert x.grad.tolist() == [0.0]
    torch = pytest.importorskip("torch")
    x = torch.tensor([0.0], requires_grad=True)
    x.relu().sum().backward()
    assert x.grad.tolist() == [0.0]


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_with_a_unit_at_zero_is_asked_whatever_the_seed(tmp_path: Path, seed: int) -> None:
    lab = find("manual-backprop")
    head, gate, tail = lab.solution("en")["network.py"].rpartition('(saved["z1"] > 0)')
    files = {"network.py": head + gate.replace(">", ">=") + tail}
    bench = Nearby(lab, tmp_path, seed=seed, wanted="batch-gradients").with_files(files)
    failing = [check for check in lab.grader().grade(bench) if not check.passed]
    assert [check.id for check in failing] == ["batch-gradients"]
    assert "z1 >= 0" in failing[0].message
