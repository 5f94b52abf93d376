"""Wrappers for several devices or processes, on a machine with one CPU."""

from whygrad.nn.parallel.data_parallel import DataParallel, data_parallel
from whygrad.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
