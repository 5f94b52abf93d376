"""Handles: what registering a hook returns, and how the hook is taken away again."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from itertools import count
from typing import Any

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """Removes one hook: by ``remove()``, or at the end of a ``with`` block.

    The hook stands under ``id`` in ``hooks_dict`` (an ``OrderedDict``: plain dicts cannot be
    referred to weakly), and perhaps in further dictionaries.  The handle keeps none of them alive.
    """

    _ids = count()

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.id = next(self._ids)
        extra = extra_dict if isinstance(extra_dict, (list, tuple)) else [extra_dict]
        self._refer_to([hooks_dict, *(each for each in extra if each is not None)])

    def _refer_to(self, dictionaries: list[Any]) -> None:
        self._dictionaries = [weakref.ref(each) for each in dictionaries]

    def remove(self) -> None:
        """Take the hook away; a second time does nothing."""
        for reference in self._dictionaries:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)
        self._dictionaries.clear()

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __getstate__(self) -> tuple[int, list[Any]]:
        return self.id, [reference() for reference in self._dictionaries]

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        self.id, dictionaries = state
        while next(self._ids) < self.id:  # handles made from now on need other ids
            pass
        # What had gone by then is represented by an empty dictionary that goes at once.
        self._refer_to([OrderedDict() if each is None else each for each in dictionaries])
