"""Faults as they were made in published programs, each beside the sound program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ask, only, watched
from whygrad.doctor.evidence.progress import period_of
from whygrad.doctor.rules import load
from whygrad.doctor.source.preparing.rows import rows_apart
from whygrad.doctor.verdict.diagnosis import diagnose
from whygrad.doctor.verdict.urgency import pressing

_LOOP = """
for step in range({steps}):
    {batch}
    optimizer.zero_grad()
    {loss}
    loss.backward()
    optimizer.step()
"""


def loop(loss: str, steps: int = 40, batch: str = "pass") -> str:
    return _LOOP.format(loss=loss, steps=steps, batch=batch)


# --- dropout that does not ask for the mode -------------------------------------------------------

DROPS = (
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 32), nn.Linear(32, 1)
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        hidden = torch.relu(self.one(x))
        hidden = {dropped}
        return self.two(hidden)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
    + loop("loss = F.mse_loss(model(x), y)")
    + """
model.eval()
print(F.mse_loss(model(x), y).item())
"""
)


@pytest.mark.parametrize("dropped", ["F.dropout(hidden, 0.5)", "nn.Dropout(0.5)(hidden)"])
def test_dropout_that_goes_on_in_evaluation(tmp_path: Path, dropped: str) -> None:
    found = only(tmp_path, "wrong-mode", DROPS.format(dropped=f"{dropped}  # here"))
    assert found.title == "Dropout goes on in evaluation"


@pytest.mark.parametrize(
    "dropped", ["self.drop(hidden)", "F.dropout(hidden, 0.5, self.training)",
                "F.dropout(hidden, training=self.training)"]
)  # fmt: skip
def test_dropout_that_asks_for_the_mode(tmp_path: Path, dropped: str) -> None:
    assert ask(tmp_path, "wrong-mode", DROPS.format(dropped=dropped)) == []


# --- schedules ------------------------------------------------------------------------------------

CLASSES = """
inputs = torch.randn(512, 16)
labels = (inputs[:, :8].sum(1) > 0).long() + 2 * (inputs[:, 8:].sum(1) > 0).long()
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr={rate})
scheduler = {scheduler}
for epoch in range(6):
    for rows in torch.randperm(512).split(32):
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[rows]), labels[rows]).backward()
        optimizer.step()
        {batch}
    {epoch}
"""
STEPS = "torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.1)"
WARMS = "torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, i / 60))"


def test_a_schedule_of_epochs_that_is_stepped_at_each_batch(tmp_path: Path) -> None:
    text = CLASSES.format(rate=0.01, scheduler=STEPS, batch="scheduler.step()  # here", epoch="")
    found = only(tmp_path, "loss-plateau", text)
    assert any("learned little" in each or "guess" in each for each in found.evidence)
    text = CLASSES.format(rate=0.01, scheduler=STEPS, batch="pass", epoch="scheduler.step()")
    assert ask(tmp_path, "loss-plateau", text) == []


def test_a_warm_up_that_is_counted_in_batches_and_stepped_once_an_epoch(tmp_path: Path) -> None:
    text = CLASSES.format(
        rate=0.01, scheduler=f"{WARMS}  # here", batch="pass", epoch="scheduler.step()"
    )
    only(tmp_path, "scheduler-misuse", text)
    text = CLASSES.format(rate=0.01, scheduler=WARMS, batch="scheduler.step()", epoch="")
    assert ask(tmp_path, "scheduler-misuse", text) == []


# --- outputs --------------------------------------------------------------------------------------

CUT = """
labels = torch.randint(0, 10, (64,))
wide = torch.randn(64, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
""" + loop("scores = {scores}\n    loss = F.nll_loss(F.log_softmax(scores, dim=1), labels)", 60)


def test_a_rectifier_before_the_log_softmax(tmp_path: Path) -> None:
    scores = "torch.relu(model(wide))  # here"
    only(tmp_path, "wrong-output-activation", CUT.format(scores=scores))
    assert ask(tmp_path, "wrong-output-activation", CUT.format(scores="model(wide)")) == []


AVERAGED = """
bits = (torch.rand(64, 4) > 0.5).float()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 4){last})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(20):
    answer = torch.zeros_like(bits)
    for _ in range(2):
        answer += model(x)
    answer /= 2
    optimizer.zero_grad()
    F.binary_cross_entropy_with_logits(answer, bits).backward()
    optimizer.step()
"""


def test_a_mean_of_rectified_answers_as_scores(tmp_path: Path) -> None:
    (found,) = ask(tmp_path, "wrong-output-activation", AVERAGED.format(last=", nn.ReLU()"))
    assert any("relu" in each for each in found.evidence)
    assert ask(tmp_path, "wrong-output-activation", AVERAGED.format(last="")) == []


# --- terms of a loss ------------------------------------------------------------------------------

PHASES = """
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
def penalty():
    return {weight}.abs().sum()
for step in range(30):
    optimizer.zero_grad()
    (F.mse_loss(model(x), y) + 0.01 * penalty()).backward()
    optimizer.step()
