"""Findings that a deeper cause brings along, by kind of cause.

A rule lists in ``explains`` what its fault looks like from outside.  Faults of the same kind look
alike, so the lists that several rules share stand here.
"""

from __future__ import annotations

__all__ = ["POOR_LEARNING"]

# The loss asks for the wrong thing: whatever statistics say about such a run is a consequence.
POOR_LEARNING = (
    "bad-initialization", "class-imbalance", "clipping-hides-cause", "constant-output", "dead-relu",
    "exploding-gradient", "loss-plateau", "lr-too-high", "lr-too-low", "missing-nonlinearity",
    "oscillation", "over-regularized", "overfitting", "saturated-activation", "shuffled-labels",
    "sum-reduction", "target-out-of-range", "under-trained", "unscaled-input", "unscaled-target",
    "vanishing-gradient",
)  # fmt: skip
