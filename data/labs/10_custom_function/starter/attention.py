"""«module»"""

import math

import whygrad as wg
from whygrad.autograd import Function, gradcheck


def attention(q, k, v, causal=False):
    """«attention»

    «attention_more»
    """
    return Attention.apply(q, k, v, causal)


class Attention(Function):
    """«class_attention»"""

    @staticmethod
    def forward(ctx, q, k, v, causal):
        """«forward»"""
        raise NotImplementedError("forward")

    @staticmethod
    def backward(ctx, incoming):
        """«backward»"""
        raise NotImplementedError("backward")


def checked(function):
    """«checked»

    «checked_more»
    """
    raise NotImplementedError("checked")
