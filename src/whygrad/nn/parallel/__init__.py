"""Wrappers for several devices or processes, on a machine with one CPU.

``replicate``, ``scatter``, ``gather`` and ``parallel_apply`` need several GPUs; as PyTorch's do
without any, they raise.
"""

from whygrad.hardware.missing import raising
from whygrad.nn.parallel.data_parallel import DataParallel, data_parallel
from whygrad.nn.parallel.distributed import DistributedDataParallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

gather = raising("cuda", "gather", __name__)
parallel_apply = raising("cuda", "parallel_apply", __name__)
replicate = raising("cuda", "replicate", __name__)
scatter = raising("cuda", "scatter", __name__)
