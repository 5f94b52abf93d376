"""Lists that hold one layer several times, by mistake and on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

STACK = """
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        {made}
        self.last = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.last(x)

model = Deep()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(10):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HEADS = STACK.replace(
    """        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.last(x)
""",
    """        return sum(self.last(torch.relu(layer(x))) for layer in self.layers)
""",
)
MULTIPLIED = "self.layers = nn.ModuleList([nn.Linear(8, 8)] * 3)  # here"
FILLED = (
    "layer = nn.Linear(8, 8)\n"
    "        self.layers = nn.ModuleList([layer for _ in range(3)])  # here"
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("made", [MULTIPLIED, FILLED])
def test_one_layer_in_all_places(tmp_path: Path, made: str, engine: str) -> None:
    found = only(tmp_path, "shared-layer", STACK.format(made=made), engine)
    assert "3 places" in found.evidence[0]
    assert found.certainty == "likely"


def test_heads_that_are_one(tmp_path: Path) -> None:
    found = only(tmp_path, "shared-layer", HEADS.format(made=MULTIPLIED))
    assert "3 of them are called on the same input" in found.evidence[-1]
    assert found.certainty == "certain"


@pytest.mark.parametrize(
    "made",
    [
        "self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])",
        "self.layers = nn.ModuleList([nn.Linear(8, 8)] * 3)  # the weights are shared",
        "self.layers = nn.ModuleList([nn.Linear(8, 8)] * 1)",
    ],
)
def test_layers_of_their_own_or_shared_on_purpose(tmp_path: Path, made: str) -> None:
    assert ask(tmp_path, "shared-layer", STACK.format(made=made)) == []
