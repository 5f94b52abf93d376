"""The doctor: point it at a training run and get the root cause.

``whygrad doctor train.py`` runs a script, ``with watch(model, optimizer) as doc`` goes around a loop.
Either way: signals are collected as the run goes (:mod:`.observer`), rules turn them into findings
(:mod:`.rules`), and the verdict is the one finding that explains the others (:mod:`.verdict`).
"""

from __future__ import annotations

from whygrad.doctor.rule import Finding, Rule, register, rule, rules
from whygrad.doctor.script import Outcome, run_script
from whygrad.doctor.session import Session, watch
from whygrad.doctor.verdict import Diagnosis, diagnose

__all__ = [
    "Diagnosis",
    "Finding",
    "Outcome",
    "Rule",
    "Session",
    "diagnose",
    "register",
    "rule",
    "rules",
    "run_script",
    "watch",
]
