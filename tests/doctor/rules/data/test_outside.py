"""Figures of NumPy, of libraries and of plain Python: broken ones, and their sound twins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def _not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks where code is compiled, as another test in this process may have done."""
    monkeypatch.setattr("whygrad.recording.engines.pytorch.compiler_in_use", lambda: False)


CLASSES = """
import numpy as np
from torch.utils.data import DataLoader, TensorDataset
x = torch.randn(288, 4)
y = (x @ torch.randn(4, 3)).argmax(1)
y_test = y[128:].numpy()
model = nn.Linear(4, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
train_loader = DataLoader(TensorDataset(x[:128], y[:128]), 32, shuffle=True)
test_loader = DataLoader(TensorDataset(x[128:], y[128:]), 32, shuffle={shuffle})  # loader
def train():
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    model.eval()
def accuracy_score(y_true, y_pred):
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))
"""

FLAGS = """
import numpy as np
y = (x.sum(1) > 0).float()
y_test = y[:48].numpy()
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(40):
    optimizer.zero_grad()
    F.binary_cross_entropy_with_logits(model(x).squeeze(1), y).backward()
    optimizer.step()
def roc_auc_score(y_true, y_score):
    return 0.5
def precision_score(y_true, y_pred):
    return float(y_true[y_pred == 1].mean())
with torch.no_grad():
    logits = model(x[:48]).squeeze(1).numpy()
    column = model(x[:48]).numpy()
probs = 1 / (1 + np.exp(-logits))
y_pred = (probs > 0.8).astype(int)
"""

PRICES = """
import numpy as np
price = (250_000 + 40_000 * x.sum(1)).numpy()
mean, std = price.mean(), price.std()
scaled = torch.tensor((price - mean) / std)[:, None]
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(60):
    optimizer.zero_grad()
    F.mse_loss(model(x), scaled).backward()
    optimizer.step()
with torch.no_grad():
    pred = model(x).squeeze(1).numpy()
"""

COLLECTED = """
for _ in range(6):
    train()
preds, labels = [], []
with torch.no_grad():
    for xb, yb in test_loader:
        preds.extend(model(xb).argmax(1).tolist())
        labels.extend(yb.tolist())
print(np.mean(np.array(preds) == {true}))
"""

HANDED_ON = """
for _ in range(6):
    train()
def predict(loader):
    with torch.no_grad():
        return torch.cat([model(xb).argmax(1) for xb, _ in loader])
print(accuracy_score(y_test, predict(test_loader).numpy()))
preds = predict(test_loader)
print(accuracy_score(y_test, preds.numpy()))
"""


def classes(shuffle: bool, mark: bool = False) -> str:
    return CLASSES.format(shuffle=shuffle).replace("# loader", "# here" if mark else "")


@pytest.mark.parametrize("text", [COLLECTED.format(true="y_test"), HANDED_ON])
def test_answers_of_a_shuffled_loader_beside_labels_in_their_own_order(
    tmp_path: Path, text: str
) -> None:
    found = only(tmp_path, "metric-bug", classes(True, mark=True) + text)
    assert "RandomSampler" in found.evidence[0]
    assert not ask(tmp_path, "metric-bug", classes(False) + text)


IN_A_TABLE = """
loaders = {{
    "train": train_loader,
    "test": DataLoader(TensorDataset(x[128:], y[128:]), 32, shuffle={shuffle}),  # here
}}
@torch.no_grad()
def predict(loader):
    return np.concatenate([model(xb).argmax(1).numpy() for xb, _ in loader])
for _ in range(6):
    train()
print(accuracy_score(
    y_test,
    predict(loaders["test"]),
))
"""


def test_answers_that_a_function_gives_back_where_they_are_compared(tmp_path: Path) -> None:
    only(tmp_path, "metric-bug", classes(False) + IN_A_TABLE.format(shuffle=True))
    assert not ask(tmp_path, "metric-bug", classes(False) + IN_A_TABLE.format(shuffle=False))


def test_labels_that_are_collected_with_the_answers(tmp_path: Path) -> None:
    text = classes(True) + COLLECTED.format(true="np.array(labels)")
    assert not ask(tmp_path, "metric-bug", text)


GROWING = """
{outside}
for epoch in range(4):
    train()
    {inside}
    with torch.no_grad():
        for xb, yb in test_loader:
            preds.extend(model(xb).argmax(1).tolist())
            labels.extend(yb.tolist())
    print(accuracy_score(labels, preds))
"""


