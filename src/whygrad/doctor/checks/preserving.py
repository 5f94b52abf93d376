"""Look at a model and leave it as it was: gradients, modes, buffers and random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from whygrad.recording.engines import engine_of
from whygrad.recording.scope import unrecorded

__all__ = ["preserving"]


@contextmanager
def preserving(model: Any) -> Iterator[None]:
    """Whatever happens inside, ``model`` and all random states are the same afterwards.

    A doctor that watches the program does not take what happens inside for training.
    """
    engine = engine_of(model)
    space: Any = engine.namespace
    gradients = [(each, each.grad) for each in model.parameters()]
    modes = [(each, each.training) for each in model.modules()]
    buffers = [(each, engine.copy(each)) for each in model.buffers()]
    states = space.get_rng_state(), np.random.get_state(), random.getstate()
    for each, _ in gradients:
        each.grad = None
    try:
        with unrecorded():
            yield
    finally:
        for each, gradient in gradients:
            each.grad = gradient
        for each, training in modes:
            each.training = training
        with engine.unrecorded():
            for each, value in buffers:
                each.copy_(value)
        space.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
