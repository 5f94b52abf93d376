"""Figures of the training data under the name of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.naming import told_as_held_out

__all__ = ["misnamed"]


def misnamed(case: Case, tell: Callable[..., Finding]) -> Iterator[Finding]:
    """What is told of held-out data, and was computed with what the model was trained on."""
    fed = list(case.run.fed.values())
    for each in fed:
        named = None if each.recorded or not each.rows else told_as_held_out(each.callers)
        if named is None:
            continue
        where, name, data = named
        trained = {row for one in fed if one.recorded and one.module is each.module
                   for row in one.rows}  # fmt: skip
        common = len(trained & set(each.rows)) / len(each.rows)
        if common < case.limit("trained"):
            continue
        yield tell(
            f"{name} is what {data} gives",
            f"{common:.0%} of the samples that the model is given for it were seen in training "
            "too, and no held-out data are named there",
            where=where,
            proof=Proof.INFERRED,
            fix=f"Judge {name} with the data that were held out for it.",
        )
        return
