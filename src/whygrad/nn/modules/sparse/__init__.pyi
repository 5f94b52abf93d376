"""Tables of vectors, looked up by index."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.nn.modules.sparse.embedding import Embedding as Embedding
from whygrad.nn.modules.sparse.embedding_bag import EmbeddingBag as EmbeddingBag

__all__ = ["Embedding", "EmbeddingBag"]
