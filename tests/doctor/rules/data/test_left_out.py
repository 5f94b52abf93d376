"""Labels that the loss leaves out, with the number of a class."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

torch = pytest.importorskip("torch")

TAGGER = """
PAD = {pad}
kind = torch.randint(0, 3, (30,))
words = torch.randint(1, 30, (64, 7))
tags = kind[words]{shift}
long = torch.arange(7)[None] < torch.randint(3, 8, (64, 1))
words[~long], tags[~long] = 0, PAD
model = nn.Sequential(nn.Embedding(30, 8), nn.Linear(8, 4))
criterion = nn.CrossEntropyLoss(ignore_index=PAD)  # here
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(12):
    loss = criterion(model(words).reshape(-1, 4), tags.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    right = (model(words).argmax(-1) == tags)[long].float().mean()
print(right.item())
"""


def test_padding_with_the_number_of_a_tag(tmp_path: Path) -> None:
    found = only(tmp_path, "bad-labels", TAGGER.format(pad=0, shift=""))
    assert "different tokens" in found.evidence[0]


@pytest.mark.parametrize(("pad", "shift"), [(-100, ""), (0, " + 1"), (3, "")])
def test_padding_with_a_number_of_its_own(tmp_path: Path, pad: int, shift: str) -> None:
    assert ask(tmp_path, "bad-labels", TAGGER.format(pad=pad, shift=shift)) == []


PICTURES = """
pictures = torch.randn(8, 1, 6, 6)
labels = torch.bucketize(pictures[:, 0], torch.tensor([0.0, 1.0]))
net = nn.Conv2d(1, 3, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for step in range(12):
    loss = F.cross_entropy(net(pictures), labels{ignored})  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    right = (net(pictures).argmax(1) == labels).float().mean()
print(right.item())
"""


def test_a_background_that_is_judged(tmp_path: Path) -> None:
    only(tmp_path, "bad-labels", PICTURES.format(ignored=", ignore_index=0"))
    assert ask(tmp_path, "bad-labels", PICTURES.format(ignored="")) == []


WORDS = """
words = torch.randint(1, 20, (64, 8))
words[torch.arange(8)[None] >= torch.randint(3, 9, (64, 1))] = 0
model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(12):
    scores = model(words[:, :-1])
    loss = F.cross_entropy(scores.reshape(-1, 20), words[:, 1:].reshape(-1), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    right = (model(words[:, :-1]).argmax(-1) == words[:, 1:]).float().mean()
print(right.item())
"""


def test_words_of_which_one_is_none(tmp_path: Path) -> None:
    assert ask(tmp_path, "bad-labels", WORDS) == []
