"""Logs, quotients, roots and branches: each fires at its line, its guarded relative does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

LOOP = """
optimizer = torch.optim.SGD(parameters, lr=0.01)
for step in range(4):
    loss = compute(step)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WEIGHTS = """
x = x.abs()
x[7] = 0
w = nn.Parameter(torch.rand(4, 1) + 0.5)
parameters = [w]
"""
LINEAR = """
model = nn.Linear(4, 1)
parameters = list(model.parameters())
"""


def script(setup: str, compute: str) -> str:
    return f"{setup}\ndef compute(step):\n    {compute}\n{LOOP}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("rule", "setup", "compute", "says"),
    [
        ("nan-from-log", LINEAR, "return torch.log(model(x)).mean()  # here", "are below 0"),
        (
            "nan-from-log",
            WEIGHTS,
            "return (torch.log(x @ w.abs()).clamp(min=-20) - y).pow(2).mean()  # here",
            "1 of 64 values are exactly 0",
        ),
        (
            "nan-from-division",
            LINEAR,
            "return ((model(x) - y) ** 2 / (y - y)).mean()  # here",
            "64 of 64 divisors are exactly 0",
        ),
        (
            "nan-from-division",
            LINEAR,
            "return (model(x) - y)[y > 5].pow(2).mean()  # here",
            "mean of no values at all",
        ),
        (
            "nan-from-division",
            LINEAR,
            "return model(x / x.new_zeros(1).norm()).sum()  # here",
            "divisors are exactly 0",
        ),
        (
            "nan-from-division",
            "head = nn.Linear(4, 3)\nparameters = list(head.parameters())",
            "return F.cross_entropy(head(x), torch.full((64,), -100))  # here",
            "every label is -100",
        ),
        (
            "nan-from-division",
            "head = nn.Linear(4, 3)\nparameters = list(head.parameters())",
            "return head(x).masked_fill(x[:, :3] < 2, float('-inf')).softmax(1).sum()  # here",
            "-inf throughout",
        ),
        (
            "nan-from-sqrt",
            WEIGHTS,
            "return F.mse_loss(torch.sqrt(x @ w.abs()), y)  # here",
            "1 of 64 values are exactly 0",
        ),
        (
            "nan-from-sqrt",
            LINEAR,
            "return model(x).pow(0.5).mean()  # here",
            "pow with exponent 0.5",
        ),
        (
            "nan-from-where",
            WEIGHTS,
            "return torch.where(x > 0, torch.sqrt(x * w.t()), x).mean()  # here",
            "sqrt: ",
        ),
        (
            "nan-from-where",
            WEIGHTS,
            "return torch.log(x * w.t()).masked_fill(x == 0, 0.0).mean()  # here",
            "leaves that out",
        ),
        (
            "nan-from-where",
            WEIGHTS,
            "return torch.log(x * w.t())[x > 0].mean()  # here",
            "leaves that out",
        ),
        (
            "nan-from-where",
            LINEAR,
            "return (model(x) + (y > 2).float() * float('inf')).mean()  # here",
            "0 × inf is NaN",
        ),
    ],
)
def test_the_line_that_has_no_value(
    tmp_path: Path, engine: str, rule: str, setup: str, compute: str, says: str
) -> None:
    found = only(tmp_path, rule, script(setup, compute), engine)
    assert says in found.evidence[0]
    assert found.step == 0
    assert found.fix.startswith("In `")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("rule", "setup", "compute"),
    [
        ("nan-from-log", LINEAR, "return torch.log(model(x).clamp_min(1e-6)).mean()"),
        ("nan-from-division", LINEAR, "return (model(x) / (y - y).clamp(min=1)).mean()"),
        ("nan-from-sqrt", WEIGHTS, "return F.mse_loss(torch.sqrt(x @ w.abs() + 1e-12), y)"),
        ("nan-from-sqrt", WEIGHTS, "return (x * w.t()).norm(dim=1).mean()"),
        (
            "nan-from-where",
            WEIGHTS,
            "return torch.where(x > 0, torch.sqrt(torch.where(x > 0, x * w.t(), 1.0)), x).mean()",
        ),
        (
            "nan-from-division",
            "head = nn.Linear(4, 3)\nparameters = list(head.parameters())",
            "return torch.softmax(head(x).masked_fill(x[:, :3] == x[:, :1], float('-inf')), 1)"
            "[:, 1].mean()",
        ),
    ],
)
def test_a_guard_is_enough(
    tmp_path: Path, engine: str, rule: str, setup: str, compute: str
) -> None:
    assert ask(tmp_path, rule, script(setup, compute), engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_features_that_were_spoiled_before_the_loop(tmp_path: Path, engine: str) -> None:
    setup = """
x[:, 2] = 3.0
x = (x - x.mean(0)) / x.std(0)  # here
model = nn.Linear(4, 1)
parameters = list(model.parameters())
"""
    text = script(setup, "return F.mse_loss(model(x[step * 8 : step * 8 + 8]), y[:8])")
    found = only(tmp_path, "nan-from-division", text, engine)
    assert "1 of 4 divisors are exactly 0 (0/0 in places)" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_update_by_hand(tmp_path: Path, engine: str) -> None:
    text = """
w = torch.zeros(4, 1, requires_grad=True)
for step in range(4):
    loss = (x @ w).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad / w.grad.norm()  # here
    w.grad = None
"""
    found = only(tmp_path, "nan-from-division", text, engine)
    assert "made 4 values that are not finite" in found.evidence[0]


def test_an_optimizer_without_eps(tmp_path: Path) -> None:
    text = """
x[:, 2] = 0
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=0)  # here
for step in range(4):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert "eps=0" in only(tmp_path, "nan-from-division", text).evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_explosion_is_not_a_matter_of_numbers(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=20.0)
for step in range(30):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    for rule in ("nan-from-division", "nan-from-sqrt", "overflow-in-exp", "non-finite-data"):
        assert ask(tmp_path, rule, text, engine) == []
