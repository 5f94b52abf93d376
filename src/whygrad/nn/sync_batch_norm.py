"""SyncBatchNorm: batch norm over the batches of all processes; here there is one."""

from __future__ import annotations

from typing import Any

from whygrad.nn.batch_norm import _BatchNorm
from whygrad.nn.module import Module
from whygrad.tensor import Tensor

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """What batch norm computes: one process has the statistics of all there are."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise self._refuse(
                input,
                f"expected at least 2D input (got {input.ndim}D input)",
                "dimensions are (samples, channels, positions…)",
            )

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with every batch norm in it replaced; they keep their parameters."""
        result: Any = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group, bias=module.bias is not None,
            )  # fmt: skip
            for home in ("_parameters", "_buffers"):
                getattr(result, home).update(getattr(module, home))
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
