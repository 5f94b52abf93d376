# engine: whygrad
import whygrad
from whygrad import nn
from whygrad.autograd import Function


class MySoftplus(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return whygrad.clamp(x, min=0) + whygrad.log1p(whygrad.exp(-beta * x.abs())) / beta

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * whygrad.sigmoid(ctx.beta * x), None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 32)
        self.outer = nn.Linear(32, 1)

    def forward(self, x):
        return self.outer(MySoftplus.apply(self.inner(x), 2.0))


whygrad.manual_seed(0)
x = whygrad.randn(200, 3)
y = (x**2).sum(dim=1, keepdim=True) - 3
net = Net()
optimizer = whygrad.optim.Adam(net.parameters(), lr=0.03)
for step in range(200):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, loss.item())
print("end", loss.item())
