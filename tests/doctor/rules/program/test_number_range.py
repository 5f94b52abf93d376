"""Exponentials, losses by hand, half precision and data: what leaves the range of a float."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

LOOP = """
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(3):
    loss = compute(step)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOGITS = """
model = nn.Linear(4, 3)
labels = torch.arange(64) % 3
x = x * 1000
"""


def script(setup: str, *lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"{setup}\ndef compute(step):\n{body}{LOOP}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("lines", "formula"),
    [
        (["p = torch.softmax(model(x), 1)", "return -p[:, 0].log().mean()  # here"], "log_softmax"),
        (["p = torch.sigmoid(model(x))", "return -(1 - p).log().mean()  # here"], "logsigmoid"),
        (
            [
                "e = torch.exp(model(x))  # here",
                "return -(e / e.sum(1, keepdim=True)).log().mean()",
            ],
            "F.softmax",
        ),
        (["return torch.exp(model(x)).sum(1).log().mean()  # here"], "torch.logsumexp"),
        (["return torch.log(1 + torch.exp(model(x))).mean()  # here"], "F.softplus"),
        (["p = 1 / (1 + torch.exp(-model(x)))", "return -p.log().mean()  # here"], "logsigmoid"),
    ],
)
def test_a_loss_by_hand(tmp_path: Path, engine: str, lines: list[str], formula: str) -> None:
    found = only(tmp_path, "unstable-loss", script(LOGITS, *lines), engine)
    assert formula in found.fix
    assert ask(tmp_path, "overflow-in-exp", script(LOGITS, *lines), engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_the_stable_forms(tmp_path: Path, engine: str) -> None:
    lines = [
        "z = model(x)",
        "smooth = F.softplus(z).mean() + torch.logsumexp(z, 1).mean()",
        "return F.cross_entropy(z, labels) - F.log_softmax(z, 1)[:, 0].mean() + smooth",
    ]
    assert ask(tmp_path, "unstable-loss", script(LOGITS, *lines), engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exp_inside_the_model(tmp_path: Path, engine: str) -> None:
    setup = """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        e = torch.exp(self.score(x))  # here
        return self.out(x * e / e.sum(1, keepdim=True))

model = Attention()
x = x * 1000
"""
    text = script(setup, "return F.mse_loss(model(x), y)")
    found = only(tmp_path, "overflow-in-exp", text, engine)
    assert "overflows float32, which ends at exp(88.72)" in found.evidence[0]
    assert ask(tmp_path, "unstable-loss", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exp_whose_square_overflows(tmp_path: Path, engine: str) -> None:
    setup = "model = nn.Linear(4, 1)\nmodel.bias.data.fill_(60.0)"
    text = script(setup, "return F.mse_loss(torch.exp(model(x)), y)  # here")
    assert "what is computed from it overflows" in only(
        tmp_path, "overflow-in-exp", text, engine
    ).evidence[0]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("setup", "compute"),
    [
        ("model = nn.Linear(4, 1).half()", "return ((model(x.half()) - 300) ** 2).sum()  # here"),
        ("model = nn.Linear(4, 1)", "return model((x * 1e5).half().float()).mean()  # here"),
        ("model = nn.Linear(4, 1).half()  # here", "return (model(x.half()) * 1e-6).mean()"),
    ],
)
def test_half_precision(tmp_path: Path, engine: str, setup: str, compute: str) -> None:
    text = script(setup, compute)
    found = only(tmp_path, "float16-range", text, engine)
    assert "in float32" in found.evidence[0]
    assert ask(tmp_path, "float16-range", text.replace(".half()", ".float()"), engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_half_precision_in_the_optimizer(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    loss = F.mse_loss(model(x.half()), y.half())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # here
"""
    found = only(tmp_path, "float16-range", text, engine)
    assert "made 0.weight (float16) not finite out of finite gradients" in found.evidence[0]


def test_a_loss_scaler_may_overflow(tmp_path: Path) -> None:
    text = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
for step in range(20):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""
    assert ask(tmp_path, "float16-range", text) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("setup", "compute"),
    [
        ("x[40, 2] = float('nan')  # here", "return F.mse_loss(model(x[32:]), y[32:])"),
        ("y = torch.tensor([[float('inf')]] * 64)  # here", "return F.mse_loss(model(x), y)"),
    ],
)
def test_data(tmp_path: Path, engine: str, setup: str, compute: str) -> None:
    found = only(
        tmp_path, "non-finite-data", script(f"{setup}\nmodel = nn.Linear(4, 1)", compute), engine
    )
    assert "are not finite before the model has computed anything" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_data_that_were_cleaned(tmp_path: Path, engine: str) -> None:
    setup = """
x[40, 2] = float('nan')
keep = torch.isfinite(x).all(dim=1)
x, y = x[keep], y[keep]
model = nn.Linear(4, 1)
"""
    text = script(setup, "return F.mse_loss(model(x), y)")
    assert ask(tmp_path, "non-finite-data", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_data_of_the_evaluation(tmp_path: Path, engine: str) -> None:
    text = """
held_out = x[:8].clone()
held_out[3] = float("nan")
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        print(F.mse_loss(model(held_out), y[:8]).item())
"""
    (found,) = ask(tmp_path, "non-finite-data", text, engine)
    assert found.where is not None
    assert "held_out" in found.where.text


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_that_were_loaded(tmp_path: Path, engine: str) -> None:
    setup = """
model = nn.Linear(4, 1)
with torch.no_grad():
    model.weight.fill_(float("nan"))  # here
"""
    text = script(setup, "return F.mse_loss(model(x), y)")
    found = only(tmp_path, "non-finite-data", text, engine)
    assert "weight was not finite before the first update" in found.evidence[0]
