"""EmbeddingBag: a table of vectors, looked up by bags of indices."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn import functional, init
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.tensor import Tensor, modes

__all__ = ["EmbeddingBag"]


class EmbeddingBag(Module):
    """The sum, mean or maximum of the learned vectors of every bag of indices.

    The options are those of :class:`Embedding`; ``mode`` says how a bag becomes one vector, and
    ``include_last_offset`` that the last offset is the end of the last bag.
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        call = f"EmbeddingBag({num_embeddings}, {embedding_dim}, padding_idx={padding_idx})"
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise _refuse(
                call,
                f"padding_idx must be within num_embeddings ({num_embeddings})",
                "name one of the rows, or None",
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        size = (num_embeddings, embedding_dim)
        if _weight is None:
            self.weight = Parameter(functions["empty"](size, device=device, dtype=dtype))
            self.reset_parameters()
        elif tuple(_weight.shape) != size:
            raise _refuse(
                call,
                "Shape of weight does not match num_embeddings and embedding_dim: it is "
                f"{tuple(_weight.shape)}",
                "use EmbeddingBag.from_pretrained(weight), which reads both off the weight",
            )
        else:
            self.weight = Parameter(_weight)

    def reset_parameters(self) -> None:
        """Standard normal, and zeros at ``padding_idx``."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with modes.no_grad():
                self.weight[self.padding_idx].fill_(0.0)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return functional.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}", f"{self.embedding_dim}"]
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        parts += [
            f"{name}={getattr(self, name)}"
            for name, default in usual.items()
            if getattr(self, name) != default
        ]
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A layer around a table that exists; ``freeze`` keeps it from being trained."""
        if embeddings.ndim != 2:
            raise _refuse(
                f"EmbeddingBag.from_pretrained of a tensor with {embeddings.ndim} dimension(s)",
                "Embeddings parameter is expected to be 2-dimensional",
                "pass one row per index",
            )
        rows, columns = embeddings.shape
        made = cls(
            rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
            _weight=embeddings, include_last_offset=include_last_offset, padding_idx=padding_idx,
        )  # fmt: skip
        made.weight.requires_grad_(not freeze)
        return made


def _refuse(call: str, cause: str, fix: str) -> Exception:
    kind = ValueError if cause.startswith("padding_idx") else AssertionError
    return fail(kind, call=call, cause=cause, fix=fix)
