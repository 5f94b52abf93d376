# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(3)


class PriceModel(nn.Module):
    def __init__(self, cities, dim=4):
        super().__init__()
        self.city = nn.Embedding(cities, dim)  # expect: disconnected-parameter
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
        self.join = nn.Linear(3 + dim, 3)  # expect: disconnected-parameter

    def forward(self, numbers, city):
        features = whygrad.cat([numbers, self.city(city)], dim=1)
        features = self.join(features)
        return self.body(numbers).squeeze(1)  # expect: disconnected-parameter


numbers = whygrad.randn(300, 3)
city = whygrad.randint(0, 10, (300,))
level = whygrad.randn(10) * 2
price = numbers.sum(dim=1) * 0.3 + level[city]

model = PriceModel(10)
optimizer = optim.Adam(model.parameters(), lr=0.01)
for step in range(150):
    loss = nn.functional.mse_loss(model(numbers, city), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1}: loss {loss.item():.4f}")
