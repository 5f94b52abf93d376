"""NaN or Inf in what the program was given."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.program.invalid_math import reported, sound_throughout
from whygrad.doctor.rules.rule import Finding, rule

__all__: list[str] = []


@rule(severity=3, cleared=sound_throughout)
def non_finite_data(case: Case) -> Iterator[Finding]:
    """NaN or Inf in the data.

    A missing cell, a sensor gap, a broken record: one such number in a batch makes its loss
    NaN, and one NaN update makes every parameter NaN. Nothing in the model is wrong.

    Measured: The step of the first bad value is run again and followed back: it comes from a
    tensor that no call of the program made, in the inputs or the targets.
    Fix: Drop or impute such rows before training: keep = torch.isfinite(x).all(dim=1).
    Guardrail: assert torch.isfinite(x).all() and torch.isfinite(y).all()
    """
    found = None if case.mechanism is None else case.mechanism.bad.after
    axes = 2 if found is None else len(found.shape)
    row = {0: "", 1: "", 2: ".all(dim=1)"}.get(axes, ".flatten(1).all(dim=1)")
    yield from reported(
        non_finite_data,
        case,
        f"drop such rows (keep = torch.isfinite(x){row}) or impute them, before training.",
    )
