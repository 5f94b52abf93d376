"""What watches a training program, and what can run its steps again; nothing here judges.

``engines`` know where PyTorch and whygrad are held, ``wrapping`` stands between them and the
program, the modules of this folder write down what happens, :mod:`.record` says what a run is, and
``replay`` carries a recorded step out again, as it was or with one thing changed.
"""
