"""What the doctor costs while it watches: a course of the small GPT, with it and without."""

from __future__ import annotations

from functools import partial

from bench.workloads import gpt
from bench.workloads.doctor_mlp import workload

STEPS = 80

WORKLOAD = workload(
    "doctor on the gpt",
    f"{STEPS} steps of the GPT with AdamW, watched by the doctor against not watched",
    {name: partial(gpt.training_step, name) for name in ("whygrad", "torch")},
    STEPS,
    rounds=2,
)
