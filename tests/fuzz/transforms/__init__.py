"""Programs of transforms: small functions with views, writes and draws, under random nestings.

``lines`` says what a function can do, ``layers`` what can be put around it, ``draw`` draws a
program, ``words`` is what its lines may call, ``judge`` runs it on both libraries; where PyTorch
refuses, ``loops`` runs it on whygrad with a Python loop in the place of every ``vmap``.
"""
