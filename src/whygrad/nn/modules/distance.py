"""Distances."""

from whygrad.nn.margin_loss import CosineSimilarity, PairwiseDistance

__all__ = ["CosineSimilarity", "PairwiseDistance"]
