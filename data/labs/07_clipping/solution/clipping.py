"""«module»"""

import math

import numpy as np

import whygrad


def total_norm(grads):
    """«total_norm»"""
    return math.sqrt(sum(float((grad**2).sum()) for grad in grads))


def clip_by_value(grads, limit):
    """«clip_by_value»"""
    return [np.clip(grad, -limit, limit) for grad in grads]


def clip_by_norm(grads, max_norm):
    """«clip_by_norm»"""
    norm = total_norm(grads)
    if not math.isfinite(norm):
        raise ValueError(f"the total norm of the gradients is {norm}")
    if norm <= max_norm:
        return [grad.copy() for grad in grads]
    return [grad * (max_norm / norm) for grad in grads]


def cosine(grads, others):
    """«cosine»"""
    product = sum(float((grad * other).sum()) for grad, other in zip(grads, others))
    return product / (total_norm(grads) * total_norm(others))


def turned_by_value():
    """«turned_by_value»"""
    return [np.array([3.0, 0.5])], 1.0


def clip_model(model, clip, threshold):
    """«clip_model»"""
    parameters = [each for each in model.parameters() if each.grad is not None]
    grads = [each.grad.numpy() for each in parameters]
    clipped = clip(grads, threshold)
    for parameter, grad in zip(parameters, clipped):
        parameter.grad = whygrad.from_numpy(grad)
    before, after = total_norm(grads), total_norm(clipped)
    print(f"total norm {before:.4g} → {after:.4g}")
    return before, after


# «todo_statements»
STATEMENTS = {
    "a": False,  # «because_a»
    "b": True,  # «because_b»
    "c": True,  # «because_c»
    "d": False,  # «because_d»
    "e": True,  # «because_e»
    "f": False,  # «because_f»
}
