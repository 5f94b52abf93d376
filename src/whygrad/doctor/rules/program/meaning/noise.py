"""Noise that is scaled by a log-variance, or by a variance, in place of a deviation.

A network says how sure it is by a log-variance: a sample is the mean plus exp(½ logvar) times
noise, and the divergence from a standard normal is ½ Σ (exp(logvar) + mean² − 1 − logvar).  What
the divergence takes for the log-variance is known by its form; what the noise is multiplied by
has to fit that.
"""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import first_traces
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.doctor.source.statements import renamed_at
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced

__all__: list[str] = []

_DIFFERENCES = ops.SUB | ops.REVERSED_SUB


@rule()
def noise_scale(case: Case) -> Iterator[Finding]:
    """Noise is scaled by a log-variance, or by a variance, and not by a deviation.

    The divergence of the loss takes what a layer computes for a log-variance, and the sample takes
    the same numbers for a deviation, or their exponential without the half. The two ask for
    different things: a log-variance of 0 is a deviation of 1, and not of 0.

    Measured: In the first step one tensor goes into exp() and is subtracted from that, or that from
    it, as in a divergence; and it, or its exponential as it is, is multiplied by noise.
    Fix: std = torch.exp(0.5 * logvar); z = mean + std * torch.randn_like(std).
    Guardrail: assert (std > 0).all()
    """
    yield from once(each for trace in first_traces(case) for each in _scaled(trace))


def _scaled(trace: Trace) -> Iterator[Finding]:
    noise = {Produced(each.number, place) for each in trace.calls if each.op in ops.NOISE
             for place in range(len(each.outputs))}  # fmt: skip
    for exponential in trace.calls:
        source = (
            exponential.sources[0] if exponential.op in ops.EXP and exponential.sources else None
        )
        if source is None or not _is_divergence(trace, exponential, source):
            continue
        variances = [each for each in trace.consumers(source) if each.op in ops.EXP]
        for name, made in (
            ("the log-variance itself", [source]),
            ("the variance", [Produced(each.number, 0) for each in variances]),
        ):
            for call in (it for each in made for it in trace.consumers(each)):
                if call.op in ops.MUL and any(each in noise for each in call.sources):
                    yield _about(trace, call, exponential, name, made[0])


def _is_divergence(trace: Trace, exponential: Traced, source: Produced) -> bool:
    """Whether ``exp(v)`` and ``v`` meet in one sum of differences, as in 1 + v − m² − exp(v)."""
    waiting = trace.consumers(Produced(exponential.number, 0))
    while waiting:
        call = waiting.pop()
        if call.op in _DIFFERENCES | ops.ADD:
            if source in _sum(trace, call):
                return True
            waiting += trace.consumers(Produced(call.number, 0))
    return False


def _sum(trace: Trace, call: Traced) -> set[Produced]:
    """What is added up in a chain of sums and differences, each as it is."""
    found: set[Produced] = set()
    waiting = [each for each in call.sources if each is not None]
    while waiting:
        source = waiting.pop()
        made = trace.made_by(source)
        if made is not None and made.op in _DIFFERENCES | ops.ADD and source not in found:
            waiting += [each for each in made.sources if each is not None]
        found.add(source)
    return found


def _about(trace: Trace, call: Traced, exponential: Traced, name: str, scale: Produced) -> Finding:
    made = trace.made_by(scale)
    named = made is not None and made.op in ops.EXP
    where = made.where if made is not None and named else renamed_at(call.where) or call.where
    return noise_scale.finding(
        f"noise is multiplied by {name} at {call.spot}",
        f"the divergence at {exponential.spot} takes exp() of it for the variance",
        where=where,
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        places=[("the divergence", exponential.where)],
    )
