"""Parameters that no gradient reaches, and frozen ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import whygrad
from tests.doctor.asking import ENGINES, ask, only

torch = pytest.importorskip("torch")

LOOP = """
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range({steps}):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.spare = nn.Linear(8, 8){mark}
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        {use}
        return self.head(h)


model = Net()
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("use", ["pass", "unused = self.spare(h)"])
def test_a_layer_that_nobody_uses(tmp_path: Path, engine: str, use: str) -> None:
    text = NET.format(use=use, mark="  # here") + LOOP.format(steps=8)
    found = only(tmp_path, "disconnected-parameter", text, engine)
    assert found.parameters == ["spare.weight", "spare.bias"]
    assert "2 parameters (72 values) of spare" in found.evidence[0]
    assert bool(found.places) == (use != "pass")


def test_a_layer_that_is_used_is_connected(tmp_path: Path) -> None:
    text = NET.format(use="h = self.spare(h)", mark="") + LOOP.format(steps=8)
    assert not ask(tmp_path, "disconnected-parameter", text)


def test_heads_that_take_turns_are_connected(tmp_path: Path) -> None:
    text = """
body = nn.Linear(4, 8)
heads = nn.ModuleList([nn.Linear(8, 1) for _ in range(4)])
optimizer = torch.optim.Adam([*body.parameters(), *heads.parameters()], lr=0.01)
for step in range(8):
    loss = F.mse_loss(heads[step % 3](body(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert not ask(tmp_path, "disconnected-parameter", text)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("cut", "words"),
    [
        ("h = h.detach()  # here", "detach"),
        ("h = h.data  # here", ".data"),
        ("h = torch.tensor(h.tolist())  # here", "Python number"),
        ("h = torch.from_numpy(h.detach().numpy() * 2)  # here", "NumPy"),
        ("h = (h > 0).float()  # here", "True or False"),
    ],
)
def test_a_cut_inside_the_model(tmp_path: Path, engine: str, cut: str, words: str) -> None:
    text = NET.format(use=cut, mark="") + LOOP.format(steps=4)
    found = only(tmp_path, "detached-graph", text, engine)
    assert words in found.evidence[0]
    assert "body" in found.evidence[0]
    assert not ask(tmp_path, "frozen-parameter", text, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_numpy_in_a_helper(tmp_path: Path, engine: str) -> None:
    text = """
import numpy as np


def bump(h):
    return torch.from_numpy(np.exp(-(h.detach().numpy() ** 2)))  # here


