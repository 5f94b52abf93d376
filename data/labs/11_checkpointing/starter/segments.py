"""«module_segments»"""

from predictions import peak

from whygrad.utils.checkpoint import checkpoint


def run(layers, segments, x):
    """«run»

    «run_more»
    """
    raise NotImplementedError("run")


def best_segments(n, c):
    """«best_segments»"""
    raise NotImplementedError("best_segments")


def cheapest(n, c, budget):
    """«cheapest»"""
    raise NotImplementedError("cheapest")
