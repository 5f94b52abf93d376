"""The bits the dispatcher looks at.

Every tensor carries one small integer that says where it lives, how it is laid out, what its
elements are, and which layers (autograd, forward mode, …) care about it.  An op call ORs the
integers of its arguments; the result picks the kernel.  Plain ints, because this is the hottest
line of the whole engine and ``enum.Flag`` costs a microsecond per ``|``.
"""

from __future__ import annotations

__all__ = [
    "AUTOCAST",
    "AUTOGRAD",
    "BATCHED",
    "CPU",
    "CUT",
    "DEVICES",
    "DTYPES",
    "FORWARD",
    "INTERCEPTED",
    "LAYERS",
    "LAYOUTS",
    "META",
    "NOTES",
    "OVERRIDDEN",
    "SCALARS",
    "SPARSE_COO",
    "SPARSE_CSR",
    "TRACED",
    "UNFOLLOWED",
    "UNRECORDED",
    "VARYING",
    "describe",
    "describe_tensor",
    "new_device",
    "new_layout",
]

_names: dict[int, str] = {}
_next_bit = 0


def _bit(name: str) -> int:
    global _next_bit
    bit = 1 << _next_bit
    _next_bit += 1
    _names[bit] = name
    return bit


# Elements: one bit per dtype, so "more than one dtype bit" means "promote first".
DTYPE_BITS = {
    name: _bit(name)
    for name in (
        "bool", "uint8", "int8", "int16", "int32", "int64",
        "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
    )
}  # fmt: skip
# Python numbers have a kind but no dtype of their own.
SCALAR_BITS = {
    bool: _bit("python bool"),
    int: _bit("python int"),
    float: _bit("python float"),
    complex: _bit("python complex"),
}
CPU = _bit("cpu")
META = _bit("meta")
SPARSE_COO = _bit("sparse_coo")
SPARSE_CSR = _bit("sparse_csr")
# Notes for the lowest layer: a constant that was once part of a graph; a thread inside no_grad();
# a thread that runs the engine's own ops.
CUT = _bit("cut")
UNRECORDED = _bit("unrecorded")
UNFOLLOWED = _bit("unfollowed")
# Layers, lowest first: a higher layer runs before a lower one and calls down to it.
AUTOGRAD = _bit("autograd")
INTERCEPTED = _bit("intercepted")  # set by the thread, not by an argument
VARYING = _bit("varying")  # with an argument of the custom function that is running
FORWARD = _bit("forward-mode")
BATCHED = _bit("batched")
TRACED = _bit("traced")
AUTOCAST = _bit("autocast")  # set by the thread: see whygrad.amp
OVERRIDDEN = _bit("overridden")  # by __torch_function__ of a subclass, or of a mode

DTYPES = sum(DTYPE_BITS.values())
SCALARS = sum(SCALAR_BITS.values())
DEVICES = CPU | META
LAYOUTS = SPARSE_COO | SPARSE_CSR
NOTES = CUT | UNRECORDED | UNFOLLOWED
LAYERS = AUTOGRAD | INTERCEPTED | VARYING | FORWARD | BATCHED | TRACED | AUTOCAST | OVERRIDDEN
COMPLEX = DTYPE_BITS["complex64"] | DTYPE_BITS["complex128"]
# Numbers by kind, Python's own included, for ops that refuse one.
KINDS = {
    "bool": DTYPE_BITS["bool"] | SCALAR_BITS[bool],
    "integer": SCALAR_BITS[int]
    | sum(bit for name, bit in DTYPE_BITS.items() if name.startswith(("int", "uint"))),
    "float": SCALAR_BITS[float]
    | sum(bit for name, bit in DTYPE_BITS.items() if name.startswith(("float", "bfloat"))),
    "complex": COMPLEX | SCALAR_BITS[complex],
}
HALVES = DTYPE_BITS["float16"] | DTYPE_BITS["bfloat16"]


def new_device(name: str) -> int:
    """Reserve a key for a device that lives outside this package."""
    global DEVICES
    bit = _bit(name)
    DEVICES |= bit
    return bit


def new_layout(name: str) -> int:
    """Reserve a key for a memory layout that lives outside this package."""
    global LAYOUTS
    bit = _bit(name)
    LAYOUTS |= bit
    return bit


def describe(keys: int) -> list[str]:
    """The names of the set bits, lowest first."""
    return [name for bit, name in _names.items() if keys & bit]


def describe_tensor(keys: int) -> list[str]:
    """The names of a tensor's keys: dtype, device, layout, layers.

    Nearly every tensor is strided, so that layout is the one without a bit: no kernel has to ask.
    """
    basis = DTYPES | SCALARS | DEVICES
    layout = describe(keys & LAYOUTS) or ["strided"]
    return [*describe(keys & basis), *layout, *describe(keys & ~basis & ~LAYOUTS)]
