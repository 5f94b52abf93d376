"""Tables that are looked up."""

from whygrad.nn.embedding import Embedding
from whygrad.nn.embedding_bag import EmbeddingBag

__all__ = ["Embedding", "EmbeddingBag"]
