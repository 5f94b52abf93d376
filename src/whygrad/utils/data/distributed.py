"""PyTorch's place for the sampler of a share of the data."""

from whygrad.data import DistributedSampler

__all__ = ["DistributedSampler"]
