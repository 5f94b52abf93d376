"""«module_rules»"""

import math

import numpy as np


def unbroadcast(grad, shape):
    """«unbroadcast»"""
    new_axes = tuple(range(grad.ndim - len(shape)))
    grad = grad.sum(axis=new_axes)
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return grad.sum(axis=stretched, keepdims=True)


def matmul_backward(grad, a, b):
    """«matmul_backward»"""
    grad_a = grad @ np.swapaxes(b, -1, -2)
    grad_b = np.swapaxes(a, -1, -2) @ grad
    return unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)


def sum_backward(grad, shape, axis=None, keepdims=False):
    """«sum_backward»"""
    if axis is not None and not keepdims:
        grad = np.expand_dims(grad, axis)
    return np.broadcast_to(grad, shape)


def mean_backward(grad, shape, axis=None, keepdims=False):
    """«mean_backward»"""
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
    count = math.prod(shape[each] for each in axes)
    return sum_backward(grad, shape, axis, keepdims) / count


def log_softmax(logits):
    """«log_softmax»"""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def cross_entropy(logits, labels):
    """«cross_entropy»"""
    rows = np.arange(len(labels))
    return -log_softmax(logits)[rows, labels].mean()


def cross_entropy_backward(logits, labels):
    """«cross_entropy_backward»"""
    rows = np.arange(len(labels))
    difference = np.exp(log_softmax(logits))
    difference[rows, labels] -= 1
    return difference / len(labels)
