"""Every argument can be given by the name PyTorch gives it, for every op of the table.

PyTorch's functions are built in and show no signature, but the schemas of its operators are public
(``torch.ops.aten``): the names of all arguments of all overloads.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

import whygrad
from whygrad.dispatch.arguments import by_other_names
from whygrad.ops.define import Op, table

# Arguments that concern memory, names of dimensions or other hardware.
ELSEWHERE = {"out", "layout", "pin_memory", "names", "out_dtype", "implicit", "masked_grad"}
# Names that PyTorch's documentation does not know, of overloads that Python cannot reach by them.
INTERNAL = {
    "tensor_split": {"indices", "sections", "tensor_indices_or_sections"},
    "hsplit": {"indices", "sections"},
    "vsplit": {"indices", "sections"},
    "dsplit": {"indices", "sections"},
    "to_sparse": {"blocksize", "dense_dim"},
    "isin": {"element", "test_element"},
    "linalg_svd": {"driver"},
    "linalg_svdvals": {"driver"},
    "linalg_lstsq": {"b"},
    "linalg_tensorsolve": {"other"},
    "cholesky_solve": {"input2"},
    "ormqr": {"input2", "input3"},
    "sort": {"reverse"},
}


def argument_names(op: Op) -> set[str]:
    """What PyTorch calls the arguments of the built-in function, in all its forms."""
    name = op.name if op.torch in (None, op.name, op.public_name) else ""
    if inspect.isfunction(getattr(torch, name, None)) or op.public_name is None:
        return set()
    names = set()
    for overload in getattr(torch.ops.aten, name, _None).overloads():
        schema = getattr(getattr(torch.ops.aten, name), overload)._schema
        first = schema.arguments[0] if schema.arguments else None
        if first is None or str(first.type) != "Tensor" or "imname" in str(schema):
            continue  # a form for numbers or lists, or for named dimensions
        if any(argument.is_out for argument in schema.arguments):
            continue
        names |= {"input" if each.name == "self" else each.name for each in schema.arguments}
    if op.name.startswith("special_"):
        names.discard("x")  # "input" here, as in every other function
    return names - ELSEWHERE - INTERNAL.get(op.name, set())


class _None:
    @staticmethod
    def overloads() -> tuple[str, ...]:
        return ()


def takes(function: Any, name: str) -> bool:
    parameters = inspect.signature(function).parameters
    if name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return True
    return name == "input" and by_other_names(function, (), {name: None}) is not None


OPS = [op for op in table.values() if op.torch != "" and argument_names(op)]


@pytest.mark.parametrize("op", OPS, ids=str)
def test_arguments_have_pytorchs_names(op: Op) -> None:
    missing = {name for name in argument_names(op) if not takes(op.public, name)}
    assert not missing, f"{op.name}{inspect.signature(op.public)} lacks {missing}"


def test_a_missing_name_is_found() -> None:
    assert len(OPS) > 300
    assert not takes(lambda x, sizes: x, "dims")
    assert takes(lambda x, *dims: x, "dims")


@pytest.mark.parametrize("library", [whygrad, torch], ids=["whygrad", "torch"])
def test_lists_and_first_tensors_by_name(library: Any) -> None:
    x = library.arange(6.0).reshape(2, 3)
    assert library.flip(x, dims=(0,)).tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
    assert library.flip(input=x, dims=[0, 1]).tolist() == [[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]
    assert x.flip(dims=(1,)).tolist() == [[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]
    assert tuple(library.tile(x, dims=(2, 1)).shape) == (4, 3)
    assert tuple(library.reshape(x, shape=(3, 2)).shape) == (3, 2)
    assert tuple(x.reshape(shape=(3, 2)).shape) == (3, 2)
    assert tuple(library.linalg.inv(library.eye(2)).shape) == (2, 2)
    assert library.linalg.cholesky(input=library.eye(1)).tolist() == [[1.0]]
    assert library.triu_indices(2, 2, device="cpu").tolist() == [[0, 0, 1], [0, 1, 1]]
    with pytest.raises(TypeError):
        library.flip(x, (0,), dims=(0,))
