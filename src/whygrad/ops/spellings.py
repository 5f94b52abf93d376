"""One op, many names: what PyTorch, Python and the two engines' tapes call an op of the table.

``x += y`` arrives as ``__iadd__``, ``x.clip_()`` as ``clip_``, ``1 / x`` as ``__rtruediv__``.
Everything that speaks about a call by its name asks here which op that is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from whygrad.ops.define import aliases, table

if TYPE_CHECKING:
    from whygrad.ops.op import Op

__all__ = ["Spelling", "row_of", "shared_name", "spelled", "spoken_name"]

# Exactly an op of the table, where neither a rule of spelling nor an alias of the op says so.
_OTHERWISE = {
    "H": "adjoint", "T": "transpose", "alias": "detach", "data": "detach", "mH": "adjoint",
    "mT": "transpose", "special_logit": "logit", "truediv": "div", "type": "cast",
}  # fmt: skip
_DTYPES = ("bfloat16", "bool", "byte", "char", "double", "float", "half", "int", "long", "short")
# Special cases of an op, of which the same can be said.
_SPECIAL_CASES = {
    "bmm": "matmul", "dot": "matmul", "frobenius_norm": "norm", "linalg_norm": "norm",
    "linalg_vector_norm": "norm", "mm": "matmul", "mv": "matmul",
    "native_batch_norm": "batch_norm", "native_layer_norm": "layer_norm", "square": "pow",
    "to_copy": "cast", "vector_norm": "norm",
}  # fmt: skip
# What users call ops that have another name in the table.
_SPOKEN = {
    "copy_slices": "assignment", "drop": "dropout", "einsum_pair": "einsum",
    "gather_last": "gather", "index_last": "index", "max_of_all": "max", "median_of_all": "median",
    "min_of_all": "min", "nanmedian_of_all": "nanmedian", "split_with_sizes": "split",
}  # fmt: skip
_OPERATORS = ("add", "div", "mul", "pow", "sub", "truediv")
_COMMUTING = ("add", "mul")


class Spelling(NamedTuple):
    """How an op was called."""

    op: str  # its name in the table, where it is there
    in_place: bool = False
    reflected: bool = False  # ``1 / x``: the operands come the other way round

    @property
    def on_tape(self) -> str:
        """``div``, ``div_``, ``rdiv``: as calls are recorded."""
        return f"r{self.op}" if self.reflected else f"{self.op}_" if self.in_place else self.op


@lru_cache(maxsize=2048)
def spelled(name: str) -> Spelling:
    """The op behind any of its names."""
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
        if name in _DTYPES:  # a number that leaves the engine; without the bars it is a cast
            return Spelling(name)
    if name[1:] in _OPERATORS and name[:1] in "ir":
        op = _OTHERWISE.get(name[1:], name[1:])
        reflected = name[0] == "r" and op not in _COMMUTING
        return Spelling(op, in_place=name[0] == "i", reflected=reflected)
    plain = name if name in table else name.rstrip("_")
    in_place = plain != name
    if plain in _DTYPES:
        return Spelling("cast", in_place)
    return Spelling(_OTHERWISE.get(plain) or aliases.get(plain, plain), in_place)


def shared_name(op: str) -> str:
    """The op under which the words about it are kept: ``matmul`` for ``mm``."""
    return _SPECIAL_CASES.get(op, op)


def spoken_name(op: str) -> str:
    """The name that a user knows an op of the table by."""
    return _SPOKEN.get(op, op)


def row_of(name: str) -> Op | None:
    """The row of the table, by any name; None for what is no op of it."""
    row: Op | None = table.get(spelled(name).op)
    return row
