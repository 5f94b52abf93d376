"""Why a gradient is zero.

:mod:`.answers` asks, :mod:`.walk` goes back from the loss and :mod:`.attribution` says of each zero
why it is one, :mod:`.causes` knows why an op lets nothing through, :mod:`.report` puts it in words.
:mod:`.edges` is what an engine has to offer; :mod:`.tape` and :mod:`.scalar` offer it for tensors
and Values, :mod:`whygrad.torch.edges` for PyTorch.
"""
