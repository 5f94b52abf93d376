# engine: whygrad
import whygrad
from whygrad import nn, optim


class Whiten(nn.Module):
    def forward(self, x):
        mean = x.mean(dim=0)
        var = (x * x).mean(dim=0) - mean * mean  # expect: nan-from-sqrt
        return (x - mean) / (whygrad.sqrt(var) + 1e-3)  # expect: nan-from-sqrt


whygrad.manual_seed(4)
count = 240
day = whygrad.arange(count).float()
x = whygrad.stack(
    [whygrad.randn(count) * 4, 1013.2 + 0.002 * whygrad.sin(day), whygrad.randn(count)], dim=1
)
y = x[:, :1] / 4 + whygrad.sin(x[:, 2:])

model = nn.Sequential(Whiten(), nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    for idx in whygrad.randperm(count).split(24):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
