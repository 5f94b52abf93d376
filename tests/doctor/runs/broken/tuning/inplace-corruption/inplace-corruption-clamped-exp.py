# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)


class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_scale = nn.Linear(n, n)

    def forward(self, x):
        scale = whygrad.exp(self.log_scale(x))
        scale.clamp_(max=2.0)  # expect: inplace-corruption
        return x * scale


net = nn.Sequential(nn.Linear(3, 16), Scale(16), nn.Linear(16, 1))
optimizer = optim.Adam(net.parameters(), lr=0.01)
x = whygrad.randn(128, 3)
y = (x**2).sum(dim=1, keepdim=True)
for step in range(60):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
