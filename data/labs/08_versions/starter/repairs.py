"""«module_repairs»"""

import whygrad as wg


def decayed(x, k):
    """«decayed»

    «decayed_more»
    """
    y = (x * x).sum()
    with wg.no_grad():
        x -= k * x
    y.backward()
    return y


def scaled(x, k, c):
    """«scaled»"""
    h = x * k
    h.data.mul_(c)
    return (h * h).sum()
