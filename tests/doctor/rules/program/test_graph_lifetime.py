"""Graphs that are overwritten, walked twice, or kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        h = torch.sigmoid(self.body(x))
        {write}
        return self.head(h)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
"""
MODEL = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("write", ["h *= 2", "h[:, 0] = 0", "h.clamp_(max=0.5)", "h.data.mul_(2)"])
def test_a_write_into_a_kept_value(tmp_path: Path, engine: str, write: str) -> None:
    found = only(tmp_path, "inplace-corruption", NET.format(write=f"{write}  # here"), engine)
    assert found.step == 0
    assert "torch.where" in found.fix if "[" in write else "new tensor" in found.fix


@pytest.mark.parametrize("write", ["h = h * 2", "h.data.round_()", "self.body.weight.data.mul_(1)"])
def test_writes_that_do_no_harm(tmp_path: Path, write: str) -> None:
    assert not ask(tmp_path, "inplace-corruption", NET.format(write=write))


def test_the_update_between_two_passes(tmp_path: Path) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
output = model(x)
F.mse_loss(output, y).backward(retain_graph=True)
optimizer.step()  # here
F.l1_loss(output, y).backward()
"""
    found = only(tmp_path, "inplace-corruption", text)
    assert "the update of the parameters did" in found.evidence[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_leaf_that_is_updated_while_recording(tmp_path: Path, engine: str) -> None:
    text = """
w = torch.zeros(4, 1, requires_grad=True)
F.mse_loss(x @ w, y).backward()
w -= 0.1 * w.grad  # here
"""
    assert "no_grad" in only(tmp_path, "inplace-corruption", text, engine).fix


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_from_the_step_before(tmp_path: Path, engine: str) -> None:
    text = """
cell = nn.RNNCell(4, 8)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
state = torch.zeros(64, 8)
for step in range(4):
    state = cell(x, state)  # here
    loss = state.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found = only(tmp_path, "freed-graph", text, engine)
    assert found.step == 1
    assert "detach" in found.fix
    assert not ask(tmp_path, "freed-graph", text.replace("(x, state)", "(x, state.detach())"))


def test_two_losses_of_one_output(tmp_path: Path) -> None:
    text = (
        MODEL
        + """
output = model(x)
F.mse_loss(output, y).backward()
F.l1_loss(output, y).backward()  # here
"""
    )
    assert "number 2" in only(tmp_path, "freed-graph", text).evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("begin", "store"),
    [
        ("history = []", "history.append(loss)  # here"),
        ("log = {'loss': []}", "log['loss'].append(loss)  # here"),
        ("outputs = []", "outputs.append(output)  # here"),
        ("total = 0", "total += loss  # here"),
        ("total = 0", "total = total + loss  # here"),
    ],
)
def test_graphs_that_are_kept(tmp_path: Path, engine: str, begin: str, store: str) -> None:
    text = f"""{MODEL}
{begin}
for step in range(24):
    output = model(x)
    loss = F.mse_loss(output, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {store}
"""
    only(tmp_path, "graph-kept-alive", text, engine)


@pytest.mark.parametrize("store", ["loss.item()", "loss.detach()", "float(loss)"])
def test_numbers_keep_no_graph(tmp_path: Path, store: str) -> None:
    text = f"""{MODEL}
history, total = [], 0
for step in range(24):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append({store})
    total += {store}
"""
    assert not ask(tmp_path, "graph-kept-alive", text)


_LATE_HEAD = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 16), nn.Linear(16, 3)

    def forward(self, inputs):
        return self.head(torch.tanh(self.body(inputs)))

model = Model()
print(model(x).shape)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # here
model.head = nn.Linear(16, 1)
for step in range(20):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_layer_that_is_put_in_later_has_its_name(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "parameter-not-in-optimizer", _LATE_HEAD, engine)
    assert any("(head.weight, head.bias)" in each for each in found.evidence)


_CARRIED = """
cell, head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
state = None
for step in range(4):
    out, state = cell(x[None], state)  # here
    loss = F.mse_loss(head(out), y[None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_the_line_that_brings_a_state_along(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "freed-graph", _CARRIED, engine)
    assert found.places[-1][0] == "backward() is called here"


_FORGETFUL = """
cell, head = nn.GRUCell(4, 12), nn.Linear(12, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
for step in range(30):
    sequence = torch.randn(6, 16, 4)
    h = torch.zeros(16, 12)
    for each in sequence:
        h = cell(each, {state})  # here
    loss = F.mse_loss(head(h), sequence[0, :, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_state_that_is_cut_off_at_each_step(tmp_path: Path) -> None:
    only(tmp_path, "detached-graph", _FORGETFUL.format(state="h.detach()"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_that_goes_from_step_to_step(tmp_path: Path, engine: str) -> None:
    assert ask(tmp_path, "detached-graph", _FORGETFUL.format(state="h"), engine) == []
