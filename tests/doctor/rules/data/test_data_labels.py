"""Labels that do not fit, targets out of reach, pairs torn apart, rare classes, overfitting."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

TRAIN = """
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range({steps}):
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CLASSIFIER = "\nmodel = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, {width}))"
CROSS_ENTROPY = "F.cross_entropy(model(x), y)"


def _classify(labels: str, *, mark: str = "", loss: str = CROSS_ENTROPY, width: int = 2) -> str:
    model = CLASSIFIER.format(width=width)
    return labels + model + TRAIN.format(loss=f"{loss}{mark}", steps=40)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("labels", "said", "fix"),
    [
        ("y = torch.randint(1, 3, (64,)); y[:2] = 2; y[2] = 1", "counted from one", "y - 1"),
        ("y = torch.randint(-1, 2, (64,)); y[0] = -1", "from -1 to 1", "ignore_index=-1"),
        ("y = torch.randint(0, 2, (64,)).float()", "float32", "y.long()"),
    ],
)
def test_labels_that_raise(tmp_path: Path, engine: str, labels: str, said: str, fix: str) -> None:
    found = only(tmp_path, "bad-labels", _classify(labels, mark="  # here"), engine)
    assert said in found.evidence[0]
    assert fix in found.fix
    assert "raised" in found.evidence[1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "loss",
    [
        "-torch.log_softmax(model(x), 1).gather(1, y.unsqueeze(1)).mean()",
        "-torch.log_softmax(model(x), 1)[torch.arange(64), y].mean()",
        "model(x)[:, :1].mean() + F.embedding(y, model[2].weight).sum()",
    ],
)
def test_indices_that_raise(tmp_path: Path, engine: str, loss: str) -> None:
    text = _classify("y = torch.full((64,), 7)", mark="  # here", loss=loss)
    assert "7" in only(tmp_path, "bad-labels", text, engine).evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_signs_for_a_loss_that_reads_zero_and_one(tmp_path: Path, engine: str) -> None:
    loss = "F.binary_cross_entropy_with_logits(model(x), y)"
    text = _classify("y = torch.sign(x[:, :1])", mark="  # here", loss=loss, width=1)
    found = only(tmp_path, "target-out-of-range", text, engine)
    assert "from -1 to 1" in found.evidence[0]
    assert found.fix == "Write no as 0 and yes as 1: y = (y + 1) / 2."


def test_labels_cut_off_to_one_class(tmp_path: Path) -> None:
    text = _classify("y = torch.sigmoid(x[:, 0]).long()  # here")
    assert "every label is 0" in only(tmp_path, "bad-labels", text).evidence[0]


@pytest.mark.parametrize(
    "labels",
    [
        "y = (x[:, 0] > 0).long()",
        "y = (x[:, 0] > 0).long(); y[:5] = -100",
        "y = F.one_hot((x[:, 0] > 0).long(), 2).float() * 0.9 + 0.05",
    ],
)
def test_labels_that_are_right(tmp_path: Path, labels: str) -> None:
    assert not ask(tmp_path, "bad-labels", _classify(labels))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("output", "reach"),
    [("torch.sigmoid(model(x))", "from 0 to 1"), ("3 * torch.tanh(model(x)) - 1", "from -4 to 2")],
)
def test_targets_out_of_reach(tmp_path: Path, engine: str, output: str, reach: str) -> None:
    loss = f"(({output} - y) ** 2).mean()"
    text = _classify("y = 9 * x[:, :1]", mark="  # here", loss=loss, width=1)
    found = only(tmp_path, "target-out-of-range", text, engine)
    assert reach in found.evidence[0]
    assert "Leave out" in found.fix


def test_targets_within_reach(tmp_path: Path) -> None:
    loss = "F.mse_loss(torch.sigmoid(model(x)), y)"
    text = _classify("y = torch.sigmoid(x[:, :1]) + 0.01", loss=loss, width=1)
    assert not ask(tmp_path, "target-out-of-range", text)
    text = _classify("y = 9 * x[:, :1]", loss="F.mse_loss(model(x), y)", width=1)
    assert not ask(tmp_path, "target-out-of-range", text)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "pairs",
    [
        "x = x[torch.randperm(64)]  # here",
        "y = y[torch.randperm(64)]  # here",
        "x, _ = torch.sort(x, dim=0)  # here",
        "x, y = x.index_select(0, torch.randperm(64)), y[torch.randperm(64)]  # here",
    ],
)
def test_pairs_torn_apart(tmp_path: Path, engine: str, pairs: str) -> None:
    text = _classify(f"y = (x[:, 0] > 0).long()\n{pairs}")
    found = only(tmp_path, "shuffled-labels", text, engine)
    assert "of 64 samples have their own label" in found.evidence[2]


