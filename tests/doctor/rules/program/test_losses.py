"""Faults between the model's output and the loss: each rule, its line, and its healthy relatives.

A case is a few lines of a training loop; the line that is to be named ends with ``# here``.  Only
the rules of this family are asked: what others make of such short runs does not matter.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only
from tests.test_scripts import swapped
from whygrad.doctor import rules, run_script
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import Finding

pytest.importorskip("torch")

FAMILY = (
    "double-softmax",
    "loss-broadcast",
    "loss-sign",
    "softmax-over-one",
    "wrong-dim",
    "wrong-output-activation",
)
HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(3)
x = torch.randn(24, 5)
labels = (x @ torch.randn(5, 4)).argmax(1)
binary = (x[:, :1] > 0).float()
amount = x[:, 0] - 2 * x[:, 1]
onehot = F.one_hot(labels, 4).float()
classes, one = nn.Linear(5, 4), nn.Linear(5, 1)
"""
LOOP = """
opt = torch.optim.SGD([*classes.parameters(), *one.parameters()], lr=0.1)
for step in range(3):
{body}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
TOKENS = """
tokens = torch.arange(6 * {n}).reshape(6, {n}) * 7 % 8
emb, head = nn.Embedding(8, 12), nn.Linear(12, 8)
classes, one = emb, head
"""

BROKEN = [
    ("double-softmax", "", "loss = F.cross_entropy(classes(x).softmax(1), labels)  # here"),
    (
        "double-softmax",
        "net = nn.Sequential(\n    classes,\n    nn.Softmax(dim=1),  # here\n)",
        "loss = F.nll_loss(F.log_softmax(net(x), dim=1), labels)",
    ),
    (
        "double-softmax",
        "",
        "e = classes(x).exp()\n"
        "p = e / e.sum(1, keepdim=True)  # here\n"
        "loss = F.cross_entropy(p, labels)",
    ),
    (
        "double-softmax",
        "",
        "p = classes(x).softmax(1)  # here\n"
        "loss = (p.logsumexp(1) - p.gather(1, labels[:, None]).squeeze(1)).mean()",
    ),
    ("softmax-over-one", "", "loss = F.mse_loss(one(x).softmax(-1), binary)  # here"),
    ("softmax-over-one", "", "loss = F.cross_entropy(one(x), binary)  # here"),
    ("softmax-over-one", "", "loss = F.cross_entropy(one(x), binary[:, 0].long())  # here"),
    (
        "softmax-over-one",
        "bags = torch.randn(24, 6, 5)",
        "w = torch.softmax(one(bags), dim=-1)  # here\n"
        "loss = F.cross_entropy(classes((w * bags).sum(1)), labels)",
    ),
    ("wrong-output-activation", "", "loss = F.nll_loss(classes(x), labels)  # here"),
    ("wrong-output-activation", "", "loss = F.nll_loss(classes(x).softmax(1), labels)  # here"),
    ("wrong-output-activation", "", "loss = F.cross_entropy(classes(x).sigmoid(), labels)  # here"),
    (
        "wrong-output-activation",
        "",
        "loss = F.nll_loss(F.log_softmax(torch.tanh(classes(x)), dim=1), labels)  # here",
    ),
    ("wrong-output-activation", "", "loss = F.kl_div(classes(x).softmax(1), onehot)  # here"),
    ("wrong-output-activation", "", "loss = F.kl_div(classes(x), onehot)  # here"),
    (
        "wrong-output-activation",
        "",
        "loss = F.kl_div(classes(x).log_softmax(1), onehot.add(0.1).log())  # here",
    ),
    ("wrong-output-activation", "", "loss = F.binary_cross_entropy(one(x), binary)  # here"),
    (
        "wrong-output-activation",
        "",
        "p = one(x).clamp(0.01, 0.99)\nloss = F.binary_cross_entropy(p, binary)  # here",
    ),
    (
        "wrong-output-activation",
        "",
        "p = 1 / (1 + torch.exp(-one(x)))  # here\n"
        "loss = F.binary_cross_entropy_with_logits(p, binary)",
    ),
    (
        "wrong-output-activation",
        "",
        "s = F.relu(one(x))  # here\nloss = F.binary_cross_entropy(torch.sigmoid(s), binary)",
    ),
    (
        "wrong-output-activation",
        "several = (x[:, :4] > -1).float()",
        "loss = F.binary_cross_entropy(classes(x).softmax(1), several)  # here",
    ),
    (
        "wrong-output-activation",
        "",
        "loss = F.poisson_nll_loss(one(x).exp(), binary)  # here",
    ),
    ("wrong-output-activation", "", "loss = F.l1_loss(F.relu(one(x)).squeeze(1), amount)  # here"),
    ("wrong-output-activation", "", "loss = (amount - one(x).relu()[:, 0]).pow(2).mean()  # here"),
    ("wrong-dim", "", "loss = F.nll_loss(classes(x).log_softmax(0), labels)  # here"),
    ("wrong-dim", "", "loss = ((classes(x).softmax(0) - onehot) ** 2).mean()  # here"),
    (
        "wrong-dim",
        "",
        "logp = classes(x).log_softmax(0)  # here\nloss = -logp.gather(1, labels[:, None]).mean()",
    ),
    ("wrong-dim", "", "loss = F.cross_entropy(one(x).squeeze(1), binary.squeeze(1))  # here"),
    (
        "wrong-dim",
        TOKENS.format(n=9),
        "loss = F.cross_entropy(head(emb(tokens[:, :-1])), tokens[:, 1:])  # here",
    ),
    (
        "wrong-dim",
        TOKENS.format(n=6),
        "loss = F.cross_entropy(head(emb(tokens[:, :-1])), tokens[:, 1:])  # here",
    ),
    (
        "wrong-dim",
        TOKENS.format(n=6),
        "loss = F.cross_entropy(head(emb(tokens[:, :-1])).view(6, 8, 5), tokens[:, 1:])  # here",
    ),
    (
        "wrong-dim",
        "bags = torch.randn(24, 6, 5)",
        "w = torch.softmax(one(bags).squeeze(-1), dim=0)  # here\n"
        "loss = F.cross_entropy(classes((w.unsqueeze(-1) * bags).sum(1)), labels)",
    ),
    ("loss-broadcast", "", "loss = F.mse_loss(one(x), amount)  # here"),
    ("loss-broadcast", "", "loss = F.mse_loss(one(x).squeeze(1), amount[:, None])  # here"),
    ("loss-broadcast", "", "loss = (one(x) - amount).abs().sum(1).mean()  # here"),
    (
        "loss-broadcast",
        "y = binary.squeeze(1)",
        "p = one(x).sigmoid()\nloss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()  # here",
    ),
    (
        "loss-broadcast",
        "",
        "loss = F.binary_cross_entropy_with_logits(one(x), binary.squeeze(1))  # here",
    ),
    ("loss-sign", "", "loss = -F.cross_entropy(classes(x), labels)  # here"),
    ("loss-sign", "", "loss = 1 - ((one(x).squeeze(1) - amount) ** 2).mean()  # here"),
    (
        "loss-sign",
        "",
        "picked = classes(x).log_softmax(1)[range(24), labels]\nloss = picked.mean()  # here",
    ),
    ("loss-sign", "", "loss = (onehot * classes(x).log_softmax(1)).sum(1).mean()  # here"),
    (
        "loss-sign",
        "",
        "p = one(x).sigmoid()\n"
        "loss = (binary * p.log() + (1 - binary) * (1 - p).log()).mean()  # here",
    ),
    (
        "loss-sign",
        "sides = 2 * binary - 1",
        "loss = -torch.clamp(1 - sides * one(x), min=0).mean()  # here",
    ),
]  # fmt: skip

HEALTHY = [
    ("", "loss = F.cross_entropy(classes(x).log_softmax(1), labels)"),
    ("", "loss = F.nll_loss(torch.log(classes(x).softmax(1) + 1e-9), labels)"),
    ("", "p = classes(x).log_softmax(1)\nloss = F.nll_loss((1 - p.exp()) ** 2 * p, labels)"),
    ("", "loss = F.kl_div(classes(x).log_softmax(1), onehot, reduction='batchmean')"),
    ("", "loss = ((classes(x).softmax(1) - onehot) ** 2).sum(1).mean()"),
    ("", "loss = F.binary_cross_entropy(classes(x).softmax(1), onehot)"),
    ("", "loss = F.mse_loss(F.relu(one(x)).squeeze(1), amount.abs())"),
    ("", "loss = F.mse_loss(one(x), torch.ones(1))"),
    ("bags = torch.randn(24, 1, 5)", "w = one(bags).squeeze(-1).softmax(1)\n"
     "loss = F.cross_entropy(classes((w.unsqueeze(-1) * bags).sum(1)), labels)"),
    ("turns = torch.randn(6, 24, 5)", "w = one(turns).softmax(0)\n"
     "loss = F.cross_entropy(classes((w * turns).sum(0)), labels)"),
    ("", "s = one(x).squeeze(1)\nloss = -(amount.softmax(0) * s.log_softmax(0)).sum()"),
    (TOKENS.format(n=6),
     "loss = F.cross_entropy(head(emb(tokens[:, :-1])).transpose(1, 2), tokens[:, 1:])"),
    ("", "s = classes(x) @ classes(x + 0.1).T\nloss = F.cross_entropy(s.T, torch.arange(24))"),
    ("", "f = one(x).squeeze(1)\nloss = -torch.exp(-((f[:, None] - amount) ** 2)).mean()"),
    ("", "f = one(x).squeeze(1)\nloss = (amount[:, None] - f).abs().min(1).values.mean()"),
    ("", "logp = classes(x).log_softmax(1)\na = torch.multinomial(logp.detach().exp(), 1)\n"
     "loss = (logp.gather(1, a) * torch.rand(24, 1)).mean()"),
    ("", "loss = F.cross_entropy(classes(x), labels) - 0.1 * F.mse_loss(one(x), amount[:, None])"),
    ("", "loss = -F.cosine_similarity(classes(x), onehot, dim=1).mean()"),
    ("", "ll = -0.5 * (one(x).squeeze(1) - amount) ** 2\nloss = -ll.mean()"),
]  # fmt: skip


def examine(tmp_path: Path, engine: str, text: str) -> tuple[list[Finding], int]:
    """What this family says about a script, and the line that it should name."""
    load()
    text = swapped(text) if engine == "whygrad" else text
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    others = frozenset(each for each in rules if each not in FAMILY)
    diagnosis = run_script(str(path), ignore=others).diagnosis
    assert diagnosis.failures == []
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    return [each for each in diagnosis.findings if each.caused_by is None], (*lines, 0)[0]


def line_of(finding: Finding) -> int:
    assert finding.where is not None
    return finding.where.line


def loop(setup: str, body: str) -> str:
    indented = "\n".join("    " + line for line in body.splitlines())
    return HEAD + setup + LOOP.format(body=indented)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("rule", "setup", "body"), BROKEN)
def test_names_the_fault_and_its_line(
    tmp_path: Path, engine: str, rule: str, setup: str, body: str
) -> None:
    found, line = examine(tmp_path, engine, loop(setup, body))
    assert [each.rule for each in found] == [rule]
    assert line_of(found[0]) == line
    assert any(character.isdigit() for character in "".join(found[0].evidence))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("setup", "body"), HEALTHY)
def test_says_nothing_about_what_is_meant(
    tmp_path: Path, engine: str, setup: str, body: str
) -> None:
    found, _ = examine(tmp_path, engine, loop(setup, body))
    assert found == []


UPDATES = {
    "added by hand": ("with torch.no_grad():\n        w += 0.1 * w.grad  # here", "-", True),
    "through data": ("w.data.add_(0.1 * w.grad)  # here", "-", True),
    "subtracted": ("w.data.sub_(0.1 * w.grad)", "-", False),
    "a likelihood climbed": ("w.data.add_(0.1 * w.grad)", "+", False),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", UPDATES)
def test_direction_of_updates_by_hand(tmp_path: Path, engine: str, name: str) -> None:
    update, sign, wrong = UPDATES[name]
    objective = "((x @ w - y) ** 2).mean()" if sign == "-" else "-((x @ w - y) ** 2).mean()"
    text = f"""
