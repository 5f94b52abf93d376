"""What explains what: the causal order of the rules, in one place.

A rule belongs to the tier whose folder it stands in.  A finding is explained by any finding of a
tier before its own that was seen no later: a softmax along the wrong axis explains gradients that
vanish, never the other way round.  In the last tier, where everything is a face of something else,
the graver finding explains the lesser one.

The exceptions are named: ``FACTS`` hold whatever else is wrong, so that no tier explains them;
``APART`` are faults of their own; ``ALSO`` are causes beside or behind what they explain.
"""

from __future__ import annotations

from whygrad.doctor.rules.rule import CERTAINTIES, TIERS, Finding, Proof, Rule, rules

__all__ = ["can_explain", "explained", "explaining", "explains", "gravity"]

_ARITHMETIC = (
    "float16-range nan-from-division nan-from-log nan-from-sqrt nan-from-where overflow-in-exp "
    "unstable-loss"
)
_UNREACHED = "disconnected-parameter missing-step"

# Rules that know more about an exception than the shapes of the call that raised it.
RAISING = (
    "bad-labels batchnorm-single-sample detached-graph freed-graph inplace-corruption "
    "loss-broadcast softmax-over-one target-out-of-range wrong-dim wrong-output-activation"
)

# What the program was given, or how it was made: no training changes that.
FACTS = (
    "bad-labels batchnorm-single-sample checkpoint-state data-leakage metric-bug non-finite-data "
    "outlier-batch preprocessing-mismatch symmetric-initialization"
)

# How a model is judged and kept: what it learned does not come from that.
JUDGING = "checkpoint-state data-leakage metric-bug preprocessing-mismatch"

# cause: what it does not explain, although its tier comes first
APART = {
    # The rate is judged with a sound loss in place of the broken one.
    **dict.fromkeys(_ARITHMETIC.split(), "lr-too-high"),
    # What clipping hides is no consequence of clipping.
    "clipping-hides-cause": "exploding-gradient",
    # Memory, and how a model is judged, are not what it learns.
    **dict.fromkeys(
        ("graph-kept-alive", "wrong-mode"),
        "bad-initialization class-imbalance clipping-hides-cause dead-relu exploding-gradient "
        "lr-too-high missing-nonlinearity oscillation over-regularized saturated-activation "
        "shuffled-labels sum-reduction target-out-of-range unscaled-input unscaled-target",
    ),
}

# cause: what it explains in its own tier or in one before
ALSO = {
    # Nothing arrives, or nothing is used.
    "detached-graph": f"dead-loss-term {_UNREACHED}",
    "frozen-parameter": f"detached-graph {_UNREACHED}",
    "parameter-not-in-optimizer": f"detached-graph {_UNREACHED}",
    "crash-shape": f"detached-graph parameter-not-in-optimizer {_UNREACHED}",
    "freed-graph": "missing-step",
    "inplace-corruption": "missing-step",
    "batchnorm-single-sample": "missing-step shuffled-labels",
    "wrong-backward": "disconnected-parameter loss-sign",
    "constant-output": "disconnected-parameter vanishing-gradient",
    # The loss runs along another axis, or does not understand its targets.
    "softmax-over-one": "bad-labels double-softmax metric-bug wrong-dim wrong-output-activation",
    "wrong-dim": "bad-labels",
    "bad-labels": "loss-sign target-out-of-range unstable-loss",
    "target-out-of-range": "loss-sign unscaled-target unstable-loss wrong-output-activation",
    "shuffled-labels": "unscaled-input unscaled-target",
    "non-finite-data": "outlier-batch unscaled-input unscaled-target",
    # A sequence without filling has nothing left to attend to.
    "inverted-mask": "nan-from-division nan-from-where",
    # Numbers are driven out of their range.
    "loss-sign": f"outlier-batch {_ARITHMETIC}",
    "wrong-output-activation": _ARITHMETIC,
    "outlier-batch": _ARITHMETIC,
    "missing-zero-grad": "overflow-in-exp",
    "lr-too-high": "oscillation overflow-in-exp",
    "bad-initialization": "overflow-in-exp unscaled-target unstable-loss",
    "exploding-gradient": "dead-relu lr-too-high overflow-in-exp unscaled-target",
    "sum-reduction": "bad-initialization clipping-hides-cause lr-too-high oscillation "
    "overflow-in-exp unscaled-target",
    # Weights start, or are kept, where they cannot learn.
    "symmetric-initialization": "bad-initialization",
    "over-regularized": "bad-initialization lr-too-high oscillation unbalanced-terms",
    "dead-relu": "bad-initialization vanishing-gradient",
    "saturated-activation": "oscillation vanishing-gradient",
    # A swing that was seen before the rate was too high.
    "oscillation": "lr-too-high",
    "overfitting": "exploding-gradient",
    "lr-too-low": "class-imbalance",
    "loss-plateau": "lr-too-low",
    # Judged as it was trained, or on what it was not prepared for.
    "loss-broadcast": "metric-bug",
    "stale-target": "checkpoint-state parameter-not-in-optimizer",
    "checkpoint-state": "overfitting",
    "preprocessing-mismatch": "overfitting",
    "metric-bug": "overfitting",
}


