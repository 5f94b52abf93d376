"""What the processor can do."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The widest vector instructions that NumPy found, by PyTorch's names."""
    import importlib

    found = importlib.import_module("numpy._core._multiarray_umath").__cpu_features__
    if found.get("AVX512F") and found.get("AVX512_SKX"):
        return "AVX512"
    return "AVX2" if found.get("AVX2") else "DEFAULT"
