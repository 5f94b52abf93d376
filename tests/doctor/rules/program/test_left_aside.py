"""Parts that are left aside on purpose, models that begin anew, gradients that train nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

torch = pytest.importorskip("torch")

HEADS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.main = nn.Linear(32, 1)
        {more}

    def forward(self, x, task="main"):
        h = self.body(x)
        {use}


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range({steps}):
    loss = F.mse_loss(model(x){pick}, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ASIDE = {
    "a head for another task": (
        "self.other = nn.Linear(32, 3)",
        'return self.main(h) if task == "main" else self.other(h)',
        "",
    ),
    "heads by their names": (
        "self.heads = nn.ModuleDict({'main': nn.Linear(32, 1), 'other': nn.Linear(32, 3)})",
        "return self.heads[task](h)",
        "",
    ),
    "a second answer that is not asked for": (
        "self.other = nn.Linear(32, 3)",
        "return self.main(h), self.other(h)",
        "[0]",
    ),
}
FORGOTTEN = {
    "a layer that no line calls": (
        "self.other = nn.Linear(32, 32)  # here",
        "return self.main(h)",
    ),
    "a layer whose result is lost": (
        "self.other = nn.Linear(32, 32)  # here",
        "unused = self.other(h); return self.main(h)",
    ),
    "the last of a list": (
        "self.layers = nn.ModuleList([nn.Linear(32, 32) for _ in range(4)])  # here",
        "for i in range(3): h = self.layers[i](h)\n        return self.main(h)",
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", ASIDE)
def test_a_part_that_is_left_aside(tmp_path: Path, how: str, engine: str) -> None:
    more, use, pick = ASIDE[how]
    text = HEADS.format(more=more, use=use, pick=pick, steps=120)
    if "heads" in more:
        text = text.replace("self.main = nn.Linear(32, 1)", "pass")
    assert not ask(tmp_path, "disconnected-parameter", text, engine)


@pytest.mark.parametrize("how", FORGOTTEN)
def test_a_part_that_is_forgotten(tmp_path: Path, how: str) -> None:
    more, use = FORGOTTEN[how]
    text = HEADS.format(more=more, use=use, pick="", steps=120)
    only(tmp_path, "disconnected-parameter", text)


def test_a_part_that_would_help(tmp_path: Path) -> None:
    """A line would call it, but nothing was learned without it."""
    use = "return self.main(h * 0) if task else self.other(h)"
    text = HEADS.format(more="self.other = nn.Linear(32, 1)  # here", use=use, pick="", steps=60)
    only(tmp_path, "disconnected-parameter", text)


FITTED = """
x = torch.randn(240, 4)
y = (x[:, :1] > 0).long().squeeze(1)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
first = {{name: each.clone() for name, each in model.state_dict().items()}}
for part in range(3):
    x_test, y_test = x[part * 80 : part * 80 + 80], y[part * 80 : part * 80 + 80]
    keep = torch.tensor([i for i in range(240) if i // 80 != part])
    {anew}
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(8):
        for batch in keep[torch.randperm(160)].chunk(4):
            loss = F.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        print((model(x_test).argmax(1) == y_test).float().mean().item())
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "anew",
    ["model.load_state_dict(first)", "[each.reset_parameters() for each in (model[0], model[2])]"],
)
def test_a_model_that_begins_anew(tmp_path: Path, anew: str, engine: str) -> None:
    assert not ask(tmp_path, "data-leakage", FITTED.format(anew=anew), engine)


def test_a_model_that_goes_on(tmp_path: Path) -> None:
    (found,) = ask(tmp_path, "data-leakage", FITTED.format(anew="pass"))
    assert "among" in found.evidence[0]


GRADIENTS = """
x = torch.randn(300, 4)
y = (x[:, :1] > 0).long().squeeze(1)
x_train, x_test, y_train, y_test = x[:200], x[200:], y[:200], y[200:]
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def attacked(given, labels):
    given = given.clone().requires_grad_()
    loss = F.cross_entropy(model(given), labels)
    optimizer.zero_grad()
    loss.backward()
    {after}
    return given + 0.1 * given.grad.sign()


for epoch in range(6):
    for at in range(0, 200, 40):
        loss = F.cross_entropy(model(x_train[at : at + 40]), y_train[at : at + 40])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
for at in range(0, 100, 20):
    moved = attacked(x_test[at : at + 20], y_test[at : at + 20])
    with torch.no_grad():
        print((model(moved).argmax(1) == y_test[at : at + 20]).float().mean().item())
with torch.no_grad():
    print((model(x_test).argmax(1) == y_test).float().mean().item())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_gradients_of_test_samples_train_nothing(tmp_path: Path, engine: str) -> None:
    assert not ask(tmp_path, "data-leakage", GRADIENTS.format(after="pass"), engine)


def test_gradients_of_test_samples_that_an_update_uses(tmp_path: Path) -> None:
    assert ask(tmp_path, "data-leakage", GRADIENTS.format(after="optimizer.step()"))


SEARCH = """
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr={first})
for step in range(80):
    loss = F.mse_loss(model(x), 3 * y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    optimizer.param_groups[0]["lr"] *= {factor}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_for_the_highest_rate(tmp_path: Path, engine: str) -> None:
    text = SEARCH.format(first=1e-5, factor=1.2)
    assert not ask(tmp_path, "lr-too-high", text, engine)
    assert not ask(tmp_path, "oscillation", text, engine)


def test_a_rate_that_is_too_high_from_the_start(tmp_path: Path) -> None:
    text = SEARCH.format(first=2.0, factor=1.0)
    assert ask(tmp_path, "lr-too-high", text)


@pytest.mark.parametrize(("size", "alarms"), [(8, 0), (1, 1)])
def test_copies_that_are_fitted_a_little(tmp_path: Path, size: int, alarms: int) -> None:
    text = f"""
def fit(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for step in range(16):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(F.mse_loss(model(x), y).item())

for part in range({size}):
    fit(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)))
"""
    assert len(ask(tmp_path, "under-trained", text)) == alarms


_ABLATION = """
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.main, self.side = nn.Linear(4, 16), nn.Linear(16, 1), nn.Linear(16, 2)

    def forward(self, inputs):
        h = torch.tanh(self.body(inputs))
        return self.main(h), self.side(h)

def fitted(both):
    model = Two()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(40):
        main, side = model(x)
        more = F.cross_entropy(side, (x[:, 0] > 0).long())
        loss = F.mse_loss(main, y) + more if both else F.mse_loss(main, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

print({runs})
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("runs", "missed"), [("fitted(False), fitted(True)", False), ("fitted(False)", True)]
)
def test_a_run_without_a_part_beside_one_with_it(
    tmp_path: Path, engine: str, runs: str, missed: bool
) -> None:
    found = ask(tmp_path, "disconnected-parameter", _ABLATION.format(runs=runs), engine)
    assert bool(found) is missed
