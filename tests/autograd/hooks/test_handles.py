"""Handles by themselves."""

from __future__ import annotations

import pickle
import weakref
from collections import OrderedDict
from typing import Any

from whygrad.autograd.hooks.handles import RemovableHandle


def test_a_handle_removes_its_own_entries() -> None:
    hooks: OrderedDict[int, str] = OrderedDict()
    options: OrderedDict[int, str] = OrderedDict()
    first, second = (RemovableHandle(hooks, extra_dict=options) for _ in range(2))
    assert first.id != second.id
    for handle in (first, second):
        hooks[handle.id] = options[handle.id] = "hook"
    with first as entered:
        assert entered is first
    assert list(hooks) == list(options) == [second.id]
    first.remove()
    second.remove()
    assert not hooks
    assert not options


def test_a_handle_keeps_nothing_alive() -> None:
    hooks: OrderedDict[int, str] = OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=[OrderedDict()])
    gone = weakref.ref(hooks)
    del hooks
    assert gone() is None
    handle.remove()


def test_a_handle_can_be_pickled_with_what_it_refers_to() -> None:
    hooks: OrderedDict[int, str] = OrderedDict()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = "hook"
    copy: Any
    copy, copied = pickle.loads(pickle.dumps((handle, hooks)))
    copy.remove()
    assert not copied
    assert hooks
    assert RemovableHandle(hooks).id > copy.id
    del hooks
    pickle.loads(pickle.dumps(handle)).remove()
