# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(0)


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.1)  # expect: symmetric-initialization
        nn.init.constant_(m.bias, 0.0)


X = whygrad.rand(200, 2) * 2 - 1
y = (X[:, 0] * X[:, 1] > 0).float().unsqueeze(1)

model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
model.apply(weights_init)  # expect: symmetric-initialization

optimizer = optim.Adam(model.parameters(), lr=0.02)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(200):
    optimizer.zero_grad()
    loss = criterion(model(X), y)
    loss.backward()
    optimizer.step()
    if epoch % 40 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}")