import torch
torch.manual_seed(0)
x = torch.randn(20, 3)
y = x.sum(1)
w = torch.zeros(3, requires_grad=True)
for step in range(4):
    loss = {objective}
    loss.backward()
    {update}
    w.grad = None
"""
    found, line = examine(tmp_path, engine, text)
    assert [each.rule for each in found] == (["loss-sign"] if wrong else [])
    if wrong:
        assert line_of(found[0]) == line


@pytest.mark.parametrize("engine", ENGINES)
def test_maximize_is_named_where_it_is_said(tmp_path: Path, engine: str) -> None:
    text = loop("", "loss = F.cross_entropy(classes(x), labels)").replace(
        "lr=0.1)", "lr=0.1, maximize=True)  # here"
    )
    found, line = examine(tmp_path, engine, text)
    assert [each.rule for each in found] == ["loss-sign"]
    assert line_of(found[0]) == line
    assert "maximize=True" in found[0].evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_adversary_may_climb(tmp_path: Path, engine: str) -> None:
    text = (
        HEAD
        + """
first = torch.optim.SGD(classes.parameters(), lr=0.1)
judge = nn.Linear(4, 1)
second = torch.optim.SGD(judge.parameters(), lr=0.1)
for step in range(3):
    fake = classes(x)
    second.zero_grad()
    F.binary_cross_entropy_with_logits(judge(fake.detach()), torch.zeros(24, 1)).backward()
    second.step()
    first.zero_grad()
    (-F.binary_cross_entropy_with_logits(judge(fake), torch.zeros(24, 1))).backward()
    first.step()
