"""Ask one rule about one small script: fast, and without what other rules would say."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

from tests.test_scripts import one_thread_and_defaults, swapped
from whygrad.doctor import run_script
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import CERTAINTIES, Finding, rules

__all__ = ["ENGINES", "ask", "marked", "only", "watched"]

ENGINES = ("torch", "whygrad")
_BEGINNING = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(64, 4)
y = torch.sin(x.sum(1, keepdim=True))
"""


def watched(folder: Path, text: str, engine: str = "torch") -> Case:
    """The case of a script, which has ``x`` [64, 4] and ``y`` [64, 1] to begin with."""
    path = folder / "train.py"
    whole = _BEGINNING + text
    path.write_text(swapped(whole) if engine == "whygrad" else whole, encoding="utf-8")
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, one_thread_and_defaults(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the script's own affair
        return Case(run_script(str(path)).session.run)


def ask(folder: Path, rule: str, text: str, engine: str = "torch") -> list[Finding]:
    """What a rule finds in such a script."""
    load()
    case = watched(folder, text, engine)
    case.rule = rules[rule]
    return list(rules[rule].check(case))


def only(folder: Path, rule: str, text: str, engine: str = "torch") -> Finding:
    """The one finding of a rule; its line has to be one that ends with ``# here``."""
    found = ask(folder, rule, text, engine)
    assert [each.rule for each in found] == [rule]
    assert found[0].where is not None
    assert found[0].where.line in marked(text), found[0].where
    assert found[0].evidence
    assert found[0].certainty in CERTAINTIES
    return found[0]


def marked(text: str) -> list[int]:
    """The numbers, in the whole script, of the lines that end with ``# here``."""
    before = _BEGINNING.count("\n")
    return [
        number
        for number, line in enumerate(text.splitlines(), before + 1)
        if line.endswith("# here")
    ]
