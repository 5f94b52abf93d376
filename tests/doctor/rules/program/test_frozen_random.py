"""Frozen weights that were to be loaded: whether they were shows in the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

torch = pytest.importorskip("torch")

STAGES = """
import copy

def body():
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8), nn.Tanh())

def init(layer):
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight){drawn}

def fit(model, parameters):
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    for step in range(20):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

first = nn.Sequential(body(), nn.Linear(8, 1))
fit(first, first.parameters())
known = {{name: each.clone() for name, each in first.state_dict().items()}}
used = body()
{load}
used.requires_grad_(False)
head = nn.Linear(8, 1)
fit(nn.Sequential(used, head), head.parameters())
"""
OWN = "{name[2:]: each for name, each in known.items() if name.startswith('0.')}"
MISSED = {
    "no name": "used.load_state_dict({'body.' + k: v for k, v in known.items()}, strict=False)",
    "another object": f"spare = body(); spare.load_state_dict({OWN})",
}
FILLED = {
    "as it should be": f"used.load_state_dict({OWN})",
    "in two goes": f"used.load_state_dict({{'a': x}}, strict=False); used.load_state_dict({OWN})",
    "by way of another": f"spare = body(); spare.load_state_dict({OWN}); "
    "used = copy.deepcopy(spare)",
    "by hand": "\n".join(
        [
            "used.load_state_dict({'a': x}, strict=False)",
            "for own, other in zip(used.parameters(), first.parameters()):",
            "    own.data.copy_(other.data)",
        ]
    ),
    "random on purpose": "used.apply(init)",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", MISSED)
def test_a_state_that_is_not_there(tmp_path: Path, how: str, engine: str) -> None:
    text = STAGES.format(load=MISSED[how] + "  # here", drawn="")
    found = only(tmp_path, "frozen-parameter", text, engine)
    assert len(found.parameters) == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_that_are_drawn_again(tmp_path: Path, engine: str) -> None:
    load = f"used.load_state_dict({OWN})\nused.apply(init)"
    text = STAGES.format(load=load, drawn="  # here")
    found = only(tmp_path, "frozen-parameter", text, engine)
    assert found.certainty == "certain"
    assert "were written over them" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", FILLED)
def test_weights_that_are_there(tmp_path: Path, how: str, engine: str) -> None:
    text = STAGES.format(load=FILLED[how], drawn="")
    assert not ask(tmp_path, "frozen-parameter", text, engine)
