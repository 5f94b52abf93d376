"""A share of the indices for each of several processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any

from whygrad.data.samplers import Sampler
from whygrad.errors import fail
from whygrad.ops import functions
from whygrad.random import Generator

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every ``num_replicas``-th index from ``rank`` on, in an order all processes agree on.

    One process that gets everything unless said otherwise.  Call ``set_epoch`` before each epoch,
    or the order stays the same.  Shares are equally long: the first indices come again, or with
    ``drop_last`` the last ones are left out.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        self.dataset: Any = dataset
        self.num_replicas = 1 if num_replicas is None else num_replicas
        self.rank = 0 if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise fail(
                ValueError,
                call=f"DistributedSampler(…, num_replicas={self.num_replicas}, rank={self.rank})",
                cause=f"Invalid rank {self.rank}, rank should be in the interval "
                f"[0, {self.num_replicas - 1}]",
                fix="ranks count from 0",
            )
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0

    @property
    def num_samples(self) -> int:
        share = len(self.dataset) / self.num_replicas
        if self.drop_last and len(self.dataset) % self.num_replicas:
            return math.ceil((len(self.dataset) - self.num_replicas) / self.num_replicas)
        return math.ceil(share)

    @property
    def total_size(self) -> int:
        return self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        order = list(range(size))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = functions["randperm"](size, generator=generator).tolist()
        if not self.drop_last:
            order *= math.ceil(self.total_size / size) if size else 1
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose another order."""
        self.epoch = epoch
