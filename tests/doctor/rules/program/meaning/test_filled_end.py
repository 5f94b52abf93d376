"""The last step of sequences that were filled up, and of those that were not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

READER = """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn = nn.Embedding(20, 8), nn.GRU(8, 16, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens, lengths):
        out, state = self.rnn(self.emb(tokens))
        return self.head({taken})  # here

model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    lengths = torch.randint(2, 9, (16,))
    tokens = torch.randint(1, 20, (16, 48)) * (torch.arange(48)[None] < lengths[:, None])
    label = tokens[torch.arange(16), lengths - 1] % 2
    loss = F.cross_entropy(model(tokens, lengths), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("taken", ["out[:, -1]", "state[0]"])
def test_the_step_behind_the_filling(tmp_path: Path, taken: str) -> None:
    found = only(tmp_path, "filled-end", READER.format(taken=taken))
    assert "only the last of 48 places is used" in found.evidence[1]


def test_the_last_place_of_each(tmp_path: Path) -> None:
    text = READER.format(taken="out[torch.arange(16), lengths - 1]")
    assert ask(tmp_path, "filled-end", text) == []
