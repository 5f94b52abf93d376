"""Masks of filling: what they leave, in attention and in a loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

_BATCH = """
lengths = torch.randint(2, 7, (16,))
tokens = torch.randint(1, 9, (16, 8)) * (torch.arange(8)[None] < lengths[:, None])
"""
ATTENTION = (
    _BATCH
    + """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, tokens):
        hidden = tokens {sign} 0  # here
        h = self.emb(tokens)
        h, _ = self.attention(h, h, h, key_padding_mask=hidden)
        return self.head(h.mean(1))

model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    loss = F.cross_entropy(model(tokens), tokens[:, 0] % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)
LOSS = (
    _BATCH
    + """
model = nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 9))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    found = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten(), reduction="none")
    kept = (tokens.flatten() {sign} 0).float()  # here
    loss = (found * kept).sum() / kept.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)


@pytest.mark.parametrize(("text", "wrong"), [(ATTENTION, "!="), (LOSS, "==")])
def test_masks(tmp_path: Path, text: str, wrong: str) -> None:
    found = only(tmp_path, "inverted-mask", text.format(sign=wrong))
    assert "hides all others" in found.evidence[1]
    right = {"==": "!=", "!=": "=="}[wrong]
    assert ask(tmp_path, "inverted-mask", text.format(sign=right)) == []
