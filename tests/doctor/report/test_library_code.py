"""A program whose loop and layers stand in an installed library: its own line, and the layer."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from tests.doctor.asking import watched
from whygrad.doctor.report.blocks import Section, Table
from whygrad.doctor.report.layout import plain
from whygrad.doctor.rules.words import as_code
from whygrad.doctor.verdict import Diagnosis, diagnose

_LIBRARY = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.c_attn(x).chunk(3, -1)
        return self.c_proj(torch.softmax(q @ k.transpose(-1, -2), AXIS) @ v)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn = Attention(width)

    def forward(self, x):
        return x + self.attn(x)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(20, 8)
        self.h = nn.ModuleList([Block(8), Block(8)])

    def forward(self, ids):
        x = self.wte(ids)
        for block in self.h:
            x = block(x)
        return x


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = Backbone()
        self.score = nn.Linear(8, 2)

    def forward(self, ids, labels):
        return F.cross_entropy(self.score(self.transformer(ids)[:, -1]), labels)


class Trainer:
    def __init__(self, model, data, lr):
        self.model, self.data, self.lr = model, data, lr

    def train(self):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr)
        for epoch in range(3):
            for batch in self.data:
                optimizer.zero_grad()
                self.model(*batch).backward()
                optimizer.step()
"""
_PROGRAM = """
import sys
sys.path.append({folder!r})
import pretended_library
sys.path.pop()
ids = torch.randint(0, 20, (64, 6))
labels = (ids[:, -1] > 9).long()
data = [(ids[i:i + 16], labels[i:i + 16]) for i in range(0, 64, 16)]
model = pretended_library.Classifier()
{before}
trainer = pretended_library.Trainer(model, data, lr={lr})
trainer.train()
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.delitem(sys.modules, "pretended_library", raising=False)
    return folder / "pretended_library.py"


def _examined(library: Path, axis: int = -1, before: str = "pass", lr: float = 0.1) -> Diagnosis:
    library.write_text(_LIBRARY.replace("AXIS", str(axis)), encoding="utf-8")
    text = _PROGRAM.format(folder=str(library.parent), before=before, lr=lr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return diagnose(watched(library.parent.parent, text))


def test_a_layer_of_a_library_is_named_by_its_path(library: Path) -> None:
    found = _examined(library, axis=-2)
    (cause,) = [each for each in found.causes if each.rule == "wrong-dim"]
    assert cause.where is not None
    assert cause.where.text == "trainer.train()"
    assert "in transformer.h.0.attn" in cause.evidence[0]
    assert "site-packages" not in found.report()


def test_the_rate_is_blamed_on_a_line_of_the_program(library: Path) -> None:
    found = _examined(library, lr=1e4)
    assert found.verdict is not None
    assert found.verdict.where is not None
    assert found.verdict.where.file.endswith("train.py")
    assert "site-packages" not in found.report()


def test_advice_that_names_a_layer_is_python(library: Path) -> None:
    before = "nn.init.constant_(model.transformer.h[1].attn.c_proj.weight, 40.0)"
    found = _examined(library, before=before)
    fixes = [each.fix for each in found.findings if "kaiming" in each.fix]
    assert fixes
    assert "(model.transformer.h[1].attn.c_proj.weight)" in fixes[0]


def test_the_first_invalid_value_in_a_library(library: Path) -> None:
    before = "model.transformer.h[1].attn.c_attn.weight.data[0, 0] = float('nan')"
    found = _examined(library, before=before)
    assert "transformer.h.1.attn" in found.report()
    assert found.verdict is not None
    assert found.verdict.where is not None
    assert found.verdict.where.file.endswith("train.py")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("transformer.h.3.attn.c_attn", "model.transformer.h[3].attn.c_attn"),
        ("0.weight", "model[0].weight"),
        ("", "model"),
        ("layers.12", "model.layers[12]"),
        ("block2.conv1", "model.block2.conv1"),
    ],
)
def test_a_path_as_code(path: str, code: str) -> None:
    assert as_code(path) == code


def test_long_names_are_cut_at_the_front() -> None:
    names = [f"gradients/transformer.encoder.layer.{n}.attention.self.query" for n in range(4)]
    table = Table(("step", *names), (("0", "0.1", "0.2", "0.3", "0.4"),), expendable=(2, 3, 4))
    shown = plain([Section("ramp", "Ramp", (table,))], 80)
    assert "no room" not in shown
    assert shown.count("self.query") == 4
    assert "0.4" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