@pytest.mark.parametrize(
    "pairs",
    [
        "perm = torch.randperm(64); x, y = x[perm], y[perm]",
        "order = x[:, 0].argsort(); x, y = x[order], y[order]",
        "x, y = x[:-1], y[1:]",
        "y = torch.randint(0, 2, (64,))",
    ],
)
def test_pairs_that_belong_together(tmp_path: Path, pairs: str) -> None:
    assert not ask(tmp_path, "shuffled-labels", _classify(f"y = (x[:, 0] > 0).long()\n{pairs}"))


def test_arrays_shuffled_one_by_one(tmp_path: Path) -> None:
    text = """
import numpy as np
rng = np.random.default_rng(0)
features, labels = rng.normal(size=(200, 4)).astype("float32"), np.arange(200) % 2
features[labels == 1] += 2
rng.shuffle(features)
{between}
rng.shuffle(labels)  # here
x, y = torch.from_numpy(features), torch.from_numpy(labels)"""
    found = only(tmp_path, "shuffled-labels", _classify(text.format(between="")))
    assert "`features` and `labels`" in found.evidence[0]
    again = text.format(between="rng = np.random.default_rng(0)")
    assert not ask(tmp_path, "shuffled-labels", _classify(again))


RARE = """
x = torch.randn(400, 4)
y = torch.zeros(400, dtype=torch.long)
y[:12] = 1
x[:12] += {shift}"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rare_class_that_is_never_answered(tmp_path: Path, engine: str) -> None:
    text = _classify(RARE.format(shift=0.3), mark="  # here")
    found = only(tmp_path, "class-imbalance", text, engine)
    assert found.evidence[0].startswith("97.0% of 400 labels")
    assert "recognises 0%" in found.evidence[2]


def test_rare_classes_that_are_seen_or_weighed(tmp_path: Path) -> None:
    assert not ask(tmp_path, "class-imbalance", _classify(RARE.format(shift=5)))
    weighed = "F.cross_entropy(model(x), y, weight=torch.tensor([1.0, 30.0]))"
    assert not ask(tmp_path, "class-imbalance", _classify(RARE.format(shift=0.3), loss=weighed))


SPLIT = """
def split(n):
    x = torch.randn(n, 4)
    return x, {target}
x, y = split({size})
other, wanted = split(200)
model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, {width}))  # here
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
for step in range(120):
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        figure = {figure}
"""
NOISY = "(x[:, 0] + torch.randn(n) > 0).long()"
FIGURES = {
    "loss": (CROSS_ENTROPY, "F.cross_entropy(model(other), wanted)", NOISY, 2),
    "accuracy": (CROSS_ENTROPY, "(model(other).argmax(1) == wanted).float().mean()", NOISY, 2),
    "by hand": (
        "((model(x) - y) ** 2).mean()", "((model(other) - wanted) ** 2).mean()",
        "x[:, :1] + 2 * torch.randn(n, 1)", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", FIGURES)
def test_a_model_that_learns_by_heart(tmp_path: Path, engine: str, kind: str) -> None:
    loss, figure, target, width = FIGURES[kind]
    text = SPLIT.format(size=16, loss=loss, figure=figure, target=target, width=width)
    found = only(tmp_path, "overfitting", text, engine)
    assert "training loss" in found.evidence[1]


@pytest.mark.parametrize("kind", FIGURES)
def test_a_model_with_enough_samples(tmp_path: Path, kind: str) -> None:
    loss, figure, target, width = FIGURES[kind]
    text = SPLIT.format(size=500, loss=loss, figure=figure, target=target, width=width)
    assert not ask(tmp_path, "overfitting", text)


def test_a_program_that_goes_back_to_its_best_weights(tmp_path: Path) -> None:
    loss, figure, target, width = FIGURES["loss"]
    text = SPLIT.format(size=16, loss=loss, figure=figure, target=target, width=width)
    kept = text.replace("\noptimizer =", "\nbest = model.state_dict()\noptimizer =", 1)
    assert not ask(tmp_path, "overfitting", kept + "\nmodel.load_state_dict(best)\n")
