"""«module»"""

import math

import whygrad as wg
from whygrad.autograd import Function, gradcheck
from whygrad.autograd.function import once_differentiable


def attention(q, k, v, causal=False):
    """«attention»

    «attention_more»
    """
    return Attention.apply(q, k, v, causal)


class Attention(Function):
    """«class_attention»"""

    @staticmethod
    def forward(ctx, q, k, v, causal):
        scores = _scores(q, k, causal)
        lse = scores.logsumexp(-1, keepdim=True)
        out = (scores - lse).exp() @ v
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal = causal
        return out

    @staticmethod
    @once_differentiable  # «once»
    def backward(ctx, incoming):
        q, k, v, out, lse = ctx.saved_tensors
        needs_q, needs_k, needs_v, _ = ctx.needs_input_grad
        of_q = of_k = of_v = None
        probabilities = (_scores(q, k, ctx.causal) - lse).exp()
        if needs_v:
            of_v = probabilities.mT @ incoming
        if needs_q or needs_k:
            # «mean»
            mean = (incoming * out).sum(-1, keepdim=True)
            root = math.sqrt(q.shape[-1])
            of_scores = probabilities * (incoming @ v.mT - mean) / root
            of_q = of_scores @ k if needs_q else None
            of_k = of_scores.mT @ q if needs_k else None
        return of_q, of_k, of_v, None


def checked(function):
    """«checked»

    «checked_more»
    """
    wg.manual_seed(0)
    inputs = [wg.randn(2, 3, 4, dtype=wg.float64, requires_grad=True) for _ in range(3)]
    return gradcheck(function, inputs, raise_exception=False)


def _scores(q, k, causal):
    """«scores»"""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        later = wg.ones(scores.shape[-2:], dtype=wg.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    return scores
