"""An answer from outside: what is done when an argument wants to carry out the call itself.

Tensor subclasses, objects that stand in for tensors, and modes may take calls over through
``__torch_function__`` (:mod:`whygrad.dispatch.overriding`, loaded when there is the first of them).
They are to see what the program wrote: the public function with its own arguments.  That such a
call is theirs turns out further down, where the dispatcher meets their key; the answer then goes
straight to the public function, past everything that it had begun.  Calls with plain tensors pay
nothing for this.
"""

from __future__ import annotations

import sys
from itertools import chain
from types import CodeType, FrameType
from typing import Any

__all__ = ["Answer", "handed", "is_stand_in", "is_theirs", "public_codes"]

# The code of functions that catch an Answer, and what they call themselves in their own frame.
public_codes: dict[CodeType, str] = {}


class Answer(BaseException):
    """The outcome of the public function that runs in ``frame``, a result or an exception.

    Nobody on the way may mistake it for an error, hence no ``Exception``.
    """

    def __init__(self, frame: FrameType, result: Any, error: BaseException | None) -> None:
        super().__init__()
        self.frame = frame
        self._outcome = result, error

    def given(self) -> Any:
        """Return the result, or raise."""
        result, error = self._outcome
        if error is None:
            return result
        before = error.__context__
        try:
            raise error
        finally:
            error.__context__ = before  # and not this answer, which is nobody's error
            del error, self._outcome  # it knows this frame: a cycle would keep arguments alive


def is_stand_in(value: Any) -> bool:
    """Whether it is no tensor but takes the calls of ops over."""
    kind = type(value)
    return hasattr(kind, "__torch_function__") and not hasattr(kind, "_class_keys")


def is_theirs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument, or a mode, takes this call over."""
    if "whygrad.dispatch.overriding" not in sys.modules:
        listed = [each for each in (*args, *kwargs.values()) if isinstance(each, (list, tuple))]
        if not any(map(is_stand_in, (*args, *kwargs.values(), *chain(*listed)))):
            return False
    from whygrad.dispatch.overriding import is_asked

    return is_asked(args, kwargs)


def handed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the arguments make of this call, or of the public call that it is a part of."""
    from whygrad.dispatch.overriding import answer

    return answer(function, args, kwargs)
