"""What a program can do, as lines of Python.

A line is written in terms of two values ``a`` and ``b`` and the library ``lib``, so one text serves
both libraries, and a failing program prints as a script.  A line that does not fit the shapes it
meets is refused by both libraries, which is a test, too.
"""

from __future__ import annotations

__all__ = [
    "CONTEXTS",
    "DUALS",
    "GRADIENTS",
    "MARKS",
    "PASSES",
    "SURROUNDINGS",
    "VALUES",
    "VIEWS",
    "WRITES",
]

# New memory.
VALUES = (
    "a * b", "a + b", "a - b", "a / (b * b + 1)", "a * 0.5", "a * a", "-a", "a ** 2", "a ** 3",
    "1 - a", "a.sin()", "a.cos()", "a.tanh()", "a.exp()", "a.sigmoid()", "a.relu()", "a.abs()",
    "(a * a + 0.5).sqrt()", "(a * a + 0.5).log()", "(a * a + 1).reciprocal()",
    "lib.where(a > 0, a, b)", "lib.where(b > 0, a * 2, 0.5)", "a.sum(0)", "a.sum()",
    "a.mean(-1, keepdim=True)", "a.clone()", "a[lib.tensor([1, 0])]", "a[lib.tensor([0, 0, 1])]",
    "lib.cat([a, b])", "lib.stack([a, b])", "a.mT @ b", "a @ b.mT", "a.softmax(0)",
    "a.log_softmax(-1)", "a.logsumexp(0)", "a.cumsum(0)", "a.prod(0)", "a.clamp(-0.5, 0.5)",
    "a.flip(0)", "a.roll(1, 0)", "a.repeat(2, *[1] * a.dim())", "a.masked_fill(b > 0, 0.25)",
    "a.index_select(-1, lib.tensor([0, 0]))", "a.var(0)", "a.norm()", "a.lerp(b, 0.3)",
    "lib.addcmul(a, a, b)", "lib.outer(a.flatten(), a.flatten())", "a.tril()", "a.diff(dim=0)",
    "lib.maximum(a, b * 1.01 + 0.001)", "a.detach() * b", "a.expand(2, *a.shape).clone()",
    "Cube.apply(a)", "Product.apply(a, b)", "Both.apply(a)[0] * Both.apply(a)[1]", "Late.apply(a)",
    "Partial.apply(a, b)", "Marked.apply(a)[0]", "Marked.apply(a)[1]", "Once.apply(a)",
    "lib.func.grad(lambda x: (x * x.cos()).sum())(a)", "lib.func.vmap(lambda x: x.sin() * 2)(a)",
    "lib.func.vjp(lambda x: x * x.sin(), a)[1](a)[0]",
    "lib.func.jvp(lambda x: x.sin() * x, (a,), (b.to(a.dtype),))[1]",
)  # fmt: skip

# The same memory, or a part of it.
VIEWS = (
    "a[0]", "a[-1:]", "a[..., 1:]", "a[..., ::2]", "a[None]", "a[:]", "a[1:, :1]", "a.mT",
    "a.transpose(0, -1)", "a.permute(tuple(reversed(range(a.dim()))))", "a.movedim(0, -1)",
    "a.reshape(-1)", "a.view(-1)", "a.view_as(a)", "a.flatten()", "a.unflatten(0, (1, -1))",
    "a.expand(2, *a.shape)", "a.narrow(0, 0, 1)", "a.narrow(-1, 1, 1)", "a.select(-1, 0)",
    "a.squeeze()", "a.squeeze(0)", "a.unsqueeze(-1)", "a.diagonal()", "a.unfold(0, 2, 1)",
    "a.unfold(-1, 1, 1)", "a.unfold(-1, 2, 2)", "a.as_strided((2,), (1,))",
    "a.as_strided((2, 2), (1, 1))", "a.unbind(0)[-1]", "a.unbind(-1)[0]", "a.split(1)[0]",
    "a.split([1, 1], -1)[1]", "a.chunk(2)[-1]", "a.tensor_split(2)[0]", "a.contiguous()",
    "a.detach()", "a.data", "a[0].view(-1)[:1]", "a.reshape(-1)[1:]", "a.mT[0]",
    "a.view(-1).view(1, -1)", "View.apply(a)",
)  # fmt: skip

