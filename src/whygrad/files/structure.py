"""Nested values around tensors, as JSON and back.

Only what JSON has no word for is marked, by an object with one name: ``{"tuple": [1, 2]}``,
``{"tensor": "model.weight"}``.  To decode is to build these few kinds and nothing else, so a file
cannot make anything happen.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.files.container import DTYPES
from whygrad.files.placement import Placement
from whygrad.files.sharing import Blocks, note_shared
from whygrad.tensor import Tensor, dtypes, keys, wrap

__all__ = ["Decoder", "Encoder"]

_DEEPEST = 200
_MAPPINGS: dict[str, type] = {"dict": dict, "ordered": OrderedDict, "counter": Counter}


class Encoder:
    """Takes a value apart: ``tree`` for JSON, and ``arrays`` by name."""

    def __init__(self, value: Any) -> None:
        self.arrays: dict[str, Any] = {}
        self._names: dict[Any, str] = {}  # by memory: what is one tensor is stored once
        self._written: list[tuple[dict[str, Any], Any]] = []  # notes of tensors and their arrays
        # a plain state_dict keeps its names, all of them: other programs look for them
        self._flat = type(value) in (dict, OrderedDict) and all(
            isinstance(name, str) and isinstance(each, Tensor) and name != "__metadata__"
            for name, each in value.items()
        )
        self.tree = self._encoded(value, ())
        note_shared(self._written)

    def _encoded(self, value: Any, path: tuple[Any, ...]) -> Any:
        if len(path) > _DEEPEST:
            raise _unsuitable(
                path,
                f"it is nested more than {_DEEPEST} levels deep, or in itself",
                "save values without such nesting",
            )
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, Tensor):
            return self._encoded_tensor(value, path)
        if isinstance(value, np.ndarray):
            return self._reference("array", value, path, ("array", id(value)))
        if isinstance(value, np.generic):
            return self._encoded(value.item(), path)
        if isinstance(value, int):
            return _encoded_integer(int(value))
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        if isinstance(value, complex):
            return {"complex": [self._encoded(each, path) for each in (value.real, value.imag)]}
        if isinstance(value, (bytes, bytearray)):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, dtypes.DType):
            return {"dtype": value.name}
        if isinstance(value, list):
            return [self._encoded(each, (*path, place)) for place, each in enumerate(value)]
        if isinstance(value, tuple):
            return {"tuple": [self._encoded(each, (*path, i)) for i, each in enumerate(value)]}
        if isinstance(value, Mapping):
            return self._encoded_mapping(value, path)
        raise _unsuitable(path, f"it is a {type(value).__name__}", _instead_of(value))

    def _encoded_mapping(self, value: Mapping[Any, Any], path: tuple[Any, ...]) -> Any:
        kind = next(
            (kind for kind, known in _MAPPINGS.items() if type(value) is known and kind != "dict"),
            "dict",
        )
        pairs = []
        for key, each in value.items():
            if not isinstance(key, (str, int, float, bool, bytes, tuple, type(None))):
                raise _unsuitable(
                    path, f"it has a {type(key).__name__} as a key", "use text or numbers as keys"
                )
            pairs.append([self._encoded(key, (*path, key)), self._encoded(each, (*path, key))])
        return {kind: pairs}

    def _encoded_tensor(self, tensor: Tensor, path: tuple[Any, ...]) -> Any:
        array = tensor._array
        if type(array) is not np.ndarray or tensor._keys & keys.BATCHED:
            raise _unsuitable(
                path,
                f"it is {describe(tensor)} on {tensor.device}, {tensor.layout}",
                "save tensors with data in memory: x.to_dense() or x.cpu()",
            )
        memory = (array.__array_interface__["data"], array.shape, array.strides, array.dtype)
        identity = (*memory, tensor.requires_grad) if array.size else id(tensor)
        found = self._reference("tensor", array, path, identity)
        if tensor.requires_grad:
            found["requires_grad"] = True
        self._written.append((found, array))
        return found

    def _reference(self, kind: str, array: Any, path: tuple[Any, ...], identity: Any) -> Any:
        if array.dtype.name == "complex128":  # which the format does not have
            pairs = np.ascontiguousarray(array).reshape(*array.shape, 1).view(np.float64)
            return {kind: self._stored(pairs, path, identity), "complex": True}
        if array.dtype.name not in DTYPES.values():
            raise _unsuitable(
                path,
                f"it is an array of {array.dtype}",
                f"convert it to one of {', '.join(DTYPES.values())}",
            )
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return {kind: self._stored(native, path, identity)}

    def _stored(self, array: Any, path: tuple[Any, ...], identity: Any) -> str:
        known = self._names.get(identity)
        if known is not None and not self._flat:
            return known
        name = self._free_name(path)
        self.arrays[name] = array
        return self._names.setdefault(identity, name)

    def _free_name(self, path: tuple[Any, ...]) -> str:
        wanted = ".".join(map(str, path)) or "value"
        wanted = wanted.encode(errors="replace").decode()  # half a surrogate pair is no UTF-8
        name, number = wanted, 2
        while name in self.arrays or name == "__metadata__":
            name, number = f"{wanted}#{number}", number + 1
        return name


class Decoder:
    """Puts a value together again; ``refuse`` makes the error for a tree that makes no sense."""

    def __init__(
        self, arrays: Mapping[str, Any], refuse: Callable[[str], Exception], place: Placement
    ) -> None:
        self.arrays = arrays
        self.refuse = refuse
        self.place = place
        self._blocks = Blocks(sum(array.nbytes for array in arrays.values()), refuse)
        self._tensors: dict[Any, Tensor] = {}

    def decode(self, tree: Any, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise self.refuse("its structure is nested too deeply")
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if isinstance(tree, list):
            return [self.decode(each, depth + 1) for each in tree]
        if not isinstance(tree, dict) or not tree:
            raise self.refuse(f"its structure has {_short(tree)}")
        kind, content = next(iter(tree.items()))
        if kind in ("tensor", "array"):
            return self._array(kind, tree)
        if len(tree) != 1:
            raise self.refuse(f"its structure has {_short(tree)}")
        if kind in _MAPPINGS:
            return self._mapping(kind, content, depth)
        if kind == "tuple" and isinstance(content, list):
            return tuple(self.decode(each, depth + 1) for each in content)
        return self._special(kind, content)

    def _special(self, kind: str, content: Any) -> Any:
        try:
            if kind == "bytes":
                return base64.b64decode(content.encode("ascii"), validate=True)
            if kind == "float" and content in ("nan", "inf", "-inf"):
                return float(content)
            if kind == "int":
                return int(content, 16)
            if kind == "complex":
                real, imaginary = (self.decode(each) for each in content)
                return complex(real, imaginary)
            if kind == "dtype":
                return {each.name: each for each in dtypes.ALL}[content]
        except (AttributeError, KeyError, TypeError, ValueError, binascii.Error):
            pass  # the content is not what the kind needs
        raise self.refuse(f"its structure has {kind!r} with {_short(content)}")

    def _mapping(self, kind: str, content: Any, depth: int) -> Any:
        pairs: list[Any] = content if isinstance(content, list) else [None]
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise self.refuse(f"its structure has a {kind} of {_short(content)}")
        made: Any = _MAPPINGS[kind]()
        for key, value in pairs:
            name = self.decode(key, depth + 1)
            try:
                hash(name)
            except TypeError:
                raise self.refuse(f"its structure has the key {_short(name)}") from None
            made[name] = self.decode(value, depth + 1)
        return made

    def _array(self, kind: str, tree: dict[str, Any]) -> Any:
        name, grad = tree[kind], tree.get("requires_grad", False)
        if not isinstance(name, str) or name not in self.arrays:
            raise self.refuse(f"its structure names the tensor {_short(name)}, which is not there")
        array = self.arrays[name]
        if tree.get("complex") is True:
            if array.dtype != np.float64 or array.shape[-1:] != (2,):
                raise self.refuse(f"its structure has complex numbers made of {describe(array)}")
            array = array.view(np.complex128).reshape(array.shape[:-1])
        if kind == "array":
            return array
        if grad is not False and (grad is not True or array.dtype.kind in "biu"):
            raise self.refuse(f"its structure asks for the gradient of {describe(array)}")
        if (name, grad) not in self._tensors:
            note = tree.get("memory")
            made = wrap(array) if note is None else self._blocks.tensor(array, note)
            self._tensors[name, grad] = self.place("cpu", made).requires_grad_(grad)
        return self._tensors[name, grad]


def _encoded_integer(value: int) -> Any:
    """JSON has no limit, but Python refuses to read decimal numbers with thousands of digits."""
    return value if abs(value) < 2**1024 else {"int": hex(value)}


def _instead_of(value: Any) -> str:
    if hasattr(value, "state_dict"):
        return "save its state_dict(), and load it with load_state_dict()"
    if hasattr(value, "get_state"):
        return "save its get_state(), and load it with set_state()"
    return "save tensors, numbers, texts, bytes, None, and lists, tuples and dicts of them"


def _unsuitable(path: tuple[Any, ...], cause: str, fix: str) -> TypeError:
    place = "obj" + "".join(f"[{key!r}]" for key in path[:8]) + ("…" if len(path) > 8 else "")
    return fail(TypeError, call=f"whygrad.save: {place}", cause=cause, fix=fix)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
