"""What is told as ruled out never alarms: a measurement beyond a rule's own limits clears nothing.

A rule may be silent although its measurement is bad, because the run learned all the same or was
too short.  Then the measurement is not told, rather than told as if it was in order.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.doctor.asking import watched
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import rules
from whygrad.doctor.verdict import diagnose

_LOOP = """
{before}
net = {net}
{after}
optimizer = torch.optim.{optimizer}
for step in range({steps}):
    net.train()
    {loss}
    {zero}
    loss.backward()
    {update}
    {each}
"""
_USUAL = {
    "before": "",
    "net": "nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))",
    "after": "",
    "optimizer": "Adam(net.parameters(), lr=0.01)",
    "loss": "loss = F.mse_loss(net(x), y)",
    "zero": "optimizer.zero_grad()",
    "update": "optimizer.step()",
    "each": "pass",
    "steps": "25",
}
_LABELS = "labels = (x[:, 0] > 0).long()"
_TWO = "nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2){end})"
_CROSS_ENTROPY = "loss = F.cross_entropy({scores}, labels)"
_DEEP = "nn.Sequential(*[each for _ in range(9) for each in (nn.Linear(4, 4), nn.Sigmoid())])"

# Programs whose measurement is bad: nothing may be told as ruled out.
_ALARMING = {
    "bad-initialization": {"after": "with torch.no_grad(): net[0].weight.mul_(100.0)"},
    "bad-labels": {
        "before": _LABELS + "\nlabels[:8] = -100",
        "net": _TWO.format(end=""),
        "loss": _CROSS_ENTROPY.format(scores="net(x)"),
    },
    "batchnorm-single-sample": {
        "net": "nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Linear(16, 1))",
        "loss": "loss = F.mse_loss(net(x[:2]), y[:2])",
    },
    "class-imbalance": {
        "before": "labels = (x[:, 0] > 2.2).long()",
        "net": _TWO.format(end=""),
        "loss": _CROSS_ENTROPY.format(scores="net(x)"),
    },
    "clipping-hides-cause": {
        "zero": "optimizer.zero_grad()",
        "update": "torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3); optimizer.step()",
    },
    "constant-output": {"after": "with torch.no_grad(): net[2].weight.mul_(1e-4)"},
    "dead-relu": {
        "net": "nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))",
        "after": "with torch.no_grad(): net[0].bias.sub_(100.0)",
    },
    "detached-graph": {
        "loss": "loss = F.mse_loss(net[2](net[1](net[0](x)).detach()), y)",
    },
    "disconnected-parameter": {
        "net": "nn.Sequential(nn.Linear(4, 1), nn.Linear(4, 1))",
        "loss": "loss = F.mse_loss(net[0](x), y)",
    },
    "double-softmax": {
        "before": _LABELS,
        "net": _TWO.format(end=", nn.Sigmoid()"),
        "loss": _CROSS_ENTROPY.format(scores="net(x)"),
    },
    "exploding-gradient": {
        "loss": "loss = F.mse_loss(net(x), y) * (1e5 if step == 12 else 1.0)"
    },
    "frozen-parameter": {"after": "net[0].weight.requires_grad_(False)"},
    "graph-kept-alive": {"before": "kept = []", "each": "kept.append(loss)", "steps": "16"},
    "loss-broadcast": {
        "loss": "out = net(x); row = y.squeeze(1)\n"
        "    loss = -torch.exp(-((out.squeeze(1)[:, None] - row) ** 2)).mean()"
    },
    "loss-sign": {"loss": "loss = F.l1_loss(net(x), y) - F.mse_loss(net(x), y)"},
    "lr-too-high": {"optimizer": "SGD(net.parameters(), lr=3.0)", "steps": "3"},
    "lr-too-low": {"optimizer": "SGD(net.parameters(), lr=1e-9)"},
    "missing-nonlinearity": {"net": "nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 1))"},
    "missing-step": {"net": "nn.Sequential(nn.Linear(4, 1), nn.Linear(4, 1))",
                     "loss": "loss = F.mse_loss(net[0](x), y)"},
    "missing-zero-grad": {"zero": "step % 8 or optimizer.zero_grad()", "steps": "3"},
    "outlier-batch": {"loss": "loss = F.mse_loss(net(x * (30.0 if step == 5 else 1.0)), y)"},
    "over-regularized": {"optimizer": "Adam(net.parameters(), lr=0.01, weight_decay=30.0)"},
    "overfitting": {
        "each": "net.eval()\n    with torch.no_grad(): F.mse_loss(net(x), y * (1.0 + step))"
    },
    "parameter-not-in-optimizer": {"optimizer": "Adam(net[0].parameters(), lr=0.01)"},
    "saturated-activation": {"after": "with torch.no_grad(): net[0].weight.mul_(100.0)"},
    "symmetric-initialization": {
        "after": "with torch.no_grad(): net[0].weight.fill_(0.1); net[0].bias.fill_(0.0)"
    },
    "target-out-of-range": {
        "net": "nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())"
    },
    "under-trained": {"optimizer": "SGD(net.parameters(), lr=1e-9)"},
    "unscaled-input": {"loss": "loss = F.mse_loss(net(1e4 * x), y)"},
    "unscaled-target": {"loss": "loss = F.mse_loss(net(x), 1e4 + y)"},
    "vanishing-gradient": {"net": _DEEP, "loss": "loss = F.mse_loss(net(x), x)"},
    "wrong-mode": {"each": "with torch.no_grad(): net(x)", "steps": "6"},
    "wrong-output-activation": {
        "before": _LABELS,
        "net": _TWO.format(end=", nn.ReLU()"),
        "loss": _CROSS_ENTROPY.format(scores="net(x)"),
    },
}  # fmt: skip
_NUMBERS = "nan-from-division nan-from-log nan-from-sqrt nan-from-where non-finite-data"
_NUMBERS += " float16-range overflow-in-exp unstable-loss"
_LOST = {"loss": "loss = F.mse_loss(net(x), y) / (0.0 if step == 9 else 1.0)"}
_ALARMING |= dict.fromkeys(_NUMBERS.split(), _LOST)
# What these tell is that an exception did not happen, or that rows are the same.
_NO_MEASUREMENT = {"freed-graph", "inplace-corruption", "shuffled-labels", "wrong-backward"}


def _cleared(folder: Path, rule: str, **other: str) -> str | None:
    load()
    case = watched(folder, _LOOP.format(**{**_USUAL, **other}))
    case.rule = rules[rule]
    cleared = rules[rule].cleared
    assert cleared is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the script's own affair
        return cleared(case)


@pytest.mark.parametrize("rule", _ALARMING)
def test_a_bad_measurement_clears_nothing(tmp_path: Path, rule: str) -> None:
    assert _cleared(tmp_path, rule, **_ALARMING[rule]) is None


def test_every_rule_with_a_measurement_has_a_bad_one() -> None:
    load()
    telling = {each.id for each in rules.values() if each.cleared is not None}
    assert telling == set(_ALARMING) | _NO_MEASUREMENT


def test_a_run_that_is_well_is_told_so(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = watched(tmp_path, _LOOP.format(**{**_USUAL, "steps": "120"}))
        found = dict(diagnose(case).ruled_out)
    wanted = (
        "bad-initialization detached-graph exploding-gradient frozen-parameter loss-broadcast "
        "loss-sign lr-too-high lr-too-low missing-nonlinearity missing-step missing-zero-grad "
        "nan-from-log outlier-batch parameter-not-in-optimizer saturated-activation "
        "symmetric-initialization unscaled-input unscaled-target vanishing-gradient"
    )
    assert set(wanted.split()) <= set(found)


@pytest.mark.parametrize("said", ["the loss is nan", "Inf at the end", "-inf to 3"])
def test_what_is_no_number_clears_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    load()
    rule = rules["loss-sign"]
    monkeypatch.setitem(
        rules, "loss-sign", type(rule)(**{**vars(rule), "cleared": lambda case: said})
    )
    case = watched(tmp_path, _LOOP.format(**_USUAL))
    assert "loss-sign" not in dict(diagnose(case).ruled_out)
