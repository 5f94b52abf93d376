"""Advice that holds in the program at hand: what it says to do can be done there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only
from whygrad.doctor.rules.rule import Finding

_LOOP = """
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_THREE = "net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3){end})\n"
_LABELS = "labels = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()\n"


def _found(folder: Path, rule: str, text: str, engine: str) -> Finding:
    return only(folder, rule, text, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_three_classes_on_another_axis(tmp_path: Path, engine: str) -> None:
    text = (
        _THREE.format(end="")
        + "wanted = F.one_hot((x[:, 0] > 0).long() + 1, 3).float().unsqueeze(1)\n"
        + _LOOP.format(loss="p = torch.softmax(net(x).unsqueeze(1), dim=1)  # here\n"
                       "    loss = F.binary_cross_entropy(p, wanted)")
    )  # fmt: skip
    fix = _found(tmp_path, "softmax-over-one", text, engine).fix
    assert "dim=2, which has length 3" in fix
    assert "sigmoid" not in fix


@pytest.mark.parametrize("engine", ENGINES)
def test_three_classes_before_a_column(tmp_path: Path, engine: str) -> None:
    text = (
        _THREE.format(end="")
        + "wanted = F.one_hot((x[:, 0] > 0).long() + 1, 3).float().unsqueeze(2)\n"
        + _LOOP.format(loss="p = torch.softmax(net(x).unsqueeze(2), dim=-1)  # here\n"
                       "    loss = F.binary_cross_entropy(p, wanted)")
    )  # fmt: skip
    fix = _found(tmp_path, "softmax-over-one", text, engine).fix
    assert "dim=1, which has length 3" in fix


@pytest.mark.parametrize("engine", ENGINES)
def test_more_classes_than_a_sigmoid_can_tell(tmp_path: Path, engine: str) -> None:
    text = (
        "net = nn.Linear(4, 1)\n" + _LABELS
        + _LOOP.format(loss="p = torch.softmax(net(x), dim=1)  # here\n"
                       "    loss = F.mse_loss(p, labels.float().unsqueeze(1))")
    )  # fmt: skip
    fix = _found(tmp_path, "softmax-over-one", text, engine).fix
    assert "name 3 classes" in fix
    assert "sigmoid" not in fix


@pytest.mark.parametrize("engine", ENGINES)
def test_the_axis_is_one_that_the_softmax_has(tmp_path: Path, engine: str) -> None:
    text = (
        _THREE.format(end="") + "wanted = F.one_hot((x[:, 0] > 0).long() + 1, 3).float()\n"
        + _LOOP.format(loss="p = torch.softmax(net(x).unsqueeze(2), dim=0)  # here\n"
                       "    loss = F.mse_loss(p.squeeze(2), wanted)")
    )  # fmt: skip
    fix = _found(tmp_path, "wrong-dim", text, engine).fix
    assert "dim=1 instead of dim=0" in fix


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_of_one_class_need_no_axis(tmp_path: Path, engine: str) -> None:
    text = (
        "net = nn.Linear(4, 1)\nlabels = torch.zeros(64).long()\n"
        + _LOOP.format(loss="loss = F.nll_loss(net(x), labels)  # here")
    )  # fmt: skip
    fix = _found(tmp_path, "wrong-output-activation", text, engine).fix
    assert "dim" not in fix
    assert "only one number" in fix


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exp_that_undoes_the_log_softmax(tmp_path: Path, engine: str) -> None:
    text = (
        _THREE.format(end=", nn.LogSoftmax(dim=1)") + _LABELS
        + _LOOP.format(loss="loss = F.nll_loss(torch.exp(net(x)), labels)  # here")
    )  # fmt: skip
    fix = _found(tmp_path, "wrong-output-activation", text, engine).fix
    assert fix.startswith("Remove exp")
    assert "log_softmax instead" not in fix


_GENERATED = """
class Hyper(nn.Module):
    def __init__(self):
        super().__init__()
        self.z = nn.Parameter(torch.randn(3))
        self.generate = nn.Linear(3, 4)
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        self.layer.weight.data = self.generate(self.z).view(1, 4)  # here
        return self.layer(x)

net = Hyper()
optimizer = torch.optim.Adam([net.z, *net.generate.parameters()], lr=0.01)
for step in range(30):
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_data_that_is_assigned_cannot_be_left_out(tmp_path: Path) -> None:
    fix = _found(tmp_path, "detached-graph", _GENERATED, "torch").fix
    assert "Leave out" not in fix
    assert "functional_call" in fix
    assert ask(tmp_path, "parameter-not-in-optimizer", _GENERATED) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_data_that_is_written_to(tmp_path: Path, engine: str) -> None:
    text = """
first, last = nn.Linear(4, 16), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.01)
for step in range(30):
    hidden = torch.exp(first(x))
    hidden.data.add_(1.0)  # here
    loss = F.mse_loss(last(hidden), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    fix = _found(tmp_path, "inplace-corruption", text, engine).fix
    assert "x = x + y" in fix
    assert "mean(0)" not in fix


def test_a_moving_average_of_losses(tmp_path: Path) -> None:
    text = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
average = None
for step in range(120):
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average = loss if average is None else 0.95 * average + 0.05 * loss  # here
"""
    found = _found(tmp_path, "graph-kept-alive", text, "torch")
    assert "add a number to average" in found.fix
    assert "append" not in found.fix
    assert "average" in found.guardrail


_PART = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 32)

    def forward(self, x):
        return self.head(torch.relu(self.first(x)))
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_layer_made_after_the_optimizer(tmp_path: Path, engine: str) -> None:
    text = (
        _PART
        + """
net = Net()
net.first.weight.requires_grad_(False)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)  # here
net.head = nn.Linear(32, 1)
for step in range(60):
    loss = F.mse_loss(net(x), 10 + y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    )
    fix = _found(tmp_path, "parameter-not-in-optimizer", text, engine).fix
    assert "Make the optimizer after line" in fix
    assert "second" not in fix


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_method_returns_and_nobody_takes(tmp_path: Path, engine: str) -> None:
    text = """
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 2)
        self.decoder = nn.Linear(2, 4)  # here

    def decode(self, z):
        return torch.tanh(self.decoder(z))

    def forward(self, x):
        z = self.encoder(x)
        self.decode(z)
        return z

net = Coder()
""" + _LOOP.format(loss="loss = net(x).square().mean()")
    found = _found(tmp_path, "disconnected-parameter", text, engine)
    assert "calls decode()" in found.fix
    assert "self.decode(z)" in [where.text for _, where in found.places]


_ADVERSARIES = """
G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))
D = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
trains_g = torch.optim.Adam(G.parameters(), lr=0.001)
trains_d = torch.optim.Adam(D.parameters(), lr=0.001)
for step in range(30):
    fake = G(torch.randn(64, 2))
    shown = fake.detach()  # here
    trains_d.zero_grad()
    F.binary_cross_entropy_with_logits(D(x) - D(shown), torch.ones(64, 1)).backward()
    trains_d.step()
    trains_g.zero_grad()
    loss = F.binary_cross_entropy_with_logits(D(shown), torch.ones(64, 1))
    loss.backward()
    trains_g.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cut_that_another_loss_needs_may_stay(tmp_path: Path, engine: str) -> None:
    found = _found(tmp_path, "detached-graph", _ADVERSARIES, engine)
    assert "For the loss of the other optimizer the cut may stay" in found.fix
    assert "is to train G" in found.fix
    assert "computed from G is" in found.evidence[0]
    assert "30 updates" in found.evidence[1]
