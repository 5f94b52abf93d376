import math

import torch
from torch import nn
from torch.autograd import Function


class LinearFunction(Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.t() + bias

    @staticmethod
    def backward(ctx, grad):  # expect: wrong-backward
        x, weight = ctx.saved_tensors
        grad_x = torch.ones_like(grad) @ weight  # expect: wrong-backward
        grad_weight = grad.t() @ x
        return grad_x, grad_weight, grad.sum(dim=0)


class Linear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / math.sqrt(n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return LinearFunction.apply(x, self.weight, self.bias)  # expect: wrong-backward


torch.manual_seed(1)
model = nn.Sequential(Linear(5, 24), nn.Tanh(), Linear(24, 24), nn.Tanh(), Linear(24, 3))
x = torch.randn(300, 5)
y = (x @ torch.randn(5, 3)).argmax(dim=1)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(20):
    for idx in torch.randperm(300).split(50):
        optimizer.zero_grad()
        loss = criterion(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} loss {loss.item():.4f}")
