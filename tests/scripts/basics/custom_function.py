"""Gradients of one's own: autograd.Function, gradcheck, straight-through, gradient reversal."""

import torch
from torch.autograd import Function, gradcheck, gradgradcheck


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output


class ScaledLinear(Function):
    @staticmethod
    def forward(ctx, x, weight, scale):
        ctx.save_for_backward(x, weight)
        ctx.scale = scale
        return scale * x @ weight.t()

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_x = ctx.scale * grad_output @ weight
        if ctx.needs_input_grad[1]:
            grad_weight = ctx.scale * grad_output.t() @ x
        return grad_x, grad_weight, None


class Round(Function):
    """Rounds, and pretends that it did not when gradients come back."""

    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.strength, None


class WrongCube(Cube):
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x**2 * grad_output


x = torch.linspace(-1, 1, 5, dtype=torch.float64, requires_grad=True)
y = Cube.apply(x)
y.sum().backward()
print(y.detach(), x.grad)
print(gradcheck(Cube.apply, (x,)), gradgradcheck(Cube.apply, (x,)))
try:
    gradcheck(WrongCube.apply, (x,))
except RuntimeError as error:
    print("wrong:", "Jacobian mismatch" in str(error))

inputs = torch.linspace(0, 1, 6, dtype=torch.float64).view(2, 3).requires_grad_()
weight = torch.linspace(-1, 1, 12, dtype=torch.float64).view(4, 3).requires_grad_()
out = ScaledLinear.apply(inputs, weight, 2.5)
(out**2).mean().backward()
print(inputs.grad, weight.grad)
print(gradcheck(lambda a, b: ScaledLinear.apply(a, b, 2.5), (inputs, weight)))

z = torch.tensor([0.4, 1.6, -2.5], requires_grad=True)
(Round.apply(z) * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
print(Round.apply(z).detach(), z.grad)
z.grad = None
Reverse.apply(z, 0.5).sum().backward()
print(z.grad)
