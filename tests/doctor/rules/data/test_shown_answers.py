"""Sequence models that can see what they are to predict, and such that cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(12, 16)
        {made}
        self.out = nn.Linear(16, 12)

    def forward(self, tokens):
        h = self.letters(tokens)
        {look}
        return self.out(h)

text = torch.randint(0, 12, (80, 9))
net = Model()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(8):
    batch = text[step * 10 : step * 10 + 10]
    {pair}
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_NEXT = "given, wanted = batch[:, :-1], batch[:, 1:]"
_FLAT = "loss = F.cross_entropy(net(given).reshape(-1, 12), wanted.reshape(-1))"
_TURNED = "loss = F.cross_entropy(net(given).transpose(1, 2), wanted)"
_GRU = "self.read = nn.GRU(16, 16, batch_first=True)"
_READ = "h = self.read(h)[0]"


def _script(made: str, look: str, pair: str = _NEXT, loss: str = _FLAT) -> str:
    return _MODEL.format(made=made, look=look, pair=pair, loss=loss)


def _attending(mask: str, line: str = "  # here") -> str:
    return f"mask = {mask}{line}\n        h = (h @ h.transpose(1, 2) / 16 + mask).softmax(-1) @ h"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mask_the_wrong_way_round(tmp_path: Path, engine: str) -> None:
    look = _attending("torch.tril(torch.full((8, 8), -1e9), diagonal=-1)")
    found = only(tmp_path, "answer-in-input", _script("", look), engine)
    assert "does not hide" in found.evidence[2]


def test_attention_of_the_library_without_a_mask(tmp_path: Path) -> None:
    made = "self.read = nn.MultiheadAttention(16, 2, batch_first=True)"
    look = "h = self.read(h, h, h)[0]  # here"
    found = only(tmp_path, "answer-in-input", _script(made, look, loss=_TURNED))
    assert "no mask" in found.evidence[2]


def test_a_convolution_with_padding_on_both_sides(tmp_path: Path) -> None:
    made = "self.read = nn.Conv1d(16, 16, 3, padding=1)  # here"
    look = "h = self.read(h.transpose(1, 2)).transpose(1, 2)"
    only(tmp_path, "answer-in-input", _script(made, look))


def test_targets_that_were_not_shifted(tmp_path: Path) -> None:
    same = "given, wanted = batch[:, 1:], batch[:, 1:]  # here"
    script = _script(_GRU, _READ, same, _TURNED)
    assert "inputs themselves" in only(tmp_path, "answer-in-input", script).title


@pytest.mark.parametrize(
    ("made", "look"),
    [
        (_GRU, _READ),
        ("", _attending("torch.triu(torch.full((8, 8), -1e9), diagonal=1)", "")),
        (
            "self.read = nn.Conv1d(16, 16, 3)",
            "h = self.read(F.pad(h.transpose(1, 2), (2, 0))).transpose(1, 2)",
        ),
    ],
    ids=("recurrent", "masked", "padded on the left"),
)
def test_models_that_look_back_are_well(tmp_path: Path, made: str, look: str) -> None:
    assert not ask(tmp_path, "answer-in-input", _script(made, look))


@pytest.mark.parametrize(
    "pair",
    ["given, wanted = batch, batch.flip(1)", "given, wanted = batch, (batch + 1) % 12"],
    ids=("reversed", "another alphabet"),
)
def test_taggers_may_look_at_all_of_a_sequence(tmp_path: Path, pair: str) -> None:
    look = "h = (h @ h.transpose(1, 2)).softmax(-1) @ h"
    assert not ask(tmp_path, "answer-in-input", _script("", look, pair))


def test_an_autoencoder_may_say_its_input_again(tmp_path: Path) -> None:
    look = "h = self.read(h)[1][0].unsqueeze(1).expand(-1, 9, -1)"
    script = _script(_GRU, look, "given, wanted = batch, batch", _TURNED)
    assert not ask(tmp_path, "answer-in-input", script)
