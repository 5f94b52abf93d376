"""Datasets, samplers and the DataLoader, as in ``torch.utils.data``, and small data to learn from.

Everything here works offline: ``digits``, ``moons``, ``spirals`` and ``text``.
"""

from whygrad.data.collate import default_collate, default_convert
from whygrad.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from whygrad.data.examples import digits, moons, spirals
from whygrad.data.loader import DataLoader
from whygrad.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from whygrad.data.shares import DistributedSampler
from whygrad.data.text import Characters, text
from whygrad.data.worker_info import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "Characters",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "digits",
    "get_worker_info",
    "moons",
    "random_split",
    "spirals",
    "text",
]
