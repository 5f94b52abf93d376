"""«module_asking»"""

import numpy as np

from whygrad.dispatch import explain


def relation(a, b):
    """«relation»

    «relation_more»
    """
    if b is a:
        return "itself"
    return "view" if _memory(a) == _memory(b) else "copy"


def saved_by(function, *inputs):
    """«saved_by»

    «saved_by_more»
    """
    output = function(*inputs)
    kept = output.grad_fn.saved.values()
    saved = [each for each in kept if isinstance(each, np.ndarray)]

    def has(tensor):
        return any(np.shares_memory(each, tensor.detach().numpy()) for each in saved)

    has_input, has_output = any(map(has, inputs)), has(output)
    if has_input and has_output:
        return "both"
    return "input" if has_input else "output" if has_output else "none"


def keys_of(function, *args):
    """«keys_of»

    «keys_of_more»
    """
    explanation = explain(function, *args)
    return set(explanation.keys) - set(explanation.hidden)


def _memory(tensor):
    """«memory»"""
    return tensor.untyped_storage().data_ptr()
