"""Programs over everything autograd has: views, writes, hooks, checkpoints, repeated backward.

``lines`` says what a program can do, ``words`` what its lines may call, ``draw`` draws one,
``session`` runs it on one library, ``judge`` runs it on both, step by step, and explains the first
difference, ``excuses`` names the differences that are meant, ``numeric`` asks finite differences
where PyTorch gives no answer, or a wrong one.
"""
