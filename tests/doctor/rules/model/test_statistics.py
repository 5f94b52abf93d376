"""Batch normalisation in evaluation: statistics that have followed, and some that have not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only, watched
from whygrad.doctor.experiments.evaluated import by_statistics, kept, norms_of

_RUN = """
given = 4 * x + 6
labels = (x.sum(1) > 0).long()
norm = nn.BatchNorm1d(16{momentum})  # here
net = nn.Sequential(nn.Linear(4, 16), norm, nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range({epochs}):
    net.train()
    for rows in torch.randperm(64).split(16):
        loss = F.cross_entropy(net(given[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(F.cross_entropy(net(given), labels).item())
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("momentum", ["", ", momentum=0.1", ", momentum=0.05", ", momentum=None"])
def test_the_usual_momentum(tmp_path: Path, momentum: str, engine: str) -> None:
    text = _RUN.format(momentum=momentum, epochs=30)
    assert ask(tmp_path, "batchnorm-statistics", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("epochs", [6, 10, 20])
def test_a_short_run_with_the_usual_momentum(tmp_path: Path, epochs: int, engine: str) -> None:
    """So short that the rule does try other statistics: they are not what makes the difference."""
    text = _RUN.format(momentum="", epochs=epochs)
    assert ask(tmp_path, "batchnorm-statistics", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_from_the_beginning_are_judged_with_the_latest_weights(
    tmp_path: Path, engine: str
) -> None:
    """The statistics of the end are not those of the weights from before the first update."""
    fast = _RUN.replace("Adam(net.parameters(), lr=1e-2)", "SGD(net.parameters(), 0.5, 0.9)")
    text = fast.format(momentum="", epochs=19)
    assert ask(tmp_path, "batchnorm-statistics", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_momentum_that_keeps_the_first_statistics(tmp_path: Path, engine: str) -> None:
    text = _RUN.format(momentum=", momentum=0.001", epochs=30)
    found = only(tmp_path, "batchnorm-statistics", text, engine)
    assert "momentum=0.001" in found.fix


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_same_batches_cost(tmp_path: Path, engine: str) -> None:
    """With statistics that have followed, as much as with those of the batches themselves."""
    costs = {}
    for momentum in (0.1, 0.001):
        text = _RUN.format(momentum=f", momentum={momentum}", epochs=30)
        case = watched(tmp_path, text, engine)
        steps = kept(case.courses[0])
        assert all(len(norms_of(each)) == 1 for each in steps)
        costs[momentum] = [by_statistics(case, steps, fresh=each) for each in (False, True)]
    stored, fresh = costs[0.1]
    assert stored is not None
    assert stored == pytest.approx(fresh, rel=0.5, abs=0.05)
    stored, fresh = costs[0.001]
    assert stored is not None
    assert fresh is not None
    assert stored > 3 * fresh