def test_lists_that_are_never_emptied(tmp_path: Path) -> None:
    made = "preds, labels = [], []"
    broken = classes(False) + GROWING.format(outside=f"{made}  # here", inside="pass")
    assert "160, 320, 480" in only(tmp_path, "metric-bug", broken).evidence[0]
    sound = classes(False) + GROWING.format(outside="", inside=made)
    assert not ask(tmp_path, "metric-bug", sound)


def test_lists_of_folds_are_parts_of_one_figure(tmp_path: Path) -> None:
    text = GROWING.format(outside="preds, labels = [], []", inside="pass")
    text = text.replace("epoch", "fold")
    assert not ask(tmp_path, "metric-bug", classes(False) + text)


DEFAULTS = """
def judge(preds={default}, labels={default}):  # here
    {first}
    with torch.no_grad():
        for xb, yb in test_loader:
            preds += model(xb).argmax(1).tolist()
            labels += yb.tolist()
    return accuracy_score(labels, preds)
for epoch in range(4):
    train()
    print(judge())
"""


def test_lists_that_are_defaults(tmp_path: Path) -> None:
    only(tmp_path, "metric-bug", classes(False) + DEFAULTS.format(default="[]", first="pass"))
    sound = DEFAULTS.format(default="None", first="preds, labels = [], []")
    assert not ask(tmp_path, "metric-bug", classes(False) + sound)


LAST = """
for epoch in range(3):
    train()
    preds, labels = [], []
    with torch.no_grad():
        for xb, yb in test_loader:
            pred, true = model(xb).argmax(1).numpy(), yb.numpy()
            preds.append(pred)
            labels.append(true)
    print(accuracy_score({true}, {pred}))  # here
"""


def test_the_last_batch_alone(tmp_path: Path) -> None:
    broken = classes(False) + LAST.format(true="true", pred="pred")
    assert "32 samples" in only(tmp_path, "metric-bug", broken).evidence[1]
    whole = LAST.format(true="np.concatenate(labels)", pred="np.concatenate(preds)")
    assert not ask(tmp_path, "metric-bug", classes(False) + whole)


DIVIDED = """
def judge(loader):
    correct = 0
    with torch.no_grad():
        for xb, yb in loader:
            correct += (model(xb).argmax(1) == yb).sum().item()
    count = {count}  # here
    return correct / count
data = TensorDataset(x, y)
rows = torch.utils.data.SubsetRandomSampler(range(128, 192))
part = DataLoader(data, 32, sampler=rows)
for epoch in range(3):
    train()
    print(judge(part))
"""


def test_right_answers_divided_by_all_data(tmp_path: Path) -> None:
    broken = classes(False) + DIVIDED.format(count="len(loader.dataset)")
    found = only(tmp_path, "metric-bug", broken)
    assert "a SubsetRandomSampler picks them from 288" in found.evidence[0]
    assert not ask(tmp_path, "metric-bug", classes(False) + DIVIDED.format(count="len(rows)"))


CHOSEN = """
best_{name} = {start}
for epoch in range(5):
    train()
    with torch.no_grad():
        out = model(x[128:])
    val_acc = float((out.argmax(1) == y[128:]).float().mean())
    val_loss = F.cross_entropy(out, y[128:]).item()
    if val_{name} {sign} best_{name}:  # here
        best_{name} = val_{name}
        state = {{key: each.clone() for key, each in model.state_dict().items()}}
"""


@pytest.mark.parametrize(("name", "start", "sign"), [("acc", "1.0", "<"), ("loss", "0.0", ">")])
def test_the_worst_is_kept_for_the_best(tmp_path: Path, name: str, start: str, sign: str) -> None:
    broken = CHOSEN.format(name=name, start=start, sign=sign)
    only(tmp_path, "metric-bug", classes(False) + broken)
    starts, turned = ("0.0", ">") if name == "acc" else ("float('inf')", "<")
    sound = CHOSEN.format(name=name, start=starts, sign=turned)
    assert not ask(tmp_path, "metric-bug", classes(False) + sound)


