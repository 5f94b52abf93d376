"""Gradients that explode, clipping, oscillation, lost rates, regularization."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.rules.test_learning_rate import ENGINES, NOISE, findings, script

pytest.importorskip("torch")

RECURRENCE = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(2, 12)
        self.rec = nn.Parameter({gain} * torch.randn(12, 12))
        self.out = nn.Linear(12, 1)
    def forward(self, seq):
        h = torch.zeros(seq.shape[0], 12)
        for t in range(seq.shape[1]):
            h = self.inp(seq[:, t]) + h @ self.rec
        return self.out(h)
seq = torch.randn(16, 16, 2)
target = seq[:, -1].sum(1, keepdim=True)
model = Recurrence()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    optimizer.zero_grad()
    loss = F.mse_loss(model(seq), target)
    loss.backward()
    {clip}
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_recurrence_that_multiplies(tmp_path: Path, engine: str) -> None:
    text = RECURRENCE.format(gain=0.7, clip="pass")
    found = findings(tmp_path, text, engine)["exploding-gradient"]
    assert found.where is not None
    assert "h @ self.rec" in found.where.text
    assert found.step == 0
    assert found.caused_by is None
    assert "through 16 multiplications" in found.evidence[0]
    assert "rec [12, 12]" in found.fix


def test_a_recurrence_that_keeps_its_scale_is_well(tmp_path: Path) -> None:
    found = findings(tmp_path, RECURRENCE.format(gain=0.15, clip="pass"))
    assert not found.keys() & {"exploding-gradient", "clipping-hides-cause", "lr-too-high"}


def test_clipping_that_covers_an_explosion(tmp_path: Path) -> None:
    clip = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
    found = findings(tmp_path, RECURRENCE.format(gain=0.7, clip=clip))
    cause = found["clipping-hides-cause"]
    assert cause.where is not None
    assert "clip_grad_norm_" in cause.where.text
    assert found["exploding-gradient"].caused_by is None
    assert "active in 100% of 20 updates" in cause.evidence[0]


@pytest.mark.parametrize(
    "line",
    [
        "nn.utils.clip_grad_norm_(model.parameters(), 1e-3)",
        "nn.utils.clip_grad_value_(model.parameters(), 1e-5)",
        "[p.grad.mul_(1e-4) for p in model.parameters()]",
    ],
)
def test_a_limit_that_is_far_too_small(tmp_path: Path, line: str) -> None:
    text = script("SGD(model.parameters(), lr=0.1)").replace(
        "    optimizer.step()", f"    {line}\n    optimizer.step()"
    )
    found = findings(tmp_path, text)
    cause = found["clipping-hides-cause"]
    assert cause.where is not None
    assert cause.where.text == line
    assert "without it the loss of the first batch goes" in cause.evidence[1]
    assert "lr-too-low" not in found


PIXELS = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
means = torch.rand(6, 64) * 255
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range({steps}):
    label = torch.randint(0, 6, (64,))
    image = (means[label] + torch.randn(64, 64) * 60){scaled}
    loss = F.cross_entropy(model(image), label)
    optimizer.zero_grad()
    loss.backward()
    {clip}
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_clipping_behind_which_the_loss_comes_down_from_its_own_height(
    tmp_path: Path, engine: str
) -> None:
    clip = "nn.utils.clip_grad_norm_(model.parameters(), 0.01)"
    found = findings(tmp_path, PIXELS.format(steps=150, scaled="", clip=clip), engine)
    cause = found["clipping-hides-cause"]
    assert cause.where is not None
    assert cause.where.text == clip
    assert "of the learning rate" in cause.evidence[1]
    text = PIXELS.format(steps=150, scaled=" / 127.5 - 1", clip="pass")
    assert not findings(tmp_path, text, engine)


def test_clipping_that_does_no_harm(tmp_path: Path) -> None:
    line = "nn.utils.clip_grad_norm_(model.parameters(), 0.01)"
    text = script("Adam(model.parameters(), lr=0.02)").replace(
        "    optimizer.step()", f"    {line}\n    optimizer.step()"
    )
    assert "clipping-hides-cause" not in findings(tmp_path, text)


@pytest.mark.parametrize("engine", ENGINES)
def test_momentum_that_cannot_turn_round(tmp_path: Path, engine: str) -> None:
    text = script("SGD(model.parameters(), lr=0.02, momentum=0.999)", steps=120)
    text = text.replace("nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))",
                        "nn.Linear(6, 1)")  # fmt: skip
    found = findings(tmp_path, text, engine)["oscillation"]
    assert found.where is not None
    assert "momentum=0.999" in found.where.text
    assert "momentum=0.9 instead of momentum=0.999" in found.fix


def test_usual_momentum_is_well(tmp_path: Path) -> None:
    text = script("SGD(model.parameters(), lr=0.02, momentum=0.9)", steps=120)
    assert "oscillation" not in findings(tmp_path, text)


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_schedule_that_loses_the_rate(tmp_path: Path, by_hand: bool) -> None:
    text = script("Adam(model.parameters(), lr=0.01)", steps=80).replace(
        "F.mse_loss(model(x), y)", "F.mse_loss(model(x[step % 4 :: 4]), y[step % 4 :: 4])"
    )
    if by_hand:
        text += "    optimizer.param_groups[0]['lr'] *= 0.6\n"
        line = "optimizer.param_groups[0]['lr'] *= 0.6"
    else:
        line = "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.6)"
        text = text.replace("for step", f"{line}\nfor step") + "    scheduler.step()\n"
    found = findings(tmp_path, text)["loss-plateau"]
    assert found.where is not None
    assert found.where.text == line
    assert "70 of 80 steps ran at 0.006 of that rate or less" in found.evidence[1]


def test_a_schedule_that_ends_when_all_is_learned_is_well(tmp_path: Path) -> None:
    text = script("SGD(model.parameters(), lr=0.05)", NOISE)
    line = "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)"
    text = text.replace("for step", f"{line}\nfor step") + "    scheduler.step()\n"
    assert "loss-plateau" not in findings(tmp_path, text)


PENALTY = "F.mse_loss(model(x), y) + {} * sum(p.pow(2).sum() for p in model.parameters())"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("optimizer", "loss", "line"),
    [
        (
            "SGD(model.parameters(), lr=0.05, weight_decay=8.0)",
            "F.mse_loss(model(x), y)",
            "weight_",
        ),
        ("SGD(model.parameters(), lr=0.01)", PENALTY.format(20.0), "20.0 * sum"),
    ],
)
def test_regularization_that_drowns_the_loss(
    tmp_path: Path, engine: str, optimizer: str, loss: str, line: str
) -> None:
    found = findings(tmp_path, script(optimizer, loss), engine)["over-regularized"]
    assert found.where is not None
    assert line in found.where.text
    assert "without it" in found.evidence[2]


@pytest.mark.parametrize(
    ("optimizer", "loss"),
    [
        ("AdamW(model.parameters(), lr=0.02, weight_decay=0.1)", "F.mse_loss(model(x), y)"),
        ("Adam(model.parameters(), lr=0.02)", PENALTY.format(1e-3)),
        ("SGD(model.parameters(), lr=0.05, weight_decay=1e-3)", NOISE),
    ],
)
def test_usual_regularization_is_well(tmp_path: Path, optimizer: str, loss: str) -> None:
    assert "over-regularized" not in findings(tmp_path, script(optimizer, loss))


FACTORS = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
u, v = nn.Parameter(torch.randn(30, 4) * 0.5), nn.Parameter(torch.randn(20, 4) * 0.5)
wanted = torch.randn(30, 4) @ torch.randn(4, 20)
optimizer = torch.optim.{rate}
for step in range(150):
    loss = F.mse_loss(u @ v.T, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_set_at_every_step_leaves_nothing_to_swing(tmp_path: Path, engine: str) -> None:
    found = findings(tmp_path, FACTORS.format(rate="SGD([u, v], lr=12.0)"), engine)
    cause = found.get("oscillation") or found["lr-too-high"]
    assert cause.where is not None
    assert "lr=12.0" in cause.where.text
    for rate in ("SGD([u, v], lr=5.0)", "Adam([u, v], lr=0.3)", "Adam([u, v], lr=0.05)"):
        assert not findings(tmp_path, FACTORS.format(rate=rate), engine)
