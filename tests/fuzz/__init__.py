"""Random programs, run on whygrad and on PyTorch, compared value by value and gradient by gradient."""
