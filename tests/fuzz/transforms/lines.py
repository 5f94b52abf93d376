"""What the functions can do.  ``a`` and ``b`` stand for earlier values, ``n`` for the last size."""

from __future__ import annotations

__all__ = ["FRESH", "MATRIX_VALUES", "MATRIX_WRITES", "RANDOM", "VALUES", "WRITES"]

# Each gives a new value of the same shape.
VALUES = (
    "a * b", "a + b", "a - 0.5 * b", "a.sin()", "a.tanh() * b", "a.sigmoid()", "a * a * 0.5",
    "lib.where(a > 0.1, a, b.sin())", "lib.maximum(a, 0.3 * b)", "a.relu() + b",
    "a.clamp(-0.7, 0.8)", "a.cumsum(-1)", "a.cumprod(-1)", "a.flip(0)", "a.roll(1, -1)",
    "a.softmax(-1)", "a.clone()", "a.log_softmax(-1) * b", "a.sort(-1).values",
    "lib.cat([a[..., :1], b[..., 1:]], -1)", "lib.stack([a, b]).mean(0)",
    "lib.stack([a, b], -1).prod(-1)", "a.sum(-1, keepdim=True) * b", "a.var(-1, keepdim=True) + b",
    "a.norm() * b", "a.max(-1, keepdim=True).values - b", "a.logsumexp(-1, keepdim=True) * b",
    "a.detach() * b", "a.gather(-1, b.argsort(-1))", "a.index_select(-1, lib.arange(n).flip(0))",
    "a[..., lib.arange(n).roll(1)] * b", "a.index_put((lib.tensor([0]),), b[:1])",
    "a.scatter_add(-1, b.argsort(-1), b)", "a.masked_fill(b > 0, 0.25)",
    "a.diff(dim=-1, prepend=b[..., :1])", "a.unsqueeze(0).squeeze(0) * 1",
    "a.movedim(0, -1).movedim(-1, 0) * b", "(a.unsqueeze(-1) * b.unsqueeze(-2)).sum(-1)",
    "lib.nn.functional.gelu(a)",
    "(a - a.mean(-1, keepdim=True)) / (a.var(-1, keepdim=True) + 0.1).sqrt()", "a.expm1() / 4",
    "lib.einsum('...i,...j->...i', a, b) * 0.3", "a.reshape(-1).cumsum(0).view(a.shape)",
    "lib.lerp(a, b, 0.3)", "lib.addcmul(a, a, b, value=0.5)", "a.abs() ** 1.5", "lib.hypot(a, b)",
    "Product.apply(a, b)", "Both.apply(a)[0] * b", "Both.apply(a)[1]",
    "again(lambda s, t: s.sin() * t, a, b)", "again(lambda s: Product.apply(s, s.cos()), a)",
    "again(lambda s: s.new_zeros(s.shape).copy_(s).mul_(2), a)",
    "func.grad(lambda s: (s * s * b).sum())(a)", "func.jvp(lambda s: s * s.sin(), (a,), (b,))[1]",
    "func.vmap(lambda s, t: s * t.cos(), in_dims=-1, out_dims=-1)(a, b)",
    "func.vmap(lambda s: s.cumsum(0) * b, in_dims=0, out_dims=0)(lib.stack([a, b])).sum(0)",
)  # fmt: skip
MATRIX_VALUES = (
    "a @ a.mT @ b * 0.3", "a.transpose(0, 1).contiguous().transpose(0, 1) * b",
    "a.permute(1, 0).cumsum(0).permute(1, 0)", "a.mean(0, keepdim=True) + b", "a.tril() + b",
    "a[:, None].expand(2, 2, n).sum(1)", "lib.stack([a[0], b[1]])", "lib.stack(a.unbind(0)[::-1])",
)  # fmt: skip
# New memory, which is written to at once or later.
FRESH = (
    "lib.zeros_like(a)", "a.new_empty(a.shape).copy_(b)", "a.new_zeros(a.shape)",
    "lib.full_like(a, 0.5)", "lib.empty_like(a).fill_(0.3)", "a.new_ones(a.shape).mul_(b)",
    "lib.ones_like(a, dtype=lib.float32).to(lib.float64)", "lib.zeros(a.shape, dtype=lib.float64)",
)  # fmt: skip
# Each writes to ``a``, which is never one of the closed-over constants.
WRITES = (
    "a[..., ::2].copy_(b[..., ::2])", "a[..., 1:].mul_(b[..., 1:])", "a.mul_(b)", "a.add_(0.5)",
    "a.copy_(b)", "a[0] = b[0]", "a[..., 0] += b[..., 1]", "a.zero_()", "a.fill_(0.3)",
    "a[...] = b.sin()", "a.unsqueeze(0).mul_(b)", "a.clamp_(-0.5, 0.5)", "a.sin_()", "a.neg_()",
    "a.masked_fill_(b > 0, 0.5)", "a.index_add_(0, lib.tensor([0]), b[:1])",
    "a.sub_(b, alpha=0.5)", "a.index_copy_(0, lib.tensor([0]), b[:1])",
    "a.scatter_(-1, b.argsort(-1), b)", "a.narrow(-1, 1, 1).zero_()", "a.select(0, 0).mul_(2)",
    "a.detach().mul_(1.5)", "a.data.add_(0.25)", "a.index_fill_(-1, lib.tensor([0]), 0.2)",
    "a[b > 0.1] = 0.25", "a.unfold(-1, 2, 2)[..., 0].mul_(0.5)", "a.addcmul_(b, b)",
    "a.lerp_(b, 0.4)", "a[..., [0]] = 0.1", "a.div_(2)", "a.view(-1)[1:].mul_(0.5)",
)  # fmt: skip
MATRIX_WRITES = (
    "a.diagonal().copy_(b[0, :2])", "a.transpose(0, 1)[0].mul_(b[:, 1])", "a[1].copy_(b[0])",
    "a.fill_diagonal_(0.2)", "a[:, 1].copy_(b[:, 0])", "a.t()[1:].zero_()",
    "a[0], a[1] = b[1], b[0]", "a.view(-1, 2)[0].mul_(b[0, :2])",
)  # fmt: skip
# Draws whose outcome is known.
RANDOM = (
    "lib.bernoulli(lib.ones_like(a)) * b", "lib.normal(a.detach(), 0.0) * b",
    "lib.nn.functional.dropout(a, 0.0) + b", "a + 0 * lib.rand_like(b)",
    "a * (lib.rand(n) * 0 + 1)", "a + 0 * lib.randint(0, 5, (n,))",
    "lib.zeros_like(a).uniform_(2.0, 2.0) * b", "lib.nn.functional.dropout(a, 1.0) + b",
    "a[..., lib.randperm(n).sort().values]", "lib.bernoulli(lib.ones(n, dtype=lib.float64)) * b",
)  # fmt: skip
