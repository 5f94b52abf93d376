"""«module_repairs»"""

import whygrad as wg


def decayed(x, k):
    """«decayed»

    «decayed_more»
    """
    y = (x * x).sum()
    y.backward()  # «backward_first»
    with wg.no_grad():
        x -= k * x
    return y


def scaled(x, k, c):
    """«scaled»"""
    h = x * k
    h = h * c  # «new_tensor»
    return (h * h).sum()
