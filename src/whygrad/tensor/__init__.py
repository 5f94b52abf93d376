"""What a tensor is: numbers in memory, how they are laid out, and which keys they set.

:mod:`~whygrad.tensor.keys`, :mod:`~whygrad.tensor.dtypes` and :mod:`~whygrad.tensor.devices` are
the vocabulary, :mod:`~whygrad.tensor.storage` is memory that knows its history, and
:mod:`~whygrad.tensor.tensor` has the class.  Everything else is built on this room, and nothing
here knows how an op is computed or differentiated.
"""

from whygrad.tensor.tensor import Tensor, alias, dtype_keys, payload_keys, wrap

__all__ = ["Tensor", "alias", "dtype_keys", "payload_keys", "wrap"]