inner, outer = nn.Linear(4, 8), nn.Linear(8, 1)
model = nn.Sequential(inner, outer)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    loss = F.mse_loss(outer(bump(inner(x))), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert "NumPy" in only(tmp_path, "detached-graph", text, engine).evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loss_without_history(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.no_grad():  # here
    prediction = model(x)
loss = F.mse_loss(prediction, y)
loss.backward()
"""
    found = only(tmp_path, "detached-graph", text, engine)
    assert "none of the optimizer's parameters" in found.evidence[1]
    assert "outside no_grad()" in found.fix


@pytest.mark.parametrize("engine", ENGINES)
def test_recording_is_never_switched_on_again(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for step in range(3):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_grad_enabled(False)  # here
    print(F.mse_loss(model(x), y).item())
"""
    try:
        assert only(tmp_path, "detached-graph", text, engine).step == 3
    finally:
        torch.set_grad_enabled(True)
        whygrad.set_grad_enabled(True)


def test_a_target_that_is_cut_on_purpose(tmp_path: Path) -> None:
    text = """
model, probe = nn.Linear(4, 8), nn.Linear(8, 1)
head = nn.Linear(8, 1)
parameters = [*model.parameters(), *probe.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
for step in range(6):
    h = torch.tanh(model(x))
    loss = F.mse_loss(head(h), y) + F.mse_loss(probe(h.detach()), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    for rule in ("detached-graph", "disconnected-parameter", "frozen-parameter"):
        assert not ask(tmp_path, rule, text)


@pytest.mark.parametrize("engine", ENGINES)
def test_everything_is_frozen(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
for parameter in model.parameters():
    parameter.requires_grad = False  # here
"""
    found = only(tmp_path, "frozen-parameter", text + LOOP.format(steps=4), engine)
    assert "all 4 parameters of Adam" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_module_is_told_what_only_parameters_understand(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
model[0].requires_grad_(False)
model[0].requires_grad = True  # here
"""
    found = only(tmp_path, "frozen-parameter", text + LOOP.format(steps=4), engine)
    assert "plain attribute" in found.evidence[0]
    assert found.parameters == ["0.weight", "0.bias"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tensor_that_never_required_grad(tmp_path: Path, engine: str) -> None:
    text = """
w = torch.zeros(4, 1)  # here
b = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=0.1)
for step in range(4):
    loss = F.mse_loss(x @ w + b, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert "w" in only(tmp_path, "frozen-parameter", text, engine).parameters


def test_random_layers_that_should_have_been_trained(tmp_path: Path) -> None:
    text = """
y = 5 * y + 3
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
for name, parameter in model.named_parameters():
    if not name.startswith("0"):
        parameter.requires_grad_(False)  # here
"""
    found = only(tmp_path, "frozen-parameter", text + LOOP.format(steps=60))
    assert "if they are trained as well" in found.evidence[1]


def test_a_frozen_body_with_a_head_that_learns(tmp_path: Path) -> None:
    text = """
y = x[:, :1]
model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
model[0].requires_grad_(False)
"""
    assert not ask(tmp_path, "frozen-parameter", text + LOOP.format(steps=150))


@pytest.mark.parametrize("engine", ENGINES)
def test_frozen_in_order_to_evaluate(tmp_path: Path, engine: str) -> None:
    text = """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(6):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 2:
        for p in model.parameters():
            p.requires_grad_(False)  # here
        print(model(x).mean())
"""
    found = only(tmp_path, "frozen-parameter", text, engine)
    assert found.step == 3
    assert "3 updates" in found.evidence[1]


HALF_FROZEN = """
class Layer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        start = torch.randn(inputs, outputs) / inputs**0.5
        self.weight = nn.Parameter(start, requires_grad={trained})  # here
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


model = nn.Sequential(Layer(4, 32), nn.Tanh(), Layer(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(120):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_layers_that_are_made_half_frozen(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "frozen-parameter", HALF_FROZEN.format(trained=False), engine)
    assert found.parameters == ["0.weight", "2.weight"]
    assert not ask(tmp_path, "frozen-parameter", HALF_FROZEN.format(trained=True), engine)


DRAWN = """
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.decoder = nn.Linear(2, 4)

    def forward(self, x):
        mean, size = self.encoder(x).chunk(2, dim=1)
        code = {draw}
        return self.decoder(code), mean, size


model = Coder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(8):
    rows = torch.randperm(64)[:32]
    answer, mean, size = model(x[rows])
    loss = F.mse_loss(answer, x[rows]){prior}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PRIOR = " + 0.1 * (mean**2 + size.exp() - size - 1).mean()"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("prior", ["", PRIOR])
@pytest.mark.parametrize(
    "draw",
    [
        "torch.normal(mean, size.exp())  # here",
        "torch.distributions.Normal(mean, size.exp()).sample()  # here",
        "torch.bernoulli(torch.sigmoid(mean))  # here",
        "torch.round(mean)  # here",
    ],
)
def test_an_encoder_behind_a_draw(tmp_path: Path, draw: str, prior: str, engine: str) -> None:
    if engine == "whygrad" and prior and draw.startswith(("torch.normal", "torch.bernoulli")):
        pytest.skip("whygrad draws by ops of its own, of which the log has only the last")
    only(tmp_path, "detached-graph", DRAWN.format(draw=draw, prior=prior), engine)


@pytest.mark.parametrize(
    "draw",
    [
        "torch.distributions.Normal(mean, size.exp()).rsample()",
        "mean + size.exp() * torch.randn_like(size)",
        "mean + (torch.round(mean) - mean).detach()",
    ],
)
def test_a_draw_that_gradients_come_through(tmp_path: Path, draw: str) -> None:
    assert not ask(tmp_path, "detached-graph", DRAWN.format(draw=draw, prior=PRIOR))


COPIED = """
policy = nn.Linear(4, 3)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
for step in range(8):
    chosen = []
    for row in range(4):
        law = torch.distributions.Categorical(logits=policy(x[row]))
        chosen.append(law.log_prob(law.sample()))
    chosen = torch.tensor(chosen, requires_grad=True)  # here
    loss = -(chosen * torch.ones(4)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_copy_is_named_before_a_choice(tmp_path: Path) -> None:
    """What is drawn chooses beside the way of the gradient; the new tensor is what cuts it."""
    found = only(tmp_path, "detached-graph", COPIED)
    assert "copied into a new tensor" in found.evidence[0]
    assert "torch.stack()" in found.fix


CODES = """
class Coded(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 3)
        self.codes = nn.Embedding(8, 3)
        self.decoder = nn.Linear(3, 4)

    def forward(self, x):
        z = self.encoder(x)
        chosen = torch.cdist(z, self.codes.weight).argmin(1)  # here
        code = self.codes(chosen)
        extra = F.mse_loss(code, z.detach()) + 0.25 * F.mse_loss(z, code.detach())
        {passed}
        return self.decoder(code), extra


model = Coded()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(12):
    rebuilt, extra = model(x)
    loss = F.mse_loss(rebuilt, x) + extra
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_codes_without_a_way_back_to_the_encoder(tmp_path: Path) -> None:
    found = only(tmp_path, "detached-graph", CODES.format(passed="pass"))
    assert "encoder.weight" in found.parameters
    assert "code = z + (code - z).detach()" in found.fix
    right = CODES.format(passed="code = z + (code - z).detach()")
    assert ask(tmp_path, "detached-graph", right) == []


def test_of_what_a_code_is_shaped_like_no_value_goes_in(tmp_path: Path) -> None:
    shaped = CODES.replace("code = self.codes(chosen)", "code = self.codes(chosen).view_as(z)")
    found = only(tmp_path, "detached-graph", shaped.format(passed="pass"))
    assert "encoder.weight" in found.parameters


THRESHOLD = """
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    chosen = (torch.sigmoid(model(x)) > 0.5).float()  # here
    loss = 1 - (chosen * y).mean()
    loss.requires_grad_()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loss_that_is_told_to_require_grad(tmp_path: Path, engine: str) -> None:
    found = only(tmp_path, "detached-graph", THRESHOLD, engine)
    assert "turned into True or False" in found.evidence[0]
    assert ask(tmp_path, "disconnected-parameter", THRESHOLD, engine) == []
