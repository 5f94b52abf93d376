# engine: whygrad
import whygrad
from whygrad import nn, optim
from whygrad.utils.data import DataLoader, TensorDataset

config = {
    "batch_size": 32,
    "epochs": 15,
    "lr": 1e-6,  # expect: lr-too-low
}

whygrad.manual_seed(0)
x = whygrad.randn(256, 10)
y = (x[:, 0] * 2 + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=config["batch_size"], shuffle=True)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = optim.Adam(model.parameters(), lr=config["lr"])  # expect: lr-too-low
criterion = nn.CrossEntropyLoss()

for epoch in range(config["epochs"]):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()  # expect: lr-too-low
        total += loss.item()
    print(f"epoch {epoch + 1}/{config['epochs']} loss {total / len(loader):.4f}")
