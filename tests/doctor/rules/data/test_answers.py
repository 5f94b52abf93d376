"""What is made of a model's answers: thresholds, rankings, roots of batches, classes left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

FLAGS = """
flags = (x.sum(1, keepdim=True) > 0).float()
model = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(3):
    for _ in range(20):
        optimizer.zero_grad()
        F.binary_cross_entropy(model(x), flags).backward()
        optimizer.step()
    with torch.no_grad():
        {}
        print((found == flags).float().mean().item())
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "wrong",
    [
        "found = (model(x) > 0).float()  # here",
        "twice = torch.sigmoid(model(x))  # here\n        found = twice > 0.5",
    ],
)
def test_probabilities_on_one_side(tmp_path: Path, wrong: str, engine: str) -> None:
    found = only(tmp_path, "metric-bug", FLAGS.format(wrong), engine)
    assert "all are on one side" in found.evidence[0]


def test_probabilities_on_both_sides(tmp_path: Path) -> None:
    assert not ask(tmp_path, "metric-bug", FLAGS.format("found = (model(x) > 0.5).float()"))


RANKED = """
y = (x @ torch.randn(4, 6)).argmax(1)
model = nn.Linear(4, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(30):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
with torch.no_grad():
    scores = model(x)
    {name} = {ranked}  # here
    print(({name} == y[:, None]).any(1).float().mean().item())
"""


@pytest.mark.parametrize(
    ("name", "ranked", "wrong"),
    [
        ("top", "scores.argsort(dim=1)[:, :2]", True),
        ("top", "scores.topk(2, dim=1, largest=False)[1]", True),
        ("best", "torch.argsort(scores, dim=1, descending=True)[:, -2:]", True),
        ("top", "scores.argsort(dim=1, descending=True)[:, :2]", False),
        ("top", "scores.argsort(dim=1)[:, -2:]", False),
        ("lowest", "scores.argsort(dim=1)[:, :2]", False),
    ],
)
def test_the_best_from_the_wrong_end(tmp_path: Path, name: str, ranked: str, wrong: bool) -> None:
    text = RANKED.format(name=name, ranked=ranked)
    if wrong:
        assert "lowest" in only(tmp_path, "metric-bug", text).evidence[0]
    else:
        assert not ask(tmp_path, "metric-bug", text)


ROOTS = """
x[:16] *= 5
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    total = 0.0
    with torch.no_grad():
        for i in range(0, 64, 16):
            error = F.mse_loss(model(x[i : i + 16]), y[i : i + 16]).item()
            total += {added}  # here
    print({result})
"""


def test_a_mean_of_roots(tmp_path: Path) -> None:
    text = ROOTS.format(added="error ** 0.5", result="total / 4")
    assert "below the root" in only(tmp_path, "metric-bug", text).evidence[0]
    assert not ask(tmp_path, "metric-bug", ROOTS.format(added="error", result="(total / 4) ** 0.5"))


MIXED = """
classes = (x @ torch.randn(4, 3)).argmax(1)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    order, share = torch.randperm(64), {share}
    out = model(share * x + (1 - share) * x[order])
    loss = {loss}  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_BOTH = "share * F.cross_entropy(out, classes) + (1 - share) * F.cross_entropy(out, classes[order])"


def test_inputs_that_are_mixed_without_their_targets(tmp_path: Path) -> None:
    alone = "F.cross_entropy(out, classes)"
    text = MIXED.format(share="0.1 * (step % 10)", loss=alone)
    assert "mixed" in only(tmp_path, "one-sided-augmentation", text).evidence[0]
    mild = MIXED.format(share="0.9", loss=alone)
    assert not ask(tmp_path, "one-sided-augmentation", mild)
    both = MIXED.format(share="0.1 * (step % 10)", loss=_BOTH)
    assert not ask(tmp_path, "one-sided-augmentation", both)
    assert not ask(tmp_path, "over-regularized", both)


TAKEN = """
data, wanted = torch.randn(400, 4), torch.randn(400, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
size = 10
for step in range(0, 400, size):
    {}
    optimizer.zero_grad()
    F.mse_loss(model(given), target).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("taken", "still"),
    [
        ("given, target = data[:size], wanted[:size]  # here", True),
        (
            "start = (step // size) % size  # here\n"
            "    given, target = data[start : start + size], wanted[start : start + size]",
            True,
        ),
        ("given, target = data[step : step + size], wanted[step : step + size]", False),
    ],
)
def test_a_place_that_stands_still(tmp_path: Path, taken: str, still: bool) -> None:
    if still:
        only(tmp_path, "same-batch", TAKEN.format(taken))
    else:
        assert not ask(tmp_path, "same-batch", TAKEN.format(taken))


APART = """
given, wanted = torch.randn(512, 4), None
wanted = (given @ torch.randn(4, 3)).argmax(1)
def batches():
    order = torch.randperm(512)
    for i in range(0, 512, 32):
        yield given[order[i : i + 32]], wanted[{}]  # here
model = nn.Linear(4, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(6):
    for one, other in batches():
        optimizer.zero_grad()
        F.cross_entropy(model(one), other).backward()
        optimizer.step()
"""


def test_rows_in_an_order_beside_rows_as_they_lie(tmp_path: Path) -> None:
    only(tmp_path, "shuffled-labels", APART.format("i : i + 32"))
    assert not ask(tmp_path, "shuffled-labels", APART.format("order[i : i + 32]"))
