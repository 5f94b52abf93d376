"""Fourier transforms under PyTorch's names: ``whygrad.fft.rfft``, ``.fftfreq``, ``.fftshift``, …"""

from __future__ import annotations

from whygrad.ops import table

__all__ = sorted(
    name.removeprefix("fft_")
    for name, op in table.items()
    if op.public_name is not None and name.startswith("fft_")
)
globals().update({name: table[f"fft_{name}"].public for name in __all__})
