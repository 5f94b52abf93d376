"""PyTorch's name for :mod:`whygrad.data`: ``from whygrad.utils.data import DataLoader``.

The modules inside it, ``whygrad.utils.data.dataset``, are found by :mod:`whygrad.aliases`.
"""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.data import dataset as dataset
from whygrad.data import loader as dataloader
from whygrad.data import samplers as sampler
from whygrad.data import shares as distributed
from whygrad.data.collate import default_collate as default_collate
from whygrad.data.collate import default_convert as default_convert
from whygrad.data.dataset import ChainDataset as ChainDataset
from whygrad.data.dataset import ConcatDataset as ConcatDataset
from whygrad.data.dataset import Dataset as Dataset
from whygrad.data.dataset import IterableDataset as IterableDataset
from whygrad.data.dataset import StackDataset as StackDataset
from whygrad.data.dataset import Subset as Subset
from whygrad.data.dataset import TensorDataset as TensorDataset
from whygrad.data.dataset import random_split as random_split
from whygrad.data.loader import DataLoader as DataLoader
from whygrad.data.samplers import BatchSampler as BatchSampler
from whygrad.data.samplers import RandomSampler as RandomSampler
from whygrad.data.samplers import Sampler as Sampler
from whygrad.data.samplers import SequentialSampler as SequentialSampler
from whygrad.data.samplers import SubsetRandomSampler as SubsetRandomSampler
from whygrad.data.samplers import WeightedRandomSampler as WeightedRandomSampler
from whygrad.data.shares import DistributedSampler as DistributedSampler
from whygrad.data.worker_info import get_worker_info as get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
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
    "dataloader",
    "dataset",
    "default_collate",
    "default_convert",
    "distributed",
    "get_worker_info",
    "random_split",
    "sampler",
]
