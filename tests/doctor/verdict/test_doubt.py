"""The tick is an assertion: it stands only under a run that is shown to have learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, only, watched
from whygrad.doctor import Diagnosis
from whygrad.doctor.evidence.standing import standing_of
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import rules
from whygrad.doctor.verdict import diagnose
from whygrad.doctor.verdict.doubt import doubt_of_learning

_LEARNS = """
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(80):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
"""

_POLICY = """
policy = nn.Linear(4, 3)
opt = torch.optim.SGD(policy.parameters(), lr=0.01)
for step in range(60):
    chances = torch.distributions.Categorical(logits=policy(x))
    drawn = chances.sample()
    paid = (drawn == 1).float()
    opt.zero_grad()
    loss = -(chances.log_prob(drawn) * paid).mean()
    loss.backward()
    opt.step()
"""

_GUESSES = """
labels = torch.randint(0, 3, (64,))
model = nn.Linear(4, 3)
opt = torch.optim.SGD(model.parameters(), lr=1e-9)
for step in range(60):
    opt.zero_grad()
    loss = F.cross_entropy(model(x * 0), labels)
    loss.backward()
    opt.step()
"""

_PLAYERS = """
maker, judge = nn.Linear(4, 4), nn.Linear(4, 1)
making, judging = (torch.optim.Adam(each.parameters(), lr=1e-3) for each in (maker, judge))
one, nought = torch.ones(64, 1), torch.zeros(64, 1)
for step in range(40):
    made = maker(torch.randn(64, 4))
    judging.zero_grad()
    real = F.binary_cross_entropy_with_logits(judge(x), one)
    (real + F.binary_cross_entropy_with_logits(judge(made.detach()), nought)).backward()
    judging.step()
    making.zero_grad()
    F.binary_cross_entropy_with_logits(judge(made), one).backward()
    making.step()
"""

_NO_UPDATE = """
w = torch.zeros(4, 1, requires_grad=True)
F.mse_loss(x @ w, y).backward()
"""


def diagnosed(folder: Path, text: str, engine: str = "torch") -> Diagnosis:
    """Without any rule: what is left is what the verdict says by itself."""
    load()
    return diagnose(watched(folder, text, engine), frozenset(rules))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_learned_is_well(tmp_path: Path, engine: str) -> None:
    diagnosis = diagnosed(tmp_path, _LEARNS, engine)
    assert diagnosis.doubt is None
    assert diagnosis.well
    assert diagnosis.report().startswith("✓ Nothing wrong")
    assert diagnosis.to_dict()["status"] == "healthy"


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (_POLICY, "what the model itself draws"),
        (_GUESSES, "the best answer that ignores the input costs"),
        (_PLAYERS, "move each other's aim"),
        (_NO_UPDATE, "no parameter was ever updated"),
        ("total = x.sum()", "never called backward()"),
    ],
    ids=["policy", "guesses", "players", "no update", "no backward"],
)
def test_what_is_not_shown_to_learn_gets_no_tick(tmp_path: Path, text: str, doubt: str) -> None:
    diagnosis = diagnosed(tmp_path, text)
    assert diagnosis.healthy
    assert not diagnosis.well
    assert doubt in str(diagnosis.doubt)
    told = diagnosis.report(width=400)
    assert told.startswith("? Nothing found; not called well")
    assert "✓" not in told
    assert doubt[1:] in told  # a sentence there
    assert diagnosis.to_dict()["status"] == "unclear"
    assert 'class="verdict unclear"' in diagnosis.report("html")


_FROZEN_BESIDE = """
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(80):
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
for each in model.parameters():
    each.requires_grad = False
opt = torch.optim.Adam(model.parameters(), lr=0.02)  # here
model[2] = nn.Linear(16, 1)
for step in range(40):
    opt.zero_grad()
    F.mse_loss(model(x), -y).backward()
    opt.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_training_without_gradients(tmp_path: Path, engine: str) -> None:
    """What an optimizer of frozen parameters leaves as it was is named, and gets no tick."""
    only(tmp_path, "parameter-not-in-optimizer", _FROZEN_BESIDE, engine)
    (tmp_path / "again").mkdir()
    doubt = doubt_of_learning(watched(tmp_path / "again", _FROZEN_BESIDE, engine))
    assert doubt is not None
    assert "none of the 40 updates" in doubt


_RANKING = """
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.02)
first, second, third = x, x + 0.1, -x
for step in range(80):
    one, near, far = model(first), model(second), model(third)
    loss = F.triplet_margin_loss(one, near, far, margin=0.5)
    loss = loss + {} * (one.square() + near.square() + far.square()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_ranking_that_tells_nothing_apart(tmp_path: Path, engine: str) -> None:
    doubt = doubt_of_learning(watched(tmp_path, _RANKING.format(100), engine))
    assert doubt is not None
    assert "margin of 0.5" in doubt
    (tmp_path / "learns").mkdir()
    assert doubt_of_learning(watched(tmp_path / "learns", _RANKING.format(0), engine)) is None


_INNER_STEP = """
weight = (3 * torch.randn(4, 3)).requires_grad_()
opt = torch.optim.Adam([weight], lr=0.2)
rule = torch.randn(4, 3)
for step in range(80):
    losses = []
    for task in range(2):
        given, asked = torch.randn(32, 4), torch.randn(32, 4)
        known, wanted = (given @ rule).argmax(1), {}
        inner = F.cross_entropy(given @ weight, known)
        (slope,) = torch.autograd.grad(inner, weight, create_graph=True)
        losses.append(F.cross_entropy(asked @ (weight - 0.4 * slope), wanted))
    opt.zero_grad()
    (sum(losses) / len(losses)).backward()
    opt.step()
"""


def test_classes_at_chance_in_a_step_that_cannot_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its loss fell from large first weights to what the same answer for all classes costs."""
    monkeypatch.setattr("whygrad.doctor.verdict.doubt.standing_of", lambda case, course: None)
    shuffled = "(asked @ rule).argmax(1)[torch.randperm(32)]"
    doubt = doubt_of_learning(watched(tmp_path, _INNER_STEP.format(shuffled)))
    assert doubt is not None
    assert "the same of all classes costs 1.099" in doubt
    (tmp_path / "learns").mkdir()
    learns = watched(tmp_path / "learns", _INNER_STEP.format("(asked @ rule).argmax(1)"))
    assert doubt_of_learning(learns) is None


_SUMMED = """
wanted = torch.sigmoid(3 * x @ torch.randn(4, 6))
model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 6), nn.Sigmoid())
opt = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(120):
    opt.zero_grad()
    F.binary_cross_entropy(model(x), wanted, size_average=False).backward()
    opt.step()
"""


@pytest.mark.filterwarnings("ignore:size_average")  # PyTorch's own advice
def test_a_sum_in_the_words_of_older_programs(tmp_path: Path) -> None:
    """What a constant costs is told for each element, and so is what was reached."""
    case = watched(tmp_path, _SUMMED)
    standing = standing_of(case, case.courses[0])
    assert standing is not None
    assert standing.reached < standing.constant < 1
    assert doubt_of_learning(case) is None
