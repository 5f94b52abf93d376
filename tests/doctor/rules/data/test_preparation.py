"""Data that are prepared wrongly before a model sees them, and such that are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.doctor.asking import ask, only
from whygrad.doctor.evidence.data.layout import misread

_TRAINED = """
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range({epochs}):
    for rows in torch.randperm(len(given)).split(30):
        a, b = given[rows], wanted[rows]
        {change}
        loss = {loss}(net(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_MASKS = """
import random
given, wanted = 0.1 * torch.randn(150, 1, 12, 12), torch.zeros(150, 1, 12, 12)
for each in wanted:
    top, left = torch.randint(0, 8, (2,)).tolist()
    each[:, top : top + 4, left : left + 4] = 1
given = given + wanted
net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 1, 1))
""" + _TRAINED.replace("{change}", "if random.random() < 0.5:\n            {change}")


def _masks(flip: str) -> str:
    loss = "F.binary_cross_entropy_with_logits"
    return _MASKS.format(epochs=2, change=flip, loss=loss)


def test_pictures_flipped_without_their_masks(tmp_path: Path) -> None:
    only(tmp_path, "one-sided-augmentation", _masks("a = a.flip(-1)  # here"))


def test_pictures_flipped_with_their_masks(tmp_path: Path) -> None:
    text = _masks("a, b = a.flip(-1), b.flip(-1)")
    assert ask(tmp_path, "one-sided-augmentation", text) == []


def test_pictures_of_classes_may_be_flipped(tmp_path: Path) -> None:
    text = _masks("a = a.flip(-1)").replace("nn.Conv2d(6, 1, 1)", "nn.Flatten(), nn.Linear(864, 2)")
    text = text.replace("F.binary_cross_entropy_with_logits", "F.cross_entropy")
    text = text.replace("net = ", "wanted = (torch.rand(150) < 0.5).long()\nnet = ", 1)
    assert ask(tmp_path, "one-sided-augmentation", text) == []


_ROWS = (
    """
import numpy as np
rng = np.random.default_rng(0)
numbers = rng.normal(size=(120, 4))
kinds = (numbers[:, 0] > 0).astype(int)
{apart}
given, wanted = torch.tensor(numbers, dtype=torch.float32), torch.tensor(kinds)
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
"""
    + _TRAINED
)


def _rows(apart: str) -> str:
    return _ROWS.format(apart=apart, epochs=60, change="", loss="F.cross_entropy")


def test_labels_shuffled_apart_and_learned_by_heart(tmp_path: Path) -> None:
    only(tmp_path, "shuffled-labels", _rows("kinds = kinds[rng.permutation(120)]  # here"))


@pytest.mark.parametrize(
    "alike",
    ["order = rng.permutation(120); numbers, kinds = numbers[order], kinds[order]", "pass"],
)
def test_labels_shuffled_along(tmp_path: Path, alike: str) -> None:
    assert ask(tmp_path, "shuffled-labels", _rows(alike)) == []


_SCALED = """
class StandardScaler:
    def fit_transform(self, table):
        self.mean, self.std = table.mean(0), table.std(0)
        return self.transform(table)

    def transform(self, table):
        return (table - self.mean) / self.std

table = 5 * torch.randn(200, 4)
x_train, x_test = table[:120], table[120:] + 10
given, wanted = x_train, x_train.sum(1, keepdim=True)
scaler = StandardScaler()
given = x_train = scaler.fit_transform(x_train)
{test}
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
""" + _TRAINED + """
with torch.no_grad():
    print(net(x_test).mean())
"""  # fmt: skip


def _scaled(test: str) -> str:
    return _SCALED.format(test=test, epochs=4, change="", loss="F.mse_loss")


def test_a_scaler_that_is_fitted_again(tmp_path: Path) -> None:
    text = _scaled("x_test = scaler.fit_transform(x_test)  # here")
    only(tmp_path, "preprocessing-mismatch", text)


def test_a_scaler_that_is_kept(tmp_path: Path) -> None:
    text = _scaled("x_test = scaler.transform(x_test - 10)")
    assert ask(tmp_path, "preprocessing-mismatch", text) == []


_WINDOWS = (
    """
series = torch.sin(torch.arange(200) / 5.0) + 0.1 * torch.randn(200)
given, wanted = [], []
for i in range(180):
    given.append(series[i : i + 10])
    wanted.append(series[{place}])  # here
given, wanted = torch.stack(given), torch.stack(wanted).unsqueeze(1)
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
"""
    + _TRAINED
)


def _windows(place: str) -> str:
    return _WINDOWS.format(place=place, epochs=2, change="", loss="F.mse_loss")


def test_a_target_in_its_window(tmp_path: Path) -> None:
    only(tmp_path, "answer-in-input", _windows("i + 10 - 1"))


def test_a_target_behind_its_window(tmp_path: Path) -> None:
    assert ask(tmp_path, "answer-in-input", _windows("i + 10")) == []


_PICTURES = (
    """
import numpy as np
places = np.mgrid[:10, :10].sum(0) / 4
shifts = np.random.default_rng(0).uniform(0, 6, (90, 1, 1, 3))
pictures = np.sin(places[None, :, :, None] + shifts).astype("float32")
pictures = {moved}  # here
given, wanted = torch.from_numpy(np.ascontiguousarray(pictures)), torch.arange(90) % 2
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(256, 2))
"""
    + _TRAINED
)


def _pictures(moved: str) -> str:
    return _PICTURES.format(moved=moved, epochs=2, change="", loss="F.cross_entropy")


def test_pictures_that_are_reshaped(tmp_path: Path) -> None:
    only(tmp_path, "wrong-dim", _pictures("pictures.reshape(90, 3, 10, 10)"))


def test_pictures_that_are_transposed(tmp_path: Path) -> None:
    assert ask(tmp_path, "wrong-dim", _pictures("pictures.transpose(0, 3, 1, 2)")) == []


def test_noise_has_no_order_to_lose() -> None:
    noise = np.random.default_rng(0).normal(size=(20, 3, 12, 12))
    assert misread(noise) is None


def test_inputs_that_are_cut_off(tmp_path: Path) -> None:
    text = _rows("numbers = rng.integers(0, 200, (120, 4)) // 255  # here")
    only(tmp_path, "constant-output", text)


def test_points_of_two_grids_are_no_leak(tmp_path: Path) -> None:
    text = """
t_train, t_test = torch.linspace(0, 1, 40)[:, None], torch.linspace(0, 1, 79)[:, None]
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(20):
    loss = F.mse_loss(net(t_train), t_train**2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(F.mse_loss(net(t_test), t_test**2))
"""
    assert ask(tmp_path, "data-leakage", text) == []
