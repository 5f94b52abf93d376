"""Where the first number came from that is not finite, in a PyTorch program."""

from whygrad.torch.nan.question import why_nan

__all__ = ["why_nan"]