WRITES = (
    "a.add_(b)", "a.add_(b, alpha=2)", "a.add_(1)", "a.sub_(b)", "a.mul_(b)", "a.mul_(a)",
    "a.mul_(0.5)", "a.div_(2)", "a.div_(b * b + 1)", "a.pow_(2)", "a.neg_()", "a.abs_()",
    "a.sin_()", "a.tanh_()", "a.sigmoid_()", "a.relu_()", "a.exp_()", "a.square_()",
    "a.clamp_(-0.6, 0.6)", "a.clamp_(min=0.5).sqrt_()", "a.clamp_(min=0.5).log_()",
    "a.copy_(b)", "a.fill_(0.5)", "a.fill_(b.sum())", "a.zero_()", "a.lerp_(b, 0.3)",
    "a.addcmul_(b, b)", "a.addcdiv_(b, b * b + 1)", "a.cumsum_(0)", "a.cumprod_(0)", "a.tril_()",
    "a.masked_fill_(b > 0, 1.0)", "a.masked_fill_(a > 0, b.sum())",
    "a.masked_scatter_(a > 0, b * 2)", "a.index_fill_(0, lib.tensor([0]), 0.5)",
    "a.index_add_(0, lib.tensor([0]), b[:1])", "a.index_copy_(0, lib.tensor([1]), b[:1])",
    "a.scatter_(0, lib.zeros_like(b[:1]).long(), b[:1])",
    "a.scatter_(0, lib.zeros_like(a[:1]).long(), 0.5)",
    "a.scatter_add_(0, lib.zeros_like(b).long(), b)",
    "a.index_put_((lib.tensor([0, 0]),), b[:2], accumulate=True)", "a.transpose_(0, -1)",
    "a.unsqueeze_(0)", "a.squeeze_(0)", "a[0] = b", "a[..., 1:] = b", "a[lib.tensor([1, 0])] = b",
    "a[a > 0] = 0.25", "a[a > 0] = b.sum()",
    "a[:1] = 2", "a[..., 0] = b[..., 0]", "a[lib.tensor([0])] += b[:1]", "a[1:] = a[1:] * 2",
    "a += b", "a -= 0.5", "a *= b", "a /= 2", "a[0] += b", "a[..., :1] *= 2", "a[0].mul_(2)",
    "a.view(-1)[0].add_(b.sum())", "a.diagonal().add_(b.sum())", "a.unbind(0)[0].add_(1)",
    "a.detach().add_(1)", "a.data.mul_(0.5)", "lib.add(a, b, out=a)", "lib.mul(b, 2, out=a)",
    "lib.sin(b, out=a)", "Double.apply(a)",
)  # fmt: skip

# Values with a tangent, in a dual level.  A dual is alone with its memory: in PyTorch it is a view,
# in whygrad it is not.
DUALS = (
    "lib.autograd.forward_ad.make_dual(a.clone(), a.detach().cos())",
    "lib.autograd.forward_ad.make_dual(a.detach().clone(), b.detach().to(a.dtype) * 1)",
    "some(lib.autograd.forward_ad.unpack_dual(a).tangent) * 1",
    "lib.autograd.forward_ad.unpack_dual(a).primal * 1",
)

# What changes the place of a value in the graph, or watches it.
MARKS = (
    "a.requires_grad_()", "a.requires_grad_(False)", "a.detach_()", "a.retain_grad()",
    "a.retain_grad()", "a.retain_grad()", "a.grad = None", "keep(a.register_hook(observe()))",
    "keep(a.register_hook(scale()))", "keep(a.register_hook(scale()))",
    "keep(a.register_post_accumulate_grad_hook(after()))",
    "keep(node(a).register_hook(node_after()))", "keep(node(a).register_prehook(node_before()))",
    "keep(lib.autograd.graph.register_multi_grad_hook([a, b], several()))",
    "keep(lib.autograd.graph.register_multi_grad_hook([a, b], observe(), mode='any'))",
    "a.grad = b.detach().clone()", "drop()",
)  # fmt: skip

# Backward in the middle of a program; what it leaves in .grad is compared.
PASSES = (
    "loss(a, b).backward()", "loss(a, b).backward(retain_graph=True)",
    "loss(a).backward(retain_graph=True)", "loss(a, b).backward(create_graph=True)",
    "loss(a).backward(inputs=[b], retain_graph=True)", "a.backward(a.detach().cos())",
    "a.backward(gradient=b.detach().cos(), retain_graph=True, create_graph=True)",
    "loss(a, b).backward(inputs=[a, b], retain_graph=True)",
    "lib.autograd.backward([a, b], [a.detach().cos(), b.detach().cos()], retain_graph=True)",
)  # fmt: skip

# Gradients as new values; with create_graph they can be differentiated again.
GRADIENTS = (
    "some(lib.autograd.grad(loss(a), b, create_graph=True, allow_unused=True)[0])",
    "some(lib.autograd.grad(loss(a, b), [a, b], create_graph=True, allow_unused=True)[1])",
    "some(lib.autograd.grad(loss(a, b), b, retain_graph=True, allow_unused=True)[0])",
    "some(lib.autograd.grad([a, a * b], b, [a.detach().cos(), (a * b).detach()], "
    "create_graph=True, allow_unused=True)[0])",
    "lib.autograd.grad(loss(a), b, create_graph=True, materialize_grads=True)[0]",
    "some(lib.autograd.grad(loss(a), lib.autograd.graph.get_gradient_edge(b), retain_graph=True, "
    "allow_unused=True)[0])",
    "some(lib.autograd.grad(lib.autograd.graph.get_gradient_edge(a), b, a.detach().cos(), "
    "retain_graph=True, allow_unused=True)[0])",
    "some(a.grad)",
)  # fmt: skip

# Around a whole program.
SURROUNDINGS = (
    "lib.autograd.graph.allow_mutation_on_saved_tensors()",
    "lib.autograd.forward_ad.dual_level()",
    "lib.autograd.detect_anomaly(check_nan=False)",
)

CONTEXTS = (
    "lib.no_grad()", "lib.set_grad_enabled(False)", "lib.set_grad_enabled(True)",
    "lib.enable_grad()", "lib.inference_mode()", "lib.autograd.graph.save_on_cpu()",
    "lib.autograd.graph.saved_tensors_hooks(copied, same)",
    "lib.autograd.graph.saved_tensors_hooks(same, same)",
)  # fmt: skip
