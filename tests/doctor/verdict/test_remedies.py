"""A fix is tried before it is told: training with it, beside the same training without."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, watched
from whygrad.doctor.experiments.remedies import SHOWN, Remedy, _helped, attempt
from whygrad.doctor.rules.rule import Finding
from whygrad.doctor.verdict import Diagnosis, diagnose

_TRAINING = """
net = {net}
optimizer = torch.optim.{optimizer}
for step in range({steps}):
    out = net(x)
    {loss}
    {zero}
    loss.backward()
    {update}
"""
_USUAL = {
    "net": "nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))",
    "optimizer": "Adam(net.parameters(), lr=0.01)",
    "loss": "loss = F.mse_loss(out, y)",
    "zero": "optimizer.zero_grad()",
    "update": "optimizer.step()",
    "steps": "40",
}
_CLASSES = "nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 5){end})"
_LABELS = "labels = (x > 0).sum(1)\n"
_CROSS_ENTROPY = "loss = F.cross_entropy(out, labels)"
_BINARY = "labels = (y > 0).float()\n"
_PARTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 32)
        self.last = nn.Linear(32, 1)
        {init}

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        {hidden}
        return self.last(hidden)
"""

# What is wrong: the rule, and what the program does otherwise than usual.
_FAULTS = {
    "softmax twice": (
        "double-softmax",
        {
            "before": _LABELS,
            "net": _CLASSES.format(end=", nn.Softmax(dim=1)"),
            "loss": _CROSS_ENTROPY,
        },
    ),
    "softmax twice, by hand": (
        "double-softmax",
        {
            "before": _LABELS,
            "net": _CLASSES.format(end=""),
            "loss": "e = out.exp(); out = e / e.sum(1, keepdim=True)\n    " + _CROSS_ENTROPY,
        },
    ),
    "sigmoid before the logits": (
        "wrong-output-activation",
        {
            "before": _BINARY,
            "loss": "loss = F.binary_cross_entropy_with_logits(torch.sigmoid(out), labels)",
        },
    ),
    "scores without log_softmax": (
        "wrong-output-activation",
        {
            "before": _LABELS,
            "net": _CLASSES.format(end=""),
            "loss": "loss = F.nll_loss(out, labels)",
        },
    ),
    "probabilities without log": (
        "wrong-output-activation",
        {
            "before": _LABELS,
            "net": _CLASSES.format(end=", nn.Softmax(dim=1)"),
            "loss": "loss = F.nll_loss(out, labels)",
        },
    ),
    "relu at the end": (
        "wrong-output-activation",
        {"loss": "loss = F.mse_loss(F.relu(out), y)"},
    ),
    "softmax of one output": (
        "softmax-over-one",
        {
            "before": _BINARY,
            "loss": "loss = F.binary_cross_entropy(torch.softmax(out, 1), labels)",
        },
    ),
    "softmax over the batch": (
        "wrong-dim",
        {
            "before": _LABELS,
            "net": _CLASSES.format(end=""),
            "loss": "loss = F.nll_loss(torch.log_softmax(out, dim=0), labels)",
        },
    ),
    "minus the error": ("loss-sign", {"loss": "loss = -F.mse_loss(out, y)"}),
    "maximize": (
        "loss-sign",
        {"optimizer": "SGD(net.parameters(), lr=0.01, maximize=True)"},
    ),
    "column against row": ("loss-broadcast", {"loss": "loss = F.mse_loss(out, y.squeeze(1))"}),
    "detached": (
        "detached-graph",
        {
            "before": _PARTS.format(init="pass", hidden="hidden = hidden.detach()"),
            "net": "Net()",
        },
    ),
    "frozen, and the module told": (
        "frozen-parameter",
        {
            "before": _PARTS.format(init="pass", hidden="pass"),
            "net": "Net()\nfor each in net.parameters():\n    each.requires_grad = False\n"
            "net.last.weight.requires_grad_()\nnet.first.requires_grad = True",
        },
    ),
    "in a list": (
        "parameter-not-in-optimizer",
        {
            "before": _PARTS.format(
                init="self.hidden = [nn.Linear(32, 32)]", hidden="hidden = self.hidden[0](hidden)"
            ),
            "net": "Net()",
        },
    ),
    "no step": ("missing-step", {"update": "pass"}),
    "log of a raw output": (
        "nan-from-log",
        {"loss": "loss = (torch.log(out) - y).square().mean()"},
    ),
    "root at zero": (
        "nan-from-sqrt",
        {"loss": "loss = torch.sqrt((out - y).square().sum() * (x - x).sum()).sum() + out.sum()"},
    ),
    "out of range": (
        "target-out-of-range",
        {"loss": "loss = F.mse_loss(torch.sigmoid(out), 3 * y)"},
    ),
}


