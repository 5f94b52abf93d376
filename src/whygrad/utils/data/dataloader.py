"""``from whygrad.utils.data.dataloader import DataLoader``, as PyTorch programs spell it."""

from whygrad.data import DataLoader, default_collate, default_convert, get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
