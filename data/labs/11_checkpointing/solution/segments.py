"""«module_segments»"""

from itertools import pairwise

from predictions import peak

from whygrad.utils.checkpoint import checkpoint


def run(layers, segments, x):
    """«run»

    «run_more»
    """
    count = len(layers)
    borders = [count * place // segments for place in range(segments + 1)]
    *early, last = [layers[start:end] for start, end in pairwise(borders)]
    for part in early:
        # «part_is_an_argument»
        x = checkpoint(_in_order, part, x)
    return _in_order(last, x)


def best_segments(n, c):
    """«best_segments»"""
    return min(_divisors(n), key=lambda k: peak(n, k, c))


def cheapest(n, c, budget):
    """«cheapest»"""
    return next((k for k in _divisors(n) if peak(n, k, c) <= budget), None)


def _in_order(layers, h):
    for layer in layers:
        h = layer(h)
    return h


def _divisors(n):
    return [k for k in range(1, n + 1) if n % k == 0]
