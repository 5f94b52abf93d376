"""What the names in a PyTorch file stand for: tensors, dtypes, devices and plain containers.

Every constructor checks its arguments before it builds: a view must lie inside its storage, a dtype
must be one that whygrad has.  Tensors over one storage share its memory again.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from whygrad.files.pickles import Constructor, Refused, built, shown, simple
from whygrad.tensor import Tensor, devices, dtypes, wrap
from whygrad.tensor.memory import Size, strided
from whygrad.tensor.storage import Storage

__all__ = ["Memory", "Names", "checked_result", "give_state", "storage_dtype"]

_STORAGES = {
    "BFloat16Storage": "bfloat16", "BoolStorage": "bool", "ByteStorage": "uint8",
    "CharStorage": "int8", "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64", "DoubleStorage": "float64", "FloatStorage": "float32",
    "HalfStorage": "float16", "IntStorage": "int32", "LongStorage": "int64",
    "ShortStorage": "int16",
}  # fmt: skip
_INSTEAD = (
    "save tensors and plain containers where it was written: torch.save(model.state_dict(), path), "
    "then model.load_state_dict(whygrad.load(path)); weights_only=False and add_safe_globals do "
    "not change that"
)


class Memory:
    """One storage of the file: its bytes once they are read, and the device they were on."""

    __slots__ = ("content", "dtype", "location", "storage")

    def __init__(self, content: Any, dtype: dtypes.DType | None, location: str) -> None:
        self.content = content  # bytes
        self.storage = Storage(content if dtype is None else content.view(dtype.numpy))
        self.dtype = dtype  # None: bytes, and each tensor has a dtype of its own
        self.location = location


def storage_dtype(constructor: Any) -> dtypes.DType | None:
    """Of the elements, by the name of the storage class; None for plain bytes."""
    name = constructor.name if isinstance(constructor, Constructor) else shown(constructor)
    space, _, kind = name.rpartition(".")
    if name == "torch.storage.UntypedStorage":
        return None
    if space != "torch" or kind not in _STORAGES:
        raise Refused(f"it has a storage of the kind {name}")
    return dtypes.of(_STORAGES[kind])


class Names:
    """The table of names, for files whose tensors go to ``place(location)``."""

    def __init__(self, place: Callable[[str, Tensor], Tensor]) -> None:
        self.place = place
        makers: dict[str, Callable[..., Any]] = {
            "_codecs.encode": _encoded,
            "builtins.bytearray": _bytes_of,
            "builtins.complex": lambda real, imaginary: complex(_float(real), _float(imaginary)),
            "builtins.frozenset": lambda items=(): frozenset(map(simple, _listed(items))),
            "builtins.set": lambda items=(): set(map(simple, _listed(items))),
            "collections.Counter": lambda counts=(): _filled(Counter(), counts),
            "collections.OrderedDict": lambda pairs=(): _filled(OrderedDict(), pairs),
            "collections.defaultdict": _defaultdict,
            "numpy._core.multiarray.scalar": _numpy_number,
            "numpy.core.multiarray.scalar": _numpy_number,
            "numpy.dtype": _numpy_dtype,
            "torch.Size": lambda sizes=(): Size(_integers(sizes)),
            "torch._tensor._rebuild_from_type_v2": self._of_type,
            "torch._utils._rebuild_meta_tensor_no_storage": _meta,
            "torch._utils._rebuild_parameter": self._parameter,
            "torch._utils._rebuild_parameter_with_state": self._parameter,
            "torch._utils._rebuild_sparse_tensor": _sparse,
            "torch._utils._rebuild_tensor": self._tensor,
            "torch._utils._rebuild_tensor_v2": self._tensor,
            "torch._utils._rebuild_tensor_v3": self._tensor_of_bytes,
            "torch.device": _device,
            "torch.serialization._get_layout": _layout,
        }
        self.table: dict[str, Any] = {
            name: Constructor(name, make) for name, make in makers.items()
        }
        for name in (
            *_FACTORIES, "torch.Tensor", "torch.nn.parameter.Buffer",
            "torch.nn.parameter.Parameter", "torch.storage.UntypedStorage",
            *(f"torch.{kind}" for kind in _STORAGES),
        ):  # fmt: skip
            self.table.setdefault(name, Constructor(name))
        self.table |= {f"torch.{each.name}": each for each in dtypes.ALL}

    def outline(self, module: str, name: str) -> Any:
        """The same table for a first reading that looks for storages: tensors are not made."""
        found = self(module, name)
        if isinstance(found, Constructor) and found.name.startswith(("torch._", "torch.serial")):
            return Constructor(found.name, lambda *_: None)
        return found

    def __call__(self, module: str, name: str) -> Any:
        path = f"{'builtins' if module == '__builtin__' else module}.{name}"
        found = self.table.get(path)
        if found is None:
            raise Refused(
                f"it names {path}: to build such a thing is to run code, and a file from elsewhere "
                "runs none here",
                _INSTEAD,
            )
        return found

    # --- tensors --------------------------------------------------------------------------------

    def _tensor(
        self,
        memory: Any,
        offset: Any,
        size: Any,
        stride: Any,
        requires_grad: Any = False,
        hooks: Any = None,
        metadata: Any = None,
    ) -> Tensor:
        _no_hooks(hooks)
        if not isinstance(memory, Memory) or memory.dtype is None:
            raise Refused("it has a tensor without a storage of numbers")
        made = self._view(memory, memory.dtype, offset, size, stride)
        for mark, undo in (("conj", "conj_physical"), ("neg", "neg")):
            if isinstance(metadata, dict) and metadata.get(mark):
                if made.numel() > memory.content.nbytes:  # expanded: its values would be written
                    raise Refused(
                        f"it has {made.numel()} numbers to compute of {memory.content.nbytes} bytes"
                    )
                made = getattr(made, undo)()  # a view in PyTorch, which computes when it is read
        return _asking(made, requires_grad)

    def _tensor_of_bytes(
        self,
        memory: Any,
        offset: Any,
        size: Any,
        stride: Any,
        requires_grad: Any,
        hooks: Any,
        dtype: Any,
        metadata: Any = None,
    ) -> Tensor:
        _no_hooks(hooks)
        if not isinstance(memory, Memory) or not isinstance(dtype, dtypes.DType):
            raise Refused("it has a tensor without a storage or a dtype")
        return _asking(self._view(memory, dtype, offset, size, stride), requires_grad)

    def _view(
        self, memory: Memory, dtype: dtypes.DType, offset: Any, size: Any, stride: Any
    ) -> Tensor:
        shape, steps = _integers(size), _integers(stride)
        (start,) = _integers((offset,))
        source, itemsize = memory.content, dtype.itemsize
        if len(shape) != len(steps):
            raise Refused(f"it has a tensor with sizes {shape} and strides {steps}")
        reach = start + sum((length - 1) * step for length, step in zip(shape, steps)) + 1
        if prod(shape) and reach * itemsize > source.nbytes:
            raise Refused(
                f"it has a tensor with sizes {shape}, strides {steps} and offset {start} outside "
                f"its storage of {source.nbytes} bytes"
            )
        if dtype is dtypes.bool_ and memory.dtype is None and (source > 1).any():
            raise Refused("it has a bool that is neither 0 nor 1")
        numbers = source[: source.nbytes // itemsize * itemsize].view(dtype.numpy)
        if not prod(shape):
            start = 0
        try:
            array = strided(
                numbers, shape, tuple(step * itemsize for step in steps), start * itemsize
            )
        except ValueError as error:
            raise Refused(f"it has a tensor with sizes {shape}: {error}") from None
        made = wrap(array)
        made._storage = memory.storage
        return self.place(memory.location, made)

    def _parameter(self, data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Tensor:
        from whygrad.nn import Parameter

        _no_hooks(hooks)
        if not isinstance(data, Tensor):
            raise Refused("it has a parameter without a tensor")
        return _with_attributes(Parameter(data, bool(requires_grad)), state)

    def _of_type(self, make: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
        """A tensor with attributes of the user's; buffers are such tensors, too."""
        made = built(make, arguments if isinstance(arguments, tuple) else ())
        names = ("torch.Tensor", "torch.nn.parameter.Buffer", "torch.nn.parameter.Parameter")
        if not isinstance(made, Tensor) or getattr(kind, "name", "") not in names:
            raise Refused("it has an instance of a class of its own", _INSTEAD)
        return _with_attributes(made, state)


