"""Labs 6, 7 and 12: the classic mistakes fail the right check, and what the READMEs claim holds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import whygrad
from whygrad import nn
from whygrad.learn.lab import Bench, Check, find
from whygrad.nn.utils import clip_grad_norm_

Changes = Mapping[str, str]
Verdict = Callable[..., Check | None]


@pytest.fixture
def first_failing(tmp_path: Path) -> Verdict:
    """Grade a reference solution with some passages replaced, up to the first failing check."""

    def graded(name: str, changes: Changes, language: Any = "en") -> Check | None:
        lab = find(name)
        texts = lab.solution(language)
        for old, new in changes.items():
            changed = {file: text.replace(old, new) for file, text in texts.items()}
            assert changed != texts, f"{old!r} is not in the solution"
            texts = changed
        for file, text in texts.items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        checks = lab.grader().grade(Bench(lab, tmp_path, language, seed=4711))
        return next((check for check in checks if not check.passed), None)

    return graded


_NORM = "math.sqrt(sum(float((grad**2).sum()) for grad in grads))"
_SCALED = "[grad * (max_norm / norm) for grad in grads]"


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        ({_NORM: "sum(float(np.linalg.norm(grad)) for grad in grads)"}, "norm", "one square root"),
        ({_NORM: "sum(float((grad**2).sum()) for grad in grads)"}, "norm", "root is missing"),
        ({_NORM: "max(float(np.linalg.norm(grad)) for grad in grads)"}, "norm", "All arrays count"),
        (
            {"np.clip(grad, -limit, limit)": "np.minimum(grad, limit)"},
            "value",
            "must become -limit",
        ),
        (
            {"np.clip(grad, -limit, limit)": "np.clip(grad, -limit, limit, out=grad)"},
            "value",
            "new",
        ),
        (
            {_SCALED: "[grad * min(1, max_norm / np.linalg.norm(grad)) for grad in grads]"},
            "scaled",
            "Each array was clipped by its own norm",
        ),
        ({_SCALED: "clip_by_value(grads, max_norm)"}, "scaled", "cut off one by one"),
        ({"if norm <= max_norm:": "if norm == 0:"}, "below", "made larger"),
        ({"if norm <= max_norm:": "if 0 < norm <= max_norm:"}, "zero", "ZeroDivisionError"),
        ({"if not math.isfinite(norm):": "if False:"}, "not-finite", "Raise ValueError"),
        ({"return product / (": "return product / math.sqrt("}, "cosine", "not right"),
        (
            {"np.array([3.0, 0.5])": "np.array([3.0, 3.0])"},
            "turned",
            "cosine before and after is 1",
        ),
        ({"np.array([3.0, 0.5])": "np.array([0.3, 0.5])"}, "turned", "beyond the limit 1.0"),
        ({" if each.grad is not None": ""}, "model", "NoneType"),
        ({"parameter.grad = ": "unused = "}, "model", "gradients in the model"),
        ({"total_norm(grads), total_norm(clipped)": "1.0, 1.0"}, "model", "(before, after)"),
        ({'"f": False': '"f": True'}, "statements", "5 of 6"),
        ({'"f": False': '"f": None'}, "statements", "True or False: f"),
    ],
)
def test_mistakes_in_clipping(
    first_failing: Verdict, changes: Changes, check: str, says: str
) -> None:
    first = first_failing("clipping", changes)
    assert first is not None
    assert first.id == check
    assert says in first.message


def test_clipping_accepts_the_formula_of_pytorch(first_failing: Verdict) -> None:
    formula = {
        "    if norm <= max_norm:\n        return [grad.copy() for grad in grads]\n": "",
        "(max_norm / norm)": "min(1.0, max_norm / (norm + 1e-6))",
    }
    assert first_failing("clipping", formula, "es") is None


def _with_gradients(*values: float) -> nn.Parameter:
    parameter = nn.Parameter(whygrad.zeros(len(values)))
    parameter.grad = whygrad.tensor(list(values))
    return parameter


def test_statements_on_clipping_are_as_the_grader_has_them() -> None:
    one = _with_gradients(3.0, 0.5)
    before = clip_grad_norm_([one], 1.0)
    assert one.grad is not None
    assert math.isclose(one.grad.norm().item(), 1.0, rel_tol=1e-5)  # c: times lr
    assert math.isclose(one.grad[0].item() / one.grad[1].item(), 6.0, rel_tol=1e-6)  # a
    assert math.isclose(before.item(), math.hypot(3.0, 0.5), rel_tol=1e-6)

    cosine = (3 * 1 + 0.5 * 0.5) / (math.hypot(3, 0.5) * math.hypot(1, 0.5))
    assert round(cosine, 3) == 0.956  # b

    spoilt = _with_gradients(math.nan, 1.0)
    clip_grad_norm_([spoilt], 1.0)
    assert spoilt.grad is not None
    assert bool(spoilt.grad.isnan().all())  # d

    infinite = _with_gradients(math.inf, 1.0)
    clip_grad_norm_([infinite], 1.0)
    assert infinite.grad is not None
    assert math.isnan(infinite.grad[0].item())
    assert infinite.grad[1].item() == 0.0


def test_clipped_steps_with_the_wrong_sign_make_a_model_worse_and_stay_finite() -> None:
    whygrad.manual_seed(0)
    x = whygrad.randn(64, 3)
    y = x.sum(1, keepdim=True)
    model = nn.Linear(3, 1)
    optimizer = whygrad.optim.SGD(model.parameters(), lr=0.1)
    errors = []
    for _ in range(50):
        optimizer.zero_grad()
        error = nn.functional.mse_loss(model(x), y)
        (-error).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        errors.append(error.item())
    assert all(later > earlier for earlier, later in itertools.pairwise(errors))  # e
    assert math.isfinite(errors[-1])  # and so f is False
