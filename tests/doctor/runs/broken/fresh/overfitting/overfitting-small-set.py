import torch
import torch.nn as nn

torch.manual_seed(0)

X = torch.randn(240, 20)
y = ((X[:, 0] + X[:, 1] + 1.0 * torch.randn(240)) > 0).long()
X_train, y_train = X[:40], y[:40]  # expect: overfitting
X_val, y_val = X[40:], y[40:]

model = nn.Sequential(  # expect: overfitting
    nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2)
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)  # expect: overfitting
criterion = nn.CrossEntropyLoss()

for epoch in range(100):  # expect: overfitting
    model.train()
    optimizer.zero_grad()
    loss = criterion(model(X_train), y_train)  # expect: overfitting
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        out = model(X_val)  # expect: overfitting
        val_loss = criterion(out, y_val)  # expect: overfitting
        acc = (out.argmax(dim=1) == y_val).float().mean()
    if epoch % 10 == 0:
        print(f"{epoch}: train {loss.item():.4f} val {val_loss.item():.4f} acc {acc.item():.3f}")
