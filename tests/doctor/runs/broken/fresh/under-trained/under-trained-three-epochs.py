# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.utils.data import DataLoader, TensorDataset

EPOCHS = 3  # expect: under-trained

whygrad.manual_seed(0)
x = whygrad.randn(320, 10)
y = x[:, :1] * 3 + x[:, 1:2] * x[:, 2:3] + 2
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.MSELoss()

for epoch in range(EPOCHS):  # expect: under-trained
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(loader):.4f}")