for step in range(30):
    optimizer.zero_grad()
    (F.mse_loss(model(x), y) + 0.02 * penalty()).backward()
    optimizer.step()
"""


def test_a_term_that_two_phases_add_at_lines_of_their_own(tmp_path: Path) -> None:
    text = PHASES.format(weight="model.weight.clone().detach()")
    text = text.replace(".abs().sum()", ".abs().sum()  # here")
    only(tmp_path, "dead-loss-term", text)
    assert ask(tmp_path, "dead-loss-term", PHASES.format(weight="model.weight")) == []


DRAWN = """
mean, deep = nn.Parameter(torch.zeros(1, 4)), nn.Parameter(torch.full((1, 4), -3.0))
optimizer = torch.optim.Adam([mean, deep], lr=1e-2)
for step in range(30):
    law = torch.distributions.Normal(mean, deep.exp())
    weight = law.{draw}()  # here
    data = F.mse_loss(F.linear(x, weight), y)
    loss = data + 1e-3 * (law.log_prob(weight).sum() + weight.square().sum())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_weights_that_are_drawn_without_history(tmp_path: Path) -> None:
    only(tmp_path, "dead-loss-term", DRAWN.format(draw="sample"))
    assert ask(tmp_path, "dead-loss-term", DRAWN.format(draw="rsample")) == []


def test_steps_of_distributions_are_run_again(tmp_path: Path) -> None:
    """A parameter that broadcast_tensors() hands on as it is was made by nobody."""
    case = watched(tmp_path, DRAWN.format(draw="rsample"))
    trace = case.trace(case.courses[0].last)
    assert trace is not None
    assert trace.error is None
    assert trace.reproduced


CODE = """
pictures = (torch.rand(256, 100) > 0.5).float()
encoder, decoder = nn.Linear(100, 8), nn.Linear(4, 100)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for step in range(150):
    given = pictures[torch.randint(0, 256, (64,))]
    mean, deep = encoder(given).chunk(2, dim=1)
    code = mean + torch.randn_like(mean) * (0.5 * deep).exp()
    told = torch.sigmoid(decoder(code))
    data = F.binary_cross_entropy(told, given{reduced}  # here
    rest = -0.5 * torch.sum(1 + deep - mean.pow(2) - deep.exp())
    loss = data + rest / 64
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_divergence_beside_a_mean(tmp_path: Path) -> None:
    found = only(tmp_path, "over-regularized", CODE.format(reduced=")"))
    assert found.title == "The divergence drowns the loss on the data"
    text = CODE.format(reduced=", reduction='sum') / 64")
    assert ask(tmp_path, "over-regularized", text) == []


# --- pairs, counts, copies ------------------------------------------------------------------------

MIXED = """
labels = torch.randint(0, 4, (64,))
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
def mixed(t):
    order = torch.randperm(t.size(0)){seeded}
    return t[order]  # here
def both(x, y):
    given = mixed(x)  # here
    other = mixed(y)  # here
    return given, other
for step in range(30):
    given, other = both(x, labels)
    optimizer.zero_grad()
    F.cross_entropy(model(given), other).backward()
    optimizer.step()
"""


def test_a_function_that_draws_an_order_of_its_own_for_each(tmp_path: Path) -> None:
    only(tmp_path, "shuffled-labels", MIXED.format(seeded=""))
    text = MIXED.format(seeded="").replace("    order =", "    torch.manual_seed(1); order =")
    assert ask(tmp_path, "shuffled-labels", text) == []


JOINED = """
known_ps, known_ng = torch.rand(32, 4), -torch.rand(32, 4)
labels_ps, labels_ng = torch.ones(32, 1), torch.zeros(32, 1)
known = torch.cat([known_ps, known_ng])
labels = torch.cat([{first}, {second}])  # here
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
""" + loop("loss = F.binary_cross_entropy_with_logits(model(known), labels)")


def test_parts_that_are_joined_in_different_orders(tmp_path: Path) -> None:
    only(tmp_path, "shuffled-labels", JOINED.format(first="labels_ng", second="labels_ps"))
    text = JOINED.format(first="labels_ps", second="labels_ng")
    assert ask(tmp_path, "shuffled-labels", text) == []


def test_what_there_is_in_rows_is_no_order_of_them(tmp_path: Path) -> None:
    program = tmp_path / "letters.py"
    text = "letters = {}\nfirst = words[:9]\ndata = WordDataset(first, letters)\n"
    program.write_text("words = read()\n" + text.format("sorted(list(set(words)))"), "utf-8")
    assert list(rows_apart(str(program))) == []
    other = tmp_path / "other.py"
    other.write_text("words = read()\nlabels = read()\n" + text.format("sorted(labels)"), "utf-8")
    assert list(rows_apart(str(other))) != []


TASKS = (
    """
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
    + loop("loss = F.mse_loss(model(x), y)")
    + """
def judged(tasks):
    {before}
    found = []
    for given, wanted in tasks:
        {inside}
        for part in range(2):
            rows = slice(32 * part, 32 * part + 32)
            with torch.no_grad():
                answer = model(given[rows]) > 0
            right += (answer == wanted[rows]).float().sum()
        found.append(right / given.size(0))
    return found
print(judged([(x, y > 0), (x, y > 0), (x, y > 0)]))
"""
)


