"""Faults in clothes that rules once did not recognise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_SHUFFLED = """
import numpy as np
rng = np.random.default_rng(0)
table = rng.normal(size=(200, 4)).astype(np.float32)
labels = (table[:, 0] > table[:, 1]).astype(np.int64)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(20):
    {shuffle}
    for begin in range(0, 200, 50):
        batch = torch.from_numpy(table[begin : begin + 50])
        answers = torch.from_numpy(labels[begin : begin + 50])
        loss = F.cross_entropy(net(batch), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_numpy_shuffles_alone(tmp_path: Path, engine: str) -> None:
    text = _SHUFFLED.format(shuffle="rng.shuffle(table)  # here")
    found = only(tmp_path, "shuffled-labels", text, engine)
    assert "another target" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_numpy_shuffles_with_their_labels(tmp_path: Path, engine: str) -> None:
    shuffle = "order = rng.permutation(200); table, labels = table[order], labels[order]"
    assert ask(tmp_path, "shuffled-labels", _SHUFFLED.format(shuffle=shuffle), engine) == []


_STANDARDISED = """
columns = [torch.rand(300) * 4e4 + 3e4, torch.rand(300) * 60 + 18, torch.rand(300) * 40]
table = torch.stack([*columns, torch.rand(300)], 1)
labels = (table[:, 1] - 1.5 * table[:, 2] > 18).long()
table = (table - table.mean({axis}, keepdim=True)) / table.std({axis}, keepdim=True)  # here
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(160):
    rows = torch.randperm(300)[:60]
    loss = F.cross_entropy(net(table[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_standardised_along_its_rows(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "unscaled-input", _STANDARDISED.format(axis=1), engine)
    assert "in place of the samples" in found.evidence[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_standardised_along_its_columns(tmp_path: Path, engine: str) -> None:
    assert ask(tmp_path, "unscaled-input", _STANDARDISED.format(axis=0), engine) == []


_RECURRENT = """
inner = nn.Parameter(torch.randn(2, 16) * 0.3)
again = nn.Parameter(torch.randn(16, 16) * {size})
out = nn.Linear(16, 1)
optimizer = torch.optim.Adam([inner, again, *out.parameters()], lr=2e-3)
for step in range(100):
    series = torch.rand(32, 40, 2)
    state = torch.zeros(32, 16)
    for moment in range(40):
        state = torch.relu(series[:, moment] @ inner + state @ again)  # here
    loss = F.mse_loss(out(state).squeeze(1), series[:, -10:, 0].mean(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loss_that_falls_from_the_sky_and_stays_there(tmp_path: Path, engine: str) -> None:
    only(tmp_path, "exploding-gradient", _RECURRENT.format(size=0.5), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_recurrence_of_a_sound_size(tmp_path: Path, engine: str) -> None:
    assert ask(tmp_path, "exploding-gradient", _RECURRENT.format(size=0.2), engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loss_made_of_several_numbers(tmp_path: Path, engine: str) -> None:
    text = """
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    out = net(x)
    parts = {"one": F.mse_loss(out[:, :1], y), "two": out[:, 1].square().mean()}
    total = torch.tensor(sum(each.item() for each in parts.values()))  # here
    total.requires_grad_(True)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
"""
    only(tmp_path, "detached-graph", text, engine)


_RESIDUAL = """
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
teacher = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(60):
    t = torch.rand(32, 1).requires_grad_()
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _residual(text: str) -> str:
    return _RESIDUAL.format(loss=text.replace("\n", "\n    "))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_derivative_in_the_loss_that_is_a_constant(tmp_path: Path, engine: str) -> None:
    text = (
        "out = net(t)\n"
        "slope = torch.autograd.grad(out.sum(), t, retain_graph=True)[0]  # here\n"
        "loss = (slope + 2 * out).square().mean() + (net(torch.zeros(1, 1)) - 1).square().mean()"
    )
    found = only(tmp_path, "detached-graph", _residual(text), engine)
    assert "create_graph" in found.fix


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        # with its graph
        "slope = torch.autograd.grad(net(t).sum(), t, create_graph=True)[0]\n"
        "loss = (slope - 1).square().mean()",
        # of somebody else
        "wanted = torch.autograd.grad(teacher(t).sum(), t)[0]\n"
        "slope = torch.autograd.grad(net(t).sum(), t, create_graph=True)[0]\n"
        "loss = (slope - wanted).square().mean()",
        # on the way into the model: an attack
        "slope = torch.autograd.grad(net(t).square().sum(), t)[0]\n"
        "loss = net((t + 0.1 * slope.sign()).detach()).square().mean()",
    ],
    ids=["with its graph", "of a teacher", "an attack"],
)
def test_derivatives_that_may_be_constants(tmp_path: Path, engine: str, text: str) -> None:
    assert ask(tmp_path, "detached-graph", _residual(text), engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_outputs_that_are_kept_while_nobody_looks(tmp_path: Path, engine: str) -> None:
    text = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
kept = []
for step in range(200):
    out = net(x)
    optimizer.zero_grad()
    F.mse_loss(out, y).backward()
    optimizer.step()
    kept.append(out)  # here
"""
    only(tmp_path, "graph-kept-alive", text, engine)
