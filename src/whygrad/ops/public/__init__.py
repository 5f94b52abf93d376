"""PyTorch's further names for ops and for what they return: ``whygrad.linalg.inv``, …

``whygrad.linalg`` is an alias of the module in this room: see :mod:`whygrad.aliases`.
"""
