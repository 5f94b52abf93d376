"""Recurrent layers that go through the samples of a batch, and such that go through time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_CLASSIFIER = """
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.{layer}  # here
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        states, last = self.layer({given})
        return self.out({taken})

net = Classifier()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
series = torch.randn(60, {length}, 3)
kinds = (series[:, :3, 0].sum(1) > 0).long()
for step in range(4):
    rows = {rows}
    loss = F.cross_entropy(net(series[rows]), kinds[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _classifier(
    layer: str,
    given: str = "x",
    taken: str = "states[:, -1]",
    length: int = 5,
    rows: str = "slice(step * 12, step * 12 + 12)",
) -> str:
    return _CLASSIFIER.format(layer=layer, given=given, taken=taken, length=length, rows=rows)


_SHUFFLED = "torch.randperm(60)[:12]"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layer", ["LSTM(3, 8)", "GRU(3, 8, num_layers=2)", "RNN(3, 8)"])
def test_a_batch_of_sequences_without_batch_first(tmp_path: Path, layer: str, engine: str) -> None:
    found = only(tmp_path, "wrong-dim", _classifier(layer), engine)
    assert "gets [12, 5, 3]" in found.evidence[0]
    assert "sample 6, taken from place 4 of axis 1, depends on 6 other" in found.evidence[2]
    assert "batch_first=True" in found.fix


def test_as_many_samples_as_time_steps(tmp_path: Path) -> None:
    found = only(tmp_path, "wrong-dim", _classifier("LSTM(3, 8)", length=12))
    assert "gets [12, 12, 3]" in found.evidence[0]
    in_time = _classifier("LSTM(3, 8)", "x.transpose(0, 1)", "states[-1]", length=12)
    assert ask(tmp_path, "wrong-dim", in_time) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_shuffled_rows_are_no_time_steps(tmp_path: Path, engine: str) -> None:
    text = _classifier("LSTM(3, 8)", taken="states.mean(1)", rows=_SHUFFLED)
    found = only(tmp_path, "wrong-dim", text, engine)
    assert "sample 6 depends on 6 other" in found.evidence[2]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        _classifier("LSTM(3, 8, batch_first=True)"),
        _classifier("LSTM(3, 8, batch_first=True)", given="input=x"),
        _classifier("LSTM(3, 8, batch_first=True)", taken="states.mean(1)", rows=_SHUFFLED),
        _classifier("LSTM(3, 8)", given="x.transpose(0, 1)", taken="states[-1]"),
        _classifier("LSTM(3, 8)", given="x.transpose(0, 1)", taken="last[0][-1]"),
        _classifier("LSTM(3, 8)", given="input=x.transpose(0, 1)", taken="states[-1]"),
        _classifier("GRU(3, 8)", given="x.transpose(0, 1)", taken="states.mean(0)"),
        _classifier("GRU(3, 8)", given="x.transpose(0, 1)", taken="states[-1]", length=12),
        _classifier("GRU(3, 8)", given="x.transpose(0, 1)", taken="states.transpose(0, 1)[:, -1]"),
    ],
)
def test_sequences_that_go_along_their_time(tmp_path: Path, text: str, engine: str) -> None:
    assert ask(tmp_path, "wrong-dim", text, engine) == []


_FORECAST = """
layer, out = nn.LSTM(1, 8), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*layer.parameters(), *out.parameters()], lr=0.01)
wave = torch.sin(torch.arange(0, 30, 0.1)).view(-1, 1, 1).repeat(1, {series}, 1)
state = None
for begin in range(0, 100, 25):
    states, state = layer(wave[begin : begin + 25]{state})
    state = [each.detach() for each in state]
    loss = F.mse_loss({answer}, {target})
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_NEXT = "wave[begin + 1 : begin + 26]"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        _FORECAST.format(series=1, state="", answer="out(states)[:, 0]", target=_NEXT + "[:, 0]"),
        _FORECAST.format(series=1, state=", state", answer="out(states)", target=_NEXT),
        _FORECAST.format(series=4, state="", answer="out(states)", target=_NEXT),
        _FORECAST.format(series=4, state="", answer="out(states.mean(1))", target=_NEXT + "[:, 0]"),
        _FORECAST.format(series=4, state=", state", answer="out(states)", target=_NEXT),
    ],
)
def test_answers_for_every_time_step(tmp_path: Path, text: str, engine: str) -> None:
    assert ask(tmp_path, "wrong-dim", text, engine) == []
