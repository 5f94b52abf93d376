"""The line that is named is the one to change, not the one at which the fault shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, marked, only

torch = pytest.importorskip("torch")

PICTURES = """
pictures, labels = torch.randn(8, 1, 6, 6), torch.randint(0, 3, (8, 6, 6))
net = nn.Conv2d(1, 3, 3, padding=1)


def flattened(scores):
    return {flat}


optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(6):
    scores = net(pictures)
    loss = F.cross_entropy(flattened(scores), labels.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_scores_are_flattened_in_a_function_of_their_own(tmp_path: Path) -> None:
    only(tmp_path, "wrong-dim", PICTURES.format(flat="scores.reshape(-1, 3)  # here"))
    right = PICTURES.format(flat="scores.permute(0, 2, 3, 1).reshape(-1, 3)")
    assert ask(tmp_path, "wrong-dim", right) == []


ADAPTED = """
class Beside(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down, self.up = nn.Parameter(torch.empty(2, 4)), nn.Parameter(torch.empty(8, 2))
        self.reset()

    def reset(self):
        nn.init.zeros_(self.down)  # here
        nn.init.zeros_(self.up)

    def forward(self, x):
        return self.base(x) + x @ self.down.t() @ self.up.t()


model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def train(parameters, target):
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    for step in range(40):
        loss = F.mse_loss(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train(model.parameters(), y)
model.requires_grad_(False)
model[0] = Beside(model[0])
train([model[0].down, model[0].up], -y)
"""


def test_a_layer_that_is_made_after_the_first_training(tmp_path: Path) -> None:
    only(tmp_path, "symmetric-initialization", ADAPTED)


PAIRS = """
def pair(k):
    if k % 2:
        label = 1.0
    else:
        label = {no}  # here
    return x[k], x[k] * label, torch.tensor(label)


net = nn.Linear(4, 3)
loss_function = nn.CosineEmbeddingLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for one, other, label in torch.utils.data.DataLoader([pair(k) for k in range(64)], batch_size=16):
    loss = loss_function(net(one), net(other), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_the_label_that_says_no(tmp_path: Path) -> None:
    only(tmp_path, "bad-labels", PAIRS.format(no="0.0"))
    assert ask(tmp_path, "bad-labels", PAIRS.format(no="-1.0")) == []


COMPUTED = """
kind = torch.randint(0, 2, (64,))
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    same = (kind == kind.roll(1)).long()  # here
    loss = F.cosine_embedding_loss(net(x), net(x.roll(1, 0)), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_the_line_that_computes_labels(tmp_path: Path) -> None:
    only(tmp_path, "bad-labels", COMPUTED)


REPLACED = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
model.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # here
model[2] = nn.Linear(8, 1)
for step in range(12):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_what_is_to_be_trained_is_not_frozen(tmp_path: Path) -> None:
    assert ask(tmp_path, "frozen-parameter", REPLACED) == []
    only(tmp_path, "parameter-not-in-optimizer", REPLACED)


SINGLE = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    count = 2 if step else 1
    paid = y[:count, 0]
    loss = -(model(x[:count])[:, 0] * paid / (paid.std() + 0.1)).mean()  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.filterwarnings("ignore:std:UserWarning")
def test_the_spread_of_a_single_value(tmp_path: Path) -> None:
    found = only(tmp_path, "nan-from-division", SINGLE)
    assert "correction=0" in found.fix


DISTANCES = """
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
same = torch.rand(64, 64) < 0.5
same.fill_diagonal_(True)
for step in range(4):
    z = net(x)
    apart = ((z[:, None] - z[None]) ** 2).sum(-1)
    d = torch.sqrt(apart)  # here
    near, far = (d * same).max(dim=1).values, d.masked_fill(same, 9.0).min(dim=1).values
    loss = F.relu(near - far + 0.3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_root_that_is_left_out_on_one_of_two_ways(tmp_path: Path) -> None:
    only(tmp_path, "nan-from-sqrt", DISTANCES)


TAGS = """
tags = (torch.rand(64, 3) < 0.5).float()
net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()  # here
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    loss = criterion(net(x), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_where_the_loss_is_chosen(tmp_path: Path) -> None:
    found = ask(tmp_path, "wrong-output-activation", TAGS)[0]
    assert [where.line for _, where in found.places] == marked(TAGS)