def _script(**other: str) -> str:
    parts = {**_USUAL, **other}
    return parts.pop("before", "") + _TRAINING.format(**parts)


def _diagnosed(folder: Path, text: str, engine: str = "torch") -> Diagnosis:
    case = watched(folder, text, engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the script's own affair
        return diagnose(case)


def _cause(found: Diagnosis, rule: str) -> Finding:
    assert not found.failures
    chosen = [each for each in found.causes if each.rule == rule]
    assert chosen, [each.rule for each in found.findings]
    return chosen[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fault", _FAULTS)
def test_the_fix_is_tried_and_helps(tmp_path: Path, fault: str, engine: str) -> None:
    rule, other = _FAULTS[fault]
    cause = _cause(_diagnosed(tmp_path, _script(**other), engine), rule)
    tried = cause.tried
    assert tried is not None
    assert tried.helped, tried.text
    assert tried.start is not None
    assert tried.with_fix is not None
    assert tried.as_it_is is not None
    assert tried.with_fix < tried.start
    assert not tried.with_fix >= tried.as_it_is
    assert tried.text.startswith("tried: ")
    assert "with the fix" in tried.text


def test_what_a_single_batch_does_not_show(tmp_path: Path) -> None:
    text = _script(zero="pass", optimizer="Adam(net.parameters(), lr=0.003)", steps="60")
    tried = _cause(_diagnosed(tmp_path, text), "missing-zero-grad").tried
    assert tried is not None
    assert tried.helped or "either way" in tried.text


def test_a_fix_that_does_not_help_is_worded_down(tmp_path: Path) -> None:
    case = watched(tmp_path, _script())
    snapshot = case.courses[0].first
    worse = attempt(case, Remedy(snapshot, mended={"factor": 1e4}))
    assert worse is not None
    assert worse.helped is False
    assert "did not help" in worse.text
    found = _diagnosed(tmp_path, _script(loss="loss = -F.mse_loss(out, y)"))
    found.findings[0].tried = worse
    report = found.report()
    assert "What is usually the fix" in report
    assert "did not help" in report


def test_what_cannot_be_tried_says_so(tmp_path: Path) -> None:
    hidden = "hidden = torch.from_numpy(hidden.detach().numpy())"
    text = _script(before=_PARTS.format(init="pass", hidden=hidden), net="Net()")
    found = _diagnosed(tmp_path, text)
    tried = _cause(found, "detached-graph").tried
    assert tried is not None
    assert tried.helped is None
    assert tried.text.startswith("not tried: ")
    assert tried.text in " ".join(found.report(width=200).split())


def test_what_was_found_by_a_trial_is_not_tried_again(tmp_path: Path) -> None:
    text = _script(optimizer="SGD(net.parameters(), lr=5.0)")
    found = _diagnosed(tmp_path, text)
    assert found.verdict is not None
    assert found.verdict.proof.value == "tried"
    assert found.verdict.tried is None
    assert attempt(found.case, SHOWN) is None


def test_the_report_as_data(tmp_path: Path) -> None:
    found = _diagnosed(tmp_path, _script(loss="loss = -F.mse_loss(out, y)"))
    facts = json.loads(found.report("json"))
    assert facts["schema"] == 2
    tried = facts["verdict"]["tried"]
    assert tried["helped"] is True
    assert math.isfinite(tried["with_fix"])
    assert tried["text"] in " ".join(found.report(width=300).split())


def test_an_examination_without_time(tmp_path: Path) -> None:
    case = watched(tmp_path, _script())
    snapshot = case.courses[0].first
    assert case.trial(case.courses[0], snapshot) is not None
    case.budget.least = 0.0  # nothing is left
    tried = attempt(case, Remedy(snapshot))
    assert tried is not None
    assert tried.text == "not tried: the examination had no time left for it"


@pytest.mark.parametrize(
    ("start", "after", "before", "helped"),
    [
        (2.3, 0.8, 2.29, True),
        (2.3, 0.8, math.nan, True),
        (2.3, 2.3, math.nan, True),  # it stays a number
        (2.3, 2.28, 2.29, False),
        (2.31, 2.23, 2.29, None),  # a little lower
        (-2.4, 3.5, math.nan, True),
        (2.3, math.nan, math.nan, False),
        (2.3, 2.5, 2.29, False),
        (2.3, math.nan, 2.29, False),
        (0.7, 0.05, 0.04, None),
        (0.7, 1e-9, 2e-9, None),  # both are nothing
        (-1.0, -5.0, -1.01, True),
        (-1.0, -1.0, -1.01, False),
    ],
)
def test_what_counts_as_help(start: float, after: float, before: float, helped: object) -> None:
    assert _helped(start, after, before) is helped
