"""What PyTorch programs say around their computing: settings, versions, compilers, processes.

Each module answers to PyTorch's path, ``whygrad.jit`` or ``whygrad.version``, which
:mod:`whygrad.aliases` lists.
"""
