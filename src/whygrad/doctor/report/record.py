"""The report as plain data: the JSON that other programs read.

The schema is an interface.  Everything in it is strict JSON: a number that is not finite is a
string ("nan", "inf"), what is not known is null.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from whygrad.doctor.report.postmortem import Postmortem
from whygrad.doctor.report.words import path
from whygrad.doctor.rules.rule import Finding
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.doctor.verdict import Diagnosis

__all__ = ["SCHEMA", "json_text", "to_dict"]

SCHEMA = 2


def to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The report as plain data; what ``--json`` writes."""
    case = Postmortem(diagnosis)
    run = diagnosis.case.run
    verdict = diagnosis.verdict
    facts = {
        "schema": SCHEMA,
        "status": _status(diagnosis),
        "verdict": None if verdict is None else _finding(verdict),
        "findings": [_finding(each) for each in diagnosis.findings],
        "ruled_out": [
            {"rule": rule, "measurement": measurement} for rule, measurement in diagnosis.ruled_out
        ],
        "script": None if run.script is None else path(run.script),
        "arguments": run.arguments,
        "engine": None if run.engine is None else run.engine.name,
        "seed": run.seed,
        "steps": case.history.steps,
        "error": None if run.error is None else f"{type(run.error).__name__}: {run.error}",
        "timeline": [
            {"step": each.step, "kind": each.kind, "text": each.text, "rule": each.rule,
             **_place(each.where)}
            for each in case.events
        ],
        "notes": diagnosis.notes,
        "asides": [_finding(each) for each in diagnosis.asides],
        "failures": [{"rule": rule, "error": error} for rule, error in diagnosis.failures],
        "unasked": diagnosis.unasked,
        "doubt": diagnosis.doubt,
        "stopped": run.stopped and {"error": run.stopped.error, **_place(run.stopped.where)},
    }  # fmt: skip
    return _strict(facts)


def _status(diagnosis: Diagnosis) -> str:
    if not (diagnosis.healthy or diagnosis.suspected):
        return "sick"
    return "healthy" if diagnosis.well else "unclear"


def json_text(diagnosis: Diagnosis) -> str:
    return json.dumps(to_dict(diagnosis), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "rule": finding.rule,
        "title": finding.title,
        **_place(finding.where),
        "step": finding.step,
        "certainty": finding.certainty,
        "proof": finding.proof.value,
        "evidence": finding.evidence,
        "fix": finding.fix,
        "guardrail": finding.guardrail,
        "places": [{"what": what, **_place(where)} for what, where in finding.places],
        "parameters": finding.parameters,
        "data": finding.data,
    }
    if finding.tried is not None:
        facts["tried"] = asdict(finding.tried)
    if finding.caused_by is not None:
        facts["caused_by"] = finding.caused_by.rule
    return facts


def _place(where: Where | None) -> dict[str, Any]:
    if where is None:
        return {"file": None, "line": None}
    return {"file": path(where.file), "line": where.line}


def _strict(value: Any) -> Any:
    """Only what JSON has."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _strict(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_strict(each) for each in value]
    if hasattr(value, "item"):  # a NumPy scalar, or a tensor of one number
        try:
            return _strict(value.item())
        except (TypeError, ValueError, RuntimeError):
            return str(value)
    return str(value)
