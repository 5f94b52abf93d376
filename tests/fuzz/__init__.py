"""Random programs, run on whygrad and on PyTorch, compared in values and gradients."""
