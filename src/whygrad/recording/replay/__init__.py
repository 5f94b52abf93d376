"""A recorded step, run again: as it was, or with one thing changed.

``trace`` says what a replay saw, ``runner`` carries it out, ``reading`` says what is the model, the
target and the loss in it.  ``budget`` counts what all replays cost.  To train from a step,
``recipes`` shortens or changes it, ``optimizers`` copies the program's optimizer and ``trainer``
makes the updates; ``trial`` holds the experiments that start from one step.
"""

from whygrad.recording.replay.runner import SAME_LOSS, goes_bad, replay
from whygrad.recording.replay.trace import Trace, Traced

__all__ = ["SAME_LOSS", "Trace", "Traced", "goes_bad", "replay"]
