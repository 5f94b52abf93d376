"""``why_none`` for PyTorch: the reasoning and the words of :mod:`whygrad.why.none`."""

from __future__ import annotations

from typing import Any

import torch

from whygrad.errors import describe, fail
from whygrad.source import user_frame
from whygrad.torch.answers import Answers
from whygrad.torch.connection import Inspection
from whygrad.torch.lines import user_where
from whygrad.torch.names import TorchNames
from whygrad.torch.record import Recording, latest_recording
from whygrad.why.none import diagnose

__all__ = ["Reasons", "why_none"]


class Reasons:
    """Answers about any number of tensors and one loss, from the latest recording."""

    def __init__(self, loss: torch.Tensor) -> None:
        self._inspection = Inspection(loss, latest_recording(), TorchNames(user_frame()))

    def of(self, x: torch.Tensor) -> Any:
        return diagnose(self._inspection.connection(x))


def why_none(x: Any, loss: Any, tape: Recording | None = None) -> Any:
    """Why ``x.grad`` is None although ``loss.backward()`` was, or will be, called.

    As :func:`whygrad.why_none`, for PyTorch.  For a module: one answer per parameter that something
    is wrong with, those with the same cause together.

    PyTorch's graph tells whether a gradient can get from the loss to x.  Where it was cut, and on
    which line, is known if the computation ran inside :func:`whygrad.torch.record`; without
    ``tape`` the latest recording is looked at.  Beside the causes of :func:`whygrad.why_none` there
    is ``"no path"``, where nothing was recorded.
    """
    for name, given, kinds in (
        ("x", x, (torch.Tensor, torch.nn.Module)),
        ("loss", loss, (torch.Tensor,)),
    ):
        if not isinstance(given, kinds):
            raise fail(
                TypeError,
                call=f"whygrad.torch.why_none(x, loss) with {name}: {describe(given)}",
                cause="x must be a tensor or a module of PyTorch's, and the loss a tensor",
                fix="whygrad.why_none takes whygrad's tensors",
                where=user_where(),
            )
    names = TorchNames(user_frame())
    with torch._C.DisableTorchFunction():
        inspection = Inspection(loss, tape or latest_recording(), names)
        if isinstance(x, torch.Tensor):
            return diagnose(inspection.connection(x))
        every = {name: diagnose(inspection.connection(each)) for name, each in x.named_parameters()}
    wrong = {name: answer for name, answer in every.items() if not answer.ok}
    question = f"why_none({names.of(x) or 'the module'}, {names.of_torch(loss)})"
    return Answers(question, wrong, len(every), "has a gradient")
