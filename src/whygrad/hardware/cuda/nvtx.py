"""Marks in NVIDIA's profiler, which has nothing to look at here."""

from __future__ import annotations

from whygrad.hardware.missing import raising

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

mark = raising("cuda", "nvtx.mark")
range = raising("cuda", "nvtx.range")
range_end = raising("cuda", "nvtx.range_end")
range_pop = raising("cuda", "nvtx.range_pop")
range_push = raising("cuda", "nvtx.range_push")
range_start = raising("cuda", "nvtx.range_start")
