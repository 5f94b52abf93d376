"""What watches a training program, and what can run its steps again; nothing here judges.

:mod:`.record` says what a run is.  From the ground up: ``engines`` know where PyTorch and whygrad
are held, ``replay`` carries a recorded step out again, as it was or with one thing changed,
``watching`` writes down what happens, and ``wrapping`` stands between the program and its engine.
"""