@pytest.mark.parametrize(
    ("broken", "sound"),
    [
        ("roc_auc_score(y_test, y_pred)", "roc_auc_score(y_test, probs)"),
        ("roc_auc_score(y_test, 1 - probs)", "roc_auc_score(y_test, logits)"),
        ("precision_score(y_pred, y_test)", "precision_score(y_test, y_pred)"),
        ("np.mean(probs == y_test)", "np.mean(y_pred == y_test)"),
        ("np.mean((column > 0) == y_test)", "np.mean((column.ravel() > 0) == y_test)"),
        ("np.mean((logits > 0.5) == y_test)", "np.mean((logits > 0.0) == y_test)"),
    ],
    ids=["decided", "wrong end", "swapped", "unrounded", "column", "threshold"],
)
def test_answers_that_a_figure_cannot_be_taken_of(tmp_path: Path, broken: str, sound: str) -> None:
    only(tmp_path, "metric-bug", f"{FLAGS}\nprint({broken})  # here\n")
    assert not ask(tmp_path, "metric-bug", f"{FLAGS}\nprint({sound})\n")


@pytest.mark.parametrize(
    ("broken", "sound"),
    [
        ("mae = np.abs(pred - price).mean()", "mae = np.abs(pred * std + mean - price).mean()"),
        (
            "mae = np.sqrt(np.mean((pred * 7 - price) ** 2))",
            "mae = np.sqrt(np.mean((pred - (price - mean) / std) ** 2))",
        ),
    ],
)
def test_units_that_do_not_belong_together(tmp_path: Path, broken: str, sound: str) -> None:
    found = only(tmp_path, "metric-bug", f"{PRICES}\n{broken}  # here\nprint(mae)\n")
    assert "correlation" in found.evidence[1]
    assert not ask(tmp_path, "metric-bug", f"{PRICES}\n{sound}\nprint(mae)\n")


def test_an_error_of_scaled_values_in_dollars(tmp_path: Path) -> None:
    text = """
true = ((price - mean) / std).ravel()
rmse = np.sqrt(np.mean((pred - true) ** 2))  # here
print(f"RMSE ${rmse%s:.2f}")
"""
    assert "'$'" in only(tmp_path, "metric-bug", PRICES + text % "").evidence[1]
    assert not ask(tmp_path, "metric-bug", PRICES + text % " * std")


PADDED = """
words = torch.randint(1, 9, (64, 6))
tags = words % 3 + 1
words[:, 4:] = tags[:, 4:] = 0
model = nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(20):
    optimizer.zero_grad()
    F.cross_entropy(model(words).flatten(0, 1), tags.flatten(), ignore_index=0).backward()
    optimizer.step()
def judge():
    with torch.no_grad():
        pred = model(words).argmax(-1)
    {which}
    return (pred == tags).sum().item() / {count}  # here
print(judge())
"""


def test_positions_that_the_loss_leaves_out(tmp_path: Path) -> None:
    broken = PADDED.format(which="pass", count="tags.numel()")
    assert "33% of tags are 0" in only(tmp_path, "metric-bug", broken).evidence[0]
    sound = PADDED.format(which="real = tags != 0", count="real.sum().item()")
    assert not ask(tmp_path, "metric-bug", sound)


MISNAMED = """
def judge(data, labels):
    model.eval()
    with torch.no_grad():
        return (model(data).argmax(1) == labels).float().mean().item()
train_x, val_x = x[:128], x[128:]
train_y, val_y = y[:128], y[128:]
for epoch in range(3):
    for _ in range(4):
        optimizer.zero_grad()
        F.cross_entropy(model(train_x), train_y).backward()
        optimizer.step()
    val_acc = judge({data})  # here
"""


def test_training_data_that_are_told_as_held_out(tmp_path: Path) -> None:
    broken = classes(False) + MISNAMED.format(data="train_x, train_y")
    assert only(tmp_path, "metric-bug", broken).evidence[0] == "val_acc is what train_x gives"
    assert not ask(tmp_path, "metric-bug", classes(False) + MISNAMED.format(data="val_x, val_y"))


_PUT_TOGETHER = """
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
def error():
    answers, wanted = [], []
    with torch.no_grad():
        for part in (slice(0, 20), slice(20, 40)):
            answers.append(model(x[part]){squeezed})
            wanted.append(y[part, 0])
    answers, wanted = torch.cat(answers), torch.cat(wanted)
    return (answers - wanted).pow(2).mean().sqrt().item()  # here

for step in range(90):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 45 == 44:
        print(error())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_answers_that_are_put_together_where_gradients_are_recorded(
    tmp_path: Path, engine: str
) -> None:
    found = only(tmp_path, "metric-bug", _PUT_TOGETHER.format(squeezed=""), engine)
    assert "every answer meets every label" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_answers_of_the_same_shape_that_are_put_together(tmp_path: Path, engine: str) -> None:
    assert ask(tmp_path, "metric-bug", _PUT_TOGETHER.format(squeezed=".squeeze(1)"), engine) == []
