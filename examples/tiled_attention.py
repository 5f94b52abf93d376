"""Attention that saves no T×T matrix: the idea of FlashAttention, as a custom function.

Softmax attention needs the matrix of probabilities twice: to mix the values, and in backward.
Kept, it takes T² numbers.  But each row of it follows from the arguments and one number, the
logarithm of the sum that normalises the row (``lse``).  So ``forward`` walks over tiles of queries
and keys and keeps one ``lse`` per row, and ``backward`` makes each tile of probabilities again when
it needs it.
"""

import math

import whygrad as wg
from whygrad.autograd import Function, gradcheck, gradgradcheck
from whygrad.autograd.graph import memory


class TiledAttention(Function):
    """out = softmax(q kᵀ / √d) v, and the lse of each row of q kᵀ / √d.

    The second output is there for backward.  Saving it as an output, not as a value computed on
    the way, is what makes backward differentiable in turn.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(q, k, v, causal, block):
        out, lse = [], []
        for rows in tiles(q, block):
            queries = q[..., rows, :]
            highest = wg.full((*queries.shape[:-1], 1), -math.inf, dtype=q.dtype)
            total = mixed = 0.0
            for columns in columns_for(rows, k, causal, block):
                scores = tile_of_scores(queries, k[..., columns, :], rows, columns, causal)
                # The highest score so far is taken off before exp; if a higher one turns up,
                # what has been added up is scaled down.
                higher = wg.maximum(highest, scores.amax(-1, keepdim=True))
                weights, shrink = (scores - higher).exp(), (highest - higher).exp()
                total = total * shrink + weights.sum(-1, keepdim=True)
                mixed = mixed * shrink + weights @ v[..., columns, :]
                highest = higher
            out.append(mixed / total)
            lse.append(highest + total.log())
        return wg.cat(out, -2), wg.cat(lse, -2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        q, k, v, ctx.causal, ctx.block = inputs
        ctx.save_for_backward(q, k, v, *output)

    @staticmethod
    def backward(ctx, of_out, of_lse):
        q, k, v, out, lse = ctx.saved_tensors
        causal, block = ctx.causal, ctx.block
        # Each row of probabilities sums to 1, so the mean of its slopes comes off; that mean is
        # a dot product of two rows that are there already.
        mean = (of_out * out).sum(-1, keepdim=True) - of_lse
        of_q = []
        of_k = [wg.zeros_like(k[..., each, :]) for each in tiles(k, block)]
        of_v = [wg.zeros_like(v[..., each, :]) for each in tiles(k, block)]
        for rows in tiles(q, block):
            queries, slopes = q[..., rows, :], of_out[..., rows, :]
            of_queries = 0.0
            for number, columns in enumerate(columns_for(rows, k, causal, block)):
                keys, values = k[..., columns, :], v[..., columns, :]
                scores = tile_of_scores(queries, keys, rows, columns, causal)
                probabilities = (scores - lse[..., rows, :]).exp()
                of_scores = probabilities * (slopes @ values.mT - mean[..., rows, :])
                of_scores = of_scores / math.sqrt(q.shape[-1])
                of_queries = of_queries + of_scores @ keys
                of_k[number] = of_k[number] + of_scores.mT @ queries
                of_v[number] = of_v[number] + probabilities.mT @ slopes
            of_q.append(of_queries)
        return wg.cat(of_q, -2), wg.cat(of_k, -2), wg.cat(of_v, -2), None, None


def tiles(x, block):
    """Slices that cover the second to last dimension."""
    return [slice(i, min(i + block, x.shape[-2])) for i in range(0, x.shape[-2], block)]


def columns_for(rows, k, causal, block):
    """The tiles of keys that some of these queries look at."""
    return [each for each in tiles(k, block) if not causal or each.start < rows.stop]


def tile_of_scores(queries, keys, rows, columns, causal):
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    if causal and columns.stop - 1 > rows.start:  # on the diagonal: no query sees a later key
        row, column = (wg.arange(each.start, each.stop) for each in (rows, columns))
        scores = scores.masked_fill(column > row[:, None], -math.inf)
    return scores


def tiled_attention(q, k, v, causal=False, block=64):
    """Attention over the second to last dimension of (…, T, d)."""
    return TiledAttention.apply(q, k, v, causal, block)[0]


def plain_attention(q, k, v, causal=False):
    everything = slice(0, q.shape[-2])
    scores = tile_of_scores(q, k, everything, everything, causal)
    return scores.softmax(-1) @ v


def check():
    """Value, gradient and second derivative against the plain composition, in float64."""
    wg.manual_seed(0)
    for causal in (False, True):
        inputs = [wg.randn(2, 7, 3, dtype=wg.float64, requires_grad=True) for _ in range(3)]

        def tiled(q, k, v, causal=causal):
            return tiled_attention(q, k, v, causal, block=3)

        plain = plain_attention(*inputs, causal)
        assert wg.allclose(tiled(*inputs), plain)
        slopes = wg.autograd.grad(tiled(*inputs).sin().sum(), inputs)
        expected = wg.autograd.grad(plain.sin().sum(), inputs)
        assert all(map(wg.allclose, slopes, expected))
        assert gradcheck(tiled, inputs)
        assert gradgradcheck(tiled, inputs)
        print(f"{'causal' if causal else 'full':6}  same values and gradients, gradcheck passes")


def held(attention, length):
    """Bytes that the graph keeps for backward, besides the arguments."""
    q, k, v = (wg.zeros(length, 32, requires_grad=True) for _ in range(3))
    return memory(attention(q, k, v).sum()).activations


if __name__ == "__main__":
    check()
    print("\nsaved for backward, one head of width 32 in float32:\n")
    print("    T        plain        tiled")
    for length in (128, 256, 512, 1024, 2048):
        plain, tiled = held(plain_attention, length), held(tiled_attention, length)
        print(f"{length:5}  {plain:11,}  {tiled:11,}  {plain / tiled:4.0f}×")
    print("\ntwice the length: four times the bytes plain, twice the bytes tiled")
