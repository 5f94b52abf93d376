"""What looking for figures must not do: run the program's code, stay on, cost without end."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.doctor.asking import watched
from whygrad.recording.engines import engines
from whygrad.recording.judging import lookout
from whygrad.recording.judging.statements import judgings
from whygrad.recording.judging.values import Values

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def _not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks where code is compiled, as another test in this process may have done."""
    monkeypatch.setattr("whygrad.recording.engines.pytorch.compiler_in_use", lambda: False)


LOOP = """
import sys
import numpy as np
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(6):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        pred = model(x).numpy()
    traced = sys.gettrace() is not None
    error = np.mean((pred - y.numpy()) ** 2)
"""


def value(text: str, **names: Any) -> np.ndarray[Any, Any] | None:
    node = ast.parse(text, mode="eval").body
    return Values(engines()["torch"], names, {}).array(node)


def test_the_tracer_is_gone_when_the_program_is_over(tmp_path: Path) -> None:
    before = sys.gettrace()
    run = watched(tmp_path, LOOP).run
    assert sys.gettrace() is before
    looks = [each for each in run.judged.values() if each[0].kind == "difference"]
    assert [each.after for each in looks[0]] == [1, 2, 3, 6]
    assert looks[0][-1].sides[0].text == "pred"
    assert not run.troubles


def test_a_tracer_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    text = LOOP.replace("import sys\n", "import sys\nsys.settrace(lambda *_: None)\n")
    try:
        run = watched(tmp_path, text).run
    finally:
        sys.settrace(None)
    assert not run.judged


def test_what_it_costs_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, "_EVENTS", 3)
    assert not watched(tmp_path, LOOP).run.judged


def test_training_is_not_traced(tmp_path: Path) -> None:
    text = LOOP.replace("    optimizer.zero_grad()\n", "    optimizer.zero_grad()\n    F.relu(x)\n")
    run = watched(tmp_path, text + "assert sys.gettrace() is None or traced\n").run
    assert run.error is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", [1.0, 2.0]),
        ("a.ravel().astype(int)", [1.0, 2.0]),
        ("np.concatenate([a])", None),
        ("np.concatenate(parts)", [1.0, 2.0, 3.0]),
        ("a * 2 + 1", [3.0, 5.0]),
        ("a > 1.5", [False, True]),
        ("table['a']", [1.0, 2.0]),
        ("square[:, 1]", [2.0, 4.0]),
        ("square.argmax(axis=1)", [1, 1]),
        ("square.reshape(1, 4)", None),
        ("numbers", [1, 2]),
        ("torch.tensor(numbers)", [1, 2]),
        ("words", None),
        ("run(a)", None),
        ("unknown", None),
    ],
)
def test_expressions_are_followed_without_running_them(text: str, expected: Any) -> None:
    a = np.array([1.0, 2.0])
    found = value(
        text,
        a=a,
        parts=[a, np.array([3.0])],
        table={"a": a},
        square=np.array([[1.0, 2.0], [3.0, 4.0]]),
        numbers=[1, 2],
        words=["one", "two"],
        run=lambda _: pytest.fail("the program's code was run"),
    )
    assert (None if found is None else found.tolist()) == expected


def test_parameters_and_tensors_with_gradients_are_no_figures() -> None:
    assert value("w", w=torch.ones(3, requires_grad=True)) is None
    held = value("w", w=torch.ones(3))
    assert held is not None
    assert held.tolist() == [1.0, 1.0, 1.0]


def test_statements_that_judge() -> None:
    found = judgings(
        "acc = (p == y).mean()\n"
        "loss = net(x)\n"
        "rmse = np.sqrt(np.mean((p - y) ** 2))\n"
        "print(f1_score(y_true=y, y_pred=p))\n"
        "if loss < best:\n    best = loss\n"
        "share = right / len(rows)\n"
        "flags = p > 0.5\n"
        "n = a - b\n"
        "zero = (p == 0).sum()\n"
    )
    assert {line: [each.kind for each in found[line]] for line in found} == {
        1: ["equal"],
        3: ["difference"],
        4: ["classes"],
        5: ["choice"],
        7: ["quotient"],
        8: ["threshold"],
    }
