"""«module_asking»"""

import numpy as np

from whygrad.dispatch import explain


def relation(a, b):
    """«relation»

    «relation_more»
    """
    raise NotImplementedError("relation")


def saved_by(function, *inputs):
    """«saved_by»

    «saved_by_more»
    """
    raise NotImplementedError("saved_by")


def keys_of(function, *args):
    """«keys_of»

    «keys_of_more»
    """
    raise NotImplementedError("keys_of")
