"""Small runs for the tests of reports, with findings by hand: reports do not depend on rules."""

from __future__ import annotations

from typing import Any

import torch

from whygrad.doctor import Diagnosis, Finding, watch
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Proof
from whygrad.source import Where, program_line

__all__ = ["healthy", "sick"]


def _train(steps: int, *, ruin: bool) -> tuple[Any, Where]:
    torch.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    with watch(model, optimizer) as doc:
        for step in range(steps):
            optimizer.zero_grad()
            output = model(x)
            bad, where = ruin and step == steps // 2, program_line()
            loss = torch.log(output).sqrt().mean() if bad else ((output - y) ** 2).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
            optimizer.step()
    return doc, where


def healthy(steps: int = 12) -> Diagnosis:
    """A run without findings."""
    doc, _ = _train(steps, ruin=False)
    found = Diagnosis(Case(doc.run))
    found.ruled_out = [("dead-relu", "there is no ReLU")]
    return found


def sick(steps: int = 12) -> Diagnosis:
    """A run whose loss is NaN from the middle on: two causes, a symptom of the first."""
    doc, where = _train(steps, ruin=True)
    found = Diagnosis(Case(doc.run))
    verdict = Finding(
        "nan-from-log",
        "The log of <negative> numbers",
        where,
        steps // 2,
        Proof.REPLAYED,
        ["`log` got 7 values | the lowest is -0.5", "a second measurement"],
        "Use a loss that takes any number:\n- loss = log(output)\n+ loss = (output - y) ** 2",
        "assert torch.isfinite(loss)",
        [("the model is called here", where)],
    )
    further = Finding(
        "missing-zero-grad", "Never cleared", where, 1, Proof.USUAL, data={"worst": float("nan")}
    )
    symptom = Finding("no-learning", "Nothing is learned", None, None, caused_by=verdict)
    found.findings = [verdict, further, symptom]
    found.ruled_out = [(f"rule-{at}", f"measured {at}") for at in range(12)]
    found.notes = ["saturation is no concern"]
    found.failures = [("my-rule", "ZeroDivisionError: division by zero")]
    return found
