# engine: whygrad
import whygrad
from whygrad import nn, optim


class Softplus(whygrad.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return whygrad.log1p(whygrad.exp(-x.abs())) + x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):  # expect: wrong-backward
        (x,) = ctx.saved_tensors
        return -grad * whygrad.sigmoid(-x)  # expect: wrong-backward


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(1, 10)
        self.mid = nn.Linear(10, 10)
        self.out = nn.Linear(10, 1)

    def forward(self, x):
        h = Softplus.apply(self.inp(x))  # expect: wrong-backward
        h = Softplus.apply(self.mid(h))  # expect: wrong-backward
        return self.out(h)


whygrad.manual_seed(3)
x = whygrad.linspace(-3, 3, 100).reshape(-1, 1)
y = whygrad.sin(2 * x)
net = Net()
optimizer = optim.Adam(net.parameters(), lr=0.01)
for step in range(300):
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 59:
        print(f"{step + 1} {loss.item():.4f}")
