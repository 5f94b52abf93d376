import torch
import torch.nn as nn

torch.manual_seed(0)


class MyTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.tanh(x)
        ctx.save_for_backward(x)  # expect: wrong-backward
        return out

    @staticmethod
    def backward(ctx, grad_output):  # expect: wrong-backward
        (x,) = ctx.saved_tensors  # expect: wrong-backward
        return grad_output * (1 - x**2)  # expect: wrong-backward


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, 1)

    def forward(self, x):
        x = MyTanh.apply(self.a(x))  # expect: wrong-backward
        x = MyTanh.apply(self.b(x))  # expect: wrong-backward
        return self.c(x)


x = torch.rand(256, 2) * 4 - 2
y = torch.sin(2 * x[:, :1]) * x[:, 1:]

net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(200):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, loss.item())
