"""Habits of published programs that were once accused, and the faults that they look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only, watched
from whygrad.doctor.source.preparing.rows import rows_apart

# A target network is asked with gradients recorded, and gets the weights now and then.
TARGET = """
import copy
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    paid = torch.randn(32)
    wanted = paid + 0.9 * target(torch.randn(32, 4)).max(1)[0]
    loss = F.smooth_l1_loss(model(torch.randn(32, 4))[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        {follow}
"""
COPIED = "target.load_state_dict(model.state_dict())"
UPDATED = """
        with torch.no_grad():
            for p in target.parameters():
                p -= 0.01 * p.grad"""

# Noise is what a diffusion model is to tell, and other noise each time.
NOISE = """
pictures = torch.randn(48, 12)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 12))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
fixed = torch.randn(48, 12)
for step in range(40):
    rows = torch.arange(48) if step % 2 else torch.arange(47, -1, -1)
    clean = pictures[rows]
    noise = {noise}
    loss = F.mse_loss(model(clean), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

# Few updates, at the usual momentum, with weights that move fast.
NORMS = """
model = nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32{momentum}), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    loss = F.mse_loss(model(40 * x + 200), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    print(F.mse_loss(model(40 * x + 200), y).item())
"""

# A generator's pictures are looked at as they are drawn in training.
PLAYERS = """
maker = nn.Sequential(nn.Linear(3, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
judge = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
making = torch.optim.Adam(maker.parameters(), lr=1e-3)
judging = torch.optim.Adam(judge.parameters(), lr=1e-3)
one, nought, fixed = torch.ones(64, 1), torch.zeros(64, 1), torch.randn(64, 3)
for step in range(30):
    made = maker(torch.randn(64, 3))
    judging.zero_grad()
    cost = F.binary_cross_entropy_with_logits
    (cost(judge(x), one) + cost(judge(made.detach()), nought)).backward()
    judging.step()
    making.zero_grad()
    cost(judge(made), one).backward()
    making.step()
    if step % 10 == 9:
        with torch.no_grad():
            print(maker(fixed).mean().item())
"""
ALONE = """
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(30):
    loss = F.mse_loss(model(x[:48]), y[:48])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        with torch.no_grad():
            print(F.mse_loss(model(x[48:]), y[48:]).item())
"""

PROGRAMS = {  # the rule, the sound program, and the same with the fault
    "a-target-with-gradients": (
        "missing-zero-grad",
        TARGET.format(follow=COPIED),
        TARGET.format(follow=UPDATED),
    ),
    "noise-to-be-told": (
        "shuffled-labels",
        NOISE.format(noise="torch.randn_like(clean)"),
        NOISE.format(noise="fixed[torch.randperm(48)]"),
    ),
    "the-usual-momentum": (
        "batchnorm-statistics",
        NORMS.format(momentum=""),
        NORMS.format(momentum=", momentum=0.001"),
    ),
    "pictures-of-a-generator": ("wrong-mode", PLAYERS, ALONE),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_habit_is_not_accused(name: str, tmp_path: Path) -> None:
    rule, sound, _ = PROGRAMS[name]
    assert ask(tmp_path, rule, sound) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_fault_itself_is(name: str, tmp_path: Path) -> None:
    rule, _, broken = PROGRAMS[name]
    assert [each.rule for each in ask(tmp_path, rule, broken)] == [rule]


def apart(folder: Path, text: str) -> list[tuple[str, str]]:
    path = folder / f"prepared_{len(list(folder.iterdir()))}.py"
    path.write_text(text, encoding="utf-8")
    return [(each.name, each.other) for each in rows_apart(str(path))]


def test_rows_that_are_sorted_each_by_itself(tmp_path: Path) -> None:
    text = """
gain, other = load(), read()
best = gain.sort({along}descending=True).values
pairs = list(zip(best, other))
"""
    for along in ("1, ", "dim=1, ", "dim=-1, "):
        assert not apart(tmp_path, text.format(along=along)), along
    assert apart(tmp_path, text.format(along=""))
    assert apart(tmp_path, text.format(along="0, "))


def test_what_is_drawn_has_no_order_to_lose(tmp_path: Path) -> None:
    text = """
import numpy as np
random = {made}
names = load()
effects = dict(zip(sorted(names), {drawn}))
"""
    made, drawn = "np.random.default_rng(0)", "random.normal(0, 1, 15)"
    assert not apart(tmp_path, text.format(made=made, drawn=drawn))
    assert apart(tmp_path, text.format(made="load()", drawn="random"))


WEIGHTED = """
labels = (torch.arange(64) < 16).float()
model = nn.Linear(4, {outputs})
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(4):
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("outputs", "loss"),
    [
        (1, "F.binary_cross_entropy_with_logits("
            "model(x)[:, 0], labels, pos_weight=torch.tensor(3.0)) / 1.5"),
        (2, "F.cross_entropy(model(x), labels.long(), weight=torch.tensor([1.0, 3.0]))"),
        (2, "F.cross_entropy(model(x), labels.long(), torch.tensor([1.0, 3.0]))"),
    ],
)  # fmt: skip
def test_weights_change_what_ignoring_the_input_costs(
    tmp_path: Path, outputs: int, loss: str
) -> None:
    # Weights that make up for rarity make both answers equally likely: the logarithm of 2.
    case = watched(tmp_path, WEIGHTED.format(outputs=outputs, loss=loss))
    known = case.chance(case.courses[0].first)
    assert known is not None
    assert known / (1.5 if outputs == 1 else 1) == pytest.approx(0.6931, abs=1e-3)


def test_labels_that_are_all_the_same_are_no_measure(tmp_path: Path) -> None:
    text = WEIGHTED.format(
        outputs=2, loss="F.cross_entropy(model(x), torch.zeros(64, dtype=torch.long))"
    )
    case = watched(tmp_path, text)
    assert case.chance(case.courses[0].first) is None


SPARSE = """
near = torch.eye(64).to_sparse()
class Layer(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.weight = nn.Parameter({values})  # here
    def forward(self, features):
        return torch.sparse.mm(near, features @ self.weight)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Layer(4, 16), Layer(16, 1)
    def forward(self, features):
        return self.second(torch.relu(self.first(features)))

net = Net()
features = x.to_sparse() if {sparse} else x
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(40):
    optimizer.zero_grad()
    F.mse_loss(net(features), y).backward()
    optimizer.step()
"""


def test_steps_with_sparse_tensors_are_run_again(tmp_path: Path) -> None:
    drawn = SPARSE.format(values="torch.randn(inside, outside) / inside**0.5", sparse=True)
    case = watched(tmp_path, drawn)
    assert not case.run.troubles
    trace = case.trace(case.courses[0].first)
    assert trace is not None
    assert trace.reproduced
    zeros = SPARSE.format(values="torch.zeros(inside, outside)", sparse=False)
    found = only(tmp_path, "symmetric-initialization", zeros)
    assert "exactly 0" in found.evidence[0]


BY_METHOD = """
class Density(nn.Module):
    def __init__(self):
        super().__init__()
        self.middle = nn.Parameter(torch.zeros(4))
        self.layers = {held}  # here
    def log_prob(self, at):
        for each in self.layers:
            at = torch.tanh(each(at))
        return -((at - self.middle) ** 2).sum(1)

density = Density()
optimizer = torch.optim.Adam(density.parameters(), lr=0.01)
for step in range(40):
    loss = -density.log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_that_only_a_method_of_its_own_asks(tmp_path: Path, engine: str) -> None:
    layers = "[nn.Linear(4, 4), nn.Linear(4, 4)]"
    text = BY_METHOD.format(held=layers)
    found = only(tmp_path, "parameter-not-in-optimizer", text, engine)
    assert "self.layers of Density is a plain list" in found.evidence[0]
    text = BY_METHOD.format(held=f"nn.ModuleList({layers})")
    assert not ask(tmp_path, "parameter-not-in-optimizer", text, engine)


# Statistics that are kept as they are for every other pass, by a momentum of zero.
HELD_STILL = """
norm = nn.BatchNorm1d(32)
model = nn.Sequential(nn.Linear(4, 32), norm, nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    for norm.momentum in (0.1, 0.0):
        loss = F.mse_loss(model(40 * x + 200), y)
        optimizer.zero_grad()
        loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    print(F.mse_loss(model(40 * x + 200), y).item())
"""


def test_statistics_that_are_held_still_on_purpose(tmp_path: Path) -> None:
    assert not ask(tmp_path, "batchnorm-statistics", HELD_STILL)


# What a training step asks about a memory of old samples, in a run that is given the test data.
MEMORY = """
table, wanted = torch.randn(96, 6), torch.randn(96, 1)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
memory = []

def observe(rows):
    if len(memory) > 3:
        F.mse_loss(model(table[torch.cat(memory)]), wanted[torch.cat(memory)]).backward()
        memory.clear()
    memory.append(rows)
    optimizer.zero_grad()
    F.mse_loss(model(table[rows]), wanted[rows]).backward()
    optimizer.step()

def lifelong(x_te):
    for epoch in range(4):
        for rows in torch.randperm(64).split(8):
            observe(rows)
        with torch.no_grad():
            print(F.mse_loss(model(x_te), wanted[{rows}]).item())

lifelong(x_te=table[{rows}])
"""


def test_a_memory_of_what_was_trained_on(tmp_path: Path) -> None:
    assert not ask(tmp_path, "data-leakage", MEMORY.format(rows="64:"))
    found = ask(tmp_path, "data-leakage", MEMORY.format(rows=":32"))
    assert [each.rule for each in found] == ["data-leakage"]


# A trainer that reports on every set of samples, those of the training among them.
SETS = """
table, wanted = torch.randn(96, 6), torch.randn(96, 1)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def predict(name, eval_set):
    with torch.no_grad():
        print(name, F.mse_loss(model(table[eval_set]), wanted[eval_set]).item())

train, valid = torch.arange(64), torch.arange(64, 96)
for epoch in range(4):
    for rows in train[torch.randperm(64)].split(16):
        optimizer.zero_grad()
        F.mse_loss(model(table[rows]), wanted[rows]).backward()
        optimizer.step()
    {report}
"""


def test_sets_that_are_reported_in_turn(tmp_path: Path) -> None:
    names = "names, eval_sets = ('one', 'other'), (train, valid)\n    "
    every = names + "for name, eval_set in zip(names, eval_sets): predict(name, eval_set)"
    assert not ask(tmp_path, "data-leakage", SETS.format(report=every))
    one = "predict('valid', train)"
    assert ask(tmp_path, "data-leakage", SETS.format(report=one))


PROMPTED = """
tokens = torch.randint(0, 9, (64, 12))
tokens = torch.cat([tokens, tokens.sort(1).values], 1)
given, wanted = tokens[:, :-1], tokens[:, 1:].clone()
wanted[:, :11] = -100
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(9, 16), nn.Linear(16, 9)
    def forward(self, ids):
        states = self.embed(ids)
        return self.out(F.scaled_dot_product_attention(states, states, states{mask}))  # here

model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(30):
    loss = F.cross_entropy(model(given).reshape(-1, 9), wanted.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PREFIX = ", torch.ones(23, 23).tril().bool() | (torch.arange(23) < 12)"


def test_a_prompt_hides_no_missing_mask(tmp_path: Path) -> None:
    only(tmp_path, "answer-in-input", PROMPTED.format(mask=""))
    for mask in (", is_causal=True", PREFIX):
        assert not ask(tmp_path, "answer-in-input", PROMPTED.format(mask=mask)), mask