"""
    )
    assert examine(tmp_path, engine, text)[0] == []


@pytest.mark.filterwarnings("ignore")
def test_texts_name_shapes_lines_and_a_way_out(tmp_path: Path) -> None:
    found, line = examine(tmp_path, "torch", loop("", "loss = F.mse_loss(one(x), amount)  # here"))
    assert found[0].evidence == [
        "the prediction has shape [24, 1], the target [24]",
        f"mse_loss at line {line} makes [24, 24] of them: 576 comparisons instead of 24",
    ]
    assert found[0].fix == f"prediction.squeeze(-1) at line {line}, so that both are [24]"


ATTENTION = (
    "seen = classes(x).reshape(4, 6, 4)\n"
    "scores = seen @ seen.transpose(1, 2) / 2\n"
    "{weights}\n"
    "loss = F.mse_loss((weights @ x.reshape(4, 6, 5)).sum(2), amount.reshape(4, 6))"
)


@pytest.mark.parametrize("engine", ENGINES)
def test_attention_over_the_queries(tmp_path: Path, engine: str) -> None:
    wrong = ATTENTION.format(weights="weights = torch.softmax(scores, dim=1)  # here")
    found, line = examine(tmp_path, engine, loop("", wrong))
    assert [each.rule for each in found] == ["wrong-dim"]
    assert line_of(found[0]) == line
    for right in (
        "weights = F.dropout(torch.softmax(scores, dim=2), 0.1)",
        "weights = torch.softmax(scores, dim=1).transpose(1, 2)",
        "weights = torch.softmax(scores, dim=1)\nweights = weights / weights.sum(2, keepdim=True)",
        "weights = torch.softmax(seen.repeat(1, 1, 2)[:, :, :6], dim=1)",  # not a comparison
    ):
        assert examine(tmp_path, engine, loop("", ATTENTION.format(weights=right)))[0] == []


PAIRS = (
    "u, v = classes(x), classes(x.flip(1))\n"
    "unit = F.normalize(u, dim=1) * F.normalize(v, dim=1)\n"
    "loss = {loss}  # here"
)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_similarity_of_pairs(tmp_path: Path, engine: str) -> None:
    for wrong in ("F.cosine_similarity(u, v).mean()", "unit.sum(1).mean()"):
        found, line = examine(tmp_path, engine, loop("", PAIRS.format(loss=wrong)))
        assert [each.rule for each in found] == ["loss-sign"]
        assert line_of(found[0]) == line
    for right in (
        "1 - F.cosine_similarity(u, v).mean()",
        "F.cosine_similarity(u, v).square().mean()",
        "F.cosine_similarity(u, v).mean() - F.cosine_similarity(u, classes(x + 0.1)).mean()",
        "F.cosine_similarity(u, F.linear(x, classes.weight.flip(0))).mean()",  # of the same input
    ):
        assert examine(tmp_path, engine, loop("", PAIRS.format(loss=right)))[0] == []


_SHARES = """
pictures = {target}
model = nn.Linear(4, {outputs})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    answers = torch.softmax(model(x).view({shape}), dim=1)  # here
    loss = F.{loss}(answers, pictures)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("loss", ["binary_cross_entropy", "mse_loss"])
