"""Hardware and libraries that PyTorch programs ask for, answered by a machine that has a CPU.

Each module answers to PyTorch's path, ``whygrad.cuda`` or ``whygrad.backends.cudnn``, which
:mod:`whygrad.aliases` lists.
"""
