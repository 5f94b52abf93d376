"""Attention without an encoding of positions: proved by places that are exchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

ORDER = """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 16)
        {made}
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens):
        h = self.emb(tokens){used}  # here
        return self.head(self.encoder(h).mean(1))

model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range({steps}):
    tokens = torch.randint(0, 9, (32, 6))
    label = {label}
    loss = F.cross_entropy(model(tokens), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FIRST = "(tokens[:, 1] < tokens[:, 4]).long()"
MOST = "(tokens.float().mean(1) > 4).long()"
MADE = "self.pos = nn.Parameter(torch.randn(6, 16))"


def test_an_order_that_is_not_told(tmp_path: Path) -> None:
    text = ORDER.format(made="", used="", label=FIRST, steps=40)
    found = only(tmp_path, "order-blind", text)
    assert "no answer changes" in found.evidence[0]


def test_an_encoding_that_nothing_uses(tmp_path: Path) -> None:
    text = ORDER.format(made=MADE, used="", label=FIRST, steps=40)
    found = only(tmp_path, "order-blind", text)
    assert "self.pos" in found.evidence[1]


def test_an_order_that_is_told(tmp_path: Path) -> None:
    text = ORDER.format(made=MADE, used=" + self.pos", label=FIRST, steps=40)
    assert ask(tmp_path, "order-blind", text) == []


def test_a_set_that_is_learned(tmp_path: Path) -> None:
    text = ORDER.format(made="", used="", label=MOST, steps=120)
    assert ask(tmp_path, "order-blind", text) == []


def test_an_order_that_is_lost_in_training(tmp_path: Path) -> None:
    text = ORDER.format(made=MADE, used=" + self.pos", label=FIRST, steps=40)
    assert ask(tmp_path, "order-blind", text.replace("lr=3e-3", "lr=3.0")) == []