def test_a_count_that_goes_on_over_the_tasks(tmp_path: Path) -> None:
    text = TASKS.format(before="right = 0  # here", inside="pass")
    only(tmp_path, "metric-bug", text)
    text = TASKS.format(before="pass", inside="right = 0")
    assert ask(tmp_path, "metric-bug", text) == []


TARGET = """
import copy
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    wanted = torch.randn(32) + 0.9 * target(torch.randn(32, 4)).max(1)[0]
    loss = F.smooth_l1_loss(model(torch.randn(32, 4))[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        {follow}
"""


def test_a_model_that_is_written_from_its_target(tmp_path: Path) -> None:
    """Also where the target is asked with gradients recorded."""
    text = TARGET.format(follow="model.load_state_dict(target.state_dict())  # here")
    only(tmp_path, "stale-target", text)
    text = TARGET.format(follow="target.load_state_dict(model.state_dict())")
    assert ask(tmp_path, "stale-target", text) == []


# --- first values ---------------------------------------------------------------------------------

FIRST = """
inputs = torch.rand(256, 200)
labels = (inputs[:, 0] > 0.5).long()
model = nn.Sequential(nn.Linear(200, 64), nn.ReLU(), nn.Linear(64, 2))
for layer in (model[0], model[2]):
    nn.init.{drawn}(layer.weight)  # here
optimizer = torch.optim.SGD(model.parameters(), lr={rate})
for step in range(30):
    rows = torch.randint(0, 256, (32,))
    optimizer.zero_grad()
    F.cross_entropy(model(inputs[rows]), labels[rows]).backward()
    optimizer.step()
"""


def test_first_weights_that_all_updates_do_not_undo(tmp_path: Path) -> None:
    text = FIRST.format(drawn="normal_", rate=1e-6)
    found = only(tmp_path, "bad-initialization", text)
    assert any("before any update" in each or "ordinary" in each for each in found.evidence)
    text = FIRST.format(drawn="xavier_uniform_", rate=0.1)
    assert ask(tmp_path, "bad-initialization", text) == []


def test_first_weights_that_the_first_update_answers_with_death(tmp_path: Path) -> None:
    text = FIRST.format(drawn="uniform_", rate=0.5)
    case = watched(tmp_path, text)
    load()
    assert "bad-initialization" in pressing(case)
    found = only(tmp_path, "bad-initialization", text)
    assert any("ordinary weights" in each for each in found.evidence)


# --- what was learned -----------------------------------------------------------------------------


def test_batches_that_come_again_are_compared_with_themselves() -> None:
    epoch = [27.0, 26.0, 25.5, 24.0, 19.0, 18.5, 18.0, 17.5]
    flat = [each + 0.01 * place for place in range(6) for each in epoch]
    assert period_of(flat) == len(epoch)
    assert period_of(flat[:20]) == 0  # too few epochs to tell
    assert period_of([3.0 / (1 + place) for place in range(60)]) == 0
    noise = [float((7 * place * place + 3 * place) % 31) for place in range(20)]
    assert period_of(noise) == 0


SORTED = """
lengths = torch.arange(16, 0, -1).float()
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
for epoch in range(6):
    for length in lengths:
        optimizer.zero_grad()
        (model(torch.ones(8, 1)).exp() * length).sum().backward()
        optimizer.step()
"""


def test_a_run_over_sorted_batches_that_learned_nothing_is_not_called_well(tmp_path: Path) -> None:
    case = watched(tmp_path, SORTED)
    assert case.progress(case.courses[0]).curve == pytest.approx(0, abs=0.01)
    assert not diagnose(case).well


ENERGY = """
model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr={rate})
drawn = torch.randn(64, 4)
for step in range(40):
    held = drawn.detach().requires_grad_()
    (slope,) = torch.autograd.grad(model(held).sum(), held)
    drawn = (held - 0.5 * slope + 0.1 * torch.randn(64, 4)).detach()
    loss = model(x).mean() - model(drawn).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_difference_of_two_means_says_nothing_of_the_rate(tmp_path: Path) -> None:
    assert ask(tmp_path, "lr-too-high", ENERGY.format(rate=5.0)) == []


SPARE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.last = nn.Linear(4, 16), nn.Linear(4, 16), nn.Linear(16, 1)
    def forward(self, x):
        return self.last(torch.tanh(self.one(x)) + torch.tanh({other}))
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
""" + loop("loss = F.mse_loss(model(x), y)", 40)


def test_what_is_left_over_and_what_stands_in_its_place(tmp_path: Path) -> None:
    load()
    found = diagnose(watched(tmp_path, SPARE.format(other="self.one(-x)")))
    assert "disconnected-parameter" in [each.rule for each in found.causes]
    found = diagnose(watched(tmp_path, SPARE.format(other="x[:, :1]")))
    assert "disconnected-parameter" in [each.rule for each in found.asides]
    assert "disconnected-parameter" not in [each.rule for each in found.causes]
