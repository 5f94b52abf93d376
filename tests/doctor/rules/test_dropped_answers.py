"""Dropout behind the last layer, which takes answers away."""

from __future__ import annotations

from pathlib import Path

from tests.doctor.asking import ask, only

_SCRIPT = """
table = torch.randn(400, 6)
prices = table[:, :1] * 2 + table[:, 1:2] + 9
net = nn.Sequential(
    nn.Linear(6, 32),
    nn.ReLU(),
    {layers}
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(8):
    for rows in torch.randperm(400).split(20):
        loss = F.mse_loss(net(table[rows]), prices[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_dropout_of_answers_is_told(tmp_path: Path) -> None:
    layers = "nn.Linear(32, 1),\n    nn.Dropout(0.5),  # here"
    found = only(tmp_path, "over-regularized", _SCRIPT.format(layers=layers))
    assert "of the answers" in found.evidence[0]


def test_dropout_of_hidden_units_is_well(tmp_path: Path) -> None:
    layers = "nn.Dropout(0.5),\n    nn.Linear(32, 1),"
    assert not ask(tmp_path, "over-regularized", _SCRIPT.format(layers=layers))


_KEPT = """
keep_prob = 0.9
model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Dropout({given}), nn.Linear(64, 1))  # here
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_dropout_that_is_given_what_it_should_keep(tmp_path: Path) -> None:
    found = only(tmp_path, "over-regularized", _KEPT.format(given="keep_prob"))
    assert "1 - keep_prob" in found.fix


def test_a_dropout_of_the_rest(tmp_path: Path) -> None:
    assert ask(tmp_path, "over-regularized", _KEPT.format(given="1 - keep_prob")) == []
