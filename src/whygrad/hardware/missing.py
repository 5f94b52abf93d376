"""Functions of hardware that is not there: each raises, and says what to write.

Modules such as :mod:`whygrad.cuda` have PyTorch's names so that the lines behind
``if torch.cuda.is_available():`` can stand where they are.  Called without that question, they fail
as PyTorch's do on a machine without the hardware.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from whygrad.errors import fail
from whygrad.tensor.devices import DeviceError

__all__ = ["absent", "absent_class", "raising"]


def absent(call: str, space: str) -> DeviceError:
    """The error for a call into ``whygrad.<space>``."""
    return fail(
        DeviceError,
        call=f"whygrad.{space}.{call}",
        cause=f"there is no {space.upper()} here: whygrad computes on the CPU",
        fix=f"ask first: if whygrad.{space}.is_available(): …",
    )


def raising(space: str, name: str, module: str | None = None) -> Callable[..., NoReturn]:
    """A function of ``whygrad.<space>``, or of ``module``, that cannot do its work."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise absent(f"{name}(…)", space)

    function.__name__ = function.__qualname__ = name
    function.__module__ = module or f"whygrad.{space}"
    function.__doc__ = f"Raises: there is no {space.upper()} here."
    return function


def absent_class(space: str, name: str) -> type:
    """A class of ``whygrad.<space>``: good for ``isinstance``, but nothing is one of these."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise absent(f"{name}(…)", space)

    doc = f"Cannot be made: there is no {space.upper()} here."
    return type(name, (), {"__new__": __new__, "__doc__": doc, "__module__": f"whygrad.{space}"})