def _asking(tensor: Tensor, requires_grad: Any) -> Tensor:
    if requires_grad and tensor.dtype.category < dtypes.FLOAT:
        raise Refused(f"it asks for the gradient of {tensor.dtype.name} numbers")
    return tensor.requires_grad_(bool(requires_grad))


def _no_hooks(hooks: Any) -> None:
    if hooks:
        raise Refused("it has a tensor with backward hooks, which are code", _INSTEAD)


def _with_attributes(tensor: Tensor, state: Any) -> Tensor:
    """The attributes that somebody gave a tensor; never one of its own."""
    attributes = state[0] if isinstance(state, tuple) and state else state
    for name, value in (attributes or {}).items():
        if not isinstance(name, str) or name.startswith("_") or hasattr(Tensor, name):
            continue  # PyTorch's notes about its own tensors
        tensor.__dict__[name] = value
    return tensor


def _meta(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    if not isinstance(dtype, dtypes.DType):
        raise Refused("it has a meta tensor without a dtype")
    payload = devices.meta_array(_integers(size), dtype.numpy, _integers(stride))
    return _asking(wrap(payload), requires_grad)


def _sparse(layout: Any, parts: Any) -> Tensor:
    from whygrad.ops import functions

    if not isinstance(layout, devices.Layout) or not isinstance(parts, tuple):
        raise Refused("it has a sparse tensor without a layout")
    try:
        if layout is devices.sparse_coo:
            made: Tensor = functions["sparse_coo_tensor"](*parts[:3])
        else:
            made = functions["sparse_csr_tensor"](*parts[:4])
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        raise Refused(f"it has a sparse tensor that makes no sense: {error}") from None
    return made


# --- plain values ---------------------------------------------------------------------------------

_FACTORIES = {
    "builtins.bool": bool,
    "builtins.dict": dict,
    "builtins.float": float,
    "builtins.int": int,
    "builtins.list": list,
    "builtins.long": int,
    "builtins.set": set,
    "builtins.str": str,
    "builtins.tuple": tuple,
    "builtins.unicode": str,
    "collections.OrderedDict": OrderedDict,
}  # fmt: skip  (long and unicode: pickles still use the names of Python 2)


def _defaultdict(factory: Any = None, pairs: Any = ()) -> Any:
    name = factory.name if isinstance(factory, Constructor) else shown(factory)
    if factory is not None and name not in _FACTORIES:
        raise Refused(f"it has a defaultdict whose values are made by {name}")
    return _filled(defaultdict(None if factory is None else _FACTORIES[name]), pairs)


def _filled(target: Any, pairs: Any) -> Any:
    items = pairs.items() if isinstance(pairs, dict) else _listed(pairs)
    for pair in items:
        key, value = pair
        target[simple(key)] = value
    return target


def _listed(items: Any) -> Any:
    if not isinstance(items, (list, tuple, set, frozenset)):
        raise Refused(f"it has a container made of a {type(items).__name__}")
    return items


def _float(number: Any) -> float:
    if not isinstance(number, (int, float)):
        raise Refused(f"it has a number made of a {type(number).__name__}")
    return float(number)


def _numpy_dtype(code: Any, align: Any = False, copy: Any = True) -> Any:
    known = {np.dtype(kind).str[1:] for kind in "?bhilqBHILQefdFD"}
    if not isinstance(code, str) or code not in known:
        raise Refused(f"it has a number of NumPy's of the kind {shown(code)}")
    return np.dtype(code)


def _numpy_number(dtype: Any, content: Any) -> Any:
    """A number such as ``np.float64(0.9)``: what metrics are."""
    if not isinstance(dtype, np.dtype) or not isinstance(content, bytes):
        raise Refused("it has a number of NumPy's without a dtype")
    if len(content) != dtype.itemsize:
        raise Refused(f"it has a number of NumPy's with {len(content)} bytes")
    return np.frombuffer(content, dtype)[0]


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise Refused("it has bytes that are no text in Latin-1")
    return text.encode("latin-1")


def _bytes_of(content: Any = b"", encoding: Any = None) -> bytearray:
    if isinstance(content, str):
        content = _encoded(content, encoding)
    if not isinstance(content, (bytes, bytearray)):
        raise Refused(f"it has bytes made of a {type(content).__name__}")
    return bytearray(content)


def _integers(values: Any) -> tuple[int, ...]:
    valid = isinstance(values, (tuple, list)) and all(
        type(each) is int and 0 <= each < 2**63 for each in values
    )
    if not valid:
        raise Refused(f"it has sizes or strides that are no numbers of elements: {shown(values)}")
    return tuple(values)


def _device(kind: Any, index: Any = None) -> Any:
    if not isinstance(kind, str) or not isinstance(index, (int, type(None))):
        raise Refused("it has a device without a name")
    try:
        return devices.Device(kind, index)
    except RuntimeError as error:
        raise Refused(f"it has the device {kind!r}: {error}") from None


def _layout(name: Any) -> Any:
    known = {f"torch.{each.name}": each for each in (devices.strided, *devices.layouts)}
    if not isinstance(name, str) or name not in known:
        raise Refused(f"it has the layout {shown(name)}; known are {', '.join(known)}")
    return known[name]


def give_state(target: Any, state: Any) -> None:
    """What a pickle may add to an object: the versions that a ``state_dict`` carries."""
    if isinstance(target, OrderedDict) and isinstance(state, dict) and set(state) <= {"_metadata"}:
        target.__dict__.update(state)
    elif isinstance(target, np.dtype) and isinstance(state, tuple) and state[1:2] != (">",):
        pass  # of a number in this order of bytes it says nothing new
    elif state:
        kind = getattr(target, "name", type(target).__name__)
        raise Refused(f"it sets attributes of a {kind}, which may be to run code", _INSTEAD)


def checked_result(value: Any) -> Any:
    """The value itself, if nothing in it is left over from building."""
    waiting, seen = [value], set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, (Constructor, Memory)):
            name = each.name if isinstance(each, Constructor) else "a bare storage"
            raise Refused(f"it has {name} as a value", _INSTEAD)
        if isinstance(each, (dict, list, tuple)) and id(each) not in seen:
            seen.add(id(each))
            waiting.extend(each.values() if isinstance(each, dict) else each)
    return value
