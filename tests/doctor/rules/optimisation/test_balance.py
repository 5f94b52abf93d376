"""Terms of a loss of which one counts for nearly nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only, watched
from whygrad.doctor.evidence.loss.terms import terms_of

_HEADS = """
table = torch.randn(800, 12)
price = (table[:, :1] * 2 + torch.sin(2 * table[:, 1:2]))
kind = (table[:, 4] + table[:, 5] > 0).long() + (table[:, 7] > 0.5).long()
body = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
number, choice = nn.Linear(48, 1), nn.Linear(48, 3)
parts = [body, number, choice]
optimizer = torch.optim.Adam([p for each in parts for p in each.parameters()], lr=2e-3)
for epoch in range(10):
    for rows in torch.randperm(800).split(50):
        inside = body(table[rows])
        one = F.mse_loss(number(inside), price[rows])
        other = F.cross_entropy(choice(inside), kind[rows])
        loss = {weighed}  # here
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

_BORDER = """
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
edge, wanted = torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [0.0]])
for step in range(250):
    at = torch.rand(32, 1, requires_grad=True)
    slope = torch.autograd.grad(net(at).sum(), at, create_graph=True)[0]
    inside = (slope + 1).pow(2).mean()
    border = (net(edge) - wanted).pow(2).mean()
    loss = inside + {weight} * border  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("weighed", ["one + 0.001 * other", "1000.0 * one + other"])
def test_a_term_that_does_not_count(tmp_path: Path, weighed: str) -> None:
    found = only(tmp_path, "unbalanced-terms", _HEADS.format(weighed=weighed))
    assert found.proof.value == "tried"
    assert found.data["share"] < 0.01


@pytest.mark.parametrize("weighed", ["one + other", "one + 0.3 * other"])
def test_terms_that_count(tmp_path: Path, weighed: str) -> None:
    assert ask(tmp_path, "unbalanced-terms", _HEADS.format(weighed=weighed)) == []


def test_a_weight_that_is_raised_step_by_step(tmp_path: Path) -> None:
    weighed = "one + 0.001 * (epoch + 1) * other"
    assert ask(tmp_path, "unbalanced-terms", _HEADS.format(weighed=weighed)) == []


def test_a_penalty_may_count_little(tmp_path: Path) -> None:
    weighed = "one + other + 0.001 * (inside - torch.zeros_like(inside)).pow(2).mean()"
    assert ask(tmp_path, "unbalanced-terms", _HEADS.format(weighed=weighed)) == []


def test_conditions_at_the_border_that_weigh_nothing(tmp_path: Path) -> None:
    only(tmp_path, "unbalanced-terms", _BORDER.format(weight="0.001"))


def test_conditions_at_the_border_that_count(tmp_path: Path) -> None:
    assert ask(tmp_path, "unbalanced-terms", _BORDER.format(weight="10.0")) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sum_is_taken_apart_down_to_its_factors(tmp_path: Path, engine: str) -> None:
    text = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    out = net(x)
    loss = 3 * (F.mse_loss(out, y) / 4 - 0.5 * out.mean()) - (-out.pow(2).mean()) * 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    case = watched(tmp_path, text, engine)
    trace = case.trace(case.courses[0].first)
    assert trace is not None
    terms = terms_of(trace)
    assert [each.factor for each in terms] == pytest.approx([0.75, -1.5, 2.0])
    assert sum(each.part(trace) for each in terms) == pytest.approx(trace.loss, rel=1e-5)
