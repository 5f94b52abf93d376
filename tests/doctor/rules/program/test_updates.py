"""Gradients that no update uses, or that are used twice; parameters that no optimizer holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

MODEL = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
RULES = ("missing-step", "missing-zero-grad", "parameter-not-in-optimizer")


@pytest.mark.parametrize("engine", ENGINES)
def test_gradients_that_are_never_cleared(tmp_path: Path, engine: str) -> None:
    text = (
        MODEL
        + """
for step in range(6):
    loss = F.mse_loss(model(x), y)
    loss.backward()  # here
    optimizer.step()  # here
"""
    )
    found = only(tmp_path, "missing-zero-grad", text, engine)
    assert found.step == 1
    assert "at 5 of 6 updates" in found.evidence[0]


def test_one_of_two_is_not_cleared_by_hand(tmp_path: Path) -> None:
    text = """
w = torch.zeros(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for step in range(6):
    loss = F.mse_loss(x @ w + b, y)
    loss.backward()  # here
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad.zero_()
"""
    assert ".grad = None" in only(tmp_path, "missing-zero-grad", text).fix


@pytest.mark.parametrize(
    "loop",
    [
        # accumulation over three batches
        """
for step in range(12):
    loss = F.mse_loss(model(x), y) / 3
    loss.backward()
    if step % 3 == 2:
        optimizer.step()
        optimizer.zero_grad()
""",
        # a pass for adversarial examples, before the gradients are cleared
        """
for step in range(8):
    given = x.clone().requires_grad_()
    F.mse_loss(model(given), y).backward()
    given = (given + 0.01 * given.grad.sign()).detach()
    optimizer.zero_grad()
    loss = F.mse_loss(model(given), y)
    loss.backward()
    optimizer.step()
""",
        # the update of the gradients before
        """
F.mse_loss(model(x), y).backward()
for step in range(8):
    optimizer.step()
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
""",
        # by hand
        """
for step in range(8):
    model.zero_grad()
    F.mse_loss(model(x), y).backward()
    for p in model.parameters():
        p.data = p.data - 0.1 * p.grad
""",
    ],
)
def test_loops_that_are_right(tmp_path: Path, loop: str) -> None:
    for rule in RULES:
        assert not ask(tmp_path, rule, MODEL + loop), rule


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("optimizer.zero_grad(); loss.backward()  # here", "no SGD.step()"),
        (
            "optimizer.zero_grad(); optimizer.step()  # here\n    loss.backward()",
            "before backward()",
        ),
        ("loss.backward()\n    optimizer.zero_grad()  # here\n    optimizer.step()", "between"),
    ],
)
def test_no_update_in_any_step(tmp_path: Path, engine: str, body: str, words: str) -> None:
    loop = f"for step in range(6):\n    loss = F.mse_loss(model(x), y)\n    {body}\n"
    assert words in only(tmp_path, "missing-step", MODEL + loop, engine).evidence[0]


def test_an_update_after_the_loop(tmp_path: Path) -> None:
    text = (
        MODEL
        + """
for epoch in range(3):
    for xb, yb in zip(x.split(16), y.split(16)):
        optimizer.zero_grad()
        F.mse_loss(model(xb), yb).backward()
    optimizer.step()  # here
"""
    )
    assert "cleared before an update" in only(tmp_path, "missing-step", text).evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        # built anew
        """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # here
model = nn.Linear(4, 1)
""",
        # in a plain list
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 8), nn.Linear(8, 8)]  # here
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
""",
        # no Parameter
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)
        self.scale = torch.ones(1, requires_grad=True)  # here

    def forward(self, x):
        return self.out(x) * self.scale


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
""",
        # forgotten
        """
first, second = nn.Linear(4, 8), nn.Linear(8, 1)
model = lambda x: second(torch.tanh(first(x)))
y = 5 * y + 3
optimizer = torch.optim.SGD(first.parameters(), lr=0.1)  # here
""",
    ],
)
def test_parameters_that_the_optimizer_does_not_hold(
    tmp_path: Path, engine: str, text: str
) -> None:
    loop = """
for step in range(6):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
"""
    found = only(tmp_path, "parameter-not-in-optimizer", text + loop, engine)
    assert found.parameters


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "update",
    [
        "w = w - 0.1 * w.grad  # here",
        "with torch.no_grad():\n        w = w - 0.1 * w.grad  # here",
    ],
)
def test_a_new_tensor_with_the_old_name(tmp_path: Path, engine: str, update: str) -> None:
    text = f"""
w = torch.zeros(4, 1, requires_grad=True)
for step in range(6):
    loss = F.mse_loss(x @ w, y)
    loss.backward()
    {update}
"""
    found = only(tmp_path, "parameter-not-in-optimizer", text, engine)
    assert "never changed" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_generator_that_is_used_up(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Linear(4, 1)
parameters = model.parameters()
print(sum(each.numel() for each in parameters))
optimizer = torch.optim.SGD(parameters, lr=0.1)  # here
"""
    assert "generator" in only(tmp_path, "parameter-not-in-optimizer", text, engine).fix


def test_a_new_leaf_each_time_is_an_update(tmp_path: Path) -> None:
    text = """
w = torch.zeros(4, 1, requires_grad=True)
for step in range(6):
    F.mse_loss(x @ w, y).backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_()
"""
    assert not ask(tmp_path, "parameter-not-in-optimizer", text)


SLIPPED = """
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    {before}
    for rows in torch.randperm(64).split(8):
        optimizer.zero_grad()
        {loss}
    {after}
    optimizer.step()
"""
BEHIND = {
    "the last": ("pass", "loss = F.mse_loss(model(x[rows]), y[rows])", "loss.backward()  # here"),
    "all": ("total = 0", "total = total + F.mse_loss(model(x[rows]), y[rows])", "total.backward()"),
    "the largest": (
        "worst = None",
        "one = F.mse_loss(model(x[rows]), y[rows])\n        "
        "worst = one if worst is None or one > worst else worst",
        "worst.backward()",
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_one_update_an_epoch(tmp_path: Path, engine: str) -> None:
    before, loss, after = BEHIND["the last"]
    text = SLIPPED.format(before=before, loss=loss, after=after)
    found = only(tmp_path, "missing-step", text, engine)
    assert found.evidence[0].startswith("8 losses are computed at line ")


@pytest.mark.parametrize("how", ["all", "the largest"])
def test_one_update_for_many_losses(tmp_path: Path, how: str) -> None:
    before, loss, after = BEHIND[how]
    text = SLIPPED.format(before=before, loss=loss, after=after)
    assert not ask(tmp_path, "missing-step", text)


_ANOTHER_MODEL = """
def build():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


model = build()
optimizer = torch.optim.Adam(build().parameters(), lr=0.01)  # here
best, kept = float("inf"), None
for _ in range(20):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best, kept = loss.item(), {k: v.clone() for k, v in model.state_dict().items()}
model.load_state_dict(kept)
with torch.no_grad():
    print(F.mse_loss(model(x), y).item())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_that_is_put_back_is_no_update_by_hand(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "parameter-not-in-optimizer", _ANOTHER_MODEL, engine)
    assert "holds 4 parameters that no loss depends on" in found.evidence[0]


def test_weights_that_nothing_trained_are_not_put_back_by_mistake(tmp_path: Path) -> None:
    assert ask(tmp_path, "checkpoint-state", _ANOTHER_MODEL) == []
