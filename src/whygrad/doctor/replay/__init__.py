"""A recorded step, run again: as it was, or with one thing changed.

``trace`` says what a replay saw, ``runner`` carries it out, ``reading`` says what is the model, the
target and the loss in it.  To train from a step, ``optimizers`` copies the program's optimizer,
``trial`` holds the experiments and ``trainer`` those that begin anew.
"""

from whygrad.doctor.replay.runner import goes_bad, loss_at, replay
from whygrad.doctor.replay.trace import Trace, Traced

__all__ = ["Trace", "Traced", "goes_bad", "loss_at", "replay"]
