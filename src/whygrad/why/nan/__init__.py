"""Who made the first number that is not finite, asked after the fact.

:mod:`.answers` asks; :mod:`.recorded` judges the calls of a recorded graph as anomaly mode judges
them while they run, with what :mod:`.values` can find out about them; :mod:`.scalar` is for Values.
"""
