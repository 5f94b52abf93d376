"""Embedding: a table of vectors, looked up by index."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn import functional, init
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.tensor import Tensor, modes

__all__ = ["Embedding"]


class Embedding(Module):
    """One learned vector per index.

    ``padding_idx``
        an index whose vector starts as zeros and gets no gradient.
    ``max_norm``, ``norm_type``
        vectors that are looked up and longer than this are first shortened, in place.
    ``scale_grad_by_freq``
        divide the gradient of a vector by how often the batch looked it up.
    ``sparse``
        accepted for PyTorch's sake: gradients are dense here.
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise _refuse(
                f"Embedding({num_embeddings}, {embedding_dim}, padding_idx={padding_idx})",
                f"Padding_idx must be within num_embeddings ({num_embeddings})",
                "name one of the rows, or None",
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        size = (num_embeddings, embedding_dim)
        if _weight is None:
            table = functions["empty"](size, device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not _freeze)
            self.reset_parameters()
        elif tuple(_weight.shape) != size:
            raise _refuse(
                f"Embedding({num_embeddings}, {embedding_dim}, _weight=…)",
                f"Shape of weight does not match num_embeddings and embedding_dim: it is "
                f"{tuple(_weight.shape)}",
                "use Embedding.from_pretrained(weight), which reads both off the weight",
            )
        else:
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Standard normal, and zeros at ``padding_idx``."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with modes.no_grad():
                self.weight[self.padding_idx].fill_(0.0)

    def forward(self, input: Tensor) -> Tensor:
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}", f"{self.embedding_dim}"]
        usual = {
            "padding_idx": None, "max_norm": None, "norm_type": 2,
            "scale_grad_by_freq": False, "sparse": False,
        }  # fmt: skip
        for name, default in usual.items():
            value = getattr(self, name)
            if value != default:
                parts.append(f"{name}={value}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A layer around a table that exists; ``freeze`` keeps it from being trained."""
        if embeddings.ndim != 2:
            raise _refuse(
                f"Embedding.from_pretrained of a tensor with {embeddings.ndim} dimension(s)",
                "Embeddings parameter is expected to be 2-dimensional",
                "pass one row per index",
            )
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


def _refuse(call: str, cause: str, fix: str) -> AssertionError:
    return fail(AssertionError, call=call, cause=cause, fix=fix)
