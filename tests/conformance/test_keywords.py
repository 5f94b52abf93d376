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
    "to_sparse": {"blocksize", "dense_dim"},
    "isin": {"element", "test_element"},
    "linalg_svd": {"driver"},
    "linalg_svdvals": {"driver"},
    "linalg_lstsq": {"b"},
    "linalg_tensorsolve": {"other"},
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
    second = getattr(inspect.unwrap(function), "second_names", {})
    if name in second:
        return second[name] in parameters
    return name == "input" and by_other_names(function, (), {name: None}) is not None


OPS = [op for op in table.values() if op.torch != "" and argument_names(op)]


@pytest.mark.parametrize("op", OPS, ids=str)
def test_arguments_have_pytorchs_names(op: Op) -> None:
    missing = {name for name in argument_names(op) if not takes(op.public, name)}
    assert not missing, f"{op.name}{inspect.signature(op.public)} lacks {missing}"


def test_methods_that_pytorch_writes_in_python_name_their_arguments_alike() -> None:
    lacking = {}
    for name, method in vars(torch.Tensor).items():
        ours = getattr(whygrad.Tensor, name, None)
        if inspect.isfunction(method) and inspect.isfunction(ours) and not name.startswith("_"):
            theirs = [
                each.name
                for each in list(inspect.signature(method).parameters.values())[1:]
                if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
            ]
            lacking[name] = {each for each in theirs if not takes(ours, each)} - ELSEWHERE
    assert lacking["split"] == set()
    assert not {name: missing for name, missing in lacking.items() if missing}


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


@pytest.mark.parametrize("library", [whygrad, torch], ids=["whygrad", "torch"])
def test_second_names_of_overloads_and_methods(library: Any) -> None:
    x = library.arange(6.0).reshape(2, 3)
    assert [tuple(each.shape) for each in x.split(split_size=2, dim=1)] == [(2, 2), (2, 1)]
    assert [tuple(each.shape) for each in x.split(split_size=[1, 2], dim=-1)] == [(2, 1), (2, 2)]
    assert len(library.split(x, split_size_or_sections=1)) == 2
    assert len(library.hsplit(x, sections=3)) == len(x.tensor_split(indices=(1, 2), dim=1)) == 3
    with pytest.raises(TypeError):
        x.split(1, split_size=1)


FACTORS = {
    "add": lambda of, m, v, b: (of.add(m, 2, m), m.add(2, m), m.clone().add_(2, m), m.add(2, 3)),
    "sub": lambda of, m, v, b: (of.sub(m, 2, m), m.clone().sub_(2, m), m.sub(2, other=m)),
    "addcmul": lambda of, m, v, b: (of.addcmul(m, 2, m, m), m.clone().addcmul_(2, m, m)),
    "addcdiv": lambda of, m, v, b: (of.addcdiv(m, -0.5, m, m), m.clone().addcdiv_(2, m, m)),
    "addmm": lambda of, m, v, b: (
        of.addmm(0.5, m, 0.25, m, m), of.addmm(0.5, m, m, m), m.addmm(0.5, m, m),
        m.clone().addmm_(0.5, 0.25, m, m),
    ),
    "addmv": lambda of, m, v, b: (of.addmv(0.5, v, 0.25, m, v), v.addmv(0.5, m, v)),
    "addr": lambda of, m, v, b: (of.addr(0.5, m, 0.25, v, v), m.addr(0.5, v, v)),
    "addbmm": lambda of, m, v, b: (of.addbmm(0.5, m, 0.25, b, b), m.addbmm(0.5, b, b)),
    "baddbmm": lambda of, m, v, b: (of.baddbmm(0.5, b, 0.25, b, b), b.baddbmm(0.5, b, b)),
    "out": lambda of, m, v, b: (of.add(m, 2, m, out=of.empty(2, 2)),),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*deprecated:UserWarning")
@pytest.mark.parametrize("name", FACTORS)
def test_factors_by_place_as_old_programs_give_them(name: str) -> None:
    results = []
    for library in (whygrad, torch):
        m = library.arange(4.0).reshape(2, 2) + 1
        operands = m, library.ones(2), library.arange(8.0).reshape(2, 2, 2)
        results.append([each.tolist() for each in FACTORS[name](library, *operands)])
    assert results[0] == results[1]


def test_factors_by_place_are_announced_and_must_be_numbers() -> None:
    m = whygrad.ones(2, 2)
    with pytest.warns(UserWarning, match=r"deprecated: use the form \(input, other, \*, alpha\)"):
        m.add(2, m)
    for wrong in (
        lambda: whygrad.add(2, m, m),
        lambda: m.addmm(m, m, 0.5),
        lambda: m.add(2, m, alpha=3),
        lambda: m.addcmul(m, m, m),
    ):
        with pytest.raises(TypeError):
            wrong()