def explains(cause: Finding, symptom: Finding) -> bool:
    """Whether one finding accounts for another."""
    one, other = rules[cause.rule], rules[symptom.rule]
    if cause.step is not None and symptom.step is not None and cause.step > symptom.step:
        return False
    if one.tier == other.tier == TIERS[-1] and not _named(ALSO, one, other):
        return not _named(ALSO, other, one) and gravity(cause) < gravity(symptom)
    return can_explain(one, other)


def can_explain(cause: Rule, symptom: Rule) -> bool:
    """Whether findings of one rule may account for findings of another."""
    if _named(ALSO, cause, symptom):
        return True
    if symptom.id == "crash-shape":
        return cause.id in RAISING.split()
    if not (cause.tier and symptom.tier) or cause.last or symptom.id in FACTS.split():
        return False
    if cause.id in JUDGING.split() or _named(ALSO, symptom, cause):
        return False
    if cause.tier == symptom.tier == TIERS[-1]:
        return cause.severity >= symptom.severity and cause.id != symptom.id
    before = TIERS.index(cause.tier) < TIERS.index(symptom.tier)
    return before and not _named(APART, cause, symptom)


def _named(exceptions: dict[str, str], cause: Rule, symptom: Rule) -> bool:
    return symptom.id in exceptions.get(cause.id, "").split()


def explained(rule: Rule) -> list[str]:
    """What findings of a rule account for: tiers as a whole, then rules by name."""
    return _told(rule, {each.id for each in rules.values() if can_explain(rule, each)})


def explaining(rule: Rule) -> list[str]:
    """What may account for findings of a rule: tiers as a whole, then rules by name."""
    return _told(rule, {each.id for each in rules.values() if can_explain(each, rule)})


def _told(rule: Rule, found: set[str]) -> list[str]:
    """A tier by its name where most of it is meant, with what is not; other rules one by one."""
    tiers: list[str] = []
    for tier in TIERS:
        own = {each.id for each in rules.values() if each.tier == tier and not each.last}
        own -= {rule.id}
        if len(own & found) > len(own - found):
            missing = ", ".join(sorted(own - found))
            tiers.append(f"{tier} (but {missing})" if missing else tier)
            found = found - own
    return [*tiers, *sorted(found)]


def gravity(finding: Finding) -> tuple[int, ...]:
    """The order in which findings are told: the gravest, surest, deepest and earliest first."""
    tier = rules[finding.rule].tier if finding.rule in rules else ""
    return (
        -finding.severity,
        list(CERTAINTIES).index(finding.certainty),
        TIERS.index(tier) if tier else -1,
        finding.step or 0,
        list(Proof).index(finding.proof),
    )
