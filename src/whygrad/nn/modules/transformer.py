"""Transformer layers: attention and a feed-forward network, each around a residual connection."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from whygrad.errors import describe, fail
from whygrad.nn import init
from whygrad.nn.modules.activation.attention import MultiheadAttention
from whygrad.nn.modules.container import ModuleList
from whygrad.nn.modules.dropout import Dropout
from whygrad.nn.modules.linear import Linear
from whygrad.nn.modules.module import Module
from whygrad.nn.modules.normalization import LayerNorm
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


class _Layer(Module):
    """What encoder and decoder layers have in common; ``norm_first`` normalises before each part.

    Subclasses say which attention there is besides self-attention: the names of submodules and
    their order, which are PyTorch's, depend on it.
    """

    activation: Callable[[Tensor], Tensor]
    _attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functions["relu"],
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        function = _activation(activation)
        super().__init__()
        place = {"device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **place
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **place)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for part in parts:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            self.add_module(f"norm{part}", norm)
        for part in parts:
            self.add_module(f"dropout{part}", Dropout(dropout))
        self.activation = function

    def _add(
        self, x: Tensor, number: int, part: Callable[..., Tensor], *args: Any, **kwargs: Any
    ) -> Tensor:
        """x + part(x), normalised before or after, with the norm and dropout of this number."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(part(norm(x), *args, **kwargs))
        normalised: Tensor = norm(x + dropout(part(x, *args, **kwargs)))
        return normalised

    def _attend_to_itself(
        self, x: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool
    ) -> Tensor:
        attended: Tensor = self.self_attn(
            x, x, x, padding, need_weights=False, attn_mask=mask, is_causal=is_causal
        )[0]
        return attended

    def _feed_forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return out


class TransformerEncoderLayer(_Layer):
    """Self-attention, then a feed-forward network."""

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """``is_causal`` promises that ``src_mask`` is the causal one, so nobody has to read it."""
        x = self._add(src, 1, self._attend_to_itself, src_mask, src_key_padding_mask, is_causal)
        return self._add(x, 2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to what an encoder made, then a feed-forward network."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """As the encoder layer, with masks for the target and for the memory."""
        x = self._add(tgt, 1, self._attend_to_itself, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        x = self._add(
            x, 2, self._attend_to, memory, memory_mask, memory_key_padding_mask, memory_is_causal
        )
        return self._add(x, 3, self._feed_forward)

    def _attend_to(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None,
        padding: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        attended: Tensor = self.multihead_attn(
            x, memory, memory, padding, need_weights=False, attn_mask=mask, is_causal=is_causal
        )[0]
        return attended


class _Stack(Module):
    """Copies of one layer, one after the other."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _through(self, x: Tensor, *args: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *args)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """``num_layers`` copies of an encoder layer, and a norm at the end if one is given."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        """The last two arguments choose between kernels in PyTorch and change nothing here."""
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        return self._through(src, mask, src_key_padding_mask, bool(is_causal))


class TransformerDecoder(_Stack):
    """``num_layers`` copies of a decoder layer, and a norm at the end if one is given."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        return self._through(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            bool(tgt_is_causal),
            memory_is_causal,
        )


class Transformer(Module):
    """An encoder that reads ``src`` and a decoder that makes ``tgt`` from what it read."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functions["relu"],
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        shared = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*shared, **place), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*shared, **place), num_decoder_layers, norm()
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        self._check(src, tgt)
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        out: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )
        return out

    def _check(self, src: Tensor, tgt: Tensor) -> None:
        batch = 0 if self.batch_first else 1
        cause = None
        if src.ndim == tgt.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            cause = "the batch number of src and tgt must be equal"
        elif not src.shape[-1] == tgt.shape[-1] == self.d_model:
            cause = "the feature number of src and tgt must be equal to d_model"
        if cause is not None:
            raise fail(
                RuntimeError,
                call=f"Transformer(src: {describe(src)}, tgt: {describe(tgt)})",
                cause=cause,
                fix=f"the batch is dimension {batch} (see batch_first), and the features are "
                f"dimension -1, of size {self.d_model}",
            )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The causal mask to add: −inf where the column is later than the row, else 0."""
        mask: Tensor = functions["full"]((sz, sz), -math.inf, device=device, dtype=dtype)
        return mask.triu(1)


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise fail(
            RuntimeError,
            call=f"a transformer layer with activation={activation!r}",
            cause=f"activation should be relu/gelu, not {activation}",
            fix="pass a function for any other: activation=nn.functional.silu",
        )
    return functions[activation]
