"""Inputs that are a sum of samples and of the same samples in another order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whygrad.doctor.evidence.provenance import Rows, given_inputs, rows_of
from whygrad.ops.families import ADD
from whygrad.recording.replay import Traced
from whygrad.recording.replay.reading import Reading

__all__ = ["Mixture", "unmixed_targets"]


class Mixture(NamedTuple):
    """What a model was given: some of each sample, and some of another one."""

    call: Traced
    share: float  # of the others


def unmixed_targets(reading: Reading) -> Mixture | None:
    """How the inputs of a step were mixed, where all targets are those of one side."""
    trace = reading.trace
    targets = [rows_of(trace, each.target_source, each.target) for each in reading.terms]
    for source, _ in given_inputs(reading):
        made = trace.made_by(source)
        if made is None or made.op not in ADD or len(made.inputs) != 2:
            continue
        one, other = (rows_of(trace, *each) for each in zip(made.sources, made.inputs))
        if one is None or other is None or not _are_mixed(one, other):
            continue
        sizes = [float(np.abs(trace.array(each)).mean()) for each in made.inputs]
        for own, mixed in ((one, sizes[1]), (other, sizes[0])):
            if targets and all(each and np.array_equal(each.index, own.index) for each in targets):
                return Mixture(made, mixed / (sum(sizes) or 1.0))
    return None


def _are_mixed(one: Rows, other: Rows) -> bool:
    """Whether two are the same rows of the same data, in different orders."""
    return (
        one.base == other.base
        and one.index.shape == other.index.shape
        and not np.array_equal(one.index, other.index)
        and np.array_equal(np.sort(one.index), np.sort(other.index))
    )
