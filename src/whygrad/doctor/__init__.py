"""The doctor: point it at a training run and get the root cause.

``whygrad doctor train.py`` runs a script, ``with watch(model, optimizer) as doc`` goes around a
loop.  Either way: signals are collected as the run goes (:mod:`.recording`), rules turn them into
findings (:mod:`.rules`), and the verdict is the one finding that explains the others
(:mod:`.verdict`).  :mod:`.checks` has questions that need no run.
"""

from __future__ import annotations

from whygrad.doctor.checks import (
    attach_nan_hooks,
    check_backward,
    check_init,
    inspect_batch,
    overfit_one_batch,
)
from whygrad.doctor.rules.rule import Finding, Proof, Rule, register, rule, rules
from whygrad.doctor.script import Outcome, run_script
from whygrad.doctor.session import Session, watch
from whygrad.doctor.verdict import Diagnosis, diagnose

__all__ = [
    "Diagnosis",
    "Finding",
    "Outcome",
    "Proof",
    "Rule",
    "Session",
    "attach_nan_hooks",
    "check_backward",
    "check_init",
    "diagnose",
    "inspect_batch",
    "overfit_one_batch",
    "register",
    "rule",
    "rules",
    "run_script",
    "watch",
]
