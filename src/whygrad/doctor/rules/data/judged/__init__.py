"""Forms of ``metric-bug`` outside of any engine: figures of NumPy, pandas, scikit-learn, Python.

Each looks at what one statement laid beside each other, and at where the text says it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.data.judged import answers, choices, order, shares, units
from whygrad.doctor.rules.data.judged.misnamed import misnamed
from whygrad.doctor.rules.rule import Finding
from whygrad.doctor.source.judging.flow import Flow, flow_of

__all__ = ["misjudged"]


def misjudged(case: Case, tell: Callable[..., Finding]) -> Iterator[Finding]:
    """What is wrong with the figures of a run; ``tell`` makes the findings."""
    forms = [*order.FORMS, *units.FORMS, *answers.FORMS, *shares.FORMS, *choices.FORMS]
    for looks in case.run.judged.values():
        flow: Flow | None = flow_of(looks[-1])
        for form in forms:
            found = form(case, looks, flow, tell)
            if found is not None:
                yield found
                forms.remove(form)  # one line of several that show the same is enough
                break
    yield from misnamed(case, tell)
