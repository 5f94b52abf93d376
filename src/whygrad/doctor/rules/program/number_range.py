"""Values that leave the range of their type: exponentials, losses by hand, half precision."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.safe_math import never_negative
from whygrad.doctor.mechanism import gradients_lost, overflow_unseen, where_halved
from whygrad.doctor.rules.program.invalid_math import reported, sound_throughout
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.replay import Traced

__all__ = ["float16_range", "overflow_in_exp", "unstable_loss"]


@rule(severity=3, cleared=sound_throughout)
def overflow_in_exp(case: Case) -> Iterator[Finding]:
    """An exponential overflows.

    exp(x) leaves float32 at x = 88.7 and is Inf from there on; the next subtraction or product
    makes NaN of it. An exp without a bound on its argument waits for the first input that is a
    little larger than usual.

    Measured: The step of the first Inf is run again from the state before it; an exp is the
    first call that turns finite values into others, its largest argument is beyond the limit of
    its type, and the parameters had not grown out of all proportion before.
    Fix: Bound the argument, or use the stable form: softplus, logsumexp, a clamped
    log-variance.
    Guardrail: assert x.max() < 80, f'exp of {x.max().item():.1f}'
    """
    call = None if case.mechanism is None else case.mechanism.bad.call
    advice = (
        "bound what goes into the exp (x.clamp(max=20)), or use the stable form: F.softplus(x) for"
        " log(1 + exp(x)), F.softmax for exp / sum of exp."
    )
    if call is not None and never_negative(call):
        advice = (
            "what goes into the exp is never negative. As in a kernel, exp(-d²), a minus may be"
            " missing; if not, bound it (x.clamp(max=20))."
        )
    yield from reported(overflow_in_exp, case, advice)


@rule(severity=3, cleared=sound_throughout)
def unstable_loss(case: Case) -> Iterator[Finding]:
    """A loss by hand that overflows or rounds to log(0).

    softmax and sigmoid round to exactly 0 or 1 as soon as the model is sure, and the log of
    that is -inf; exp overflows long before the quotient or the log that would have tamed it.
    The formula is right on paper. The library's losses compute the same from the logits in one
    go, and stay finite.

    Measured: The step of the first bad value is run again; it comes from a log whose argument
    is a softmax, sigmoid or exp that has rounded to 0 or 1, or from an exp that is part of such
    a loss.
    Fix: Use the loss that takes logits: F.cross_entropy, F.binary_cross_entropy_with_logits.
    Guardrail: assert torch.isfinite(loss), f'loss is {loss.item()} at step {step}'
    """
    cause = case.mechanism
    by_hand = None if cause is None else cause.by_hand
    stable = {
        "log(softmax)": "F.log_softmax(logits, dim), or F.cross_entropy(logits, target) as a whole",
        "log(sigmoid)": "F.logsigmoid(x), or F.binary_cross_entropy_with_logits(x, target)",
        "log(exp)": "the exponent itself, or torch.logsumexp(x, dim) for a sum",
        "exp / sum of exp": "F.softmax(x, dim), or F.cross_entropy on the logits as a whole",
        "log(sum of exp)": "torch.logsumexp(x, dim)",
        "log(1 + exp)": "F.softplus(x), or F.binary_cross_entropy_with_logits as a whole",
    }.get(by_hand or "", unstable_loss.fix)
    yield from reported(unstable_loss, case, f"instead of {by_hand} use {stable}.")


@rule(
    severity=3,
    thresholds={
        "lost": (0.5, "of the gradients that are not zero in float32"),
    },
    cleared=sound_throughout,
)
def float16_range(case: Case) -> Iterator[Finding]:
    """Half precision runs out of range.

    float16 ends at 65504 and rounds everything below about 6e-8 to zero. Sums, squares and
    exponentials overflow it, and small gradients, or an eps of 1e-8, vanish in it. The same
    computation in float32 is fine.

    Measured: The step is run again twice, as it was and with float32 in place of float16: only
    the second is finite, or only the second has gradients that are not zero. A parameter that
    an update made infinite from finite gradients counts as well.
    Fix: Keep parameters and optimizer state in float32 and compute in half precision under
    torch.autocast with a GradScaler, or use bfloat16, which has the range of float32.
    Guardrail: assert all(p.dtype == torch.float32 for p in model.parameters())
    """
    yield from reported(
        float16_range,
        case,
        "keep parameters and optimizer state in float32, and compute in half precision under"
        " torch.autocast with a GradScaler; or use bfloat16, which has the range of float32.",
    )
    if case.first_bad is not None:
        return
    for course in case.courses:
        lost = gradients_lost(case, course.first)
        if lost is None or lost < case.limit("lost"):
            continue
        trace = case.trace(course.first)
        assert trace is not None
        over = overflow_unseen(trace)
        passes = course.steps[0].passes
        where = case.run.halved_at or where_halved(trace)
        yield float16_range.finding(
            None if over is None else _left(over),
            f"{lost:.0%} of the gradients of the first step are exactly 0 in float16; computed"
            " in float32, the same step has a gradient there",
            where=over.where
            if over is not None
            else where or (passes[-1].where if passes else course.steps[0].where),
            proof=Proof.REPLAYED,
            fix="Keep the parameters in float32 and compute in half precision under torch.autocast;"
            " scale the loss before backward() (torch.amp.GradScaler does it). Or use bfloat16 for"
            " the activations: it has the range of float32.",
        )


def _left(call: Traced) -> str:
    after = next(each for each in call.after if each.infs)
    return (
        f"{call.op} makes {after.infs} of {after.size} values Inf, beyond the 65504 of float16;"
        " what is divided by that is 0, so the loss stays finite"
    )
