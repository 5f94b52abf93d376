"""Samples of a batch that see each other, where nothing but a replay tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

_SEQUENCES = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 16)
        {made}
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        {mixed}
        return self.out(h.mean(1))

series = torch.randn(120, 6, 4)
kinds = (series[:, 0, 0] * series[:, 4, 1] > 0).long()
net = Model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(8):
    rows = slice(step * 15, step * 15 + 15)
    loss = F.cross_entropy(net(series[rows]), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_HEADS = "self.attend = nn.MultiheadAttention(16, 2{})  # here"
_ROWS = """
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
last = nn.Linear(16, 1)
optimizer = torch.optim.Adam([*net.parameters(), *last.parameters()], lr=0.01)
for epoch in range(4):
    for rows in torch.randperm(64).split(16):
        h = net(x[rows])
        {mixed}
        loss = F.mse_loss(last(h), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def _by_hand(scores: str, values: str) -> str:
    return f"h = torch.einsum({values!r}, torch.einsum({scores!r}, h, h).softmax(-1), h)"


@pytest.mark.parametrize(
    ("made", "mixed"),
    [
        (_HEADS.format(""), "h = self.attend(h, h, h)[0]"),
        ("", _by_hand("btd,ctd->tbc", "tbc,ctd->btd") + "  # here"),
        ("", "h = h.transpose(0, 1)  # here\n        h = (h @ h.transpose(1, 2)).softmax(-1) @ h\n"
         "        h = h.transpose(0, 1)"),
        ("", "h = F.normalize(h, dim=0)  # here"),
    ],
    ids=("module", "einsum", "transposed", "normalised"),
)  # fmt: skip
def test_a_sample_in_the_place_of_another_changes_the_answers_of_the_others(
    tmp_path: Path, made: str, mixed: str
) -> None:
    found = only(tmp_path, "wrong-dim", _SEQUENCES.format(made=made, mixed=mixed))
    assert "other samples change" in found.evidence[1]


@pytest.mark.parametrize(
    ("made", "mixed"),
    [
        (_HEADS.format(", batch_first=True"), "h = self.attend(h, h, h)[0]"),
        (_HEADS.format(""), "h = h.transpose(0, 1); h = self.attend(h, h, h)[0].transpose(0, 1)"),
        ("", _by_hand("btd,bsd->bts", "bts,bsd->btd")),
        ("self.norm = nn.BatchNorm1d(6)", "h = self.norm(h)"),
        ("", "h = (h - h.mean(0)) / (h.std(0) + 1e-5)"),
    ],
    ids=("told", "turned", "einsum", "batch norm", "by hand"),
)
def test_what_stays_within_a_sample_or_normalises_the_batch_is_well(
    tmp_path: Path, made: str, mixed: str
) -> None:
    assert not ask(tmp_path, "wrong-dim", _SEQUENCES.format(made=made, mixed=mixed))


def test_attention_between_samples_that_serves_its_end_is_well(tmp_path: Path) -> None:
    easy = _ROWS.replace("y[rows]", "x[rows, :1]").replace("range(4)", "range(40)")
    assert not ask(tmp_path, "wrong-dim", easy.format(mixed="h = h + (h @ h.T).softmax(-1) @ h"))


def test_neighbours_that_the_program_names_are_no_mixing(tmp_path: Path) -> None:
    near = "h = (torch.cdist(x[rows], x[rows]) < 1).float() @ h"
    assert not ask(tmp_path, "wrong-dim", _ROWS.format(mixed=near))


_PICTURES = """
pictures = torch.randn(160, 1, 4, 4)
kinds = (pictures[:, 0, 0, 0] > 0).long()
body, last = nn.Conv2d(1, 6, 4), nn.Linear(6, 2)
optimizer = torch.optim.SGD([*body.parameters(), *last.parameters()], lr=0.01)
for step in range(10):
    rows = torch.randperm(160)[:16]
    h = torch.relu(body(pictures[rows]))
    {laid}
    loss = F.cross_entropy(last(h), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_view_that_lays_samples_into_each_other(tmp_path: Path) -> None:
    text = _PICTURES.format(laid="h = h.view(-1, 16).t()  # here")
    found = only(tmp_path, "wrong-dim", text)
    assert "stands in several rows behind it" in found.evidence[0]
    assert ask(tmp_path, "wrong-dim", _PICTURES.format(laid="h = h.view(16, -1)")) == []


_ANSWER_TOKEN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.cls = nn.Parameter(torch.zeros(1, 1, 16))
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0{first})  # here
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        h = torch.cat([self.cls.expand(len(x), -1, -1), self.first(x)], dim=1)
        return self.out(self.layer(h)[:, 0])

series = torch.randn(120, 6, 4)
kinds = (series[:, 0, 0] > 0).long()
net = Model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(8):
    rows = torch.randperm(120)[:15]
    loss = F.cross_entropy(net(series[rows]), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_token_that_sees_the_same_place_of_other_samples(tmp_path: Path) -> None:
    found = only(tmp_path, "wrong-dim", _ANSWER_TOKEN.format(first=""))
    assert "no answer changes, not even its own" in found.evidence[1]
    right = _ANSWER_TOKEN.format(first=", batch_first=True")
    assert ask(tmp_path, "wrong-dim", right) == []
