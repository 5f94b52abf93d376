"""First values that a program wrote, against those that the library draws itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only

_RECURRENT = """
series = torch.randn(600, 8, 3)
sums = (series[:, :, 0] * series[:, :, 1]).sum(1, keepdim=True)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.LSTM(3, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return self.out(self.read(x)[0][:, -1])

net = Model()
{begin}
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for rows in torch.randperm(600).split(40):
        loss = F.mse_loss(net(series[rows]), sums[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_EACH = """for name, value in net.read.named_parameters():
    if {}:
        {}"""
_DEEP = """
table = torch.randn(800, 16)
kinds = (table[:, 0] + table[:, 1] > 0).long()
layers = [nn.Linear(16, 32), nn.ReLU()]
for _ in range(8):
    layers += [nn.Linear(32, 32), nn.ReLU()]
net = nn.Sequential(*layers, nn.Linear(32, 2))
for layer in net:
    if isinstance(layer, nn.Linear):
        nn.init.{begin}
        nn.init.zeros_(layer.bias)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(12):
    for rows in torch.arange(800).split(40):
        loss = F.cross_entropy(net(table[rows]), kinds[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("rule", "which", "write"),
    [
        ("symmetric-initialization", "name", "nn.init.constant_(value, 0.1)  # here"),
        ("bad-initialization", "value.dim() > 1", "nn.init.normal_(value, 0.0, 6.0)  # here"),
    ],
)
def test_weights_of_a_recurrent_layer(tmp_path: Path, rule: str, which: str, write: str) -> None:
    script = _RECURRENT.format(begin=_EACH.format(which, write))
    assert "library's own" in only(tmp_path, rule, script).evidence[1]
    other = {"symmetric-initialization", "bad-initialization"} - {rule}
    assert not ask(tmp_path, other.pop(), script)


@pytest.mark.parametrize("write", ["nn.init.orthogonal_(value)", "nn.init.xavier_normal_(value)"])
def test_other_weights_in_use_are_well(tmp_path: Path, write: str) -> None:
    script = _RECURRENT.format(begin=_EACH.format("value.dim() > 1", write))
    assert not ask(tmp_path, "bad-initialization", script)
    assert not ask(tmp_path, "symmetric-initialization", script)


def test_many_layers_that_each_weaken_a_little(tmp_path: Path) -> None:
    script = _DEEP.format(begin="normal_(layer.weight, 0, 0.02)  # here")
    assert "ordinary weights" in only(tmp_path, "bad-initialization", script).evidence[1]
    assert not ask(
        tmp_path, "bad-initialization", _DEEP.format(begin="kaiming_normal_(layer.weight)")
    )
