"""What programs reach into PyTorch's loader for."""

from whygrad.utils.data._utils import collate

__all__ = ["collate"]
