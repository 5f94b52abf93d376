"""The first value that is not finite, however the program comes upon it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, only
from whygrad.doctor import watch
from whygrad.doctor.evidence.case import Case

torch = pytest.importorskip("torch")

ROOT = """
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    optimizer.zero_grad()
    other = x if step == 4 else x + 1
    loss = torch.sqrt(((net(x) - net(other)) ** 2).sum(1)).mean()  # here
    {after}
"""
LOG = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    optimizer.zero_grad()
    loss = torch.log(net(x) + (5 if step < 4 else 0)).mean()  # here
    {after}
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "after",
    [
        "loss.backward(); optimizer.step()",
        "loss.backward(); [p.grad.nan_to_num_() for p in net.parameters()]; optimizer.step()",
        "loss.backward(); nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True);"
        " optimizer.step()",
        "loss.backward(); bad = torch.isnan(net.weight.grad).any(); bad or optimizer.step()",
    ],
)
def test_a_gradient(tmp_path: Path, engine: str, after: str) -> None:
    found = only(tmp_path, "nan-from-sqrt", ROOT.format(after=after), engine)
    assert found.step == 4
    assert "64 of 64 values are exactly 0" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "after",
    [
        "assert not torch.isnan(loss)",
        "if loss != loss: raise ValueError('diverged')",
        "if not torch.isfinite(loss): continue",
        "if loss.item() != loss.item(): raise SystemExit(1)",
    ],
)
def test_a_loss_that_the_program_looks_at(tmp_path: Path, engine: str, after: str) -> None:
    found = only(tmp_path, "nan-from-log", LOG.format(after=after), engine)
    assert found.step == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_anomaly_mode_raises_and_is_switched_off_for_the_replay(
    tmp_path: Path, engine: str
) -> None:
    text = "with torch.autograd.set_detect_anomaly(True):\n" + "\n".join(
        f"    {line}"
        for line in ROOT.format(after="loss.backward(); optimizer.step()").splitlines()
    )
    found = only(tmp_path, "nan-from-sqrt", text, engine)
    assert "the loss is finite" in found.evidence[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_of_several_passes(tmp_path: Path, engine: str) -> None:
    text = """
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(30):
    optimizer.zero_grad()
    for part in range(4):
        other = x if (step, part) == (20, 1) else x + 1
        loss = torch.sqrt(((net(x) - net(other)) ** 2).sum(1)).mean() / 4  # here
        loss.backward()
    optimizer.step()
"""
    assert only(tmp_path, "nan-from-sqrt", text, engine).step == 81


@pytest.mark.parametrize("engine", ENGINES)
def test_inside_a_closure(tmp_path: Path, engine: str) -> None:
    text = """
x = x.abs()
x[3] = 0
w = torch.ones(4, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.5)
for step in range(3):
    def closure():
        optimizer.zero_grad()
        loss = (torch.sqrt(x @ w.abs()) - 1).pow(2).mean()  # here
        loss.backward()
        return loss
    optimizer.step(closure)
"""
    only(tmp_path, "nan-from-sqrt", text, engine)


def test_producer_and_propagators_are_told_apart() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, optimizer) as doc:
        loss = (torch.log(model(torch.zeros(3, 2)) * 0) + 1).mean()
        loss.backward()
        optimizer.step()
    bad = Case(doc.run).first_bad
    assert bad is not None
    assert (bad.kind, bad.op, bad.step) == ("forward", "log", 0)
    assert bad.before[0].zeros == 1.0
    assert bad.after is not None
    assert bad.after.infs == 3
    assert [each.op for each in bad.carriers] == ["add", "mean"]


def test_nothing_bad_is_found_where_nothing_is() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, optimizer) as doc:
        scores = model(torch.ones(3, 2)).masked_fill(
            torch.tensor([[True], [False], [False]]), -torch.inf
        )
        loss = torch.softmax(scores, dim=0)[1].sum()
        loss.backward()
        optimizer.step()
    assert Case(doc.run).first_bad is None


def test_a_parameter_is_named_with_the_update_that_wrote_it() -> None:
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    x = 10 * torch.ones(4, 3)
    with watch(net, optimizer) as doc:
        for step in range(3):
            optimizer.param_groups[0]["lr"] = 3e38 if step == 1 else 1e-3
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
    bad = doc.diagnosis.case.first_bad
    assert bad is not None
    assert (bad.kind, bad.parameter) == ("parameter", "weight")
    assert bad.updated_at is not None
    assert "optimizer.step()" in bad.updated_at.text
    assert "it is in the parameter weight, written by the update at" in " ".join(
        doc.report().split()
    )
