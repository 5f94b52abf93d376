# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)


class MeanVariance(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.mean = nn.Linear(32, 1)
        self.log_var = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), self.log_var(h)


x = whygrad.rand(400, 1) * 4 - 2
noise = 0.02 + 0.1 * x.abs()
y = whygrad.sin(2 * x) + noise * whygrad.randn(400, 1)

model = MeanVariance()
optimizer = optim.Adam(model.parameters(), lr=0.005)
for step in range(200):
    mean, log_var = model(x)
    nll = 0.5 * (log_var + (y - mean) ** 2 / log_var.exp()).mean()
    optimizer.zero_grad()
    nll.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, round(nll.item(), 4))
print("negative log likelihood:", round(nll.item(), 4))
