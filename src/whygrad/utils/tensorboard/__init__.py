"""Curves, histograms, pictures and texts of a run, in files that TensorBoard shows.

The files are written by the package ``tensorboard`` (``pip install 'whygrad[tensorboard]'``), as
PyTorch's writer does; look at them with ``tensorboard --logdir runs``.
"""

from __future__ import annotations

from importlib.util import find_spec

from whygrad.errors import fail

if find_spec("tensorboard") is None:
    raise fail(
        ModuleNotFoundError,
        call="whygrad.utils.tensorboard",
        cause="the files are written by the package tensorboard, which is not installed",
        fix="pip install tensorboard, or pip install 'whygrad[tensorboard]'",
    )

from whygrad.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
