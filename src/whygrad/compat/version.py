"""The version, and what it was built for: the CPU."""

from __future__ import annotations

from importlib.metadata import version

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

__version__ = version("whygrad")
cuda: str | None = None
debug = False
git_version: str | None = None
hip: str | None = None
xpu: str | None = None