def test_a_softmax_before_pixels(tmp_path: Path, loss: str) -> None:
    grey = _SHARES.format(target="torch.rand(64, 9)", outputs=9, shape="64, 9", loss=loss)
    assert "add up to" in str(only(tmp_path, "wrong-output-activation", grey).evidence)
    masks = "F.one_hot(torch.randint(0, 3, (64, 6)), 3).transpose(1, 2).float()"
    right = _SHARES.format(target=masks, outputs=18, shape="64, 3, 6", loss=loss)
    assert ask(tmp_path, "wrong-output-activation", right) == []


_STEP_BY_STEP = """
series = torch.randn(32, 5, 4)
labels = (series[:, :, 0] > 0).long()
cell, out = nn.GRUCell(4, 16), nn.Linear(16, {width})
optimizer = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=0.01)
for step in range(60):
    state, answers = torch.zeros(32, 16), torch.zeros(5, 32, {width})
    for at in range(5):
        state = cell(series[:, at], state)
        answers[at] = {made}  # here
    loss = {loss}  # here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("width", "made", "loss", "rule"),
    [
        (2, "F.softmax(out(state), dim=1)",
         "F.cross_entropy(answers.transpose(0, 1).reshape(-1, 2), labels.reshape(-1))",
         "double-softmax"),
        (1, "torch.sigmoid(out(state))",
         "F.binary_cross_entropy_with_logits(answers.squeeze(2), labels.T.float())",
         "wrong-output-activation"),
        (2, "out(state)",
         "F.cross_entropy(answers.transpose(0, 1).reshape(-1, 2), labels.reshape(-1))", None),
    ],
    ids=["softmax", "sigmoid", "none"],
)  # fmt: skip
def test_answers_written_step_by_step_into_a_buffer(
    tmp_path: Path, engine: str, width: int, made: str, loss: str, rule: str | None
) -> None:
    text = _STEP_BY_STEP.format(width=width, made=made, loss=loss)
    if rule is None:
        assert ask(tmp_path, "double-softmax", text, engine) == []
    else:
        only(tmp_path, rule, text, engine)
