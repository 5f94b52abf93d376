"""The softmax over clusters of classes."""

from whygrad.nn.adaptive_softmax import AdaptiveLogSoftmaxWithLoss

__all__ = ["AdaptiveLogSoftmaxWithLoss"]
