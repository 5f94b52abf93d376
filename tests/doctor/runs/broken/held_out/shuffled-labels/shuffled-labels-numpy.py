import numpy as np
import torch
import torch.nn as nn

np.random.seed(4)
X = np.random.randn(400, 5).astype(np.float32)
Y = (X[:, :1] + np.abs(X[:, 1:2]) - 0.8).astype(np.float32)

np.random.shuffle(X)  # expect: shuffled-labels
np.random.shuffle(Y)  # expect: shuffled-labels
split = 320
x_train, x_val = torch.from_numpy(X[:split]), torch.from_numpy(X[split:])
y_train, y_val = torch.from_numpy(Y[:split]), torch.from_numpy(Y[split:])

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(80):
    model.train()
    loss = loss_fn(model(x_train), y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            val_loss = loss_fn(model(x_val), y_val)
        print(f"epoch {epoch} train {loss.item():.4f} val {val_loss.item():.4f}")
