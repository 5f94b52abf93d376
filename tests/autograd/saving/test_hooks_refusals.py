"""What pack and unpack hooks may not do, and where they may not be."""

from __future__ import annotations

from typing import Any

import pytest

import whygrad as wg
from tests.autograd.packing import keep, same
from tests.autograd.tensors import leaf
from whygrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)


def packed_product(pack: Any, unpack: Any) -> wg.Tensor:
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(pack, unpack):
        return ((x * 1) * (x * 3)).sum()


@pytest.mark.parametrize("pack", [lambda x: x.add_(1), lambda x: x.detach().data.add_(1)])
def test_pack_must_not_write_to_its_input(pack: Any) -> None:
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place: ") as caught:
        packed_product(pack, same)
    text = str(caught.value)
    assert "pack_hook for 'a' (float64[2]), saved by MulBackward at " in text
    assert "test_hooks_refusals.py" in text
    assert "fix:   pack a copy: clone() it first" in text


def test_unpack_must_return_a_tensor() -> None:
    y = packed_product(keep, lambda x: 3)
    with pytest.raises(
        TypeError, match="unpack_hook expected to be a Tensor but got result of type int"
    ) as caught:
        y.backward()
    assert "unpack_hook for 'a' (float64[2]), saved by MulBackward at " in str(caught.value)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (wg.ones(3, dtype=wg.float64), r"float64\[3\]"),
        (wg.ones(2), r"float32\[2\]"),
        (wg.ones(2, dtype=wg.float64, device="meta"), r"float64\[2\] on meta"),
    ],
)
def test_unpack_must_return_what_was_packed(result: wg.Tensor, words: str) -> None:
    y = packed_product(keep, lambda x: result)
    with pytest.raises(RuntimeError, match=f"it returned {words}, which is not what was packed"):
        y.backward()


def test_what_a_hook_raises_arrives() -> None:
    def refuse(_: Any) -> Any:
        raise LookupError("no room")

    with pytest.raises(LookupError, match="no room"):
        packed_product(refuse, same)
    assert packed_product(keep, same).requires_grad, "the hooks are gone"
    y = packed_product(keep, refuse)
    with pytest.raises(LookupError, match="no room"):
        y.backward()


@pytest.mark.parametrize(("pack", "unpack", "name"), [(1, same, "pack"), (same, None, "unpack")])
def test_hooks_must_be_functions(pack: Any, unpack: Any, name: str) -> None:
    hooks = saved_tensors_hooks(pack, unpack)
    with pytest.raises(TypeError, match=f"{name}_hook is .*, which cannot be called"):
        hooks.__enter__()


def test_hooks_can_be_disabled() -> None:
    def refused(context: Any, message: str) -> None:
        with pytest.raises(RuntimeError, match=f"cause: {message}"):
            context.__enter__()

    x = leaf(1.0)
    with disable_saved_tensors_hooks("not in here"):
        x.exp().backward()
        with disable_saved_tensors_hooks("nor here"):
            refused(save_on_cpu(), "nor here")
        refused(saved_tensors_hooks(keep, same), "not in here")
        refused(allow_mutation_on_saved_tensors(), "not in here")
    with saved_tensors_hooks(keep, same):
        refused(disable_saved_tensors_hooks("too late"), "too late")
        x.exp()
