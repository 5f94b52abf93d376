"""Channels of several groups, dealt out."""

from whygrad.nn.shape import ChannelShuffle

__all__ = ["ChannelShuffle"]
